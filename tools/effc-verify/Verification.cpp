#include "tools/effc-verify/Verification.h"

#include "compiler/CanonicalOptions.h"
#include "compiler/Reference.h"
#include "tools/effc-verify/SeqModule.h"
#include "tools/effc-verify/TemporaryArtifact.h"
#include "tools/terminal/Failure.h"

#include "llvm/ADT/STLExtras.h"
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

/// A form that the reference and newly compiled kernels are tried in.
struct verify::FormCase {
  const char *name;
  ReferenceForm form;
  int64_t chunk;     // of chunkwise
  const char *force; // as --force-form spells it
};

static constexpr FormCase kForms[] = {
    {"step", ReferenceForm::Step, 0, "step"},
    {"chunkwise of 7", ReferenceForm::Chunkwise, 7, "chunkwise:7"},
    {"chunkwise of 16", ReferenceForm::Chunkwise, 16, "chunkwise:16"},
    {"chunkwise of 64", ReferenceForm::Chunkwise, 64, "chunkwise:64"},
    {"quadratic", ReferenceForm::Quadratic, 0, "quadratic"},
};
static constexpr size_t kSplits = 4;
static constexpr size_t kFeedingChecks = kSplits + 7, kReferenceChecks = 1,
                        kCodeChecks = 1;

// Other orders of summing lose as much as the reference's, and vectorised ones
// less; four times that is beyond what differs between sound kernels and far
// below what a wrong one does. The floor is 16 units in the last place.
static constexpr double kLossFactor = 4, kF32Floor = 16 * 0x1p-23;
static constexpr double kDoubleOverF32 = 0x1p-29, kDoubleFloor = 256 * 0x1p-52;
// A state in bf16 is rounded by at most 2^-9 of an element where a call ends,
// and what was rounded decays with the state: ten such errors at once are
// generous.
static constexpr double kNarrowFeeding = 10 * 0x1p-9;
// A wrong kernel may be wrong by no more than this, so beyond it a tolerance
// says nothing.
static constexpr double kMostLoss = 1e-2;
// Without a reference nothing is known of the model's loss.
static constexpr double kUnknownLoss = 0x1p-12;

// What a sound kernel loses is no more than a wrong one might.
static constexpr const char *kRounded =
    "on this device the file's products round their operands, and no tolerance "
    "would tell a wrong kernel; compiled without --products the model can be "
    "checked";

/// Throws what an llvm::Error says.
static void require(llvm::Error error) {
  if (error)
    throw Failure(llvm::toString(std::move(error)));
}
template <typename T> static T take(llvm::Expected<T> value) {
  require(value.takeError());
  return std::move(*value);
}

/// "60", "1.5".
static std::string shortNumber(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", number);
  return text;
}

/// A number as the report states it.
static std::string scientific(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1e", number);
  return text;
}

Verification::Verification(VerifyOptions given,
                           std::function<void(uint64_t, uint64_t)> tell)
    : options(std::move(given)), progress(std::move(tell)),
      model(cli::openModel(options.file, options.access)),
      budget(options.seconds), vocabulary(model.vocabularySize()) {
  size_t count = options.tokens;
  if (model.maxContext())
    count = std::min<size_t>(count, model.maxContext());
  if (count < 2)
    throw Failure("a context of " + std::to_string(count) +
                  " tokens is too short to verify");
  options.tokens = count;
  tokens = pickTokens(model.vocabularySize(), count, /*seed=*/1);
  for (const effc_state_info_t &state : model.states())
    narrowStates |= std::strcmp(state.type, "bf16") == 0;
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
                             const std::vector<B> &expected, double tolerance) {
  add(std::move(name), std::move(against),
      errorOf(found, expected, vocabulary, tolerance), tolerance,
      firstBeyond(found, expected, vocabulary, tolerance));
}

bool Verification::hasTimeFor(const std::string &name, double estimate) {
  if (budget.hasRoomFor(estimate))
    return true;
  report.skip(name, "no time left of " + shortNumber(budget.total()) +
                        " seconds (--seconds)");
  progress(++done, total);
  return false;
}

