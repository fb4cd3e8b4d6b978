// LLVM IR -> object file for the host.
#include "codegen/image/Image.h"

#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"
#include "llvm/TargetParser/Triple.h"

using namespace llvm;

// The kernels are vectorised already, call nothing and share nothing. So these are
// the passes that change them: values into registers, loops of few steps written out,
// what is loaded or computed twice once, what no step changes in front of its loop.
// LLVM's own pipeline of level 3 takes twice the time for code that is no faster: most
// of it is for calls, globals and scalar loops. Its vectorisers would make the code
// depend on their heuristics.
static constexpr StringLiteral kPasses =
    "function("
    "sroa,early-cse<memssa>,simplifycfg,instcombine<no-verify-fixpoint>,"
    "loop-mssa(loop-rotate,licm),simplifycfg,instcombine<no-verify-fixpoint>,"
    "loop(loop-idiom,indvars,loop-deletion,loop-unroll-full),"
    "sroa,gvn,instcombine<no-verify-fixpoint>,loop-mssa(licm),simplifycfg,dse,"
    "adce)";

static Error optimise(Module &module, TargetMachine &machine) {
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager callGraph;
  ModuleAnalysisManager modules;
  PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(callGraph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, callGraph, modules);
  ModulePassManager passes;
  if (Error error = builder.parsePassPipeline(passes, kPasses))
    return error;
  passes.run(module, modules);
  return Error::success();
}

/// What the runtime holds kernels to (runtime/src/Limits.h).
static constexpr uint64_t kFunctionAlignment = 16;

// The back ends of the architectures that levels are of (runtime/abi/HostIsas.cpp).
static void initialiseBackEnds() {
  static const bool initialised = [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeAArch64TargetInfo();
    LLVMInitializeAArch64Target();
    LLVMInitializeAArch64TargetMC();
    LLVMInitializeAArch64AsmPrinter();
    return true;
  }();
  (void)initialised;
}

Expected<std::unique_ptr<MemoryBuffer>>
effc::image::emitObject(Module &module, const Processor &processor) {
  initialiseBackEnds();
  Triple triple(processor.triple);
  std::string reason;
  const Target *target = TargetRegistry::lookupTarget(triple, reason);
  if (!target)
    return createStringError("LLVM has no back end for %s: %s",
                             processor.triple.c_str(), reason.c_str());
  TargetOptions options;
  options.EmitStackSizeSection = true;
  std::unique_ptr<TargetMachine> machine(target->createTargetMachine(
      triple, processor.cpu, processor.features, options, Reloc::PIC_,
      CodeModel::Small,
      processor.isOptimised ? CodeGenOptLevel::Aggressive
                            : CodeGenOptLevel::None));
  module.setTargetTriple(triple);
  module.setDataLayout(machine->createDataLayout());
  for (Function &function : module) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("target-cpu", processor.cpu);
    if (!processor.features.empty())
      function.addFnAttr("target-features", processor.features);
    function.addFnAttr("prefer-vector-width",
                       std::to_string(processor.vectorBits));
    // Arm's back end would do with 4.
    function.setAlignment(Align(kFunctionAlignment));
    // No loop may become a call of memset or memcpy: there is no library.
    function.addFnAttr("no-builtins");
    function.addFnAttr(Attribute::NoUnwind);
  }
  if (processor.isOptimised)
    if (Error error = optimise(module, *machine))
      return error;
  SmallVector<char> object;
  raw_svector_ostream stream(object);
  legacy::PassManager emission;
  if (machine->addPassesToEmitFile(emission, stream, nullptr,
                                   CodeGenFileType::ObjectFile))
    return createStringError("LLVM's back end for %s cannot write object files",
                             processor.triple.c_str());
  emission.run(module);
  return std::make_unique<SmallVectorMemoryBuffer>(
      std::move(object), "kernels.o",
      /*RequiresNullTerminator=*/false);
}
