// GPU kernels -> LLVM IR -> PTX, by LLVM's NVPTX back end.
#include "codegen/nvptx/Ptx.h"

#include "dialects/tile/Tile.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/OptBisect.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Triple.h"

using namespace mlir;
using effc::nvptx::Addresses;
using effc::nvptx::Chip;

namespace {

void optimise(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager callGraph;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(callGraph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, callGraph, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3)
      .run(module, modules);
}

/// Leaves out the pass that has loops step pointers: LLVM's own switch for it,
/// `disable-lsr`, is one of the process, of which a compilation is a part.
class WithoutSteps : public llvm::OptPassGate {
public:
  bool isEnabled() const override { return true; }
  bool shouldRunPass(llvm::StringRef pass, llvm::StringRef) const override {
    return pass != "Loop Strength Reduction";
  }
};

llvm::Expected<std::string> emit(llvm::Module &module, const Chip &chip) {
  static const bool initialised = [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    return true;
  }();
  (void)initialised;
  llvm::Triple triple("nvptx64-nvidia-cuda");
  std::string reason;
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(triple, reason);
  if (!target)
    return llvm::createStringError("LLVM has no NVPTX back end: %s",
                                   reason.c_str());
  std::unique_ptr<llvm::TargetMachine> machine(target->createTargetMachine(
      triple, chip.name, chip.features, {}, std::nullopt));
  module.setTargetTriple(triple);
  module.setDataLayout(machine->createDataLayout());
  optimise(module, *machine);
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream stream(text);
  llvm::legacy::PassManager emission;
  if (machine->addPassesToEmitFile(emission, stream, nullptr,
                                   llvm::CodeGenFileType::AssemblyFile))
    return llvm::createStringError("LLVM's NVPTX back end cannot write PTX");
  emission.run(module);
  return std::string(text);
}

/// Divisions that may be approximate -> products with an approximate reciprocal,
/// two instructions. Of a denominator beyond 2^126 the quotient is 0; one below
/// 2^-126 counts as 0.
void writeReciprocals(ModuleOp kernels) {
  kernels.walk([](LLVM::FDivOp division) {
    if (!division.getType().isF32() ||
        !bitEnumContainsAny(division.getFastmathFlags(),
                            LLVM::FastmathFlags::afn))
      return;
    OpBuilder b(division);
    Value reciprocal = NVVM::RcpApproxFtzF32Op::create(
        b, division.getLoc(), division.getType(), division.getRhs());
    division.replaceAllUsesWith(LLVM::FMulOp::create(b, division.getLoc(),
                                                     division.getLhs(),
                                                     reciprocal)
                                    .getRes());
    division.erase();
  });
}

} // namespace

FailureOr<Chip> effc::nvptx::findChip(ModuleOp module) {
  tile::TargetAttr target = tile::getTarget(module);
  if (target && target.getDevice() == tile::Device::Nvptx && target.getCpu())
    return Chip{target.getCpu().str(),
                target.getFeatures() ? target.getFeatures().str() : ""};
  InFlightDiagnostic diagnostic = module.emitError(
      "expects a module whose 'tile.target' names a GPU and its chip ('cpu'), "
      "but got ");
  if (target)
    diagnostic << target;
  else
    diagnostic << "one without";
  diagnostic.attachNote()
      << "the compiler sets the attribute; a module that goes to a pass alone "
         "needs one of its own, as '#tile.target<nvptx, ..., cpu = "
         "\"sm_80\", ...>'";
  return diagnostic;
}

llvm::Expected<std::string>
effc::nvptx::emitPtx(ModuleOp module, const Chip &chip, Addresses addresses) {
  OwningOpRef<ModuleOp> kernels = ModuleOp::create(module.getLoc());
  OpBuilder builder = OpBuilder::atBlockEnd(kernels->getBody());
  for (Operation &op : *module.getBody())
    if (isa<LLVM::GlobalOp>(op) || op.hasAttr("nvvm.kernel"))
      builder.clone(op);
  // What a loop is to be is said at its back edge, by an attribute that has
  // come down from `scf` as a foreign one.
  kernels->walk([](LLVM::BrOp edge) {
    if (auto annotation = edge->getAttrOfType<LLVM::LoopAnnotationAttr>(
            "llvm.loop_annotation")) {
      edge->removeAttr("llvm.loop_annotation");
      edge.setLoopAnnotationAttr(annotation);
    }
  });
  writeReciprocals(*kernels);
  llvm::LLVMContext context;
  WithoutSteps withoutSteps;
  if (addresses == Addresses::Computed)
    context.setOptPassGate(withoutSteps);
  std::unique_ptr<llvm::Module> translated =
      translateModuleToLLVMIR(*kernels, context, "kernels");
  if (!translated)
    return llvm::createStringError(
        "the GPU kernels have no translation to LLVM IR");
  // All threads of a warp come to an instruction together: LLVM's passes may
  // not make its execution depend on more conditions.
  for (llvm::Function &function : *translated)
    for (llvm::Instruction &instruction : llvm::instructions(function))
      if (auto *call = llvm::dyn_cast<llvm::CallInst>(&instruction);
          call && call->isInlineAsm())
        call->setConvergent();
  return emit(*translated, chip);
}
