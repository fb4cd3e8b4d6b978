// `effc eval`: how well the model predicts given tokens, and its logits.

#include "tools/effc/Commands.h"
#include "tools/effc/ContinuationReport.h"
#include "tools/effc/Evaluation.h"
#include "tools/effc/GgufWriter.h"
#include "tools/effc/HiddenRows.h"
#include "tools/effc/ImportanceSums.h"
#include "tools/effc/ModelAccess.h"
#include "tools/effc/OutputGuard.h"
#include "tools/effc/RowParts.h"
#include "tools/effc/Windows.h"
#include "tools/terminal/Failure.h"
#include "tools/terminal/OptionChecks.h"
#include "tools/terminal/Progress.h"
#include "tools/terminal/Quantities.h"
#include "tools/terminal/SafeText.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <numbers>
#include <optional>

using namespace effc;
using namespace effc::cli;

namespace {
struct EvalOptions {
  std::string file;
  ModelAccess access;
  std::optional<std::string> tokens, text, requests, logits, targets, against,
      hidden, tap, importance;
  std::string split = "all";
  std::optional<uint32_t> batch;
  uint64_t window = 0, stride = 0;
  DeviceChoice device;
  bool json = false, last = false, byPosition = false;
};
} // namespace

static std::vector<Tokens> readSequences(const Model &model,
                                         const EvalOptions &options) {
  if (options.tokens)
    return readTokenFile(*options.tokens, model.vocabularySize());
  if (!model.hasTokenizer())
    throw Failure("'" + options.file + "' has no tokenizer; use --tokens");
  return {model.tokenize(readWholeFile(*options.text))};
}

/// Throws Failure where a sequence is longer than the model's context, before
/// any is computed.
static void requireRoom(const Model &model,
                        const std::vector<Tokens> &sequences) {
  uint64_t most = model.maxContext();
  for (size_t i = 0; i < sequences.size(); ++i)
    if (most && sequences[i].size() > most)
      throw Failure("sequence " + std::to_string(i) + " has " +
                    formatCount(sequences[i].size()) +
                    " tokens, but the model's context is " + formatCount(most) +
                    " tokens (effc compile --max-context makes another)");
}

/// Throws where rows cannot be written to `path`, which `option` names.
static void checkRowFile(const Model &model, const EvalOptions &options,
                         const std::string &option, const std::string &path) {
  if (path == "-")
    throw UsageError("--" + option +
                     " needs a file: the results go to standard output");
  std::vector<std::string> inputs =
      filesOf(model, options.file, options.access);
  inputs.push_back(options.tokens ? *options.tokens : *options.text);
  checkOutput("--" + option, path, inputs);
}

/// A file of logits for each sequence.
static std::unique_ptr<SafetensorsWriter>
openLogits(const Model &model, const EvalOptions &options,
           const std::vector<Tokens> &sequences) {
  checkRowFile(model, options, "logits", *options.logits);
  std::vector<SafetensorsWriter::Tensor> tensors;
  for (size_t i = 0; i < sequences.size(); ++i)
    tensors.push_back({"logits." + std::to_string(i),
                       sequences[i].size(),
                       {model.rowWidth()}});
  return std::make_unique<SafetensorsWriter>(*options.logits,
                                             std::move(tensors));
}

/// NaN where nothing was predicted.
static double meanOf(const Score &score) {
  return score.sumNll / static_cast<double>(score.predicted);
}

/// What the text takes of the tokens that were predicted.
static uint64_t predictedBytes(const Model &model, const Windows &windows) {
  uint64_t bytes = 0;
  for (size_t i = 0; i < windows.sequences.size(); ++i) {
    const Tokens &tokens = windows.sequences[i];
    size_t first = std::min<size_t>(windows.firsts[i], tokens.size());
    bytes +=
        model.detokenize(tokens).size() -
        model
            .detokenize(Tokens(tokens.begin(),
                               tokens.begin() + static_cast<ptrdiff_t>(first)))
            .size();
  }
  return bytes;
}

