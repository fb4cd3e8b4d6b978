// Lowered kernels -> plan.binary.
#include "codegen/image/Image.h"
#include "codegen/image/Passes.h"

#include "codegen/LaunchNeeds.h"
#include "dialects/plan/Plan.h"
#include "dialects/tile/Tile.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "runtime/abi/FileHeader.h"
#include "runtime/abi/HostIsas.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

using namespace mlir;

namespace effc::image {
#define GEN_PASS_DEF_EMITIMAGEPASS
#include "codegen/image/Passes.h.inc"

namespace {
/// What a module's image is, and for what it is made.
struct Code {
  std::string symbol, isa;
  Processor processor;
};
} // namespace

static Code codeOf(ModuleOp module) {
  constexpr int64_t kLaneBits = 32;
  const rt::HostIsa &lowest = rt::baselineIsa();
  Code code = {
      "host",
      lowest.name,
      {lowest.triple, lowest.cpu, lowest.features, lowest.lanes * kLaneBits}};
  tile::TargetAttr target = tile::getTarget(module);
  if (!target)
    return code;
  if (target.getCode())
    code.isa = target.getCode().str();
  if (target.getDevice() != tile::Device::Host) {
    code.symbol = code.isa;
    // Its time is the simulator's.
    code.processor.isOptimised = false;
    return code;
  }
  if (target.getCpu())
    code.processor.cpu = target.getCpu().str();
  if (target.getFeatures())
    code.processor.features = target.getFeatures().str();
  if (target.getTriple())
    code.processor.triple = target.getTriple().str();
  code.processor.isOptimised = target.getOptimised();
  code.processor.vectorBits = target.getVector() * kLaneBits;
  return code;
}

namespace {
struct EmitImagePass : impl::EmitImagePassBase<EmitImagePass> {
  using EmitImagePassBase::EmitImagePassBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    EmitImagePassBase::getDependentDialects(registry);
    registerBuiltinDialectTranslation(registry);
    registerLLVMDialectTranslation(registry);
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<LLVM::LLVMFuncOp> kernels;
    OwningOpRef<ModuleOp> lowered = ModuleOp::create(module.getLoc());
    OpBuilder builder = OpBuilder::atBlockEnd(lowered->getBody());
    SmallVector<LLVM::GlobalOp> globals(module.getOps<LLVM::GlobalOp>());
    for (LLVM::GlobalOp global : globals)
      builder.clone(*global);
    for (auto function : module.getOps<LLVM::LLVMFuncOp>())
      if (!function.isExternal()) {
        kernels.push_back(function);
        builder.clone(*function);
      }
    if (kernels.empty())
      return;
    llvm::LLVMContext context;
    std::unique_ptr<llvm::Module> translated =
        translateModuleToLLVMIR(*lowered, context, "kernels");
    if (!translated) {
      module.emitError("the host kernels have no translation to LLVM IR");
      return signalPassFailure();
    }
    Code code = codeOf(module);
    llvm::Expected<Image> image = compile(*translated, code.processor);
    if (!image) {
      module.emitError(llvm::toString(image.takeError()));
      return signalPassFailure();
    }
    SmallVector<Attribute> names;
    SmallVector<int64_t> offsets, stacks, threads, sharedBytes;
    SmallVector<Attribute> boxMaps;
    bool anyMaps = false, overlapping = true;
    for (LLVM::LLVMFuncOp kernel : kernels) {
      const Image::Function &function = image->functions[kernel.getName()];
      if (function.stackBytes > rt::FileHeader::kMaxStackBytes) {
        (emitError(kernel.getLoc())
         << "expects a kernel's tiles to fit " << rt::FileHeader::kMaxStackBytes
         << " bytes of stack, but those of '" << kernel.getName() << "' take "
         << function.stackBytes)
                .attachNote()
            << "smaller prefill entries or chunks make smaller tiles";
        return signalPassFailure();
      }
      names.push_back(builder.getStringAttr(kernel.getName()));
      offsets.push_back(function.offset);
      stacks.push_back(function.stackBytes);
      auto needs = codegen::LaunchNeeds::of(kernel);
      if (needs) {
        threads.push_back(needs->threads);
        sharedBytes.push_back(needs->sharedBytes);
        anyMaps |= needs->boxMaps != nullptr;
        boxMaps.push_back(needs->boxMaps ? needs->boxMaps
                                         : builder.getArrayAttr({}));
      }
      overlapping &= needs && needs->overlaps;
      kernel.erase();
    }
    auto type = RankedTensorType::get(
        {static_cast<int64_t>(image->bytes.size())}, builder.getI8Type());
    auto bytes = DenseElementsAttr::getFromRawBuffer(
        type, ArrayRef(reinterpret_cast<const char *>(image->bytes.data()),
                       image->bytes.size()));
    builder.setInsertionPointToEnd(module.getBody());
    for (LLVM::GlobalOp global : globals)
      global.erase();
    auto optional = [&](ArrayRef<int64_t> list) {
      return list.empty() ? DenseI64ArrayAttr()
                          : builder.getDenseI64ArrayAttr(list);
    };
    plan::BinaryOp::create(
        builder, module.getLoc(), code.symbol, code.isa,
        builder.getArrayAttr(names), builder.getDenseI64ArrayAttr(offsets),
        builder.getDenseI64ArrayAttr(stacks), optional(threads),
        optional(sharedBytes), DenseI64ArrayAttr(), DenseI64ArrayAttr(),
        /*ptxas=*/StringAttr(),
        anyMaps ? builder.getArrayAttr(boxMaps) : ArrayAttr(), overlapping,
        bytes);
  }

  static llvm::Expected<Image> compile(llvm::Module &module,
                                       const Processor &processor) {
    auto object = emitObject(module, processor);
    if (!object)
      return object.takeError();
    return linkImage((*object)->getMemBufferRef());
  }
};
} // namespace
} // namespace effc::image
