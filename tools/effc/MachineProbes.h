//===- MachineProbes.h - What this machine can do -------------------------===//
#ifndef EFFC_TOOLS_EFFC_MACHINEPROBES_H
#define EFFC_TOOLS_EFFC_MACHINEPROBES_H

#include <cstdint>

namespace effc::cli {

/// What all threads together reach, the best of several short runs: the
/// ceilings that a model's calls are measured against.
struct Machine {
  uint32_t threads = 0;
  double readBytesPerSecond = 0; // a stream that no cache holds
  double gemmFlopsPerSecond = 0; // f32 products of packed panels
  uint64_t readBytes = 0;        // the size of the stream
};

/// Measures for about a second. The stream is four times the last cache, but at
/// most 1 GiB and a quarter of the free memory; each thread reads its share.
/// The products are those of a blocked matrix multiplication once its operands
/// are packed and near: 6 x 16 results, 256 steps, AVX2 and FMA where the
/// machine has them, so they show what the best of generated code could reach.
Machine probeMachine(uint32_t threads);

} // namespace effc::cli

#endif // EFFC_TOOLS_EFFC_MACHINEPROBES_H
