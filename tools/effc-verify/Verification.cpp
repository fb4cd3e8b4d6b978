#include "tools/effc-verify/Verification.h"

#include "compiler/CanonicalOptions.h"
#include "compiler/StoredArtifact.h"
#include "tools/effc-verify/CodeDifference.h"
#include "tools/effc-verify/Expected.h"
#include "tools/effc-verify/Numbers.h"
#include "tools/effc-verify/PlanDifference.h"
#include "tools/effc-verify/ProbeComparisons.h"
#include "tools/effc-verify/ReferencePlan.h"
#include "tools/effc-verify/SeqModule.h"
#include "tools/effc-verify/TemporaryArtifact.h"
#include "tools/effc-verify/Tolerances.h"
#include "tools/terminal/Failure.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>

using namespace effc;
using namespace effc::verify;
using cli::Failure;

static constexpr cli::EngineWish kWish = {.sessions = Feeding::kMostSequences,
                                          .takesHidden = true};
static constexpr size_t kSplits = 4;
static constexpr size_t kFeedingChecks = kSplits + 7, kReferenceChecks = 1,
                        kCodeChecks = 2;

/// What rounding a state may make of logits.
static double feedingOf(const effc_state_info_t &state) {
  for (auto [type, feeding] : {std::pair("f32", 0.0),
                               {"bf16", kNarrowFeeding},
                               {"f16", kHalfFeeding},
                               {"int8", kByteFeeding}})
    if (std::strcmp(state.type, type) == 0)
      return feeding;
  throw Failure(std::string("state '") + state.name + "' is of type " +
                state.type + ", for which no tolerance is known");
}

Verification::Verification(VerifyOptions given,
                           std::function<void(uint64_t, uint64_t)> tell)
    : options(std::move(given)), progress(std::move(tell)),
      model(cli::openModel(options.file, options.access)),
      budget(options.seconds), columns(model.rowWidth()) {
  size_t count = options.tokens;
  if (model.maxContext())
    count = std::min<size_t>(count, model.maxContext());
  if (count < 2)
    throw Failure("a context of " + std::to_string(count) +
                  " tokens is too short to verify");
  options.tokens = count;
  tokens = pickTokens(model.vocabularySize(), count, /*seed=*/1);
  for (const effc_state_info_t &state : model.states()) {
    double feeding = feedingOf(state);
    bool isMatrix = std::strcmp(state.kind, "matrix") == 0;
    (isMatrix ? narrowMatrices : narrowKeys) |= feeding > 0;
    narrowFeeding = std::max(narrowFeeding, feeding);
  }
}

void Verification::add(std::string name, std::string against, double error,
                       double tolerance, std::optional<size_t> firstToken) {
  report.checks.push_back(
      {std::move(name), std::move(against), error, tolerance, firstToken});
  progress(++done, total);
}

/// Of numbers of two types no bits can be the same.
static double errorOf(const Logits &found, const Logits &expected,
                      size_t columns, double tolerance) {
  return tolerance == 0 ? bitError(found, expected, columns)
                        : largestError(found, expected, columns);
}
template <typename A>
static double errorOf(const std::vector<A> &found,
                      const std::vector<double> &expected, size_t columns,
                      double) {
  return largestError(found, expected, columns);
}

template <typename A, typename B>
void Verification::addLogits(std::string name, std::string against,
                             const std::vector<A> &found,
                             const std::vector<B> &expected, double tolerance,
                             const Suspect &suspect) {
  std::optional<size_t> firstToken =
      firstBeyond(found, expected, columns, tolerance);
  add(std::move(name), std::move(against),
      errorOf(found, expected, columns, tolerance), tolerance, firstToken);
  if (report.checks.back().passed() || firstFailed)
    return;
  firstFailed = suspect;
  // Tokens after the first that differs would only take longer.
  if (firstToken && found.size() == suspect.tokens.size() * columns)
    firstFailed->tokens.resize(*firstToken + 1);
}

bool Verification::hasTimeFor(const std::string &name, double estimate) {
  if (budget.hasRoomFor(estimate))
    return true;
  report.skip(name, "no time left of " + shortNumber(budget.total()) +
                        " seconds (--seconds)");
  progress(++done, total);
  return false;
}

