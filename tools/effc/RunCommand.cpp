// `effc run`: generates from a prompt, text streaming as it comes.

#include "runtime/include/effc/effc.hpp"
#include "tools/effc/Commands.h"
#include "tools/effc/Failure.h"
#include "tools/effc/Inputs.h"
#include "tools/effc/StopText.h"
#include "tools/effc/Terminal.h"
#include "tools/terminal/Quantities.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>

using namespace effc;
using namespace effc::cli;

namespace {
struct RunOptions {
  std::string file;
  std::optional<std::string> prompt, promptFile, tokens;
  int64_t newTokens = 128;
  std::string device = "auto";
  uint32_t threads = 0;
  std::optional<float> temperature, topP, minP, repeatPenalty;
  std::optional<uint32_t> topK;
  uint64_t seed = 0;
  std::vector<std::string> stops;
  bool printTokens = false;
};

/// Tokens and the time they took.
struct Rate {
  uint64_t tokens = 0;
  double seconds = 0;

  std::string text() const {
    std::string perSecond =
        seconds > 0 ? formatNumber(static_cast<double>(tokens) / seconds) : "-";
    return formatCount(tokens) + " tokens, " + perSecond + " tokens/s";
  }
};

/// Adds the time it lives to a rate.
class Stopwatch {
public:
  explicit Stopwatch(Rate &rate) : rate(rate), start(Clock::now()) {}
  ~Stopwatch() {
    rate.seconds += std::chrono::duration<double>(Clock::now() - start).count();
  }

private:
  using Clock = std::chrono::steady_clock;
  Rate &rate;
  Clock::time_point start;
};

/// Where generated tokens go: text, or ids when those are asked for.
class Output {
public:
  Output(const Model &model, const RunOptions &options)
      : ids(options.printTokens), stop(options.stops) {
    if (model.hasTokenizer())
      stream =
          std::make_unique<Detokenizer>(model, EFFC_DETOKENIZE_SKIP_SPECIAL);
  }

  /// Returns whether to go on.
  bool push(int32_t token) {
    if (stream)
      show(stop.push(stream->push(token)));
    if (ids)
      print((count++ ? "," : "") + std::to_string(token));
    flushOutput();
    return !stop.stopped();
  }

  void finish() {
    if (stream)
      show(stop.push(stream->finish()));
    show(stop.finish());
    print("\n");
    flushOutput();
  }

private:
  void show(std::string_view text) {
    if (!ids)
      print(text);
  }

  bool ids;
  uint64_t count = 0;
  std::unique_ptr<Detokenizer> stream;
  StopText stop;
};
} // namespace

static Tokens readPrompt(const Model &model, const RunOptions &options) {
  Tokens tokens;
  if (options.tokens) {
    tokens = parseTokenList(*options.tokens);
  } else {
    std::string text =
        options.prompt ? *options.prompt : readWholeFile(*options.promptFile);
    if (!model.hasTokenizer())
      throw Failure("'" + options.file +
                    "' has no tokenizer; give the prompt as --tokens 1,2,3");
    tokens = model.tokenize(text);
  }
  if (tokens.empty() && model.generation().bos >= 0)
    tokens.push_back(model.generation().bos);
  if (tokens.empty())
    throw Failure(
        "the prompt is empty, and the model has no token to begin with");
  return tokens;
}

static Sampler makeSampler(const Model &model, const RunOptions &options) {
  effc_sampler_options_t sampling = effc_sampler_options_for_model(model.get());
  sampling.temperature = options.temperature.value_or(sampling.temperature);
  sampling.top_k = options.topK.value_or(sampling.top_k);
  sampling.top_p = options.topP.value_or(sampling.top_p);
  sampling.min_p = options.minP.value_or(sampling.min_p);
  sampling.repeat_penalty =
      options.repeatPenalty.value_or(sampling.repeat_penalty);
  sampling.seed = options.seed;
  try {
    return Sampler(sampling, model.vocabularySize());
  } catch (const Error &error) {
    throw UsageError(error.what());
  }
}

static bool endsSequence(const Model &model, int32_t token) {
  effc_generation_t generation = model.generation();
  return std::find(generation.eos, generation.eos + generation.eos_count,
                   token) != generation.eos + generation.eos_count;
}

static void run(const RunOptions &options) {
  Model model(options.file);
  if (!options.printTokens && !model.hasTokenizer())
    throw Failure("'" + options.file +
                  "' has no tokenizer; add --print-tokens");
  Tokens prompt = readPrompt(model, options);
  Sampler sampler = makeSampler(model, options);
  Engine engine(model, openDevice(options.device, options.threads));
  Session session(engine);
  Output output(model, options);

  Rate prefill{prompt.size()}, decode;
  std::vector<float> logits;
  {
    Stopwatch watch(prefill);
    logits = engine.prefill(session, prompt);
  }
  sampler.accept(prompt);
  for (int64_t made = 0; made < options.newTokens; ++made) {
    int32_t token = sampler.sample(logits);
    if (endsSequence(model, token) || !output.push(token))
      break;
    if (made + 1 == options.newTokens)
      break;
    if (model.maxContext() && session.position() == model.maxContext()) {
      printNote("the model's context of " + formatCount(model.maxContext()) +
                " tokens is full");
      break;
    }
    Stopwatch watch(decode);
    effc_session_t *handle = session.get();
    check(effc_engine_decode(engine.get(), &handle, &token, 1, logits.data()));
    ++decode.tokens;
  }
  output.finish();
  std::fprintf(stderr, "prefill: %s; decode: %s\n", prefill.text().c_str(),
               decode.text().c_str());
}

void effc::cli::addRunCommand(CLI::App &app) {
  auto options = std::make_shared<RunOptions>();
  CLI::App *command = app.add_subcommand("run", "Generate from a prompt");
  command->add_option("FILE", options->file, "A compiled model")->required();
  auto *prompt =
      command->add_option_group("prompt", "What to continue (one of these)");
  prompt->add_option("--prompt", options->prompt, "A text");
  prompt->add_option("--prompt-file", options->promptFile,
                     "A text file; - reads standard input");
  prompt->add_option("--tokens", options->tokens, "Token ids: 1,2,3");
  prompt->require_option(1);
  command->add_option("-n", options->newTokens, "New tokens at most")
      ->check(CLI::Range(int64_t(0), int64_t(1) << 48))
      ->capture_default_str();
  command->add_option("--device", options->device, "Where to run")
      ->check(CLI::IsMember({"auto", "host", "cuda", "sim"}))
      ->capture_default_str();
  command
      ->add_option("--threads", options->threads,
                   "Threads; 0: one per usable core")
      ->check(CLI::Range(0, 1024));
  command->add_option(
      "--temperature", options->temperature,
      "0: the most likely token (default: what the model asks for)");
  command->add_option("--top-k", options->topK,
                      "Draw from the K most likely; 0: all");
  command->add_option("--top-p", options->topP,
                      "Draw from the fewest tokens of this probability");
  command->add_option(
      "--min-p", options->minP,
      "Draw from tokens at least this likely relative to the best");
  command->add_option("--repeat-penalty", options->repeatPenalty,
                      "Make tokens seen before less likely; 1: no");
  command->add_option("--seed", options->seed, "Of the draws")
      ->capture_default_str();
  command
      ->add_option("--stop", options->stops,
                   "End before this text; may be given again")
      ->allow_extra_args(false);
  command->add_flag("--print-tokens", options->printTokens,
                    "Print token ids, comma-separated, in place of text");
  command->callback([options] { run(*options); });
}
