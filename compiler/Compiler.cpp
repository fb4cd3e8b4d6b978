// Runs the phases and writes what they lead to.
#include "compiler/Compiler.h"

#include "codegen/artifact/KernelExtents.h"
#include "codegen/artifact/OutputFile.h"
#include "compiler/CanonicalOptions.h"
#include "compiler/Diagnostics.h"
#include "compiler/HiddenRows.h"
#include "compiler/LoadCheck.h"
#include "compiler/ModelDifference.h"
#include "compiler/ModelSizes.h"
#include "compiler/OutputPlaces.h"
#include "compiler/PhaseFiles.h"
#include "compiler/ProductInputs.h"
#include "compiler/Rebind.h"
#include "compiler/Register.h"
#include "compiler/SourceLines.h"
#include "compiler/StoredModel.h"
#include "compiler/Taps.h"
#include "compiler/TargetRemarks.h"
#include "compiler/WeightSource.h"
#include "dialects/plan/Plan.h"
#include "dialects/seq/Seq.h"
#include "dialects/seq/Work.h"
#include "dialects/tile/Tile.h"
#include "frontend/Import.h"
#include "frontend/weights/WeightTypes.h"
#include "frontend/weights/Weights.h"

#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/Timing.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"

using namespace mlir;
using namespace effc;

bool CompileOptions::canPackWeights() const {
  return weights != codegen::WeightsMode::Reference &&
         llvm::all_of(targets, [](const Target *target) {
           return target->device == tile::Device::Host;
         });
}

bool CompileOptions::canBundleWeights() const {
  return weights != codegen::WeightsMode::Reference &&
         llvm::all_of(targets, [&](const Target *target) {
           return target->bundle == targets.front()->bundle;
         });
}

namespace {

class Compilation {
public:
  /// With `stored`, that model is compiled and not the one `options` names.
  Compilation(const CompileOptions &options, const CompileEvents &events,
              const StoredModel *stored = nullptr)
      : options(options), events(events), stored(stored),
        context(makeRegistry(), MLIRContext::Threading::DISABLED),
        diagnostics(context, events, options.fallbackIsError) {
    context.loadAllAvailableDialects();
    timing.setEnabled(options.timing);
    timingRoot = timing.getRootScope();
  }

  llvm::Error run();
  /// Writes a file again with the model's weights; gives how many differ.
  llvm::Expected<uint64_t> rebind(codegen::ArtifactParts parts,
                                  std::vector<std::string> &notes);
  /// Runs the phases up to `last`.
  llvm::Error runUntil(Phase last);
  /// The kernels of the first target, after the phase `tile`.
  std::string getKernels();

private:
  static DialectRegistry makeRegistry() {
    DialectRegistry registry;
    registerAllDialects(registry);
    return registry;
  }
  llvm::Error import();
  llvm::Error importStored();
  /// A module on its way through the phases: a GPU's, or that of all levels of
  /// the host, which have one plan.
  struct Lowering {
    const Target *target;
    SmallVector<const Target *, 0> further = {};
    OwningOpRef<ModuleOp> module = {};
  };
  /// Those of the options' targets, in their order.
  std::vector<Lowering> planLowerings() const;
  llvm::Error lower(Lowering &lowering, Phase last);
  llvm::Error runPhase(Lowering &lowering, Phase phase);
  llvm::Error dump(Lowering &lowering, Phase phase);
  /// Puts the module of `compileFrom` in the place of the imported one.
  llvm::Error resume(Lowering &lowering);
  llvm::Error printModule();
  /// Of the output that is in its place.
  llvm::Error tellWritten(bool hasTokenizer);
  llvm::Error writeArtifact();
  llvm::Expected<std::vector<codegen::WeightFile>> listWeightFiles() const;
  llvm::Expected<codegen::SourceTensor> readWeight(WeightSource &weights,
                                                   seq::WeightOp weight) const;
  /// Of the file that is complete but has no name yet.
  llvm::Error checkWritten(StringRef written) const;