void Verification::chooseSample() {
  // Half of the time is for what runs and is compiled.
  double seconds = budget.left() / 2;
  std::optional<LayerSample> layers;
  if (options.layers != Layers::All)
    layers = take(sampleLayers(stored));
  if (layers && options.layers == Layers::Sample) {
    sample = std::move(layers);
    plan = {.whole = 0, .sample = tokens.size()};
    return;
  }
  if (options.layers == Layers::Sample)
    report.skip("a sample of the layers",
                "no layer can be left out: each is the first or the last of "
                "its kind, or has no number in its name");
  if (seconds == INFINITY || tokens.size() < kFewestTimed)
    return;
  ReferenceCost cost{.seconds = seconds,
                     .wanted = tokens.size(),
                     .plain = 2u + roundedRows.has_value() +
                              !cli::isHostName(options.device.name),
                     .forms = std::size(kForms),
                     .time =
                         timeReference(layers ? layers->model : stored, tokens),
                     .share = layers ? layers->share : 1};
  plan = planReference(cost);
  if (plan.sample > 0)
    sample = std::move(layers);
  if (plan.whole > 0 && plan.whole < tokens.size())
    report.skip("tokens " + std::to_string(plan.whole) + " to " +
                    std::to_string(tokens.size() - 1) +
                    " of the sequence against the reference",
                "it would take longer than --seconds leaves it");
}

Tokens Verification::firstTokens(size_t count) const {
  return Tokens(tokens.begin(), tokens.begin() + static_cast<ptrdiff_t>(count));
}

std::string Verification::sampleName() const {
  return "layers " +
         llvm::join(llvm::map_range(sample->kept,
                                    [](const std::string &name) {
                                      return name.substr(name.rfind('.') + 1);
                                    }),
                    ", ") +
         " of " + std::to_string(sample->layers);
}

/// The seq module, the weights and the options the file was compiled with.
void Verification::readStored() {
  stored.seqBytecode = readSeqModule(model);
  stored.weights = weightsOf(model, stored.seqBytecode);
  auto description = nlohmann::json::parse(model.describe());
  std::vector<std::string> texts;
  if (auto from = description.find("provenance"); from != description.end()) {
    texts = (*from)["options"].get<std::vector<std::string>>();
    compiler = (*from)["compiler"].get<std::string>() + ", commit " +
               (*from)["commit"].get<std::string>() + ", LLVM " +
               (*from)["llvm"].get<std::string>();
  }
  if (llvm::Error error = readCanonicalOptions(texts, compileOptions)) {
    optionsKnown = false;
    report.skip("recompiling", llvm::toString(std::move(error)));
    stored.seqBytecode.clear();
  }
  if (!stored.seqBytecode.empty())
    keepHostTargets();
  roundedRows = findRoundedRows();
}

void Verification::readTargetOptions() {
  const PipelineOptions &pipeline = compileOptions.pipeline;
  // "auto" takes a GPU where there is one.
  runsOnHost = cli::isHostName(options.device.name) ||
               (place && cli::isHostName(place->name));
  narrowStates = narrowMatrices || (narrowKeys && !runsOnHost);
  bitStable = optionsKnown && !narrowStates &&
              (runsOnHost ? pipeline.bitStable : pipeline.bitStableOnGpu) &&
              (!pipeline.forceForm || pipeline.forceForm->isStep());
  findRoundingLoss();
}

void Verification::keepHostTargets() {
  compileOptions.pipeline.panels &= compileOptions.canPackWeights();
  std::vector<const Target *> levels;
  for (const Target *target : compileOptions.targets)
    if (target->device == tile::Device::Host)
      levels.push_back(target);
    else
      report.skip("code and plan of " + target->name.str() + ", compiled again",
                  "the host's alone is compared");
  hasHostCode = !levels.empty();
  if (!hasHostCode)
    levels = {&hostTarget()};
  compileOptions.targets = std::move(levels);
}

// What is compiled anew runs as the file does.
void Verification::keepLevelThatRuns() {
  for (const Target *target : compileOptions.targets)
    if (runsOnHost && target->code == report.isa) {
      compileOptions.targets = {target};
      return;
    }
}

