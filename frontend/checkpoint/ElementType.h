// The element types of a safetensors file, and reading those that are floats.
#ifndef EFFC_FRONTEND_CHECKPOINT_ELEMENTTYPE_H
#define EFFC_FRONTEND_CHECKPOINT_ELEMENTTYPE_H

#include "dialects/storage/Storage.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace effc::frontend {

enum class ElementType : uint8_t {
  Bool,
  F4,
  F6E2M3,
  F6E3M2,
  U8,
  I8,
  F8E5M2,
  F8E4M3,
  F8E8M0,
  F8E4M3FNUZ,
  F8E5M2FNUZ,
  I16,
  U16,
  F16,
  BF16,
  I32,
  U32,
  F32,
  C64,
  F64,
  I64,
  U64
};

/// The type a safetensors header calls `name` (case matters), if it exists.
std::optional<ElementType> parseElementType(llvm::StringRef name);
/// The name in a safetensors header: "BF16".
llvm::StringRef getName(ElementType type);
/// Size of one element in bits; less than 8 or not a multiple of 8 for some.
unsigned getBits(ElementType type);

/// How a tensor of the type is stored, where kernels read such numbers: F32, BF16
/// and F16.
std::optional<storage::Storage> storageOf(ElementType type,
                                          mlir::MLIRContext *context);

/// Whether decode() reads the type: F32, BF16, F16 and F64.
bool isDecodable(ElementType type);

/// The elements that little-endian `bytes`, at any alignment, hold, of a
/// decodable type. Exact in double for each of them; in float for all but F64.
template <typename S>
std::vector<S> decode(ElementType type, llvm::ArrayRef<uint8_t> bytes);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_CHECKPOINT_ELEMENTTYPE_H
