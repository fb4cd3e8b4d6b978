// nvvm.kernel functions -> plan.binary: a cubin, and the PTX for newer chips.
#include "codegen/LaunchNeeds.h"
#include "codegen/nvptx/InstructionCounts.h"
#include "codegen/nvptx/Passes.h"
#include "codegen/nvptx/Ptx.h"

#include "dialects/plan/Instructions.h"
#include "dialects/plan/Plan.h"
#include "dialects/seq/Remarks.h"
#include "dialects/tile/Tile.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"

using namespace mlir;

namespace effc::nvptx {
#define GEN_PASS_DEF_EMITCODEPASS
#include "codegen/nvptx/Passes.h.inc"

namespace {
struct EmitCodePass : impl::EmitCodePassBase<EmitCodePass> {
  using EmitCodePassBase::EmitCodePassBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    EmitCodePassBase::getDependentDialects(registry);
    registerBuiltinDialectTranslation(registry);
    registerLLVMDialectTranslation(registry);
    registerNVVMDialectTranslation(registry);
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<LLVM::LLVMFuncOp> kernels;
    for (auto function : module.getOps<LLVM::LLVMFuncOp>())
      if (function->hasAttr("nvvm.kernel"))
        kernels.push_back(function);
    if (kernels.empty())
      return;
    FailureOr<Chip> found = findChip(module);
    if (failed(found))
      return signalPassFailure();
    chip = *found;
    tile::TargetAttr target = tile::getTarget(module);
    if (!target.getPtx()) {
      module.emitError("expects a target that names the text of its code "
                       "('ptx'), but got ")
          << target;
      return signalPassFailure();
    }
    llvm::Expected<std::string> ptx = emitPtx(module, chip);
    if (!ptx)
      return fail(ptx.takeError());
    std::optional<std::string> ptxas = findPtxas();
    if (ptxas) {
      llvm::Expected<Cubin> cubin = assembleBest(*ptxas, kernels, *ptx);
      if (!cubin)
        return fail(cubin.takeError());
      if (!cubin->serialised.empty())
        return fail(llvm::createStringError(
            Twine("ptxas had to serialise products of warp groups for ") +
            chip.name + ": " + StringRef(cubin->serialised).trim()));
      for (LLVM::LLVMFuncOp kernel : kernels)
        if (int64_t spills = cubin->kernels[kernel.getSymName()].spillBytes)
          emitRemark(kernel.getLoc())
              << "kernel '" << kernel.getSymName() << "' spills " << spills
              << " bytes of registers on " << chip.name;
      addBinary(chip.name, kernels, cubin->bytes, &*cubin,
                versionOfPtxas(*ptxas), *ptx);
    } else {
      emitRemark(module.getLoc())
          << seq::kFallbackRemark
          << "the artifact has PTX only, which the driver compiles when a "
             "model is loaded: ptxas is neither in CUDA_HOME or CUDA_PATH nor "
             "on the PATH nor in /usr/local/cuda nor in a wheel "
             "nvidia-cuda-nvcc of python3";
    }
    // What no other chip runs needs no text for newer ones.
    if (!target.getOwnChips() || !ptxas)
      addBinary(target.getPtx().str(), kernels,
                ArrayRef(reinterpret_cast<const uint8_t *>(ptx->data()),
                         ptx->size() + 1),
                nullptr, std::nullopt, *ptx);
    for (LLVM::LLVMFuncOp kernel : kernels)
      kernel.erase();
    for (auto global :
         llvm::make_early_inc_range(module.getOps<LLVM::GlobalOp>()))
      global.erase();
  }

  /// What ptxas makes of `ptx`, which becomes another text of the same kernels
  /// where they have fewer faults in that.
  llvm::Expected<Cubin> assembleBest(StringRef ptxas,
                                     ArrayRef<LLVM::LLVMFuncOp> kernels,
                                     std::string &ptx) {
    ModuleOp module = getOperation();
    llvm::Expected<Cubin> cubin = assemble(ptxas, ptx, chip.name);
    // A kernel may be bounded for waves first, and then by ptxas.
    for (int i = 0; i < 2 && cubin && wantRegisters(kernels, *cubin); ++i) {
      llvm::Expected<std::string> again = emitPtx(module, chip);
      if (!again)
        return again.takeError();
      ptx = std::move(*again);
      cubin = assemble(ptxas, ptx, chip.name);
    }
    if (!cubin || faultsOf(*cubin) == Faults())
      return cubin;
    // Pointers that loops step take registers too.
    llvm::Expected<std::string> plain =
        emitPtx(module, chip, Addresses::Computed);
    if (!plain)
      return plain.takeError();
    llvm::Expected<Cubin> other = assemble(ptxas, *plain, chip.name);
    if (!other) {
      // What spills runs as well; why there is nothing better is said.
      emitRemark(module.getLoc())
          << "kernels that compute their addresses could not be assembled: "
          << llvm::toString(other.takeError());
    } else if (faultsOf(*other) < faultsOf(*cubin)) {
      ptx = std::move(*plain);
      return other;
    }
    return cubin;
  }

