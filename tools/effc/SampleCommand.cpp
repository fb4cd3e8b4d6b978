// `effc sample`: many samples of many prompts, and how often one of k is right.

#include "tools/effc/Commands.h"
#include "tools/effc/DraftChoice.h"
#include "tools/effc/GrammarChoice.h"
#include "tools/effc/ModelAccess.h"
#include "tools/effc/OutputGuard.h"
#include "tools/effc/PassAtK.h"
#include "tools/effc/SampleFile.h"
#include "tools/effc/Sampling.h"
#include "tools/effc/SamplingChoice.h"
#include "tools/terminal/Failure.h"
#include "tools/terminal/OptionChecks.h"
#include "tools/terminal/Progress.h"
#include "tools/terminal/Quantities.h"
#include "tools/terminal/Signals.h"
#include "tools/terminal/Terminal.h"

#include <CLI/CLI.hpp>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <sys/wait.h>

using namespace effc;
using namespace effc::cli;
using Json = nlohmann::ordered_json;

namespace {
struct SampleOptions {
  std::string file, prompts, out = "-";
  std::optional<std::string> check;
  ModelAccess access;
  DeviceChoice device;
  SamplingChoice sampling;
  GrammarChoice grammar;
  std::vector<std::string> stops;
  uint64_t samples = 1, newTokens = 128;
  uint32_t batch = 64;
  DraftChoice drafts;
  bool logprobs = false, resume = false, json = false;
};

/// What all samples come to.
struct Total {
  uint64_t prompts = 0, samples = 0, tokens = 0;
  std::vector<uint64_t> right; // of each prompt that can be judged
  double seconds = 0;          // of what was sampled now
  uint64_t newTokens = 0;

  void add(const Json &line) {
    ++prompts;
    std::optional<uint64_t> count;
    for (const Json &sample : line["samples"]) {
      ++samples;
      tokens += sample["tokens"].size();
      if (sample.contains("right"))
        count = count.value_or(0) + sample["right"].get<bool>();
    }
    if (count)
      right.push_back(*count);
  }
  /// The mean over prompts.
  double passAt(uint64_t k, uint64_t n) const {
    double sum = 0;
    for (uint64_t count : right)
      sum += passAtK(n, count, k);
    return sum / double(right.size());
  }
};
} // namespace

static std::string_view trimmed(std::string_view text) {
  size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == text.npos)
    return "";
  return text.substr(begin, text.find_last_not_of(" \t\r\n") + 1 - begin);
}

/// Whether `command` ends with 0 when it reads the sample, as a line of JSON.
static bool judge(const std::string &command, const Json &line) {
  flushOutput();
  // A command that reads nothing is no reason to end.
  std::signal(SIGPIPE, SIG_IGN);
  std::FILE *pipe = popen(command.c_str(), "w");
  if (!pipe)
    throw Failure("cannot run '" + command + "'");
  std::string text =
      line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  std::fwrite(text.data(), 1, text.size(), pipe);
  int status = pclose(pipe);
  // What is no judgement: the shell found no program, or a signal ended it.
  if (!WIFEXITED(status) || WEXITSTATUS(status) >= 126)
    throw Failure("--check '" + command + "' gave no judgement: " +
                  (WIFEXITED(status)
                       ? "exit status " + std::to_string(WEXITSTATUS(status))
                       : "a signal ended it"));
  return WEXITSTATUS(status) == 0;
}

static Json lineOf(size_t index, const SamplePrompt &prompt,
                   const std::vector<OneSample> &samples,
                   const SampleOptions &options) {
  Json line = {{"index", index}};
  line.update(prompt.line);
  line["samples"] = Json::array();
  for (const OneSample &sample : samples) {
    Json one = {{"seed", sample.seed},
                {"text", sample.text},
                {"tokens", sample.tokens},
                {"stop_reason", sample.reason}};
    if (options.logprobs)
      one["logprobs"] = sample.logprobs;
    if (options.check) {
      Json asked = prompt.line;
      asked["text"] = sample.text;
      asked["tokens"] = sample.tokens;
      one["right"] = judge(*options.check, asked);
    } else if (prompt.answer) {
      one["right"] = trimmed(sample.text) == trimmed(*prompt.answer);
    }
    line["samples"].push_back(std::move(one));
  }
  return line;
}

