//===- DrawnWeights.h - Weights for timing a model of shapes alone --------===//
//
// Numbers between 2^-7 and 2^-5, of either sign: small enough that activations
// stay numbers, and none is 0, which some hardware is faster on.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_RUNTIME_SRC_DRAWNWEIGHTS_H
#define EFFC_RUNTIME_SRC_DRAWNWEIGHTS_H

#include "runtime/schema/program_generated.h"
#include "runtime/src/Error.h"

#include <cstdint>

namespace effc::rt {

/// What a weight takes in memory, so that the next one is aligned as well. Fails, by
/// the weight's name, where its type has no such numbers.
Result<uint64_t> drawnBytes(const artifact::Program &program,
                            const artifact::Weight &weight);

/// Fills a weight's rows as a file has them; what pads them is 0, as `out` is.
/// drawnBytes() has given a size.
void drawWeight(const artifact::Program &program,
                const artifact::Weight &weight, uint64_t seed, uint8_t *out);

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_DRAWNWEIGHTS_H
