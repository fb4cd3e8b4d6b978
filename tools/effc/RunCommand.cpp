// `effc run`: generates from a prompt, text streaming as it comes.

#include "runtime/include/effc/effc.hpp"
#include "tools/effc/Commands.h"
#include "tools/effc/DraftChoice.h"
#include "tools/effc/Generation.h"
#include "tools/effc/GrammarChoice.h"
#include "tools/effc/Inputs.h"
#include "tools/effc/ModelAccess.h"
#include "tools/effc/OutputGuard.h"
#include "tools/effc/PromptText.h"
#include "tools/effc/SamplingChoice.h"
#include "tools/effc/Stops.h"
#include "tools/effc/TokenLimit.h"
#include "tools/effc/TokenNames.h"
#include "tools/terminal/Failure.h"
#include "tools/terminal/OptionChecks.h"
#include "tools/terminal/SafeText.h"
#include "tools/terminal/Signals.h"
#include "tools/terminal/Terminal.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

using namespace effc;
using namespace effc::cli;
using Json = nlohmann::ordered_json;

namespace {
struct RunOptions {
  std::string file;
  ModelAccess access;
  PromptText prompt;
  std::optional<std::string> tokens; // in place of a prompt's text
  std::optional<std::string> loadState, saveState, profile;
  std::vector<std::string> stops, stopTokens;
  DeviceChoice device;
  SamplingChoice sampling;
  uint64_t minTokens = 0;
  std::optional<uint32_t> logprobs; // the likeliest beside the token's own
  GrammarChoice grammar;
  DraftChoice drafts;
  GenerationOptions generation;
  bool printTokens = false, json = false, noSync = false;
};
} // namespace

static void checkOptions(const RunOptions &options) {
  if (!options.prompt.isGiven() && !options.tokens)
    throw UsageError("what is to be continued? Give a prompt: effc run FILE "
                     "\"TEXT\", --prompt TEXT, --prompt-file FILE or --tokens "
                     "1,2,3");
  if (options.prompt.isGiven() && options.tokens)
    throw UsageError(
        "expects one of a prompt's text and --tokens, but got both");
  if (options.json && options.printTokens)
    throw UsageError("--json has the tokens already: leave out --print-tokens");
  if (options.logprobs && !options.json)
    throw UsageError("--logprobs are printed with --json alone");
  if (options.profile)
    checkWritable(*options.profile);
  if (options.prompt.file == "-" && options.loadState == "-")
    throw UsageError("--prompt-file and --load-state cannot both read "
                     "standard input");
  options.grammar.check();
  if (!options.drafts.file.empty() && options.generation.samples > 1)
    throw UsageError("--draft-model guesses for one text, but --samples asks "
                     "for " +
                     std::to_string(options.generation.samples) +
                     ": effc sample");
  if (!options.drafts.file.empty() && options.loadState)
    throw UsageError("--draft-model guesses from what it has read, and nobody "
                     "knows the text of --load-state");
  if (!options.saveState)
    return;
  if (options.generation.samples > 1)
    throw UsageError(
        "--save-state keeps one sequence, but --samples asks for " +
        std::to_string(options.generation.samples));
  if (*options.saveState == "-")
    throw UsageError(
        "--save-state needs a file: the text goes to standard output");
  checkWritable(*options.saveState);
}

/// A state may be saved over the one that was loaded: it has been read whole.
static void checkOutputs(const Model &model, const RunOptions &options) {
  std::vector<std::string> inputs =
      filesOf(model, options.file, options.access);
  if (options.prompt.file)
    inputs.push_back(*options.prompt.file);
  if (options.saveState)
    checkOutput("--save-state", *options.saveState, inputs);
  if (options.profile)
    checkOutput("--profile", *options.profile, inputs);
}