void Verification::chooseTokens(size_t evaluations) {
  // Half of the time is for what runs and is compiled.
  constexpr size_t kPilot = 2, kFewest = 4;
  if (options.tokens <= kFewest || budget.left() == INFINITY)
    return;
  tokens = pickTokens(model.vocabularySize(), kPilot, /*seed=*/1);
  reference(nullptr, /*single=*/false);
  size_t count = tokensWithin(budget.left() / 2, evaluations, kPilot,
                              evaluation, kFewest, options.tokens);
  tokens = pickTokens(model.vocabularySize(), count, /*seed=*/1);
  if (count < options.tokens)
    report.skip("tokens " + std::to_string(count) + " to " +
                    std::to_string(options.tokens - 1) + " of the sequence",
                "the reference would take longer than --seconds leaves it");
}

/// Copies a weight's rows without their padding.
static StoredWeight denseWeight(const effc_weight_info_t &info) {
  StoredWeight weight;
  std::string_view type = info.type;
  weight.type = type == "bf16"  ? StoredWeight::Type::BF16
                : type == "f16" ? StoredWeight::Type::F16
                                : StoredWeight::Type::F32;
  weight.shape.assign(info.shape, info.shape + info.rank);
  uint64_t rows = info.rank == 1 ? 1 : info.shape[0];
  uint64_t elements = 1;
  for (uint64_t extent : weight.shape)
    elements *= extent;
  size_t bytes = elements / rows * (type == "f32" ? 4 : 2);
  weight.bytes.resize(rows * bytes);
  for (uint64_t row = 0; row < rows; ++row)
    std::memcpy(weight.bytes.data() + row * bytes,
                info.data + row * info.row_stride_bytes, bytes);
  return weight;
}

/// The seq module, the weights and the options the file was compiled with.
void Verification::readStored() {
  stored.seqBytecode = readSeqModule(model);
  stored.weights =
      [this](llvm::StringRef name) -> llvm::Expected<StoredWeight> {
    for (const effc_weight_info_t &weight : model.weights())
      if (name == weight.name)
        return denseWeight(weight);
    return llvm::createStringError("the file has no weight '" + name + "'");
  };
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
    keepHostTarget();
}

void Verification::readTargetOptions() {
  const PipelineOptions &pipeline = compileOptions.pipeline;
  // "auto" takes a GPU where there is one.
  runsOnHost =
      options.device.name == "host" || (place && place->name == "host");
  roundsProducts = !runsOnHost && pipeline.products != Products::F32;
  bitStable = optionsKnown && !narrowStates &&
              (runsOnHost ? pipeline.bitStable : pipeline.bitStableOnGpu) &&
              (pipeline.forceForm.empty() || pipeline.forceForm == "step");
}

void Verification::keepHostTarget() {
  const Target *host = findTarget("host");
  for (const Target *target : compileOptions.targets)
    if (target != host)
      report.skip("code of " + target->name.str() + ", compiled again",
                  "the host's alone is compared");
  hasHostCode = llvm::is_contained(compileOptions.targets, host);
  compileOptions.targets = {host};
}

double Verification::f32Tolerance() const {
  return report.f32Loss ? std::max(kLossFactor * *report.f32Loss, kF32Floor)
                        : kUnknownLoss;
}

double Verification::prefillTolerance(size_t rows) const {
  bool stored = narrowStates && tokens.size() > rows;
  return stored ? std::max(f32Tolerance(), kNarrowFeeding) : f32Tolerance();
}

double Verification::feedingTolerance() const {
  return bitStable ? 0 : prefillTolerance(/*rows=*/narrowStates ? 1 : 0);
}

size_t Verification::mostRows() const {
  size_t rows = 0;
  for (const effc_entry_info_t &entry : model.entries())
    if (entry.kind == EFFC_PREFILL)
      rows = std::max<size_t>(rows, entry.rows);
  return rows;
}