void Verification::checkFeeding() {
  if (!notJudged.empty() && !bitStable) {
    report.skip("decode steps, splits, batches, saved and loaded, the last row "
                "alone, without logits",
                notJudged);
    progress(done += kFeedingChecks - 1, total);
    return checkThreads();
  }
  double tolerance = feedingTolerance();
  auto compare = [&](std::string name, const Logits &expected,
                     const char *against, const FeedingWay &way) {
    addLogits(std::move(name), against, way(*feeding, tokens), expected,
              tolerance, suspectFeeding(way, tolerance));
  };
  compare("decode steps", whole, "one prefill",
          [](Feeding &f, const Tokens &t) { return f.inSteps(t); });
  for (size_t i = 0; i < kSplits; ++i)
    compare("split " + std::to_string(i + 1) + ", " +
                std::to_string(pickSplit(tokens.size(), i).size()) + " pieces",
            whole, "one prefill", [i](Feeding &f, const Tokens &t) {
              return f.inPieces(t, pickSplit(t.size(), i));
            });
  // Neighbours of other lengths, before and after.
  std::vector<Tokens> sequences;
  for (size_t length : {tokens.size() / 3 + 1, tokens.size(),
                        tokens.size() / 2 + 1, tokens.size() / 5 + 1})
    sequences.push_back(pickTokens(model.vocabularySize(), length, 2 + length));
  sequences[1] = tokens;
  std::vector<Logits> together = feeding->inBatch(sequences);
  addLogits("batch of 4, this sequence", "one prefill", together[1], whole,
            tolerance, {});
  double worst = 0;
  for (size_t i : {0, 2, 3}) {
    Logits alone = feeding->inOnePrefill(sequences[i]);
    worst = std::max(worst, errorOf(together[i], alone, columns, tolerance));
  }
  add("batch of 4, its neighbours", "one by one", worst, tolerance);
  compare("saved and loaded halfway", whole, "one prefill",
          [](Feeding &f, const Tokens &t) { return f.throughASavedState(t); });
  // What generation asks for.
  Logits last(whole.end() - static_cast<ptrdiff_t>(columns), whole.end());
  addLogits("last row alone", "all rows", feeding->lastRowAlone(tokens), last,
            tolerance, {});
  addLogits("fed without logits, then a step", "one prefill",
            feeding->withoutLogitsThenAStep(tokens), last, tolerance, {});
  checkThreads();
}

/// Threads never show, whatever the forms.
void Verification::checkThreads() {
  cli::DeviceChoice one = options.device;
  one.name = place->name;
  one.threads = 1;
  if (one.name == "cuda") {
    report.skip("one thread", "a GPU has its own");
    progress(++done, total);
    return;
  }
  Feeding alone(model, cli::openEngine(one, model, kWish).engine);
  addLogits("one thread", "all threads", alone.inOnePrefill(tokens), whole, 0,
            {});
}

Suspect Verification::suspectFeeding(const FeedingWay &way,
                                     double tolerance) const {
  if (stored.seqBytecode.empty())
    return {};
  return {&stored, tokens,
          fedAgainstOnePrefill(compileOptions, options.device.threads, way,
                               tolerance)};
}

void Verification::checkReference() {
  if (plan.whole > 0)
    oracle.emplace(stored, firstTokens(plan.whole), columns,
                   roundedRows.value_or(Products::Exact));
  if (sample)
    sampleOracle.emplace(sample->model, firstTokens(plan.sample), columns,
                         roundedRows.value_or(Products::Exact));
  report.f32Loss = forms()->getLoss();
  forms()->requireJudgeable();
  if (all())
    all()->requireJudgeable();
}

void Verification::checkDerivedForms() {
  const Oracle &expected = *forms();
  double tolerance = doubleTolerance(expected.getLoss());
  for (const FormCase &form : kForms) {
    std::string name = std::string("form ") + form.name;
    if (!hasTimeFor(name, expected.getSeconds()))
      continue;
    ReferenceCoverage coverage;
    std::vector<double> logits = expected.inForm(form, coverage);
    for (const std::string &line : coverage.kept)
      report.skip(name, line);
    if (coverage.expanded > 0 || coverage.kept.empty())
      addLogits(name, "reference", logits, expected.getLogits(), tolerance,
                {&expected.getModel(), expected.getTokens(),
                 formAgainstReference(form)});
    else
      progress(++done, total);
  }
}

void Verification::checkFile() {
  if (!notJudged.empty()) {
    report.skip("this file against the reference", notJudged);
    progress(++done, total);
  } else if (!all()) {
    report.skip("this file against the reference",
                options.layers == Layers::Sample
                    ? "--layers sample leaves it out"
                    : "it would take longer than --seconds leaves it");
    progress(++done, total);
  } else {
    Logits first(whole.begin(),
                 whole.begin() + static_cast<ptrdiff_t>(
                                     oracle->getTokens().size() * columns));
    addLogits(
        "this file", "reference", first, oracle->getLogits(), fileTolerance(),
        {&stored, oracle->getTokens(),
         compiledAgainstReference(compileOptions, options.device.threads)});
  }
}