static double bitsPerByte(const Score &score, uint64_t bytes) {
  return score.sumNll / std::numbers::ln2 / double(bytes);
}

static nlohmann::ordered_json describeDrift(const Drift &drift) {
  auto json = nlohmann::ordered_json::array();
  for (size_t i = 0; i < drift.bands.size(); ++i) {
    const Divergence &band = drift.bands[i];
    auto [first, end] = Drift::rangeOf(i);
    json.push_back({{"first", first},
                    {"end", end},
                    {"rows", band.rows},
                    {"mean_divergence", band.sumKl / double(band.rows)},
                    {"largest_divergence", band.largestKl},
                    {"same_choice", band.same}});
  }
  return json;
}

static void printJson(const EvalOptions &options, const Score &total,
                      const std::vector<Score> &scores, uint64_t bytes) {
  auto describe = [](const Score &score) {
    return nlohmann::ordered_json{
        {"tokens", score.tokens},    {"predicted", score.predicted},
        {"mean_nll", meanOf(score)}, {"perplexity", std::exp(meanOf(score))},
        {"targets", score.targets},  {"right", score.right}};
  };
  nlohmann::ordered_json json = describe(total);
  json["bits_per_byte"] =
      bytes ? nlohmann::ordered_json(bitsPerByte(total, bytes))
            : nlohmann::ordered_json();
  json["sequences"] = nlohmann::ordered_json::array();
  for (const Score &score : scores)
    json["sequences"].push_back(describe(score));
  if (options.against) {
    const Divergence &other = total.against;
    double nll = other.sumNll / static_cast<double>(total.predicted);
    json["against"] = {
        {"file", *options.against},
        {"mean_nll", nll},
        {"perplexity", std::exp(nll)},
        {"rows", other.rows},
        {"mean_divergence", other.sumKl / static_cast<double>(other.rows)},
        {"largest_divergence", other.largestKl},
        {"same_choice", other.same}};
    json["against"]["by_position"] = describeDrift(total.drift);
  }
  print(json.dump(2) + "\n");
}

/// The lines that compare two models.
static void printAgainst(const std::string &file, const Score &total) {
  const Divergence &other = total.against;
  double nll = other.sumNll / static_cast<double>(total.predicted);
  print("against     " + withoutControls(file) + "\n");
  print("  its perplexity  " + formatNumber(std::exp(nll), 6) + "\n");
  print("  divergence      " +
        formatNumber(other.sumKl / double(other.rows), 7) +
        " nats a token, at most " + formatNumber(other.largestKl, 4) + "\n");
  print("  same choice     " +
        formatNumber(100 * double(other.same) / double(other.rows), 4) +
        " %, " + formatCount(other.same) + " of " + formatCount(other.rows) +
        " tokens\n");
}

/// A line for each band of positions.
static void printDrift(const Drift &drift) {
  print("  by position           divergence   at most   same choice\n");
  for (size_t i = 0; i < drift.bands.size(); ++i) {
    const Divergence &band = drift.bands[i];
    auto [first, end] = Drift::rangeOf(i);
    auto rows = static_cast<double>(band.rows);
    std::string range = formatCount(first) + " to " + formatCount(end - 1);
    char line[96];
    std::snprintf(line, sizeof line, "    %-20s  %.1e   %.1e   %8.2f %%\n",
                  range.c_str(), band.sumKl / rows, band.largestKl,
                  100 * double(band.same) / rows);
    print(line);
  }
}

/// The model that the other is compared with.
static Model openOther(const EvalOptions &options, const Model &model) {
  ModelAccess access = options.access;
  access.sha256.clear(); // of the first
  Model other = openModel(*options.against, access);
  if (other.vocabularySize() != model.vocabularySize())
    throw Failure("'" + *options.against + "' expects a vocabulary of " +
                  formatCount(model.vocabularySize()) + " tokens as '" +
                  options.file + "' has, but got " +
                  formatCount(other.vocabularySize()));
  return other;
}

