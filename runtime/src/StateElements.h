//===- StateElements.h - Numbers of a state from one type to another ------===//
#ifndef EFFC_RUNTIME_SRC_STATEELEMENTS_H
#define EFFC_RUNTIME_SRC_STATEELEMENTS_H

#include "runtime/schema/program_generated.h"

#include <cstddef>
#include <cstdint>

namespace effc::rt {

// Elements of a state lie row by row, `row` of them each: its last dimension. Those of
// the type Blocks share a scale in each row: an f32, then of each element a byte, its
// multiple of the scale plus 128.

/// Whether a state can be of the type.
bool isStateType(artifact::ElementType type);

/// Bytes of `count` elements in rows, whole ones of Blocks.
uint64_t stateBytes(artifact::ElementType type, uint64_t count, uint64_t row);

/// Whether elements can be converted: equal types, and those of numbers among each
/// other.
bool isConvertible(artifact::ElementType from, artifact::ElementType to);

/// Writes `count` elements of `from` as `to`. Both are dense and little-endian,
/// at any alignment. Narrowing rounds to nearest even, and what is too large
/// for f16 becomes infinite; widening is exact. What is not finite makes its row of
/// Blocks NaN.
void convertElements(artifact::ElementType from, const uint8_t *in,
                     artifact::ElementType to, uint8_t *out, size_t count,
                     size_t row);

/// The index of the first NaN among `count` elements, or `count`.
size_t findNan(artifact::ElementType type, const uint8_t *in, size_t count,
               size_t row);

/// Fills `count` elements with `value`, which is 0 for Blocks.
void fillElements(artifact::ElementType type, float value, uint8_t *out,
                  size_t count, size_t row);

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_STATEELEMENTS_H
