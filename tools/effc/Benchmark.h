//===- Benchmark.h - Times the calls of a compiled model ------------------===//
#ifndef EFFC_TOOLS_EFFC_BENCHMARK_H
#define EFFC_TOOLS_EFFC_BENCHMARK_H

#include "tools/effc/Inputs.h"
#include "tools/effc/MachineProbes.h"
#include "tools/effc/ModelWork.h"
#include "tools/terminal/Progress.h"

#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

namespace effc::cli {

/// Seconds of repeated runs: the median and the values that one run in ten is
/// below or above, interpolated between neighbours.
struct Timing {
  double median = 0, p10 = 0, p90 = 0;
};
/// `seconds` is not empty.
Timing summarise(std::vector<double> seconds);

/// A case to measure: a prefill of `tokens` tokens for each of `batch`
/// sequences, or `tokens` decode steps of all of them, behind `depth` tokens
/// that each sequence holds already.
struct BenchCase {
  bool decode;
  uint64_t tokens;
  uint32_t batch;
  uint64_t depth = 0;
};

/// One line of a benchmark: a case, and what it took.
struct Measurement : BenchCase {
  uint32_t runs = 0;
  Timing seconds =
      {};           // by the device's clock where it has one, else the host's
  Work work = {};   // of a prefill, or of one decode step
  Rates rates = {}; // of the machine, between the runs, or of a chip; or none
  Timing hostSeconds = {}; // as `seconds`, by the host's clock
  bool byDevice = false;   // whether the device has one

  /// Whether anything is known of what the machine could do.
  bool hasCeiling() const { return rates.readBytesPerSecond > 0; }
  double tokensPerSecond() const;
  /// The least time that the machine takes for the work, and whether it is its
  /// bandwidth that sets it.
  double floorSeconds(bool *byBandwidth) const;
  /// floorSeconds() over the time it took.
  double fraction() const;
  /// Whether it was faster than the floor of memory and all that a call moves
  /// fits in a cache of `cacheBytes`: that is where it was read from.
  bool isFromCache(uint64_t cacheBytes) const;
};

/// How often a case is run.
struct Repeats {
  uint32_t most = 5;
  /// No further run begins once the case has taken so long, the first apart;
  /// infinite: all of them do.
  double seconds = INFINITY;
};

class Benchmark {
public:
  /// With a temperature decode steps give tokens that are drawn at it in place
  /// of logits.
  Benchmark(const Model &model, Engine &engine,
            std::optional<float> temperature = std::nullopt);

  const ModelWork &modelWork() const { return work; }
  /// Runs a case once, so that everything it touches is in memory. Returns the
  /// seconds that this took, its depth included.
  double warmUp(const BenchCase &one);
  /// Runs it repeatedly, each time after a sample of the machine's rates, which
  /// `probes` takes; null: they are `rates`, if anything is known of them.
  Measurement measure(const BenchCase &one, const Repeats &repeats,
                      MachineProbes *probes, const Rates &rates = Rates());

private:
  struct Seconds {
    double host, device; // the device's negative where it keeps no time
  };
  /// One run, timed from where the depth has been fed.
  Seconds run(const BenchCase &one);

  const Model &model;
  Engine &engine;
  std::optional<float> temperature;
  ModelWork work;
};

} // namespace effc::cli

#endif // EFFC_TOOLS_EFFC_BENCHMARK_H