static void checkOptions(const EvalOptions &options) {
  int inputs =
      bool(options.tokens) + bool(options.text) + bool(options.requests);
  if (inputs == 0)
    throw UsageError("what is to be predicted? Give --text FILE.txt, --tokens "
                     "FILE.json or --requests FILE.jsonl");
  if (inputs > 1)
    throw UsageError("expects one of --text, --tokens and --requests, but got "
                     "several");
  for (auto [name, isGiven] : {std::pair("--targets", bool(options.targets)),
                               {"--against", bool(options.against)},
                               {"--logits", bool(options.logits)},
                               {"--split", options.split != "all"},
                               {"--window", options.window > 0}})
    if (options.requests && isGiven)
      throw UsageError(std::string(name) + " does not go with --requests");
  const char *rows = options.hidden       ? "--hidden"
                     : options.importance ? "--collect-importance"
                                          : "--tap";
  for (auto [name, isGiven] :
       {std::pair("--requests", bool(options.requests)),
        {"--targets", bool(options.targets)},
        {"--against", bool(options.against)},
        {"--logits", bool(options.logits)},
        {"--split", options.split != "all"},
        {"--window", options.window > 0 && !options.importance},
        {"--tap", (options.hidden || options.importance) && options.tap},
        {"--collect-importance", options.hidden && options.importance}})
    if ((options.hidden || options.tap || options.importance) && isGiven)
      throw UsageError(std::string(name) + " does not go with " + rows);
  if (options.byPosition && !options.against)
    throw UsageError("--by-position needs --against");
  if (options.last && !options.hidden && !options.tap)
    throw UsageError("--last needs --hidden or --tap");
  if (options.importance && options.stride > 0)
    throw UsageError("--collect-importance reads windows that follow one "
                     "another: it has no --stride");
  if (options.stride > 0 && options.window == 0)
    throw UsageError("--stride needs --window");
  if (options.stride > options.window)
    throw UsageError("--stride expects 1 to the window's " +
                     std::to_string(options.window) + ", but got " +
                     std::to_string(options.stride));
  for (auto [name, isGiven] : {std::pair("--targets", bool(options.targets)),
                               {"--logits", bool(options.logits)}})
    if (options.window && isGiven)
      throw UsageError(std::string(name) + " does not go with --window");
}

/// Scores continuations of contexts.
static void evaluateRequests(const EvalOptions &options) {
  Model model = openModel(options.file, options.access);
  std::vector<ScoringRequest> requests =
      readScoringRequests(*options.requests, model);
  size_t wanted = 0;
  for (const ScoringRequest &request : requests)
    wanted += 1 + request.continuations.size();
  uint32_t sessions =
      std::max<uint32_t>(2, std::min<uint32_t>(options.batch.value_or(32),
                                               static_cast<uint32_t>(wanted)));
  Place place = openEngine(options.device, model, {.sessions = sessions});
  std::vector<std::vector<ContinuationScore>> scores;
  {
    Progress progress("eval", "tokens", fedTokens(requests));
    scores = ContinuationScoring(model, place.engine, sessions)
                 .run(requests, progress);
  }
  ContinuationSummary summary = summarize(requests, scores);
  if (options.json)
    return print(toJson(summary, requests, scores).dump(2) + "\n");
  printSummary(summary);
}

