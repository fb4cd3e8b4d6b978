// `effc bench`: how fast a model runs here, and how fast it could.

#include "tools/effc/BenchReport.h"
#include "tools/effc/Benchmark.h"
#include "tools/effc/Chips.h"
#include "tools/effc/Commands.h"
#include "tools/effc/Inputs.h"
#include "tools/effc/ModelAccess.h"
#include "tools/effc/ServeLoad.h"
#include "tools/terminal/Failure.h"
#include "tools/terminal/OptionChecks.h"
#include "tools/terminal/Progress.h"
#include "tools/terminal/Terminal.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <sstream>

using namespace effc;
using namespace effc::cli;

namespace {
enum class Format { Table, Markdown, Csv, Json, JsonLines };

struct BenchOptions {
  std::string file;
  ModelAccess access;
  std::vector<uint64_t> prefill = {512};
  std::vector<uint32_t> batch = {1};
  std::vector<uint64_t> depth = {0};
  std::vector<uint32_t> serve; // clients; empty: calls are measured
  uint64_t decode = 128;
  Repeats repeats;
  std::optional<uint32_t> repeat;   // runs of a case, whatever they take
  std::optional<double> seconds;    // of all of it
  std::optional<float> temperature; // at which decode draws; none: it does not
  std::string chip;                 // whose ceilings; empty: none are known
  bool drawWeights = false;         // of a file that has none
  DeviceChoice device;
  Format format = Format::Table;
  bool json = false;
};

/// What a run takes where nobody says.
constexpr double kUsualSeconds = 60;
/// A case takes this part of what is left at most, each of its runs but the
/// first, so that cases behind it get theirs.
constexpr uint32_t kUsualRuns = 5;

/// Seconds since the last lap.
class Laps {
public:
  double lap() {
    Clock::time_point now = Clock::now();
    double seconds = std::chrono::duration<double>(now - last).count();
    last = now;
    return seconds;
  }

private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point last = Clock::now();
};
} // namespace

/// The most memory that this process has had in use, mapped files included.
static uint64_t peakMemory() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.rfind("VmHWM:", 0) == 0) {
      uint64_t kibibytes = 0;
      std::istringstream(line.substr(6)) >> kibibytes;
      return kibibytes * 1024;
    }
  return 0;
}

/// The cases, cheapest kinds first: what is left out for want of time is at the
/// end.
static std::vector<BenchCase> casesOf(const BenchOptions &options) {
  std::vector<BenchCase> cases;
  for (uint64_t depth : options.depth) {
    for (uint64_t tokens : options.prefill)
      for (uint32_t batch : options.batch)
        cases.push_back({false, tokens, batch, depth});
    if (options.decode > 0)
      for (uint32_t batch : options.batch)
        cases.push_back({true, options.decode, batch, depth});
  }
  return cases;
}

static void checkOptions(const Model &model,
                         const std::vector<BenchCase> &cases) {
  uint64_t longest = 0;
  for (const BenchCase &one : cases)
    longest = std::max(longest, one.depth + one.tokens);
  if (model.maxContext() && longest > model.maxContext())
    throw Failure("the model's context is " +
                  std::to_string(model.maxContext()) + " tokens, but " +
                  std::to_string(longest) + " are to be measured");
}

/// The seconds that all of it may take; infinite where runs were counted.
static double budgetOf(const BenchOptions &options) {
  if (options.seconds)
    return *options.seconds;
  return options.repeat ? INFINITY : kUsualSeconds;
}

/// Times the cases within the budget: each gets an equal part of what is left
/// when its turn comes, and at least one run, unless its warm-up alone takes
/// what is left.
static void measureCases(const BenchOptions &options, Benchmark &benchmark,
                         const std::vector<BenchCase> &cases,
                         MachineProbes *probes, const Rates &known,
                         BenchReport &report) {
  Progress progress("bench", "cases", cases.size());
  double left = budgetOf(options);
  for (size_t i = 0; i < cases.size(); ++i) {
    Laps laps;
    double part = left / static_cast<double>(cases.size() - i);
    double once = left > 0 ? benchmark.warmUp(cases[i]) : 0;
    if (left <= 0 || once > left) {
      report.leftOut.push_back(cases[i]);
    } else {
      Repeats repeats = {options.repeat.value_or(kUsualRuns),
                         std::max(part - 2 * once, 0.0)};
      report.measurements.push_back(
          benchmark.measure(cases[i], repeats, probes, known));
    }
    left -= laps.lap();
    progress.update(i + 1);
  }
}