/// 1, 2, 4, ... and n.
static std::vector<uint64_t> shownK(uint64_t n) {
  std::vector<uint64_t> all;
  for (uint64_t k = 1; k < n; k *= 2)
    all.push_back(k);
  all.push_back(n);
  return all;
}

static void report(const SampleOptions &options, const Total &total) {
  if (options.json) {
    Json json = {{"prompts", total.prompts}, {"samples", total.samples},
                 {"tokens", total.tokens},   {"new_tokens", total.newTokens},
                 {"seconds", total.seconds}, {"judged", total.right.size()},
                 {"pass_at", Json::object()}};
    for (uint64_t k = 1; !total.right.empty() && k <= options.samples; ++k)
      json["pass_at"][std::to_string(k)] = total.passAt(k, options.samples);
    print(json.dump(2) + "\n");
    return;
  }
  std::string line = formatCount(total.samples) + " samples of " +
                     formatCount(total.prompts) + " prompts, " +
                     formatCount(total.tokens) + " tokens";
  if (total.seconds > 0 && total.newTokens > 0)
    line += "; " + formatNumber(double(total.newTokens) / total.seconds) +
            " tokens/s";
  std::fprintf(stderr, "%s\n", line.c_str());
  if (total.right.empty())
    return;
  for (uint64_t k : shownK(options.samples))
    std::fprintf(stderr, "pass@%-6llu %s\n", static_cast<unsigned long long>(k),
                 formatNumber(total.passAt(k, options.samples), 5).c_str());
}

static void checkOptions(const SampleOptions &options) {
  options.grammar.check();
  if (options.resume && options.out == "-")
    throw UsageError("--resume needs the file of --out");
  if (options.grammar.grammar == "-" && options.prompts == "-")
    throw UsageError("--grammar and --prompts cannot both read standard input");
  if (options.json && options.out == "-")
    throw UsageError("--json prints the summary to standard output: --out FILE "
                     "takes the samples");
}

static void sample(const SampleOptions &options) {
  checkOptions(options);
  Model model = openModel(options.file, options.access);
  std::vector<SamplePrompt> prompts = readSamplePrompts(options.prompts, model);
  std::vector<std::string> inputs =
      filesOf(model, options.file, options.access);
  inputs.push_back(options.prompts);
  checkOutput("--out", options.out, inputs);

  SamplingOptions settings;
  settings.samples = options.samples;
  settings.newTokens = options.newTokens;
  settings.together = static_cast<uint32_t>(
      std::min<uint64_t>(options.batch, prompts.size() * options.samples));
  settings.sampling = options.sampling.optionsFor(model);
  std::vector<effc_logit_bias_t> biases = options.sampling.biasesFor(model);
  settings.sampling.logit_bias = biases.data();
  settings.sampling.logit_bias_count = biases.size();
  settings.sampling.logprobs = options.logprobs ? 1 : 0;
  settings.drafts = options.drafts;
  settings.stops = !options.stops.empty() || !model.hasTokenizer()
                       ? options.stops
                       : model.stops();
  options.sampling.noteIdle(settings.sampling);
  std::optional<Grammar> grammar = options.grammar.open(model);
  settings.grammar = grammar ? &*grammar : nullptr;
  if (options.samples > 1 && settings.sampling.temperature == 0)
    printNote("all samples of a prompt will be the same: the temperature is 0");

  SampleFile file(options.out, options.resume, options.samples,
                  options.sampling.seed);
  Total total;
  for (const Json &line : file.before())
    total.add(line);
  size_t first = file.before().size();
  if (first > prompts.size())
    throw Failure("'" + options.out + "' has " + formatCount(first) +
                  " lines, but there are " + formatCount(prompts.size()) +
                  " prompts");
  if (first < prompts.size()) {
    Place place =
        openEngine(options.device, model, {.sessions = settings.together});
    std::optional<Drafter> drafter =
        options.drafts.open(options.device, options.access, settings.together);
    settings.drafter = &drafter;
    Progress progress("sample", "prompts", prompts.size());
    auto start = std::chrono::steady_clock::now();
    Interruption interruption;
    sampleAll(prompts, first, model, place.engine, settings,
              [&](size_t index, std::vector<OneSample> samples) {
                Json line = lineOf(index, prompts[index], samples, options);
                for (const OneSample &one : samples)
                  total.newTokens += one.tokens.size();
                total.add(line);
                file.add(line);
                progress.update(index + 1);
                return !Interruption::came();
              });
    total.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
            .count();
  }
  report(options, total);
  if (Interruption::came() && total.prompts < prompts.size())
    throw Interrupted("interrupted behind " + formatCount(total.prompts) +
                      " of " + formatCount(prompts.size()) +
                      " prompts; --resume goes on there");
}