/// Scores what each token of texts predicts.
static void evaluateTexts(const EvalOptions &options) {
  Split split = Split::parse(options.split);
  Model model = openModel(options.file, options.access);
  Windows windows =
      cutIntoWindows(readSequences(model, options), options.window,
                     options.stride ? options.stride : options.window);
  const std::vector<Tokens> &sequences = windows.sequences;
  requireRoom(model, sequences);
  std::optional<Model> other;
  if (options.against) {
    other.emplace(openOther(options, model));
    requireRoom(*other, sequences);
  }
  std::vector<Targets> targets;
  if (options.targets)
    targets =
        readTargetFile(*options.targets, sequences, model.vocabularySize());
  auto writer =
      options.logits ? openLogits(model, options, sequences) : nullptr;
  uint64_t tokens = 0;
  for (const Tokens &sequence : sequences)
    tokens += sequence.size();

  uint32_t batch = std::clamp<uint32_t>(static_cast<uint32_t>(sequences.size()),
                                        1, options.batch.value_or(1));
  Evaluation evaluation(
      model, openEngine(options.device, model, {.sessions = batch}).engine,
      split, batch, writer.get());
  if (other)
    evaluation.compareWith(
        *other, openEngine(options.device, *other, {.sessions = batch}).engine);
  std::vector<Score> scores;
  {
    Progress progress("eval", "tokens", tokens);
    scores = evaluation.run(sequences, targets, windows.firsts, progress);
  }
  if (writer)
    writer->finish();

  Score total;
  for (const Score &score : scores) {
    total.tokens += score.tokens;
    total.predicted += score.predicted;
    total.sumNll += score.sumNll;
    total.targets += score.targets;
    total.right += score.right;
    total.against.add(score.against);
    total.drift.add(score.drift);
  }
  if (total.predicted == 0 && !options.json) {
    print("tokens      " + formatCount(total.tokens) + "\n");
    return print("nothing to predict: no sequence has two tokens\n");
  }
  uint64_t bytes = model.hasTokenizer() ? predictedBytes(model, windows) : 0;
  if (options.json)
    return printJson(options, total, scores, bytes);
  print("tokens      " + formatCount(total.tokens) + "\n");
  // All but the first of each sequence: what the mean is over.
  print("predicted   " + formatCount(total.predicted) + "\n");
  print("mean NLL    " + formatNumber(meanOf(total), 6) + "\n");
  print("perplexity  " + formatNumber(std::exp(meanOf(total)), 6) + "\n");
  if (bytes > 0)
    print("bits/byte   " + formatNumber(bitsPerByte(total, bytes), 6) + "\n");
  if (total.targets > 0)
    print("accuracy    " +
          formatNumber(double(total.right) / double(total.targets), 6) + ", " +
          formatCount(total.right) + " of " + formatCount(total.targets) +
          " targets\n");
  if (other)
    printAgainst(*options.against, total);
  if (options.byPosition)
    printDrift(total.drift);
}

/// Throws Failure where the file gives other rows than are wished for.
static void requireRows(const Model &model, const EvalOptions &options) {
  std::string given = model.hiddenWidth() == 0 ? "logits"
                      : model.taps().empty()   ? "hidden states"
                                               : "inner values";
  std::string wished = options.hidden ? "hidden states" : "inner values";
  if (given != wished)
    throw Failure("'" + options.file + "' gives " + given + ": effc compile " +
                  (options.hidden ? "--hidden" : "--tap") +
                  " makes a file that gives " + wished);
}

/// Feeds the sequences, some together, and hands on their rows; how many tokens they have.
static uint64_t feedRows(const EvalOptions &options, const Model &model,
                         const std::vector<Tokens> &sequences,
                         const HiddenRows::Sink &take) {
  uint32_t batch = std::clamp<uint32_t>(static_cast<uint32_t>(sequences.size()),
                                        1, options.batch.value_or(1));
  Place place = openEngine(options.device, model,
                           {.sessions = batch, .takesHidden = true});
  uint64_t tokens = 0, done = 0;
  for (const Tokens &sequence : sequences)
    tokens += sequence.size();
  Progress progress("eval", "tokens", tokens);
  HiddenRows(model, place.engine, batch)
      .feed(sequences, options.last,
            [&](size_t sequence, uint64_t first, std::span<const float> rows) {
              take(sequence, first, rows);
              progress.update(done += options.last
                                          ? first + 1
                                          : rows.size() / model.rowWidth());
            });
  return tokens;
}