  const CompileOptions &options;
  const CompileEvents &events;
  const StoredModel *stored;
  /// What gets the model's weights; null: nothing.
  const codegen::ArtifactParts *rebound = nullptr;
  // One tree for the whole compilation, printed at the end.
  DefaultTimingManager timing;
  TimingScope timingRoot;
  MLIRContext context;
  DiagnosticCollector diagnostics;
  frontend::ImportedModel model;
  std::vector<Lowering> lowerings;
  std::string seqBytecode;
  seq::Work work;
};

// A stored model's weights are in the order of their own types, under their own
// names.
llvm::Error Compilation::importStored() {
  model.module = parseSourceString<ModuleOp>(stored->seqBytecode, &context);
  if (!model.module)
    return diagnostics.takeError("the stored seq module cannot be read");
  for (auto weight : model.module->getOps<seq::WeightOp>()) {
    weight.setTransposed(false);
    weight.removeFurtherAttr();
    weight.removeStoredAttr();
    weight.removeRowsAttr();
    weight.removeDerivedAttr();
    if (!weight.getComputed())
      weight.setSource(weight.getSymName());
  }
  return llvm::Error::success();
}

llvm::Error Compilation::import() {
  TimingScope scope = timingRoot.nest(getPhaseInfo(Phase::Import).name);
  if (stored)
    return importStored();
  frontend::ImportOptions importOptions;
  importOptions.weightsFrom = options.weightsFrom;
  // A file that gets weights keeps its own.
  importOptions.tokenizer = options.tokenizer && !rebound;
  importOptions.tokenizerFrom = options.tokenizerFrom;
  importOptions.maxContext = options.pipeline.maxContext;
  importOptions.weightsType = options.weightsType;
  importOptions.importance = options.importance;
  importOptions.ungroupedNorm = options.ungroupedNorm;
  importOptions.streamed = {options.sinks, options.window};
  importOptions.allow = options.allow;
  if (options.weights == codegen::WeightsMode::None)
    importOptions.weights = frontend::WeightsNeeded::ShapesOnly;
  llvm::Expected<frontend::ImportedModel> imported =
      frontend::importModel(context, options.model, importOptions);
  if (!imported)
    return imported.takeError();
  model = std::move(*imported);
  if (options.hidden)
    if (llvm::Error error = giveHiddenRows(*model.module))
      return error;
  if (options.productInputs)
    if (llvm::Error error =
            giveProductInputs(*model.module, model.entryNames, model.remarks))
      return error;
  if (!options.taps.empty())
    if (llvm::Error error = giveTaps(*model.module, options.taps))
      return error;
  if (!model.checkpoint && options.compileTo == Phase::Artifact &&
      options.weights != codegen::WeightsMode::None)
    return llvm::createStringError(
        "the model has no weights; name their directory with --weights-from, "
        "make some up with tools/random_weights.py, or compile shapes alone "
        "with --weights none");
  for (const std::string &remark : model.remarks)
    diagnostics.remark("import", remark);
  if (diagnostics.hasError())
    return diagnostics.takeError("the import fails");
  if (!options.stripIr) {
    llvm::raw_string_ostream stream(seqBytecode);
    BytecodeWriterConfig config("effc");
    if (failed(writeBytecodeToFile(*model.module, stream, config)))
      return diagnostics.takeError(
          "the seq module cannot be written as bytecode");
  }
  return rebound
             ? checkSameModel(rebound->find(artifact::SegmentKind::SeqModule),
                              seqBytecode, *model.module, options.model)
             : llvm::Error::success();
}

llvm::Error Compilation::runPhase(Lowering &lowering, Phase phase) {
  PassManager passes(&context);
  TimingScope scope = timingRoot.nest(getPhaseInfo(phase).name);
  passes.enableTiming(scope);
#ifdef NDEBUG
  // Each pass is checked in debug builds; here what a phase hands on is.
  passes.enableVerifier(false);
#endif
  addPhase(passes, phase, options.pipeline,
           PhaseTarget::of(tile::getTarget(*lowering.module)));
  if (failed(passes.run(*lowering.module)) ||
      failed(verify(*lowering.module)) || diagnostics.hasError())
    return diagnostics.takeError(
        ("phase " + getPhaseInfo(phase).name + " failed").str());
  return llvm::Error::success();
}

llvm::Error Compilation::dump(Lowering &lowering, Phase phase) {
  if (options.dumpPhases.empty())
    return llvm::Error::success();
  return writePhaseFile(
      *lowering.module, phase,
      phaseFile(options.dumpPhases, options, *lowering.target, phase));
}

// What the phase's module says of itself is taken as it is, but for its target:
// later phases would make code for another one.
llvm::Error Compilation::resume(Lowering &lowering) {
  Attribute target =
      lowering.module->getOperation()->getAttr(tile::kTargetAttr);
  auto module = readPhaseFile(phaseFile(options.phases, options,
                                        *lowering.target, *options.compileFrom),
                              target);
  if (!module)
    return diagnostics.takeError(llvm::toString(module.takeError()));
  lowering.module = std::move(*module);
  return llvm::Error::success();
}

llvm::Error Compilation::printModule() {
  std::string text;
  llvm::raw_string_ostream stream(text);
  for (Lowering &lowering : lowerings)
    lowering.module->print(stream);
  if (options.output.empty() || options.output == "-") {
    llvm::outs() << text;
    llvm::outs().flush();
    std::error_code code = llvm::outs().error();
    llvm::outs().clear_error();
    if (code)
      return llvm::createStringError("cannot write standard output: " +
                                     code.message());
    return llvm::Error::success();
  }
  llvm::Expected<codegen::OutputFile> file =
      codegen::OutputFile::create(options.output);
  if (!file)
    return file.takeError();
  if (llvm::Error error = file->write(llvm::arrayRefFromStringRef(text)))
    return error;
  if (llvm::Error error = file->commit(options.durable))
    return error;
  // Before the phase seq no module says what a sequence takes.
  return options.compileTo < Phase::Seq
             ? llvm::Error::success()
             : tellWritten(model.tokenizer.has_value());
}

llvm::Error Compilation::tellWritten(bool hasTokenizer) {
  auto file = describeCompiledFile(options.output, *lowerings[0].module);
  if (!file)
    return file.takeError();
  file->hasTokenizer = hasTokenizer;
  events.written(*file);
  return llvm::Error::success();
}

llvm::Error Compilation::writeArtifact() {
  TimingScope scope = timingRoot.nest(getPhaseInfo(Phase::Artifact).name);
  codegen::Contents contents;
  for (Lowering &lowering : lowerings)
    contents.plans.push_back({lowering.target->name.str(), *lowering.module});
  contents.seqBytecode = std::move(seqBytecode);
  bool hasTokenizer = model.tokenizer.has_value();
  if (hasTokenizer)
    contents.tokenizer = std::move(*model.tokenizer);
  contents.generation.bos = model.generation.bos.value_or(-1);
  contents.generation.pad = model.generation.pad.value_or(-1);
  contents.generation.eos = model.generation.eos;
  contents.generation.doSample = model.generation.doSample;
  contents.generation.temperature =
      static_cast<float>(model.generation.temperature);
  contents.generation.topK = model.generation.topK;
  contents.generation.topP = static_cast<float>(model.generation.topP);
  contents.generation.minP = static_cast<float>(model.generation.minP);
  contents.generation.repeatPenalty =
      static_cast<float>(model.generation.repeatPenalty);
  contents.generation.stops = model.generation.stops;
  contents.compiler = ("effc " + getVersion()).str();
  contents.commit = getCommit().str();
  contents.llvmVersion = LLVM_VERSION_STRING;
  contents.options = writeCanonicalOptions(options);
  for (const frontend::SourceFile &source : model.sources)
    contents.sources.push_back({source.name, source.size, source.checksum});
  contents.flopsPerToken = work.perToken;
  contents.keyWork = work.keys;
  contents.headFlopsPerRow = work.perOutputRow;
  contents.weights = options.weights;
  auto files = listWeightFiles();
  if (!files)
    return files.takeError();
  contents.weightFiles = std::move(*files);
  WeightSource weights(model.checkpoint.get(), stored);
  codegen::LossReport report;
  if (events.loss)
    report = [&](seq::WeightOp weight, const codegen::SourceTensor &source,
                 const codegen::WeightLoss &loss) {
      auto type = cast<RankedTensorType>(weight.getType());
      events.loss(weight.getSymName(), source.storage.name(),
                  storage::Storage::get(type.getElementType()).name(), loss);
    };
  llvm::Error error = codegen::writeArtifact(
      options.output, contents,
      [&](seq::WeightOp weight) { return readWeight(weights, weight); },
      events.weights, [&](StringRef written) { return checkWritten(written); },
      events.remark, options.durable, report);
  if (error)
    return error;
  return tellWritten(hasTokenizer);
}

llvm::Expected<std::vector<codegen::WeightFile>>
Compilation::listWeightFiles() const {
  if (options.weights != codegen::WeightsMode::Reference)
    return std::vector<codegen::WeightFile>();
  return effc::listWeightFiles(*model.checkpoint, options.output);
}

llvm::Expected<codegen::SourceTensor>
Compilation::readWeight(WeightSource &weights, seq::WeightOp weight) const {
  auto tensor = weights.read(weight);
  if (tensor)
    tensor->importance = model.importance.of(weight.getSymName());
  return tensor;
}

llvm::Error Compilation::checkWritten(StringRef written) const {
  if (model.checkpoint)
    if (llvm::Error error = model.checkpoint->checkUnchanged())
      return error;
  return checkLoads(written, options.output);
}

llvm::Expected<uint64_t> Compilation::rebind(codegen::ArtifactParts parts,
                                             std::vector<std::string> &notes) {
  rebound = &parts;
  if (llvm::Error error = runUntil(Phase::Seq))
    return std::move(error);
  llvm::append_range(notes, listOtherIds(*parts.program, model.generation));
  codegen::NewWeights contents;
  contents.module = *lowerings.front().module;
  contents.mode = options.weights;
  contents.options = writeCanonicalOptions(options);
  contents.sources = mergeSources(*parts.program->provenance, model.sources);
  auto files = listWeightFiles();
  if (!files)
    return files.takeError();
  contents.files = std::move(*files);
  WeightSource weights(model.checkpoint.get(), /*stored=*/nullptr);
  bool hasTokenizer = parts.has(artifact::SegmentKind::Tokenizer);
  auto changed = codegen::rebindArtifact(
      options.output, std::move(parts), contents,
      [&](seq::WeightOp weight) { return readWeight(weights, weight); },
      events.weights, [&](StringRef written) { return checkWritten(written); },
      events.remark, options.durable);
  if (!changed)
    return changed;
  if (llvm::Error error = tellWritten(hasTokenizer))
    return std::move(error);
  return changed;
}

std::vector<Compilation::Lowering> Compilation::planLowerings() const {
  std::vector<Lowering> all;
  auto isOfHost = [](const Lowering &lowering) {
    return lowering.target->device == tile::Device::Host;
  };
  for (const Target *target : options.targets) {
    auto host = llvm::find_if(all, isOfHost);
    if (target->device == tile::Device::Host && host != all.end())
      host->further.push_back(target);
    else
      all.push_back({target});
  }
  return all;
}

llvm::Error Compilation::runUntil(Phase last) {
  if (!stored)
    if (llvm::Error error = checkOutputPlaces(options))
      return error;
  if (llvm::Error error = import())
    return error;
  int64_t rows = 1;
  for (int64_t entry : options.pipeline.prefillRows)
    rows = std::max(rows, entry);
  for (int64_t entry : options.pipeline.decodeRows)
    rows = std::max(rows, entry);
  if (failed(checkModelSizes(*model.module, rows)))
    return diagnostics.takeError("the model is too large");
  if (auto forward = model.module->lookupSymbol<func::FuncOp>("forward"))
    work = seq::countWork(forward);
  if (last >= Phase::Binary) {
    remarkOnTargets(options, *model.module);
  }
  lowerings = planLowerings();
  for (Lowering &lowering : lowerings)
    lowering.module = model.module->clone();
  for (Lowering &lowering : lowerings) {
    events.target(lowering.target->name);
    if (llvm::Error error = lower(lowering, last))
      return error;
  }
  events.target("");
  return llvm::Error::success();
}

// Where the same bits are asked for by name, no state may be rounded where a call ends:
// on the host keys and values are rounded when a token is made.
static llvm::Error checkStableStates(ModuleOp module, const Target &target) {
  auto layout = module->getAttrOfType<seq::StateLayoutAttr>("seq.state_layout");
  if (!layout)
    return llvm::Error::success();
  for (seq::StateAttr state : layout.getStates()) {
    auto stored = storage::Storage::get(state.getType().getElementType());
    bool isOfTokens = state.getKind() != seq::StateKind::Matrix;
    if (stored.isF32() || (isOfTokens && target.device == tile::Device::Host))
      continue;
    return llvm::createStringError(
        "--bit-stable cannot hold with --state-dtype " + stored.name() +
        " for " + target.name + ": state '" + state.getName() +
        "' is rounded where a call ends, so that results depend on how prompts "
        "are cut and packed");
  }
  return llvm::Error::success();
}

llvm::Error Compilation::lower(Lowering &lowering, Phase last) {
  PipelineOptions pipeline = options.pipeline;
  pipeline.target = lowering.target;
  pipeline.further = lowering.further;
  pipeline.panels &= options.canPackWeights();
  pipeline.bundles &= options.canBundleWeights();
  lowering.module->getOperation()->setAttr(tile::kTargetAttr,
                                           describeTarget(pipeline, &context));
  if (options.compileFrom)
    if (llvm::Error error = resume(lowering))
      return error;
  for (const PhaseInfo &info : kPhases) {
    if (info.phase == Phase::Artifact)
      break;
    if (options.compileFrom && info.phase <= *options.compileFrom)
      continue;
    // What becomes of kernels is code, which says nothing of its operands.
    if (info.phase == Phase::Binary)
      codegen::recordExtents(*lowering.module);
    if (llvm::Error error = runPhase(lowering, info.phase))
      return error;
    if (llvm::Error error = dump(lowering, info.phase))
      return error;
    if (info.phase == Phase::Seq && pipeline.bitStableOnGpu)
      if (llvm::Error error =
              checkStableStates(*lowering.module, *lowering.target))
        return error;
    if (info.phase == Phase::Plan && failed(checkPlanSizes(*lowering.module)))
      return diagnostics.takeError("the plan is too large");
    if (info.phase == last)
      break;
  }
  return llvm::Error::success();
}

llvm::Error Compilation::run() {
  if (llvm::Error error = runUntil(options.compileTo))
    return error;
  return options.compileTo == Phase::Artifact ? writeArtifact() : printModule();
}

std::string Compilation::getKernels() {
  std::string text;
  llvm::raw_string_ostream stream(text);
  for (auto kernel : lowerings.front().module->getOps<tile::KernelOp>())
    stream << kernel << '\n';
  return text;
}

} // namespace