/// Says so where a text spells the token that the tokenizer puts before it, as
/// texts from chat templates do.
static void noteSecondBegin(const Model &model, const Tokens &tokens) {
  int32_t begin = model.generation().bos;
  if (begin >= 0 && tokens.size() >= 2 && tokens[0] == begin &&
      tokens[1] == begin)
    printNote("the prompt begins with two tokens '" +
              model.detokenize({begin}) +
              "': the tokenizer's and its own; --no-special leaves out the "
              "tokenizer's");
}

static Tokens readPrompt(const Model &model, const RunOptions &options) {
  Tokens tokens;
  if (options.tokens) {
    tokens = parseTokenList(*options.tokens);
  } else {
    // What the tokenizer puts in front of a text stands in front of the saved
    // one already.
    tokens = options.prompt.tokenize(
        model, options.loadState ? EFFC_TOKENIZE_NO_SPECIAL : 0);
    noteSecondBegin(model, tokens);
  }
  if (tokens.empty() && options.loadState)
    throw Failure(
        "the prompt is empty: a loaded state needs at least one token "
        "to go on from");
  if (tokens.empty() && model.generation().bos >= 0)
    tokens.push_back(model.generation().bos);
  if (tokens.empty())
    throw Failure(
        "the prompt is empty, and the model has no token to begin with");
  return tokens;
}

static effc_sampler_options_t samplingOf(const Model &model,
                                         const RunOptions &options) {
  effc_sampler_options_t sampling = options.sampling.optionsFor(model);
  sampling.min_tokens = options.minTokens;
  if (options.logprobs)
    sampling.logprobs = 1 + std::min(*options.logprobs, model.vocabularySize());
  options.sampling.noteIdle(sampling);
  if (options.generation.samples > 1 && sampling.temperature == 0)
    printNote("all samples will be the same: the temperature is 0");
  if (options.loadState && sampling.repeat_penalty != 1)
    printNote("the repeat penalty does not know the tokens before the loaded "
              "state");
  if (options.loadState &&
      (sampling.presence_penalty != 0 || sampling.frequency_penalty != 0))
    printNote("presence and frequency penalties do not know the tokens before "
              "the loaded state");
  return sampling;
}

static void loadState(Session &session, const Engine &engine,
                      const std::string &path) {
  if (path == "-")
    session.loadBytes(readWholeFile(path));
  else
    session.load(path);
  std::string before = session.isas(), now = engine.isa();
  if (!before.empty() && before != now)
    printNote("the state was computed by code of " + before +
              " and goes on by code of " + now +
              ": last bits of logits are not those of one of them alone");
}

/// What a file without a tokenizer cannot do.
static void requireTokenizer(const Model &model, const RunOptions &options) {
  if (model.hasTokenizer())
    return;
  bool printsText = !options.printTokens && !options.json;
  if (!options.tokens || printsText)
    throw Failure("'" + options.file +
                  "' has no tokenizer: give --tokens 1,2,3 and --print-tokens");
  if (!options.stops.empty())
    throw Failure("'" + options.file +
                  "' has no tokenizer, so --stop cannot "
                  "find a text");
}

/// The generation's settings, as far as the model has a say in them.
static GenerationOptions settingsOf(const Model &model,
                                    const RunOptions &options) {
  GenerationOptions settings = options.generation;
  settings.sampling = samplingOf(model, options);
  // The user's stop texts take the place of the model's.
  bool asksForOwn = !options.stops.empty() || !model.hasTokenizer();
  settings.stops = resolveStops(
      model, asksForOwn ? options.stops : model.stops(), options.stopTokens);
  settings.biases = options.sampling.biasesFor(model);
  settings.show = options.json          ? Show::Nothing
                  : options.printTokens ? Show::Tokens
                                        : Show::Text;
  return settings;
}

/// Of each token its own number and those of the likeliest.
static Json logprobsOf(const SampleResult &sample) {
  Json tokens = Json::array();
  for (const std::vector<effc_logprob_t> &found : sample.logprobs) {
    auto jsonOf = [](const effc_logprob_t &one) {
      // JSON has no infinity: a token that cannot come has null.
      return Json{
          {"token", one.token},
          {"logprob", std::isfinite(one.logprob) ? Json(one.logprob) : Json()}};
    };
    Json token = jsonOf(found[0]);
    token["top"] = Json::array();
    for (size_t i = 1; i < found.size(); ++i)
      token["top"].push_back(jsonOf(found[i]));
    tokens.push_back(std::move(token));
  }
  return tokens;
}

