// What a GPU's items wait for, whatever they compute.
#ifndef EFFC_PASSES_KERNELFACTS_LATENCY_H
#define EFFC_PASSES_KERNELFACTS_LATENCY_H

#include "mlir/IR/Types.h"

namespace effc {

/// Cycles that a GPU's core waits for memory and at a barrier, and for a
/// product of tensor cores whose sums the next one adds to; assumed, not
/// measured.
inline constexpr double kMemoryCycles = 500, kBarrierCycles = 50,
                        kProductCycles = 33;

/// Cycles that an item waits for its numbers, between `barriers`, and for
/// products of each 16 of `terms`, one behind the other, whatever it computes.
double latencyOf(double terms, int64_t barriers, mlir::Type roundedTo);

/// The same of a chunk, of which an item has one behind the other: terms are
/// its keys and tokens, for the state and for each of `readers`.
double chunkLatency(int64_t readers, int64_t keys, int64_t chunk,
                    mlir::Type roundedTo);

} // namespace effc

#endif // EFFC_PASSES_KERNELFACTS_LATENCY_H