void Verification::checkFeeding() {
  if (roundsProducts && !bitStable) {
    report.skip("decode steps, splits, batches, saved and loaded, the last row "
                "alone, without logits",
                kRounded);
    progress(done += kFeedingChecks - 1, total);
    return checkThreads();
  }
  double tolerance = feedingTolerance();
  auto compare = [&](std::string name, const Logits &found,
                     const Logits &expected, const char *against) {
    addLogits(std::move(name), against, found, expected, tolerance);
  };
  compare("decode steps", feeding->inSteps(tokens), whole, "one prefill");
  for (size_t i = 0; i < kSplits; ++i) {
    std::vector<size_t> lengths = pickSplit(tokens.size(), i);
    compare("split " + std::to_string(i + 1) + ", " +
                std::to_string(lengths.size()) + " pieces",
            feeding->inPieces(tokens, lengths), whole, "one prefill");
  }
  // Neighbours of other lengths, before and after.
  std::vector<Tokens> sequences;
  for (size_t length : {tokens.size() / 3 + 1, tokens.size(),
                        tokens.size() / 2 + 1, tokens.size() / 5 + 1})
    sequences.push_back(pickTokens(model.vocabularySize(), length, 2 + length));
  sequences[1] = tokens;
  std::vector<Logits> together = feeding->inBatch(sequences);
  compare("batch of 4, this sequence", together[1], whole, "one prefill");
  double worst = 0;
  for (size_t i : {0, 2, 3}) {
    Logits alone = feeding->inOnePrefill(sequences[i]);
    worst = std::max(worst, errorOf(together[i], alone, vocabulary, tolerance));
  }
  add("batch of 4, its neighbours", "one by one", worst, tolerance);
  compare("saved and loaded halfway", feeding->throughASavedState(tokens),
          whole, "one prefill");
  // What generation asks for.
  Logits last(whole.end() - static_cast<ptrdiff_t>(vocabulary), whole.end());
  compare("last row alone", feeding->lastRowAlone(tokens), last, "all rows");
  compare("fed without logits, then a step",
          feeding->withoutLogitsThenAStep(tokens), last, "one prefill");
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
  Feeding alone(
      model, cli::openEngine(one, model, {.sessions = Feeding::kMostSequences})
                 .engine);
  addLogits("one thread", "all threads", alone.inOnePrefill(tokens), whole, 0);
}

std::vector<double> Verification::reference(const FormCase *form, bool single,
                                            ReferenceCoverage *coverage) {
  ReferenceRequest request;
  request.single = single;
  if (form) {
    request.form = form->form;
    request.chunk = form->chunk;
  }
  TimeBudget watch(INFINITY);
  std::vector<double> logits =
      take(evaluateReference(stored, tokens, request, coverage));
  evaluation = watch.passed();
  return logits;
}

void Verification::checkReference() {
  oracle = reference(nullptr, /*single=*/false);
  double loss =
      largestError(reference(nullptr, /*single=*/true), oracle, vocabulary);
  report.f32Loss = loss;
  requireJudgeable();
}

void Verification::checkDerivedForms() {
  double exact =
      std::max(kLossFactor * *report.f32Loss * kDoubleOverF32, kDoubleFloor);
  for (const FormCase &form : kForms) {
    std::string name = std::string("form ") + form.name;
    if (!hasTimeFor(name, evaluation))
      continue;
    ReferenceCoverage coverage;
    std::vector<double> logits = reference(&form, /*single=*/false, &coverage);
    for (const std::string &line : coverage.kept)
      report.skip(name, line);
    if (coverage.expanded > 0 || coverage.kept.empty())
      addLogits(name, "reference", logits, oracle, exact);
    else
      progress(++done, total);
  }
}

/// The host code of a file, one segment after another.
static std::vector<uint8_t> hostCode(const Model &model) {
  std::vector<uint8_t> code;
  for (const effc_segment_info_t &segment : model.segments())
    if (std::strcmp(segment.kind, "host_code") == 0)
      code.insert(code.end(), segment.data, segment.data + segment.bytes);
  return code;
}

void Verification::checkFile() {
  if (roundsProducts) {
    report.skip("this file against the reference", kRounded);
    progress(++done, total);
  } else {
    addLogits("this file", "reference", whole, oracle,
              prefillTolerance(mostRows()));
  }
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
    CompileOptions forced = optionsFor(form, tokens.size(), compileOptions);
    firsts.push_back(
        byKernels.try_emplace(take(lowerToKernels(stored, forced)), &form)
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
    CompileOptions forced = optionsFor(form, tokens.size(), compileOptions);
    TemporaryArtifact artifact;
    forced.output = artifact.path();
    require(recompile(stored, forced));
    Model other(artifact.path());
    Feeding another(other, Device::host(options.device.threads));
    addLogits(std::move(name), "reference", another.inOnePrefill(tokens),
              oracle, prefillTolerance(forced.pipeline.prefillRows.back()));
  }
}