/// For how many sequences as long as those that are measured there is memory, of `free`
/// bytes before the file was opened.
static void addRoom(const BenchOptions &options, const ModelWork &work,
                    uint64_t free, BenchReport &report) {
  report.freeBytes = free - std::min(free, work.bytesOfWeights());
  uint64_t fed = options.decode;
  for (uint64_t tokens : options.prefill)
    fed = std::max(fed, tokens);
  for (uint64_t depth : options.depth)
    report.room.push_back({depth + fed, work.heldBytes(depth + fed),
                           work.sequencesIn(report.freeBytes, depth + fed)});
}

static BenchReport measure(const BenchOptions &options) {
  uint64_t free = freeBytes();
  BenchReport report;
  report.file = options.file;
  report.chip = options.chip;
  report.temperature = options.temperature;
  report.repeat = options.repeat.value_or(kUsualRuns);
  Laps laps;
  ModelAccess access = options.access;
  access.drawSeed = options.drawWeights ? 1 : 0;
  Model model = openModel(options.file, access);
  report.start.load = laps.lap();
  std::vector<BenchCase> cases = casesOf(options);
  checkOptions(model, cases);
  Place place = openEngine(options.device, model,
                           {.sessions = *std::max_element(options.batch.begin(),
                                                          options.batch.end()),
                            .keepTime = true});
  report.device = place.device.description();
  report.isa = place.engine.isa();
  report.start.engine = place.engineSeconds;
  bool onHost = report.device.rfind("host", 0) == 0;
  if (!options.chip.empty() && onHost)
    throw Failure("--chip is for GPUs, but the model runs on " + report.device);
  laps.lap();
  {
    Session session(place.engine);
    place.engine.decode({session.get()}, {0});
    report.start.token = laps.lap();
  }
  Benchmark benchmark(model, place.engine, options.temperature);
  report.threads = place.device.threads();
  report.cacheBytes = lastCacheBytes();
  if (onHost)
    addRoom(options, benchmark.modelWork(), free, report);
  // The probes are code of the host: what they reach is no ceiling of a GPU.
  std::optional<MachineProbes> probes;
  if (onHost) {
    StreamSize stream = streamSize(report.cacheBytes, freeBytes());
    report.whyNoCeiling = stream.whyNone;
    if (stream.bytes > 0)
      probes.emplace(report.threads, stream.bytes, report.isa);
  }
  Rates known;
  const Chip *chip = findChip(options.chip);
  if (chip && report.device.rfind("cuda", 0) == 0) {
    known = {chip->bytesPerSecond, chip->flopsPerSecond};
    report.cacheBytes = chip->cacheBytes;
  }
  measureCases(options, benchmark, cases, probes ? &*probes : nullptr, known,
               report);
  // The probes' memory was there all the while.
  report.peakBytes = peakMemory();
  if (probes)
    report.peakBytes -= std::min(report.peakBytes, probes->bytes());
  return report;
}

/// What requests of many clients wait for.
static void benchServing(const BenchOptions &options) {
  if (options.format != Format::Table && options.format != Format::Json)
    throw UsageError("--serve prints a table, or JSON with --json");
  if (options.prefill.empty() || options.decode == 0)
    throw UsageError("--serve expects a prompt (-p) and new tokens (-n)");
  ModelAccess access = options.access;
  access.drawSeed = options.drawWeights ? 1 : 0;
  Model model = openModel(options.file, access);
  uint64_t most =
      *std::max_element(options.prefill.begin(), options.prefill.end()) +
      options.decode;
  if (model.maxContext() && most > model.maxContext())
    throw Failure("the model's context is " +
                  std::to_string(model.maxContext()) + " tokens, but " +
                  std::to_string(most) + " are to be measured");
  uint32_t sessions =
      *std::max_element(options.serve.begin(), options.serve.end());
  Place place = openEngine(options.device, model, {.sessions = sessions});
  ServeReport report = {
      options.file, place.device.description(), place.engine.isa(), {}};
  size_t cases = options.serve.size() * options.prefill.size();
  Progress progress("bench", "cases", cases);
  for (uint64_t prompt : options.prefill)
    for (uint32_t clients : options.serve) {
      report.measurements.push_back(measureServing(
          model, place.engine,
          {clients, prompt, options.decode,
           options.seconds.value_or(kUsualSeconds) / double(cases)}));
      progress.update(report.measurements.size());
    }
  bool isJson = options.json || options.format == Format::Json;
  print(isJson ? asJson(report) : asTable(report));
}