void Verification::checkSample() {
  if (!sample)
    return;
  CompileOptions anew = compileOptions;
  anew.stripIr = true;
  if (hasTimeFor(sampleName() + ", compiled anew", compilation))
    checkCompiled(sampleName() + ", compiled anew", anew, mostRows());
}

void Verification::checkCompiled(const std::string &name, CompileOptions how,
                                 size_t rows) {
  const Oracle &expected = *forms();
  TemporaryArtifact artifact;
  how.output = artifact.path();
  require(recompile(expected.getModel(), how));
  Model other(artifact.path());
  Feeding another(other, Device::host(options.device.threads));
  addLogits(name, "reference", another.inOnePrefill(expected.getTokens()),
            expected.getLogits(), prefillTolerance(&expected, rows),
            {&expected.getModel(), expected.getTokens(),
             compiledAgainstReference(how, options.device.threads)});
}

/// For kernels in one form: one entry whose rows the chunks divide, so that the
/// form is kept.
static CompileOptions optionsFor(const FormCase &form, size_t tokens,
                                 const CompileOptions &ofTheFile) {
  CompileOptions forced = ofTheFile;
  forced.stripIr = true;
  forced.pipeline.forceForm = form.force;
  int64_t chunk = form.chunk > 0 ? form.chunk : 16;
  int64_t rows = std::min<int64_t>(tokens, 256);
  forced.pipeline.prefillRows = {(rows + chunk - 1) / chunk * chunk};
  forced.pipeline.decodeRows = {1};
  return forced;
}

void Verification::checkForms() {
  std::map<std::string, const FormCase *> byKernels;
  // Of each form, the first that has its kernels.
  std::vector<const FormCase *> firsts;
  for (const FormCase &form : kForms) {
    CompileOptions forced =
        optionsFor(form, forms()->getTokens().size(), compileOptions);
    firsts.push_back(
        byKernels
            .try_emplace(take(lowerToKernels(forms()->getModel(), forced)),
                         &form)
            .first->second);
  }
  // Kernels in one form are the file's, where it has run its host code.
  bool isFiles = byKernels.size() == 1 && runsOnHost;
  for (auto [form, first] : llvm::zip_equal(kForms, firsts)) {
    std::string name = std::string("kernels ") + form.name;
    if (isFiles || first != &form) {
      report.skip(
          name, isFiles ? "the same kernels as this file's, since no mixer of "
                          "the model has kernels in more than one form"
                        : std::string("the same kernels as 'kernels ") +
                              first->name +
                              "', since no mixer of the model has kernels in "
                              "this form");
      progress(++done, total);
      continue;
    }
    if (!hasTimeFor(name, compilation))
      continue;
    CompileOptions forced =
        optionsFor(form, forms()->getTokens().size(), compileOptions);
    size_t rows = forced.pipeline.prefillRows.back();
    checkCompiled(name, std::move(forced), rows);
  }
}

void Verification::checkCode() {
  if (!hasHostCode) {
    progress(done += kCodeChecks, total);
    return;
  }
  TimeBudget watch(INFINITY);
  TemporaryArtifact artifact;
  CompileOptions again = compileOptions;
  again.output = artifact.path();
  again.durable = false;
  require(recompilePlan(stored, again));
  compilation = watch.passed();
  std::vector<uint8_t> code = hostCode(Model(artifact.path()));
  bool sameCode = hostCode(model) == code;
  // Places of kernels and checksums of their starts differ with the code.
  std::optional<std::string> difference;
  if (sameCode)
    difference = findPlanDifference(options.file, artifact.path());
  std::string here = "effc " + getVersion().str() + ", commit " +
                     getCommit().str() + ", LLVM " LLVM_VERSION_STRING;
  if ((!sameCode || difference) && compiler != here) {
    report.skip("same code and plan",
                "the file is by " + compiler + ", this is " + here);
    progress(done += kCodeChecks, total);
    return;
  }
  codeIsSound = sameCode && !difference;
  if (!sameCode)
    report.firstKernel = findFirstKernel(model, code);
  add("code bytes, compiled again", "this file", sameCode ? 0 : INFINITY, 0);
  if (!sameCode) {
    progress(++done, total);
    return;
  }
  report.planDifference = difference;
  add("plan, compiled again", "this file", difference ? INFINITY : 0, 0);
}

void Verification::feedWhole() {
  place.emplace(cli::openEngine(options.device, model, kWish));
  report.isa = place->engine.isa();
  feeding.emplace(model, std::move(place->engine));
  chooseTokens();
  whole = feeding->inOnePrefill(tokens);
}