void Verification::checkCode() {
  if (!hasHostCode) {
    progress(++done, total);
    return;
  }
  TimeBudget watch(INFINITY);
  std::vector<uint8_t> code = take(recompileCode(stored, compileOptions));
  compilation = watch.passed();
  bool same = hostCode(model) == code;
  std::string here = "effc " + getVersion().str() + ", commit " +
                     getCommit().str() + ", LLVM " LLVM_VERSION_STRING;
  if (!same && compiler != here) {
    report.skip("same code",
                "the file is by " + compiler + ", this is " + here);
    progress(++done, total);
    return;
  }
  codeIsSound = same;
  add("code bytes, compiled again", "this file", same ? 0 : INFINITY, 0);
}

void Verification::requireJudgeable() const {
  if (*report.f32Loss <= kMostLoss)
    return;
  std::string lost =
      *report.f32Loss < INFINITY
          ? "loses " + scientific(*report.f32Loss) + " of the largest logit"
          : "overflows";
  throw Failure("cannot be judged: f32 arithmetic " + lost +
                " on this model, and beyond " + scientific(kMostLoss) +
                " no sound kernel can be told from a wrong one");
}

void Verification::feedWhole() {
  place.emplace(cli::openEngine(options.device, model,
                                {.sessions = Feeding::kMostSequences}));
  feeding.emplace(model, std::move(place->engine));
  whole = feeding->inOnePrefill(tokens);
}

void Verification::checkWhatRuns() {
  bool hasModule = !stored.seqBytecode.empty();
  feedWhole();
  readTargetOptions();
  if (hasModule)
    checkFile();
  checkFeeding();
}

void Verification::checkModule() {
  if (!options.compiles) {
    report.skip("kernels in other forms, code bytes, compiled again",
                "--no-compile leaves them out");
    progress(done += std::size(kForms) + kCodeChecks, total);
  } else {
    checkCode();
  }
  if (!codeIsSound)
    return;
  // The reference in double, in f32, and in each form.
  chooseTokens(/*evaluations=*/2 + std::size(kForms));
  checkReference();
}

/// A model of shapes alone has nothing to compute with.
static void requireWeights(const Model &model) {
  for (const effc_weight_info_t &weight : model.weights())
    if (!weight.data)
      throw Failure("the file has no weights: it was compiled from shapes "
                    "alone; compile it without --weights none");
}

Report Verification::run() {
  requireWeights(model);
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
    report.skip("all else", "the file's code is not what its module compiles "
                            "to, so none of it was run");
  } else if (options.runs) {
    checkWhatRuns();
  } else {
    report.skip("the file's code, and what is compiled anew",
                "--no-run leaves them out");
  }
  if (hasModule && codeIsSound) {
    checkDerivedForms();
    if (options.compiles && options.runs)
      checkForms();
  }
  if (!hasModule && report.skippedLines().empty())
    report.skip("reference, forms, kernels, code",
                "the file has no seq module (it was compiled with --strip-ir); "
                "feeding alone is checked");
  report.tokens = tokens.size();
  stateTolerances();
  return std::move(report);
}

void Verification::stateTolerances() {
  if (report.f32Loss) {
    report.tolerances.push_back(
        "against the reference in double: 4 x what the reference loses in f32 "
        "(" +
        scientific(*report.f32Loss) + "), at least 16 units in the last place" +
        (narrowStates ? "; at least " + scientific(kNarrowFeeding) +
                            " where states are kept in bf16 between calls"
                      : ""));
    report.tolerances.push_back(
        "forms in double: the same x 2^-29, at least 256 units in the last "
        "place");
  }
  if (feeding && (bitStable || !roundsProducts))
    report.tolerances.push_back(
        bitStable ? "fed in other ways: the same bits"
                  : "fed in other ways: " + scientific(feedingTolerance()) +
                        (optionsKnown
                             ? ", since the file was not compiled for the same "
                               "bits wherever a prompt is cut"
                             : ", since what the file was compiled for is not "
                               "known"));
}