/// Writes the hidden states, or inner values, of a file that was compiled for them.
static void writeRows(const EvalOptions &options) {
  Model model = openModel(options.file, options.access);
  requireRows(model, options);
  std::vector<Tokens> sequences = readSequences(model, options);
  requireRoom(model, sequences);
  const char *option = options.hidden ? "hidden" : "tap";
  const std::string &path = options.hidden ? *options.hidden : *options.tap;
  checkRowFile(model, options, option, path);
  std::vector<uint64_t> counts;
  for (const Tokens &sequence : sequences)
    counts.push_back(options.last ? std::min<size_t>(1, sequence.size())
                                  : sequence.size());
  std::vector<RowPart> parts = partsOf(model);
  RowPartWriter writer(path, parts, counts);
  uint64_t tokens = feedRows(
      options, model, sequences,
      [&](size_t sequence, uint64_t first, std::span<const float> rows) {
        writer.write(sequence, options.last ? 0 : first, rows,
                     model.rowWidth());
      });
  writer.finish();
  if (options.json) {
    nlohmann::ordered_json json = {{"tokens", tokens},
                                   {"sequences", sequences.size()},
                                   {"width", model.rowWidth()},
                                   {option, path}};
    if (options.tap)
      for (const RowPart &part : parts)
        json["values"][part.name] = part.shape;
    return print(json.dump(2) + "\n");
  }
  print("tokens      " + formatCount(tokens) + "\n");
  print("width       " + formatCount(model.rowWidth()) + "\n");
}

/// Sums up what matrices are multiplied by, of a file that was compiled for that.
static void collectImportance(const EvalOptions &options) {
  Model model = openModel(options.file, options.access);
  if (model.taps().empty())
    throw Failure(
        "'" + options.file + "' gives " +
        (model.hiddenWidth() == 0 ? "logits" : "hidden states") +
        ": effc compile --product-inputs makes a file that gives what "
        "matrices are multiplied by");
  ImportanceSums sums(model);
  // What a window has in common with the one before would count twice.
  Windows windows = cutIntoWindows(readSequences(model, options),
                                   options.window, options.window);
  requireRoom(model, windows.sequences);
  checkRowFile(model, options, "collect-importance", *options.importance);
  uint64_t longest = 0;
  for (const Tokens &sequence : windows.sequences)
    longest = std::max<uint64_t>(longest, sequence.size());
  if (longest == 0)
    throw Failure("there is no token from which importance could be gathered");
  GgufWriter writer(*options.importance);
  uint64_t tokens = feedRows(
      options, model, windows.sequences,
      [&](size_t, uint64_t, std::span<const float> rows) { sums.add(rows); });
  sums.write(writer, options.text ? *options.text : *options.tokens,
             static_cast<uint32_t>(longest),
             static_cast<uint32_t>(windows.sequences.size()));
  if (options.json)
    return print(
        nlohmann::ordered_json{{"tokens", tokens},
                               {"sequences", windows.sequences.size()},
                               {"matrices", sums.matrices()},
                               {"unread_experts", sums.unread()},
                               {"collect-importance", *options.importance}}
            .dump(2) +
        "\n");
  print("tokens      " + formatCount(tokens) + "\n");
  print("matrices    " + formatCount(sums.matrices()) + "\n");
  if (size_t unread = sums.unread())
    print(formatCount(unread) + " matrices of experts were taken by no token: "
                                "a longer text says something of them\n");
}

static void evaluate(const EvalOptions &options) {
  checkOptions(options);
  if (options.importance)
    return collectImportance(options);
  if (options.hidden || options.tap)
    return writeRows(options);
  options.requests ? evaluateRequests(options) : evaluateTexts(options);
}

