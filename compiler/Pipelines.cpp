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

tile::TargetAttr effc::describeTarget(const PipelineOptions &options,
                                      MLIRContext *context) {
  bool isHost = options.target->device == tile::Device::Host;
  CodeWishes wishes;
  wishes.products = options.products;
  wishes.panels = options.panels;
  wishes.bundles = options.bundles;
  wishes.bitStable = isHost ? options.bitStable : options.bitStableOnGpu;
  wishes.library = options.libraryProducts;
  wishes.optimised = options.optimised;
  return getTargetAttr(*options.target, context, wishes, options.further);
}

PhaseTarget PhaseTarget::of(tile::TargetAttr attr) {
  PhaseTarget target;
  if (!attr)
    return target;
  target.isGpu = attr.getDevice() == tile::Device::Nvptx;
  target.isSimulated = attr.getSimulated();
  target.roundsProducts = bool(attr.getRoundedTo());
  target.hasPanels = attr.getDigits() > 0;
  target.hasBundles = attr.getBundle() > 0;
  target.hasLevels = !attr.getFurther().empty();
  return target;
}

static constexpr std::pair<StateStorage, llvm::StringLiteral> kStateStorages[] =
    {{StateStorage::F32, "f32"},
     {StateStorage::BF16, "bf16"},
     {StateStorage::F16, "f16"},
     {StateStorage::Int8, "int8"}};

std::optional<StateStorage> effc::findStateStorage(llvm::StringRef name) {
  for (auto [storage, known] : kStateStorages)
    if (known == name)
      return storage;
  return std::nullopt;
}

llvm::StringRef effc::nameOf(StateStorage storage) {
  return kStateStorages[size_t(storage)].second;
}

static void addSeq(OpPassManager &passes, const PipelineOptions &options,
                   const PhaseTarget &target) {
  passes.addPass(createApplyMatricesPass());
  passes.addPass(createSplitStepsPass());
  passes.addPass(createCSEPass());
  SizeContextPassOptions context;
  context.positions = options.maxContext;
  passes.addPass(createSizeContextPass(context));
  PlanStatePassOptions states;
  states.matrixType = options.stateStorage;
  passes.addPass(createPlanStatePass(states));
  SpecializeEntriesPassOptions entries;
  entries.prefillRows = options.prefillRows;
  entries.decodeRows = options.decodeRows;
  passes.addPass(createSpecializeEntriesPass(entries));
  ChooseFormsPassOptions forms;
  forms.force = options.forceForm ? spell(*options.forceForm) : "";
  passes.addPass(createChooseFormsPass(forms));
  passes.addPass(createSplitRetrievalPass());
  // The host's logits lie where the sampler reads them.
  if (target.isGpu)
    passes.addPass(createChooseTokensPass());
  if (target.isGpu && target.roundsProducts && options.narrowResults)
    passes.addPass(createSplitProductsPass());
  FormKernelsPassOptions kernels;
  // Fewer bytes, and the same bits.
  kernels.convolutionPrologues = target.isGpu && options.convolutionPrologues;
  passes.addPass(createFormKernelsPass(kernels));
  if (target.roundsProducts && options.narrowResults)
    passes.addPass(createNarrowResultsPass());
  if (target.isGpu && target.roundsProducts)
    passes.addPass(createUnpackWeightsPass());
  if (target.hasPanels) {
    passes.addPass(createPackWeightsPass());
    passes.addPass(createStoreDigitsPass());
  }
  if (target.hasBundles)
    passes.addPass(createBundleWeightsPass());
}

// From kernel level to scheduled level.
static void addSchedule(OpPassManager &passes) {
  OpPassManager &kernels = passes.nest<tile::KernelOp>();
  kernels.addPass(createChooseThreadsPass());
  kernels.addPass(createAssignLayoutsPass());
  kernels.addPass(createFetchAheadPass());
  kernels.addPass(createPlaceSharedPass());
  kernels.addPass(createInsertBarriersPass());
}

static void addTile(OpPassManager &passes, const PhaseTarget &target) {
  passes.addPass(createConvertSeqToTilePass());
  if (target.isGpu) {
    passes.addPass(createChainLaunchesPass());
    passes.addPass(createJoinLaunchesPass());
  }
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createCSEPass());
  if (target.isGpu)
    addSchedule(passes);
}

// From scheduled kernels to GPU kernels in the LLVM and NVVM dialects.
static void addThreads(OpPassManager &passes) {
  passes.addPass(nvptx::createLowerThreadsPass());
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

static void addGpuBinary(OpPassManager &passes, const PhaseTarget &target) {
  addThreads(passes);
  if (!target.isSimulated) {
    passes.addPass(nvptx::createWriteAssemblyPass());
    passes.addPass(nvptx::createEmitCodePass());
    return;
  }
  passes.addPass(sim::createCallSimulatorPass());
  passes.addPass(image::createEmitImagePass());
}

// From kernels to code of one level of the host.
static void addHostCode(OpPassManager &passes) {
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
  passes.addPass(image::createEmitImagePass());
}

static void addBinary(OpPassManager &passes, const PhaseTarget &target) {
  if (target.isGpu)
    return addGpuBinary(passes, target);
  if (!target.hasLevels)
    return addHostCode(passes);
  passes.addPass(host::createSplitLevelsPass());
  addHostCode(passes.nest<ModuleOp>());
  passes.addPass(host::createJoinLevelsPass());
}

SmallVector<int64_t> effc::decodeRowsFor(int64_t batch) {
  SmallVector<int64_t> rows;
  for (int64_t n = 1; n < batch; n *= 2)
    rows.push_back(n);
  rows.push_back(batch);
  return rows;
}

void effc::addPhase(OpPassManager &passes, Phase phase,
                    const PipelineOptions &options, const PhaseTarget &target) {
  switch (phase) {
  case Phase::Import:
  case Phase::Artifact:
    return;
  case Phase::Seq:
    return addSeq(passes, options, target);
  case Phase::Tile:
    return addTile(passes, target);
  case Phase::Plan:
    passes.addNestedPass<plan::EntryOp>(createAssignArenaPass());
    return;
  case Phase::Binary:
    return addBinary(passes, target);
  }
}

namespace {
/// The passes of a phase, for the target that the module names.
struct PhasePass : PassWrapper<PhasePass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PhasePass)

  explicit PhasePass(Phase phase) : phase(phase) {}
  StringRef getName() const override { return getPhaseInfo(phase).name; }

  void getDependentDialects(DialectRegistry &registry) const override {
    PhaseTarget host, gpu, simulated;
    gpu.isGpu = simulated.isGpu = simulated.isSimulated = true;
    for (const PhaseTarget &target : {host, gpu, simulated}) {
      OpPassManager passes(ModuleOp::getOperationName());
      addPhase(passes, phase, {}, target);
      passes.getDependentDialects(registry);
    }
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    OpPassManager passes(ModuleOp::getOperationName());
    addPhase(passes, phase, {}, PhaseTarget::of(tile::getTarget(module)));
    if (failed(runPipeline(passes, module)))
      signalPassFailure();
  }

  Phase phase;
};
} // namespace

// From the plan phase, for whatever target it was reached.
static void addNvptx(OpPassManager &passes) {
  addSchedule(passes);
  addThreads(passes);
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
          passes.addPass(std::make_unique<PhasePass>(phase));
          return success();
        },
        [](function_ref<void(const detail::PassOptions &)>) {});
  }
}