  // ptxas gives a thread fewer registers than it may have, so that more blocks
  // run side by side; a kernel that spills for it, or whose products of warp
  // groups wait for each other, is satisfied with one. A bound that was to make waves
  // whole is dropped first: below it ptxas may need fewer, as it has fewer loads ahead.
  static bool wantRegisters(ArrayRef<LLVM::LLVMFuncOp> kernels,
                            const Cubin &cubin) {
    bool any = false;
    for (LLVM::LLVMFuncOp kernel : kernels) {
      Cubin::Kernel made = cubin.kernels.lookup(kernel.getSymName());
      if (made.spillBytes == 0 && !made.isSerialised)
        continue;
      Attribute one = Builder(kernel.getContext()).getI32IntegerAttr(1);
      bool wasBounded = kernel->removeAttr(
                            NVVM::NVVMDialect::getMaxnregAttrName()) != nullptr;
      if (!wasBounded && kernel->getAttr("nvvm.minctasm") == one)
        continue;
      if (!wasBounded)
        kernel->setAttr("nvvm.minctasm", one);
      any = true;
    }
    return any;
  }

  /// Whether products are serialised, which is an error, and bytes of spills.
  using Faults = std::pair<bool, int64_t>;
  static Faults faultsOf(const Cubin &cubin) {
    int64_t bytes = 0;
    for (const auto &kernel : cubin.kernels)
      bytes += kernel.second.spillBytes;
    return {!cubin.serialised.empty(), bytes};
  }

  void fail(llvm::Error error) {
    getOperation().emitError(llvm::toString(std::move(error)));
    signalPassFailure();
  }

  void addBinary(const std::string &isa, ArrayRef<LLVM::LLVMFuncOp> kernels,
                 ArrayRef<uint8_t> bytes, const Cubin *cubin,
                 const std::optional<std::string> &ptxas, StringRef ptx) {
    ModuleOp module = getOperation();
    OpBuilder b = OpBuilder::atBlockEnd(module.getBody());
    SmallVector<Attribute> names, instructions, boxMaps;
    bool anyMaps = false, overlapping = true;
    SmallVector<int64_t> zeros(kernels.size(), 0), threads, shared, registers,
        spills;
    for (LLVM::LLVMFuncOp kernel : kernels) {
      names.push_back(kernel.getSymNameAttr());
      instructions.push_back(
          countInstructions(ptx, kernel.getSymName(), b.getContext()));
      codegen::LaunchNeeds needs = *codegen::LaunchNeeds::of(kernel);
      threads.push_back(needs.threads);
      shared.push_back(needs.sharedBytes);
      anyMaps |= needs.boxMaps != nullptr;
      boxMaps.push_back(needs.boxMaps ? needs.boxMaps : b.getArrayAttr({}));
      overlapping &= needs.overlaps;
      if (!cubin)
        continue;
      Cubin::Kernel made = cubin->kernels.lookup(kernel.getSymName());
      registers.push_back(made.registers);
      spills.push_back(made.spillBytes);
    }
    auto optional = [&](ArrayRef<int64_t> list) {
      return cubin ? b.getDenseI64ArrayAttr(list) : DenseI64ArrayAttr();
    };
    auto type = RankedTensorType::get({static_cast<int64_t>(bytes.size())},
                                      b.getI8Type());
    auto binary = plan::BinaryOp::create(
        b, module.getLoc(), isa, isa, b.getArrayAttr(names),
        b.getDenseI64ArrayAttr(zeros), b.getDenseI64ArrayAttr(zeros),
        b.getDenseI64ArrayAttr(threads), b.getDenseI64ArrayAttr(shared),
        optional(registers), optional(spills),
        ptxas ? b.getStringAttr(*ptxas) : StringAttr(),
        anyMaps ? b.getArrayAttr(boxMaps) : ArrayAttr(), overlapping,
        DenseElementsAttr::getFromRawBuffer(
            type, ArrayRef(reinterpret_cast<const char *>(bytes.data()),
                           bytes.size())));
    binary->setAttr(plan::kInstructionsAttr, b.getArrayAttr(instructions));
  }

  Chip chip; ///< of the module's target
};
} // namespace
} // namespace effc::nvptx