std::vector<std::string> effc::weightTypes() {
  return frontend::WeightTypes::names();
}

bool effc::isWeightsType(StringRef text) {
  return frontend::WeightTypes::isText(text);
}

llvm::Error effc::compile(const CompileOptions &options,
                          const CompileEvents &events) {
  llvm::Error error = Compilation(options, events).run();
  if (!error || !StringRef(options.model).ends_with(".mlir"))
    return error;
  return llvm::createStringError(
      withSourceLine(llvm::toString(std::move(error)), options.model));
}

static llvm::Error recompileWith(codegen::WeightsMode weights,
                                 const StoredModel &model,
                                 const CompileOptions &given) {
  CompileEvents events;
  CompileOptions options = given;
  options.weights = weights;
  options.pipeline.panels &= given.canPackWeights();
  options.pipeline.bundles &= given.canBundleWeights();
  return Compilation(options, events, &model).run();
}

llvm::Error effc::recompile(const StoredModel &model,
                            const CompileOptions &options) {
  return recompileWith(codegen::WeightsMode::Embed, model, options);
}

llvm::Error effc::recompilePlan(const StoredModel &model,
                                const CompileOptions &options) {
  return recompileWith(codegen::WeightsMode::None, model, options);
}

llvm::Expected<std::string>
effc::lowerToKernels(const StoredModel &model, const CompileOptions &options) {
  CompileEvents events;
  Compilation compilation(options, events, &model);
  if (llvm::Error error = compilation.runUntil(Phase::Tile))
    return std::move(error);
  return compilation.getKernels();
}

llvm::Expected<uint64_t> effc::rebindParts(codegen::ArtifactParts parts,
                                           const CompileOptions &options,
                                           const CompileEvents &events,
                                           std::vector<std::string> &notes) {
  return Compilation(options, events).rebind(std::move(parts), notes);
}
