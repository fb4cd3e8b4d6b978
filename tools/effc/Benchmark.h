//===- Benchmark.h - Times the calls of a compiled model ------------------===//
#ifndef EFFC_TOOLS_EFFC_BENCHMARK_H
#define EFFC_TOOLS_EFFC_BENCHMARK_H

#include "tools/effc/Inputs.h"
#include "tools/effc/MachineProbes.h"
#include "tools/effc/ModelWork.h"
#include "tools/terminal/Progress.h"

#include <cstdint>
#include <vector>

namespace effc::cli {

/// Seconds of repeated runs: the median and the values that one run in ten is
/// below or above, interpolated between neighbours.
struct Timing {
  double median = 0, p10 = 0, p90 = 0;
};
/// `seconds` is not empty.
Timing summarise(std::vector<double> seconds);

/// One line of a benchmark: a prefill of `tokens` tokens for each of `batch`
/// sequences, or `tokens` decode steps of all of them.
struct Measurement {
  bool decode;
  uint64_t tokens;
  uint32_t batch;
  Timing seconds;
  Work work; // of a prefill, or of one decode step

  double tokensPerSecond() const;
  /// The least time that `machine` takes for the work, and whether it is its
  /// bandwidth that sets it.
  double floorSeconds(const Machine &machine, bool *byBandwidth) const;
  /// floorSeconds() over the time it took.
  double fraction(const Machine &machine) const;
};

/// Runs each case once to warm up and `repeat` times for the record.
class Benchmark {
public:
  Benchmark(const Model &model, Engine &engine, uint32_t repeat);

  Measurement prefill(uint64_t tokens, uint32_t batch);
  /// Starts behind a prompt of 16 tokens.
  Measurement decode(uint64_t steps, uint32_t batch);

private:
  template <typename Body> Timing time(Body body);

  const Model &model;
  Engine &engine;
  ModelWork work;
  uint32_t repeat;
};

} // namespace effc::cli

#endif // EFFC_TOOLS_EFFC_BENCHMARK_H