void effc::cli::addEvalCommand(CLI::App &app) {
  auto options = std::make_shared<EvalOptions>();
  CLI::App *command = app.add_subcommand(
      "eval", "Perplexity, log-probabilities of choices, logits");
  addModelFile(*command, options->file);
  command->option_defaults()->group("Input");
  command
      ->add_option("--tokens", options->tokens,
                   "A file with a JSON array of arrays of token ids; - reads "
                   "standard input")
      ->type_name("FILE");
  command
      ->add_option("-f,--text", options->text,
                   "A text file to tokenize; - reads standard input")
      ->type_name("FILE");
  command
      ->add_option("--requests", options->requests,
                   "A file with a line of JSON for each request: {\"context\": "
                   "TEXT, \"continuations\": [TEXT, ...], \"right\": INDEX}; "
                   "how likely each is, and how often the right one is the "
                   "likeliest; - reads standard input")
      ->type_name("FILE");
  command
      ->add_option("--targets", options->targets,
                   "A file with a JSON array of {\"positions\": [...], "
                   "\"ids\": [...]} for each sequence: how often the most "
                   "likely token after a position is the one given")
      ->type_name("FILE");
  command
      ->add_option("--against", options->against,
                   "Another file of the model, such as one whose weights have "
                   "more bits: how far the predictions are from its own")
      ->type_name("FILE.effc");
  command->add_flag(
      "--by-position", options->byPosition,
      "With --against: the same by position in the text, in bands "
      "that double. With --split 1 and a file of --state-dtype "
      "bf16 it shows whether what states lose adds up");
  command->option_defaults()->group("Feeding");
  command
      ->add_option("--split", options->split,
                   "Lengths in which a sequence is fed: all, 1, or 5,1,1,64")
      ->capture_default_str();
  command
      ->add_option("--batch", options->batch,
                   "Sequences fed together (default: 1; with --requests 32)")
      ->check(wholeNumber(1, 65536));
  command
      ->add_option("--window", options->window,
                   "Feed a text in windows of N tokens, each by itself; 0: as "
                   "a whole")
      ->type_name("N")
      ->check(wholeNumber(0, uint64_t(1) << 40))
      ->capture_default_str();
  command
      ->add_option("--stride", options->stride,
                   "Windows begin so many tokens apart; what two have in "
                   "common counts once (default: a window)")
      ->type_name("N")
      ->check(wholeNumber(1, uint64_t(1) << 40));
  command->option_defaults()->group("Output");
  command
      ->add_option("--logits", options->logits,
                   "Write logits.0, logits.1, ... to this safetensors file")
      ->type_name("FILE");
  command
      ->add_option("--hidden", options->hidden,
                   "Write hidden.0, hidden.1, ... to this safetensors file: of "
                   "each token what the model's head would multiply; for files "
                   "of effc compile --hidden, which predict nothing")
      ->type_name("FILE");
  command
      ->add_option("--tap", options->tap,
                   "Write inner values of each token to this safetensors file: "
                   "NAME.0, NAME.1, ... for each; for files of effc compile "
                   "--tap, which predict nothing")
      ->type_name("FILE");
  command
      ->add_option("--collect-importance", options->importance,
                   "Write how much each input of each matrix counts, for effc "
                   "compile --importance: a GGUF file as llama-imatrix makes "
                   "it; for files of effc compile --product-inputs, which "
                   "predict nothing. --window 512 is usual")
      ->type_name("FILE.gguf");
  command->add_flag("--last", options->last,
                    "With --hidden or --tap: of each sequence the last token's "
                    "alone");
  command->add_flag("--json", options->json, "Print JSON");
  addDeviceChoice(*command, options->device);
  addModelAccess(*command, options->access);
  command->footer(
      "effc eval model.effc -f book.txt\n"
      "effc eval q4.effc -f book.txt --against model.effc\n"
      "effc eval bf16.effc -f book.txt --against model.effc --by-position "
      "--split 1\n"
      "effc eval model.effc -f book.txt --window 2048 --stride "
      "1024\n"
      "effc eval model.effc --requests arc.jsonl --json\n"
      "effc eval model.effc --tokens tokens.json --split 1 --json\n"
      "effc eval hidden.effc -f book.txt --hidden book.safetensors\n"
      "effc eval gates.effc -f book.txt --tap gates.safetensors\n"
      "effc eval inputs.effc -f book.txt --window 512 --collect-importance "
      "importance.gguf");
  command->callback([options] { evaluate(*options); });
}
