//===- MachineProbes.h - What this machine can do -------------------------===//
#ifndef EFFC_TOOLS_EFFC_MACHINEPROBES_H
#define EFFC_TOOLS_EFFC_MACHINEPROBES_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
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

/// Bytes of memory that nobody uses and that this process may still have.
uint64_t freeBytes();

/// What is read to see how fast memory is.
struct StreamSize {
  uint64_t bytes = 0;  // 0: there is no room for one that says anything
  std::string whyNone; // why it is 0
};
/// Of a stream that is read again and again some of a cache's size is still there,
/// since caches do not give up what is oldest: on an EPYC with 32 MiB for two
/// cores a stream of 128 MiB was read at 50 to 63 GB/s, of 256 to 1024 MiB at 30
/// to 33.
constexpr uint64_t kCachesStreamed = 8;
/// So often the last cache; none where that is more than a quarter of `free`.
/// `cache`: 0: unknown.
StreamSize streamSize(uint64_t cache, uint64_t free);

/// Measures what this machine can do, again and again, since it is seldom
/// alone: other guests and clocks change its rates from second to second.
///
/// Each thread reads its share of a stream. The products are those of a
/// blocked matrix multiplication once its operands are packed and near: 256 steps
/// of 6 x 16 results by AVX2 and FMA, or of 6 x 32 by AVX-512 where the model's
/// code is of x86-64-v4. So they show what the best of such code could reach.
class MachineProbes {
public:
  /// Takes the stream's memory: `bytes`, as streamSize() says. `isa`: of the
  /// model's code, which the machine runs.
  MachineProbes(uint32_t threads, uint64_t bytes, std::string isa = "");
  ~MachineProbes();

  uint32_t threads() const { return count; }
  /// What its streams take.
  uint64_t bytes() const { return uint64_t(share) * count; }
  /// Some tens of milliseconds: of two rounds each the faster one.
  Rates sample();

private:
  struct Operands;

  uint32_t count;
  size_t share; // bytes that a thread streams
  std::string isa;
  std::vector<std::unique_ptr<uint64_t[]>> streams;
  std::vector<std::unique_ptr<Operands>> operands;
};

} // namespace effc::cli

#endif // EFFC_TOOLS_EFFC_MACHINEPROBES_H