void Verification::chooseTokens() {
  if (budget.left() == INFINITY)
    return;
  Tokens one(tokens.begin(), tokens.begin() + 1);
  feeding->inSteps(one); // brings the weights into memory
  TimeBudget watch(INFINITY);
  feeding->inSteps(one);
  // A step is the dearest way for a token, and no way is dearer than all steps.
  size_t fewest =
      std::max(kFewestTokens, all() ? all()->getTokens().size() : 0);
  size_t count =
      tokensWithin(budget.left() / 2, kFeedingChecks,
                   LinearTime{.each = watch.passed()}, fewest, tokens.size());
  if (count < tokens.size())
    report.skip("tokens " + std::to_string(count) + " to " +
                    std::to_string(tokens.size() - 1) + " of the sequence",
                "feeding them would take longer than --seconds leaves it");
  tokens.resize(count);
}

void Verification::checkWhatRuns() {
  bool hasModule = !stored.seqBytecode.empty();
  feedWhole();
  readTargetOptions();
  keepLevelThatRuns();
  total += kLevelChecks * otherLevels().size();
  if (hasModule)
    checkFile();
  checkFeeding();
  checkOtherLevels();
}

void Verification::checkModule() {
  if (!options.compiles) {
    report.skip("kernels in other forms, code bytes and plan, compiled again",
                "--no-compile leaves them out");
    progress(done += std::size(kForms) + kCodeChecks, total);
  } else {
    checkCode();
  }
  if (!codeIsSound)
    return;
  plan.whole = tokens.size();
  chooseSample();
  total += sample && options.compiles && options.runs;
  checkReference();
}

void Verification::findFirstOpThatDiffers() {
  if (!firstFailed || !firstFailed->differing || !options.compiles)
    return;
  try {
    report.firstOp = verify::findFirstOp(
        *firstFailed->model, firstFailed->tokens, firstFailed->differing);
    if (!report.firstOp)
      report.skip("the first op that differs",
                  "none does where the model is compiled anew for the host: "
                  "what differs is the file's code, or its device");
  } catch (const Failure &failure) {
    report.skip("the first op that differs", failure.what());
  }
}

/// A model of shapes alone has nothing to compute with.
static void requireWeights(const Model &model) {
  for (const effc_weight_info_t &weight : model.weights())
    if (!weight.data)
      throw Failure("the file has no weights: it was compiled from shapes "
                    "alone; compile it without --weights none");
}

/// Without its module and its code nothing of a file can be compared.
static void requireModuleOrRun(const Model &model, const VerifyOptions &how) {
  bool holdsModule =
      llvm::any_of(model.segments(), [](const effc_segment_info_t &segment) {
        return std::strcmp(segment.kind, "seq_module") == 0 &&
               segment.bytes > 0;
      });
  if (!holdsModule && !how.runs)
    throw Failure("the file has no seq module, so nothing of it can be checked "
                  "with --no-run: compile the model without --strip-ir, or "
                  "leave --no-run out to check how the file's code is fed");
}

/// A table without a line would pass for a check that nothing failed.
void Verification::requireChecks() const {
  if (report.checks.empty())
    throw Failure("nothing of the file was checked; left out are " +
                  llvm::join(report.skippedLines(), "; "));
}

Report Verification::run() {
  requireWeights(model);
  requireModuleOrRun(model, options);
  // A damaged weight would be the same for the reference and for the kernels.
  effc::check(effc_model_check(model.get(), nullptr, nullptr));
  readStored();
  bool hasModule = !stored.seqBytecode.empty();
  total =
      kFeedingChecks +
      (hasModule ? kReferenceChecks + 2 * std::size(kForms) + kCodeChecks : 0);
  if (hasModule)
    checkModule();
  if (!codeIsSound) {
    report.skip("all else",
                std::string("the file's ") +
                    (report.planDifference ? "plan" : "code") +
                    " is not what its module compiles to, so none of its code "
                    "was run");
  } else if (options.runs) {
    checkWhatRuns();
  } else {
    report.skip("the file's code, and what is compiled anew",
                "--no-run leaves them out");
  }
  if (hasModule && codeIsSound) {
    checkDerivedForms();
    if (options.compiles && options.runs) {
      checkSample();
      checkForms();
    }
  }
  if (!hasModule && report.skippedLines().empty())
    report.skip("reference, forms, kernels, code",
                "the file has no seq module (it was compiled with --strip-ir); "
                "feeding alone is checked");
  requireChecks();
  report.tokens = tokens.size();
  findFirstOpThatDiffers();
  stateTolerances();
  return std::move(report);
}
