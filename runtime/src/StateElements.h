//===- StateElements.h - Numbers of a state from one type to another ------===//
#ifndef EFFC_RUNTIME_SRC_STATEELEMENTS_H
#define EFFC_RUNTIME_SRC_STATEELEMENTS_H

#include "runtime/schema/program_generated.h"

#include <cstddef>
#include <cstdint>

namespace effc::rt {

/// Whether elements can be converted: equal types, and floating-point ones
/// among each other.
bool isConvertible(artifact::ElementType from, artifact::ElementType to);

/// Writes `count` elements of `from` as `to`. Both are dense and little-endian,
/// at any alignment. Narrowing rounds to nearest even, and what is too large
/// for f16 becomes infinite; widening is exact.
void convertElements(artifact::ElementType from, const uint8_t *in,
                     artifact::ElementType to, uint8_t *out, size_t count);

/// The index of the first NaN among `count` elements, or `count`.
size_t findNan(artifact::ElementType type, const uint8_t *in, size_t count);

/// Fills `count` elements with `value`.
void fillElements(artifact::ElementType type, float value, uint8_t *out,
                  size_t count);

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_STATEELEMENTS_H
