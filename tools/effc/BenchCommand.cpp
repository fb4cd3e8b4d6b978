// `effc bench`: how fast a model runs here, and how fast it could.

#include "tools/effc/Benchmark.h"
#include "tools/effc/Chips.h"
#include "tools/effc/Commands.h"
#include "tools/effc/Inputs.h"
#include "tools/effc/ModelAccess.h"
#include "tools/terminal/Failure.h"
#include "tools/terminal/OptionChecks.h"
#include "tools/terminal/Progress.h"
#include "tools/terminal/Quantities.h"
#include "tools/terminal/Table.h"
#include "tools/terminal/Terminal.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>

using namespace effc;
using namespace effc::cli;
using Json = nlohmann::ordered_json;

namespace {
struct BenchOptions {
  std::string file;
  ModelAccess access;
  std::vector<uint64_t> prefill = {512, 2048};
  std::vector<uint32_t> batch = {1, 8};
  uint64_t decode = 128;
  uint32_t repeat = 5;
  std::optional<float> temperature; // at which decode draws; none: it does not
  std::string chip;                 // whose ceilings; empty: none are known
  bool drawWeights = false;         // of a file that has none
  DeviceChoice device;
  bool json = false;
};

/// How long it takes until there is an answer.
struct Start {
  double load = 0;   // the file checked, its program read
  double engine = 0; // memory reserved, code mapped
  double token = 0;  // the first token fed, weights read for the first time
};

struct Results {
  std::string device;
  Start start;
  uint64_t peakBytes = 0; // 0: the system does not say
  uint32_t threads = 0;
  uint64_t cacheBytes = 0;     // 0: the system does not say
  bool workIsEstimate = false; // FLOPs of matrices alone
  std::vector<Measurement> measurements;
};

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

static void checkOptions(const Model &model, const BenchOptions &options) {
  uint64_t longest = options.decode + 16;
  for (uint64_t tokens : options.prefill)
    longest = std::max(longest, tokens);
  if (model.maxContext() && longest > model.maxContext())
    throw Failure("the model's context is " +
                  std::to_string(model.maxContext()) + " tokens, but " +
                  std::to_string(longest) + " are to be measured");
}

static Results measure(const BenchOptions &options) {
  Results results;
  Laps laps;
  ModelAccess access = options.access;
  access.drawSeed = options.drawWeights ? 1 : 0;
  Model model = openModel(options.file, access);
  results.start.load = laps.lap();
  checkOptions(model, options);
  Place place = openEngine(options.device, model,
                           {.sessions = *std::max_element(options.batch.begin(),
                                                          options.batch.end()),
                            .keepTime = true});
  Device &device = place.device;
  Engine &engine = place.engine;
  results.device = device.description();
  results.start.engine = place.engineSeconds;
  if (!options.chip.empty() && results.device.rfind("host", 0) == 0)
    throw Failure("--chip is for GPUs, but the model runs on " +
                  results.device);
  laps.lap();
  {
    Session session(engine);
    engine.decode({session.get()}, {0});
    results.start.token = laps.lap();
  }
  Benchmark benchmark(model, engine, options.temperature);
  std::vector<BenchCase> cases;
  for (uint64_t tokens : options.prefill)
    for (uint32_t batch : options.batch)
      cases.push_back({false, tokens, batch});
  if (options.decode > 0)
    for (uint32_t batch : options.batch)
      cases.push_back({true, options.decode, batch});
  Progress progress("bench", "runs", 2 * cases.size());
  for (size_t i = 0; i < cases.size(); ++i) {
    benchmark.warmUp(cases[i]);
    progress.update(i + 1);
  }
  results.peakBytes = peakMemory(); // before the probes take theirs
  results.threads = device.threads();
  results.cacheBytes = lastCacheBytes();
  results.workIsEstimate = benchmark.modelWork().isEstimate();
  // The probes are code of the host: what they reach is no ceiling of a GPU.
  std::optional<MachineProbes> probes;
  if (results.device.rfind("host", 0) == 0)
    probes.emplace(results.threads);
  Rates known;
  const Chip *chip = findChip(options.chip);
  if (chip && results.device.rfind("cuda", 0) == 0) {
    known = {chip->bytesPerSecond, chip->flopsPerSecond};
    results.cacheBytes = chip->cacheBytes;
  }
  for (size_t i = 0; i < cases.size(); ++i) {
    results.measurements.push_back(benchmark.measure(
        cases[i], options.repeat, probes ? &*probes : nullptr, known));
    progress.update(cases.size() + i + 1);
  }
  return results;
}

/// The rates over all cases.
static Rates ratesOf(const Results &results) {
  std::vector<Rates> rates;
  for (const Measurement &one : results.measurements)
    if (one.hasCeiling())
      rates.push_back(one.rates);
  return rates.empty() ? Rates() : medianOf(rates);
}

static std::string milliseconds(double seconds) {
  return formatNumber(1000 * seconds);
}

static void printTable(const BenchOptions &options, const Results &results) {
  Rates machine = ratesOf(results);
  std::string text = options.file + " on " + results.device + "\n";
  text += "  load " + milliseconds(results.start.load) + " ms, engine " +
          milliseconds(results.start.engine) + " ms, first token " +
          milliseconds(results.start.token) + " ms";
  if (results.peakBytes)
    text += "; peak memory " + formatBytes(results.peakBytes);
  text += "\n";
  bool ofChip = !options.chip.empty() && results.device.rfind("cuda", 0) == 0;
  if (ofChip && machine.readBytesPerSecond > 0)
    text += "  ceilings of " + options.chip + " (" +
            std::string(findChip(options.chip)->source) +
            "): " + formatNumber(machine.readBytesPerSecond / 1e9) +
            " GB/s, products " +
            formatNumber(machine.gemmFlopsPerSecond / 1e9) + " GFLOP/s\n";
  else if (machine.readBytesPerSecond > 0)
    text += "  measured with " + std::to_string(results.threads) +
            (results.threads == 1 ? " thread" : " threads") + ": reads " +
            formatNumber(machine.readBytesPerSecond / 1e9) +
            " GB/s, f32 products " +
            formatNumber(machine.gemmFlopsPerSecond / 1e9) + " GFLOP/s\n";
  else
    text += "  what this device could reach is not measured\n";
  if (results.workIsEstimate)
    text += "  the file does not state its FLOPs: those of its matrices alone "
            "are counted\n";
  text += "\n";
  Table table;
  table.add({"call", "batch", "tokens/s", "ms/call", "p10", "p90", "GFLOP/call",
             "MB/call", "ceiling", "of it"});
  bool cached = false;
  for (const Measurement &one : results.measurements) {
    bool byBandwidth;
    one.floorSeconds(&byBandwidth);
    bool inCache = one.hasCeiling() && one.isFromCache(results.cacheBytes);
    cached |= inCache;
    double calls = one.decode ? static_cast<double>(one.tokens) : 1;
    table.add({one.decode ? "decode" : "prefill " + std::to_string(one.tokens),
               std::to_string(one.batch), formatNumber(one.tokensPerSecond()),
               milliseconds(one.seconds.median / calls),
               milliseconds(one.seconds.p10 / calls),
               milliseconds(one.seconds.p90 / calls),
               formatNumber(static_cast<double>(one.work.flops) / 1e9),
               formatNumber(static_cast<double>(one.work.bytes) / 1e6),
               !one.hasCeiling() ? "-"
               : inCache         ? "reads, in cache"
               : byBandwidth     ? "reads"
                                 : "products",
               one.hasCeiling() ? formatNumber(100 * one.fraction(), 3) + " %"
                                : "-"});
  }
  text += table.text();
  text += "  a call takes all sequences together, in decode by one token\n";
  if (options.temperature)
    text += "  decode gives tokens, drawn at temperature " +
            formatNumber(*options.temperature) + ", in place of logits\n";
  if (cached)
    text += "  in cache: faster than memory, since what a call moves fits in "
            "the last cache (" +
            formatBytes(results.cacheBytes) + ")\n";
  print(text);
}

static void printJson(const BenchOptions &options, const Results &results) {
  Rates machine = ratesOf(results);
  Json json;
  json["file"] = options.file;
  json["device"] = results.device;
  json["threads"] = results.threads;
  json["load_seconds"] = results.start.load;
  json["engine_seconds"] = results.start.engine;
  json["first_token_seconds"] = results.start.token;
  json["peak_bytes"] = results.peakBytes;
  json["machine"] = {{"read_bytes_per_second", machine.readBytesPerSecond},
                     {"gemm_flops_per_second", machine.gemmFlopsPerSecond},
                     {"cache_bytes", results.cacheBytes}};
  json["flops_estimated"] = results.workIsEstimate;
  json["repeat"] = options.repeat;
  json["temperature"] =
      options.temperature ? Json(*options.temperature) : Json();
  json["results"] = Json::array();
  for (const Measurement &one : results.measurements) {
    bool byBandwidth;
    double floor = one.floorSeconds(&byBandwidth);
    auto known = [&](const Json &value) {
      return one.hasCeiling() ? value : Json();
    };
    json["results"].push_back(
        {{"call", one.decode ? "decode" : "prefill"},
         {"tokens", one.tokens},
         {"batch", one.batch},
         {"clock", one.byDevice ? "device" : "host"},
         {"host_seconds_median", one.hostSeconds.median},
         {"seconds_median", one.seconds.median},
         {"seconds_p10", one.seconds.p10},
         {"seconds_p90", one.seconds.p90},
         {"tokens_per_second", one.tokensPerSecond()},
         {"flops", one.work.flops},
         {"bytes", one.work.bytes},
         {"read_bytes_per_second", known(one.rates.readBytesPerSecond)},
         {"gemm_flops_per_second", known(one.rates.gemmFlopsPerSecond)},
         {"floor_seconds", known(floor)},
         {"bound_by", known(byBandwidth ? "bandwidth" : "arithmetic")},
         {"in_cache", known(one.isFromCache(results.cacheBytes))},
         {"fraction", known(one.fraction())}});
  }
  print(json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

static void bench(const BenchOptions &options) {
  Results results = measure(options);
  if (options.json)
    printJson(options, results);
  else
    printTable(options, results);
}

void effc::cli::addBenchCommand(CLI::App &app) {
  auto options = std::make_shared<BenchOptions>();
  CLI::App *command = app.add_subcommand(
      "bench", "Measure speed, beside what the machine could do");
  command->add_option("FILE", options->file, "A compiled model")->required();
  addModelAccess(*command, options->access);
  command
      ->add_option("--prefill", options->prefill,
                   "Lengths of the prompts to feed; 0: none")
      ->delimiter(',')
      ->allow_extra_args(false) // what follows may be FILE
      ->check(wholeNumber(0, 1 << 20))
      ->capture_default_str();
  command
      ->add_option("--decode", options->decode,
                   "Decode steps of each run; 0: none")
      ->check(wholeNumber(0, 1 << 20))
      ->capture_default_str();
  command
      ->add_option("--batch", options->batch,
                   "Sequences that go together, for each of the above")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(wholeNumber(1, 65536))
      ->capture_default_str();
  command
      ->add_option("--repeat", options->repeat,
                   "Runs of each case, besides one to warm up")
      ->check(wholeNumber(1, 1000))
      ->capture_default_str();
  command
      ->add_option("--temperature", options->temperature,
                   "Have decode draw tokens in place of giving logits; 0: the "
                   "most likely")
      ->check(CLI::Range(0.0, 1e6));
  addDeviceChoice(*command, options->device);
  command
      ->add_option("--chip", options->chip,
                   "Hold what a GPU takes against the ceilings of a chip: " +
                       chipNames())
      ->check(CLI::IsMember(chipList()));
  command->add_flag("--draw-weights", options->drawWeights,
                    "Draw weights at random for a model that was compiled with "
                    "--weights none: its speed is that of any other weights");
  command->add_flag("--json", options->json, "Print JSON");
  command->callback([options] {
    std::erase(options->prefill, 0u);
    if (!options->chip.empty() && options->device.name == "host")
      throw UsageError("--chip is for GPUs: on the host the machine itself is "
                       "measured");
    if (options->prefill.empty() && options->decode == 0)
      throw UsageError("--prefill 0 and --decode 0 leave nothing to measure");
    bench(*options);
  });
}
