// How many bytes elements of a safetensors file take, those of 4 and 6 bits too.
#ifndef EFFC_FRONTEND_CHECKPOINT_ELEMENTBYTES_H
#define EFFC_FRONTEND_CHECKPOINT_ELEMENTBYTES_H

#include "frontend/checkpoint/ElementType.h"

namespace effc::frontend {

/// Bytes of `count` elements that follow one another without gaps, as many as a
/// tensor has at most; absent where they end inside a byte, as three of 4 bits do.
inline std::optional<uint64_t> bytesOf(ElementType type, uint64_t count) {
  uint64_t bits = count * getBits(type);
  return bits % 8 == 0 ? std::optional(bits / 8) : std::nullopt;
}

} // namespace effc::frontend

#endif // EFFC_FRONTEND_CHECKPOINT_ELEMENTBYTES_H
