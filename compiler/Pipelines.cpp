// The only place that orders passes.
#include "compiler/Pipelines.h"

#include "codegen/host/Passes.h"
#include "codegen/image/Passes.h"
#include "codegen/math/Passes.h"
#include "codegen/nvptx/Passes.h"
#include "codegen/sim/Passes.h"
#include "dialects/plan/Plan.h"
#include "passes/plan/Passes.h"
#include "passes/seq/Passes.h"
#include "passes/seq_to_tile/Passes.h"
#include "passes/tile/Passes.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace effc;

static bool isBitStable(const PipelineOptions &options) {
  return options.target->device == tile::Device::Host ? options.bitStable
                                                      : options.bitStableOnGpu;
}

static void addSeq(OpPassManager &passes, const PipelineOptions &options) {
  bool bitStable = isBitStable(options);
  passes.addPass(createApplyMatricesPass());
  passes.addPass(createSplitStepsPass());
  passes.addPass(createCSEPass());
  SizeContextPassOptions context;
  context.positions = options.maxContext;
  passes.addPass(createSizeContextPass(context));
  PlanStatePassOptions states;
  states.matrixType = options.stateStorage;
  states.bitStable = bitStable;
  passes.addPass(createPlanStatePass(states));
  SpecializeEntriesPassOptions entries;
  entries.prefillRows = options.prefillRows;
  entries.decodeRows = options.decodeRows;
  passes.addPass(createSpecializeEntriesPass(entries));
  ChooseFormsPassOptions forms;
  forms.force = options.forceForm;
  forms.bitStable = bitStable;
  passes.addPass(createChooseFormsPass(forms));
  passes.addPass(createSplitRetrievalPass());
  // The host's logits lie where the sampler reads them.
  bool isGpu = options.target->device == tile::Device::Nvptx;
  if (isGpu)
    passes.addPass(createChooseTokensPass());
  FormKernelsPassOptions kernels;
  // The factor of a row comes after its sums, which is another rounding.
  kernels.normPrologues = isGpu && !bitStable;
  // So the product takes a row by itself.
  kernels.updateEpilogues = isGpu && !bitStable;
  // A launch less, and the same bits.
  kernels.rowPrologues = isGpu;
  // Fewer bytes, and the same bits.
  kernels.convolutionPrologues = isGpu && options.convolutionPrologues;
  passes.addPass(createFormKernelsPass(kernels));
  if (isGpu && options.products != Products::F32 && options.narrowResults) {
    NarrowResultsPassOptions narrow;
    narrow.bitStable = bitStable;
    passes.addPass(createNarrowResultsPass(narrow));
  }
}

static void addTile(OpPassManager &passes, const PipelineOptions &options) {
  ConvertSeqToTilePassOptions kernels;
  kernels.bitStable = isBitStable(options);
  // Simulated GPUs have plans of their own, in which nothing changes.
  kernels.libraryProducts = options.libraryProducts &&
                            options.target->device == tile::Device::Nvptx &&
                            !options.target->simulated;
  passes.addPass(createConvertSeqToTilePass(kernels));
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createCSEPass());
  if (options.target->device != tile::Device::Nvptx)
    return;
  SchedulePassOptions schedule;
  schedule.maxThreads = options.target->mostThreads;
  schedule.maxShared = options.target->mostSharedBytes;
  // They add in an order of their own, and only many rows are theirs.
  schedule.warpGroups = options.target->warpGroups && !isBitStable(options);
  passes.addNestedPass<tile::KernelOp>(createSchedulePass(schedule));
}

