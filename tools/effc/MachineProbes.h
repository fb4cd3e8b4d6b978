//===- MachineProbes.h - What this machine can do -------------------------===//
#ifndef EFFC_TOOLS_EFFC_MACHINEPROBES_H
#define EFFC_TOOLS_EFFC_MACHINEPROBES_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace effc::cli {

/// What all threads together reach: the ceilings that a model's calls are
/// measured against.
struct Rates {
  double readBytesPerSecond = 0; // a stream that no cache holds
  double gemmFlopsPerSecond = 0; // f32 products of packed panels
};

/// The medians of rates that were measured in turn. `samples` is not empty.
Rates medianOf(const std::vector<Rates> &samples);

/// Bytes of the last level of cache, all cores' together; 0 where the system
/// does not say.
uint64_t lastCacheBytes();

/// Measures what this machine can do, again and again, since it is seldom
/// alone: other guests and clocks change its rates from second to second.
///
/// The stream is four times the last cache, but at most 1 GiB and a quarter of
/// the free memory; each thread reads its share. The products are those of a
/// blocked matrix multiplication once its operands are packed and near: 6 x 16
/// results, 256 steps, AVX2 and FMA where the machine has them, so they show
/// what the best of generated code could reach.
class MachineProbes {
public:
  /// Takes the stream's memory.
  explicit MachineProbes(uint32_t threads);
  ~MachineProbes();

  uint32_t threads() const { return count; }
  /// What its streams take.
  uint64_t bytes() const { return uint64_t(share) * count; }
  /// Some 20 milliseconds: of two rounds each the faster one.
  Rates sample();

private:
  struct Operands;

  uint32_t count;
  size_t share; // bytes that a thread streams
  std::vector<std::unique_ptr<uint64_t[]>> streams;
  std::vector<std::unique_ptr<Operands>> operands;
};

} // namespace effc::cli

#endif // EFFC_TOOLS_EFFC_MACHINEPROBES_H