void effc::cli::addSampleCommand(CLI::App &app) {
  auto options = std::make_shared<SampleOptions>();
  CLI::App *command = app.add_subcommand(
      "sample",
      "Many samples of many prompts, and how often one of k is right");
  addModelFile(*command, options->file);
  command->option_defaults()->group("Input");
  command
      ->add_option("--prompts", options->prompts,
                   "A file with a line of JSON for each prompt: {\"prompt\": "
                   "TEXT}, {\"tokens\": [IDS]} or {\"messages\": [...]}; an "
                   "\"answer\" says what a right sample is; - reads standard "
                   "input")
      ->type_name("FILE")
      ->required();
  command
      ->add_option("--check", options->check,
                   "Samples are right for which this shell command ends with "
                   "0; it reads the prompt's line with \"text\" and \"tokens\" "
                   "of the sample")
      ->type_name("COMMAND");
  command->option_defaults()->group("Length and end");
  addWholeNumber(*command, "-n", options->newTokens, "New tokens at most")
      ->type_name("N")
      ->check(wholeNumber(1, uint64_t(1) << 40))
      ->capture_default_str();
  command
      ->add_option("--stop", options->stops,
                   "End before this text; may be given again (default: what "
                   "the model asks for)")
      ->allow_extra_args(false);
  options->sampling.declare(*command);
  command
      ->add_option("--samples", options->samples,
                   "Of each prompt; sample i of prompt j draws with the seed + "
                   "j samples + i, whatever runs beside it")
      ->check(wholeNumber(1, uint64_t(1) << 32))
      ->capture_default_str()
      ->group("Sampling");
  options->grammar.declare(*command);
  command->option_defaults()->group("Feeding");
  command->add_option("--batch", options->batch, "Samples that run together")
      ->check(wholeNumber(1, 65536))
      ->capture_default_str();
  options->drafts.declare(*command, "none");
  command->option_defaults()->group("Output");
  command
      ->add_option("-o,--out", options->out,
                   "Where the samples go, a line of JSON for each prompt, in "
                   "order; - is standard output")
      ->type_name("FILE")
      ->capture_default_str();
  command->add_flag("--resume", options->resume,
                    "Go on behind the prompts that the file of --out has");
  command->add_flag("--logprobs", options->logprobs,
                    "Of each token the logarithm of its probability, before "
                    "penalties and filters");
  command->add_flag("--json", options->json, "Print the summary as JSON");
  addDeviceChoice(*command, options->device);
  addModelAccess(*command, options->access);
  command->footer(
      "effc sample model.effc --prompts prompts.jsonl --samples 64 --temp 0.8 "
      "-o samples.jsonl\n"
      "effc sample model.effc --prompts p.jsonl -o s.jsonl --json-schema "
      "schema.json\n"
      "effc sample model.effc --prompts p.jsonl --samples 200 -o s.jsonl "
      "--resume\n"
      "effc sample model.effc --prompts p.jsonl --check ./is-right -o s.jsonl "
      "--json");
  command->callback([options] { sample(*options); });
}