// From scheduled kernels to GPU kernels in the LLVM and NVVM dialects.
static void addThreads(OpPassManager &passes, bool overlapLaunches) {
  nvptx::LowerThreadsPassOptions threads;
  threads.overlapLaunches = overlapLaunches;
  passes.addPass(nvptx::createLowerThreadsPass(threads));
  passes.addPass(f32::createExpandMathPass());
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createCSEPass());
  passes.addPass(createLoopInvariantCodeMotionPass());
  // Only the functions made here: other kernels stay at kernel level.
  OpPassManager &kernels = passes.nest<LLVM::LLVMFuncOp>();
  kernels.addPass(createSCFToControlFlowPass());
  kernels.addPass(createConvertMathToLLVMPass());
  kernels.addPass(createArithToLLVMConversionPass());
  kernels.addPass(createReconcileUnrealizedCastsPass());
  passes.addPass(createConvertControlFlowToLLVMPass());
  passes.addPass(createReconcileUnrealizedCastsPass());
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createCSEPass());
}

static void addGpuBinary(OpPassManager &passes,
                         const PipelineOptions &options) {
  const Target &target = *options.target;
  addThreads(passes, target.overlapsLaunches);
  if (!target.simulated) {
    passes.addPass(nvptx::createWriteAssemblyPass());
    nvptx::EmitCodePassOptions code;
    code.chip = target.cpu.str();
    code.features = target.ptxFeatures.str();
    passes.addPass(nvptx::createEmitCodePass(code));
    return;
  }
  passes.addPass(sim::createCallSimulatorPass());
  image::EmitImagePassOptions code;
  code.cpu = kTargets[0].cpu.str();
  code.isa = target.name.str();
  passes.addPass(image::createEmitImagePass(code));
}

static void addBinary(OpPassManager &passes, const PipelineOptions &options) {
  if (options.target->device == tile::Device::Nvptx)
    return addGpuBinary(passes, options);
  passes.addPass(host::createLowerKernelsPass());
  passes.addPass(host::createPairExponentialsPass());
  passes.addPass(f32::createExpandMathPass());
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createCSEPass());
  passes.addPass(createLoopInvariantCodeMotionPass());
  passes.addPass(createSCFToControlFlowPass());
  passes.addPass(createConvertVectorToLLVMPass());
  passes.addPass(createConvertMathToLLVMPass());
  passes.addPass(createArithToLLVMConversionPass());
  passes.addPass(createConvertControlFlowToLLVMPass());
  passes.addPass(createReconcileUnrealizedCastsPass());
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createCSEPass());
  image::EmitImagePassOptions code;
  code.cpu = options.target->cpu.str();
  passes.addPass(image::createEmitImagePass(code));
}

SmallVector<int64_t> effc::decodeRowsFor(int64_t batch) {
  SmallVector<int64_t> rows;
  for (int64_t n = 1; n < batch; n *= 2)
    rows.push_back(n);
  rows.push_back(batch);
  return rows;
}

void effc::addPhase(OpPassManager &passes, Phase phase,
                    const PipelineOptions &options) {
  switch (phase) {
  case Phase::Import:
  case Phase::Artifact:
    return;
  case Phase::Seq:
    return addSeq(passes, options);
  case Phase::Tile:
    return addTile(passes, options);
  case Phase::Plan:
    passes.addNestedPass<plan::EntryOp>(createAssignArenaPass());
    return;
  case Phase::Binary:
    return addBinary(passes, options);
  }
}

// From the plan phase, for whatever target it was reached.
static void addNvptx(OpPassManager &passes) {
  passes.addNestedPass<tile::KernelOp>(createSchedulePass());
  addThreads(passes, /*overlapLaunches=*/false);
}

void effc::registerPipelines() {
  PassPipelineRegistration<>("effc-nvptx-kernels",
                             "schedule the kernels and lower them to LLVM and "
                             "NVVM",
                             addNvptx);
  for (const PhaseInfo &info : kPhases) {
    if (info.phase == Phase::Import || info.phase == Phase::Artifact)
      continue;
    registerPassPipeline(
        ("effc-phase-" + info.name).str(), info.summary,
        [phase = info.phase](
            OpPassManager &passes, StringRef options,
            function_ref<LogicalResult(const Twine &)> error) -> LogicalResult {
          if (!options.empty())
            return error("a phase takes no options");
          addPhase(passes, phase, {});
          return success();
        },
        [](function_ref<void(const detail::PassOptions &)>) {});
  }
}