static void bench(const BenchOptions &options) {
  if (!options.serve.empty())
    return benchServing(options);
  BenchReport report = measure(options);
  switch (options.json ? Format::Json : options.format) {
  case Format::Table:
    return print(asTable(report));
  case Format::Markdown:
    return print(asMarkdown(report));
  case Format::Csv:
    return print(asCsv(report));
  case Format::Json:
    return print(asJson(report));
  case Format::JsonLines:
    return print(asJsonLines(report));
  }
}

static const std::map<std::string, Format> kFormats = {
    {"table", Format::Table},     {"md", Format::Markdown},
    {"csv", Format::Csv},         {"json", Format::Json},
    {"jsonl", Format::JsonLines},
};

static std::vector<std::string> formatNames() {
  std::vector<std::string> names;
  for (const auto &[name, format] : kFormats)
    names.push_back(name);
  return names;
}

void effc::cli::addBenchCommand(CLI::App &app) {
  auto options = std::make_shared<BenchOptions>();
  CLI::App *command = app.add_subcommand(
      "bench", "Measure speed, beside what the machine could do");
  addModelFile(*command, options->file);
  command->option_defaults()->group("What to measure");
  command
      ->add_option("-p,--prefill", options->prefill,
                   "Lengths of the prompts to feed; 0: none")
      ->type_name("N,...")
      ->delimiter(',')
      ->allow_extra_args(false) // what follows may be FILE
      ->check(wholeNumber(0, 1 << 20))
      ->capture_default_str();
  command
      ->add_option("-n,--decode", options->decode,
                   "Decode steps of each run; 0: none")
      ->check(wholeNumber(0, 1 << 20))
      ->capture_default_str();
  command
      ->add_option("-b,--batch", options->batch,
                   "Sequences that go together, for each of the above")
      ->type_name("N,...")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(wholeNumber(1, 65536))
      ->capture_default_str();
  command
      ->add_option("-d,--depth", options->depth,
                   "Tokens that each sequence holds before, for each of the "
                   "above")
      ->type_name("N,...")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(wholeNumber(0, 1 << 24))
      ->capture_default_str();
  command
      ->add_option(
          "--serve", options->serve,
          "So many clients that each have a request at a time, of "
          "prompts of -p and -n new tokens: how long they wait for the "
          "first token, and from one to the next")
      ->type_name("CLIENTS,...")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(wholeNumber(1, 65536));
  command
      ->add_option("--temperature,--temp", options->temperature,
                   "Have decode draw tokens in place of giving logits; 0: the "
                   "most likely")
      ->check(numberThat([](float x) { return x >= 0 && x <= 1e6f; },
                         "a number from 0 to 1000000"));
  command->add_flag("--draw-weights", options->drawWeights,
                    "Draw weights at random for a model that was compiled with "
                    "--weights none: its speed is that of any other weights");
  command->option_defaults()->group("How long");
  command
      ->add_option("--seconds", options->seconds,
                   "Time for all of it, about: fewer runs and cases, which are "
                   "named, where it is short (default: 60, or no limit with "
                   "--repeat)")
      ->check(numberThat([](float x) { return x > 0 && x <= 1e6f; },
                         "a number above 0 and up to 1000000"));
  command
      ->add_option("-r,--repeat", options->repeat,
                   "Runs of each case, besides one to warm up (default: 5, or "
                   "as many as --seconds leaves room for)")
      ->check(wholeNumber(1, 1000));
  command->option_defaults()->group("Output");
  command
      ->add_option_function<std::string>(
          "-o,--output",
          [format = &options->format](const std::string &name) {
            *format = kFormats.at(name);
          },
          "Format of the results")
      ->type_name("FORMAT")
      ->check(CLI::IsMember(formatNames()))
      ->default_str("table");
  command->add_flag("--json", options->json, "The same as -o json");
  command
      ->add_option("--chip", options->chip,
                   "Hold what a GPU takes against the ceilings of a chip")
      ->type_name("CHIP")
      ->check(CLI::IsMember(chipList()));
  addDeviceChoice(*command, options->device);
  addModelAccess(*command, options->access);
  command->footer(
      "effc bench model.effc\n"
      "effc bench model.effc -p 512,2048 -n 128 -b 1,8 -d 0,4096 "
      "--seconds 600 -o md\n"
      "effc bench model.effc --serve 1,8,64 -p 128 -n 64 --json\n"
      "effc bench shape.effc --draw-weights -o jsonl >> runs.jsonl");
  command->callback([options] {
    std::erase(options->prefill, 0u);
    if (!options->chip.empty() && isHostName(options->device.name))
      throw UsageError("--chip is for GPUs: on the host the machine itself is "
                       "measured");
    if (options->prefill.empty() && options->decode == 0)
      throw UsageError("--prefill 0 and --decode 0 leave nothing to measure");
    bench(*options);
  });
}
