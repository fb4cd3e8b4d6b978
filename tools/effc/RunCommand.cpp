// `effc run`: generates from a prompt, text streaming as it comes.

#include "runtime/include/effc/effc.hpp"
#include "tools/effc/Commands.h"
#include "tools/effc/Generation.h"
#include "tools/effc/Inputs.h"
#include "tools/effc/ModelAccess.h"
#include "tools/effc/OutputGuard.h"
#include "tools/terminal/Failure.h"
#include "tools/terminal/OptionChecks.h"
#include "tools/terminal/Signals.h"
#include "tools/terminal/Terminal.h"

#include <CLI/CLI.hpp>
#include <cmath>
#include <memory>
#include <optional>

using namespace effc;
using namespace effc::cli;

namespace {
struct RunOptions {
  std::string file;
  ModelAccess access;
  std::optional<std::string> prompt, promptFile, tokens;
  std::optional<std::string> loadState, saveState;
  DeviceChoice device;
  std::optional<float> temperature, topP, minP, repeatPenalty;
  std::optional<uint32_t> topK;
  uint64_t seed = 0;
  GenerationOptions generation;
};
} // namespace

static void checkOptions(const RunOptions &options) {
  if (options.promptFile == "-" && options.loadState == "-")
    throw UsageError("--prompt-file and --load-state cannot both read "
                     "standard input");
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
static void checkSavedState(const Model &model, const RunOptions &options) {
  if (!options.saveState)
    return;
  std::vector<std::string> inputs =
      filesOf(model, options.file, options.access);
  if (options.promptFile)
    inputs.push_back(*options.promptFile);
  checkOutput("--save-state", *options.saveState, inputs);
}

static Tokens readPrompt(const Model &model, const RunOptions &options) {
  Tokens tokens;
  if (options.tokens) {
    tokens = parseTokenList(*options.tokens);
  } else {
    std::string text =
        options.prompt ? *options.prompt : readWholeFile(*options.promptFile);
    // What the tokenizer puts in front of a text stands in front of the saved
    // one already.
    tokens =
        model.tokenize(text, options.loadState ? EFFC_TOKENIZE_NO_SPECIAL : 0);
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
  effc_sampler_options_t sampling = effc_sampler_options_for_model(model.get());
  sampling.temperature = options.temperature.value_or(sampling.temperature);
  sampling.top_k = options.topK.value_or(sampling.top_k);
  sampling.top_p = options.topP.value_or(sampling.top_p);
  sampling.min_p = options.minP.value_or(sampling.min_p);
  sampling.repeat_penalty =
      options.repeatPenalty.value_or(sampling.repeat_penalty);
  sampling.seed = options.seed;
  if (options.generation.samples > 1 && sampling.temperature == 0)
    printNote("all samples will be the same: the temperature is 0");
  if (options.loadState && sampling.repeat_penalty != 1)
    printNote("the repeat penalty does not know the tokens before the loaded "
              "state");
  return sampling;
}

static void loadState(Session &session, const std::string &path) {
  if (path == "-")
    session.loadBytes(readWholeFile(path));
  else
    session.load(path);
}

static void run(const RunOptions &options) {
  checkOptions(options);
  Model model = openModel(options.file, options.access);
  checkSavedState(model, options);
  if (!model.hasTokenizer() &&
      (!options.tokens || !options.generation.printTokens))
    throw Failure("'" + options.file +
                  "' has no tokenizer: give --tokens 1,2,3 and --print-tokens");
  if (!model.hasTokenizer() && !options.generation.stops.empty())
    throw Failure("'" + options.file +
                  "' has no tokenizer, so --stop cannot "
                  "find a text");
  Tokens prompt = readPrompt(model, options);
  GenerationOptions settings = options.generation;
  settings.sampling = samplingOf(model, options);
  Engine engine =
      openEngine(options.device, model, {.sessions = settings.samples}).engine;
  Session session(engine);
  if (options.loadState)
    loadState(session, *options.loadState);

  Generation generation(model, engine, std::move(session), settings);
  generation.feed(prompt);
  generation.run();
  if (options.saveState) {
    generation.feedLastToken();
    HoldSignals held; // the library would leave what it has written
    generation.session().save(*options.saveState);
  }
  std::string rates = "prefill: " + generation.prefill.text();
  if (generation.decode.tokens > 0) // the first token needs no step
    rates += "; decode: " + generation.decode.text();
  std::fprintf(stderr, "%s\n", rates.c_str());
}

static void addSamplingOptions(CLI::App &command, RunOptions &options) {
  command
      .add_option("--temperature", options.temperature,
                  "0: the most likely token (default: what the model asks for)")
      ->check(numberThat([](float x) { return std::isfinite(x) && x >= 0; },
                         "a finite number from 0 on"));
  command
      .add_option("--top-k", options.topK,
                  "Draw from the K most likely; 0: all")
      ->check(wholeNumber(0, UINT32_MAX));
  command
      .add_option("--top-p", options.topP,
                  "Draw from the fewest tokens of this probability")
      ->check(numberThat([](float x) { return x > 0 && x <= 1; },
                         "a number above 0 and up to 1"));
  command
      .add_option("--min-p", options.minP,
                  "Draw from tokens at least this likely relative to the best")
      ->check(numberThat([](float x) { return x >= 0 && x <= 1; },
                         "a number from 0 to 1"));
  command
      .add_option("--repeat-penalty", options.repeatPenalty,
                  "Make tokens seen before less likely; 1: no")
      ->check(numberThat([](float x) { return std::isfinite(x) && x > 0; },
                         "a positive finite number"));
  addWholeNumber(command, "--seed", options.seed, "Of the draws");
  command
      .add_option("--samples", options.generation.samples,
                  "Continue the prompt so many times, decoding all together; "
                  "sample i draws with the seed + i")
      ->check(wholeNumber(1, 4096))
      ->capture_default_str();
  command
      .add_option("--stop", options.generation.stops,
                  "End before this text; may be given again")
      ->allow_extra_args(false);
}

void effc::cli::addRunCommand(CLI::App &app) {
  auto options = std::make_shared<RunOptions>();
  CLI::App *command = app.add_subcommand("run", "Generate from a prompt");
  command->add_option("FILE", options->file, "A compiled model")->required();
  addModelAccess(*command, options->access);
  auto *prompt =
      command->add_option_group("prompt", "What to continue (one of these)");
  prompt->add_option("--prompt", options->prompt, "A text");
  prompt->add_option("--prompt-file", options->promptFile,
                     "A text file; - reads standard input");
  prompt->add_option("--tokens", options->tokens, "Token ids: 1,2,3");
  prompt->require_option(1);
  command->add_option("-n", options->generation.newTokens, "New tokens at most")
      ->check(wholeNumber(0, uint64_t(1) << 48))
      ->capture_default_str();
  addDeviceChoice(*command, options->device);
  addSamplingOptions(*command, *options);
  command->add_option("--load-state", options->loadState,
                      "Continue the sequence of this state file; the prompt "
                      "comes after it; - reads standard input");
  command->add_option("--save-state", options->saveState,
                      "Write the sequence's state to this file at the end: the "
                      "prompt and every token after it but one that ends the "
                      "text");
  command->add_flag(
      "--print-tokens", options->generation.printTokens,
      "Print token ids, comma-separated, in place of text; a line "
      "for each sample");
  command->callback([options] { run(*options); });
}