static void printJson(const RunOptions &options, const Place &place,
                      const Tokens &prompt, const Generation &generation) {
  auto rateOf = [](const Rate &rate) {
    return Json{{"tokens", rate.tokens}, {"seconds", rate.seconds}};
  };
  Json json;
  json["file"] = options.file;
  json["device"] = place.device.description();
  json["isa"] = place.engine.isa();
  json["prompt_tokens"] = prompt;
  json["samples"] = Json::array();
  for (const SampleResult &sample : generation.results()) {
    json["samples"].push_back(
        {{"seed", sample.seed},
         {"text", sample.text},
         {"tokens", sample.tokens},
         {"stop_reason", nameOf(sample.ending)},
         {"stop", sample.stop.empty() ? Json() : Json(sample.stop)}});
    if (options.logprobs)
      json["samples"].back()["logprobs"] = logprobsOf(sample);
  }
  json["prefill"] = rateOf(generation.prefill);
  json["decode"] = rateOf(generation.decode);
  print(json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

/// "end token", "stop '<|im_end|>'", "128 tokens": how a sample ended.
static std::string endingText(const SampleResult &sample) {
  switch (sample.ending) {
  case Ending::EndToken:
    return "the model's end";
  case Ending::Complete:
    return "the grammar's end";
  case Ending::Stop:
    return "stop '" + sample.stop + "'";
  case Ending::Length:
    return "-n " + std::to_string(sample.tokens.size());
  case Ending::Context:
    return "the context is full";
  case Ending::Interrupted:
    return "interrupted";
  }
  return "";
}

static void printRates(const Generation &generation) {
  std::string line = "prefill: " + generation.prefill.text();
  if (generation.decode.tokens > 0) // the first token needs no step
    line += "; decode: " + generation.decode.text();
  std::vector<SampleResult> results = generation.results();
  if (results.size() == 1)
    line += "; ended by: " + withoutControls(endingText(results[0]));
  std::fprintf(stderr, "%s\n", line.c_str());
}

static void run(const RunOptions &options) {
  checkOptions(options);
  Model model = openModel(options.file, options.access);
  checkOutputs(model, options);
  requireTokenizer(model, options);
  Tokens prompt = readPrompt(model, options);
  GenerationOptions settings = settingsOf(model, options);
  std::optional<Grammar> grammar = options.grammar.open(model);
  settings.grammar = grammar ? &*grammar : nullptr;
  Place place =
      openEngine(options.device, model, {.sessions = settings.samples});
  GuessingPlace guessing(options.drafts, options.device, options.access,
                         place.engine);
  settings.guesser = guessing.guesser();
  Session session(place.engine);
  if (options.loadState)
    loadState(session, place.engine, *options.loadState);

  if (options.profile)
    place.engine.startProfile();
  Interruption interruption;
  Generation generation(model, place.engine, std::move(session), settings);
  generation.feed(prompt);
  generation.run();
  if (options.saveState) {
    generation.feedLastToken();
    HoldSignals held; // the library would leave what it has written
    effc_save_options_t saving = effc_save_options_default();
    saving.no_sync = options.noSync;
    generation.session().save(*options.saveState, saving);
  }
  if (options.profile) {
    HoldSignals held;
    place.engine.saveProfile(*options.profile);
  }
  if (options.json)
    printJson(options, place, prompt, generation);
  printRates(generation);
  if (Interruption::came())
    throw Interrupted("");
}

static void addEndOptions(CLI::App &command, RunOptions &options) {
  command.option_defaults()->group("Length and end");
  addTokenLimit(command, options.generation.newTokens);
  command
      .add_option("--stop", options.stops,
                  "End before this text, or at this special token; may be "
                  "given again (default: what the model asks for)")
      ->allow_extra_args(false);
  command
      .add_option("--stop-token", options.stopTokens,
                  "End at this token, an id or a token's text; may be given "
                  "again")
      ->type_name("TOKEN")
      ->allow_extra_args(false);
  addWholeNumber(command, "--min-tokens", options.minTokens,
                 "Draw no end of the model's and no --stop-token before so "
                 "many tokens; a --stop text ends a text all the same");
  command.add_flag("--ignore-eos", options.generation.ignoreEnd,
                   "Go on behind the tokens with which the model ends a text");
}

static void addStateOptions(CLI::App &command, RunOptions &options) {
  command.option_defaults()->group("State");
  command
      .add_option("--load-state", options.loadState,
                  "Continue the sequence of this state file; the prompt comes "
                  "after it; - reads standard input")
      ->type_name("FILE");
  command
      .add_option("--save-state", options.saveState,
                  "Write the sequence's state to this file at the end, and "
                  "when Ctrl-C ends the text: the prompt and every token after "
                  "it but one that ends the text")
      ->type_name("FILE");
  command.add_flag("--no-sync", options.noSync,
                   "Do not wait until the saved state is on the disk: for "
                   "measurements, since a loss of power may lose it");
}

static void addOutputOptions(CLI::App &command, RunOptions &options) {
  command.option_defaults()->group("Output");
  command.add_flag("--print-tokens", options.printTokens,
                   "Print token ids, comma-separated, in place of text; a line "
                   "for each sample");
  command
      .add_option(
          "--logprobs", options.logprobs,
          "With --json: of each token the logarithm of its probability, "
          "and those of the N likeliest, before penalties and filters")
      ->type_name("N")
      ->check(wholeNumber(0, UINT32_MAX - 1));
  command
      .add_option("--profile", options.profile,
                  "Write what ran when, each launch with the part of the "
                  "model that it computes, as a trace for Perfetto and "
                  "chrome://tracing")
      ->type_name("FILE");
  command.add_flag("--json", options.json,
                   "Print one JSON document at the end: texts, tokens, why "
                   "each ended, times");
}

void effc::cli::addRunCommand(CLI::App &app) {
  auto options = std::make_shared<RunOptions>();
  CLI::App *command = app.add_subcommand("run", "Generate from a prompt");
  addModelFile(*command, options->file);
  options->prompt.declare(*command);
  command
      ->add_option("--tokens", options->tokens,
                   "Token ids in place of a text: 1,2,3")
      ->type_name("IDS")
      ->group("Prompt");
  addEndOptions(*command, *options);
  options->sampling.declare(*command);
  command
      ->add_option("--samples", options->generation.samples,
                   "Continue the prompt so many times, decoding all together; "
                   "sample i draws with the seed + i")
      ->check(wholeNumber(1, 4096))
      ->capture_default_str()
      ->group("Sampling");
  options->grammar.declare(*command);
  command->option_defaults()->group("Feeding");
  options->drafts.declareModel(*command);
  addStateOptions(*command, *options);
  addOutputOptions(*command, *options);
  addDeviceChoice(*command, options->device);
  addModelAccess(*command, options->access);
  command->footer(
      "effc run model.effc \"And it came to pass\" -n 100\n"
      "effc run model.effc -f book.txt -n 0 --save-state book.state\n"
      "effc run model.effc -p \" Then\" --load-state book.state --temp 0.8\n"
      "effc run model.effc -p \"Born: \" --json-schema "
      "'{\"properties\": {\"year\": {\"type\": \"integer\"}}}'\n"
      "effc run model.effc -p \"Is it? \" --grammar answer.gbnf\n"
      "effc run chat.effc -e --no-special -p \"<|im_start|>user\\nHi"
      "<|im_end|>\\n\" --stop \"<|im_end|>\"");
  command->callback([options] { run(*options); });
}
