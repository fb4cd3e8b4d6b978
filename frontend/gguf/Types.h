// The types of tensors in a GGUF file: a row each of the format's numbers, names
// and sizes, and what this compiler calls the same.
#ifndef EFFC_FRONTEND_GGUF_TYPES_H
#define EFFC_FRONTEND_GGUF_TYPES_H

#include "frontend/checkpoint/TensorType.h"

#include "llvm/ADT/SmallVector.h"

namespace effc::frontend {

struct GgufType {
  /// The number that stands for the type in a file.
  int32_t number;
  /// "Q4_1", as the format's own library calls the type.
  llvm::StringLiteral name;
  /// Elements that share bytes, and their bytes.
  uint32_t elements, bytes;
  /// Where a block's scales of 16 bits (f16) begin, in bytes from its start.
  llvm::ArrayRef<uint32_t> halves;
  /// Where a block's scale of 8 bits (a power of two, 0xff is NaN) lies; -1: it
  /// has none.
  int32_t power = -1;

  TensorType getTensorType() const;
};

/// Null for a number that stands for no type, or for one that was removed from
/// the format.
const GgufType *findGgufType(int32_t number);
/// Null where no type of a file is called so.
const GgufType *findGgufType(llvm::StringRef name);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_GGUF_TYPES_H
