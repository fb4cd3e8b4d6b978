// How many bytes elements of a safetensors file take, those of 4 and 6 bits too.
#ifndef EFFC_FRONTEND_CHECKPOINT_ELEMENTBYTES_H
#define EFFC_FRONTEND_CHECKPOINT_ELEMENTBYTES_H

#include "dialects/storage/Bytes.h"
#include "frontend/checkpoint/ElementType.h"

namespace effc::frontend {

/// Bytes of `count` elements that follow one another without gaps, as many as a
/// tensor has at most; absent where they end inside a byte, as three of 4 bits do.
inline std::optional<uint64_t> bytesOf(ElementType type, uint64_t count) {
  return storage::bytesIn(count * getBits(type));
}

} // namespace effc::frontend

#endif // EFFC_FRONTEND_CHECKPOINT_ELEMENTBYTES_H
