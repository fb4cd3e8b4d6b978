// From bits to bytes: nobody else divides a width by eight. The place of a bit in a
// block is byte `bit / 8`, bit `bit % 8` of it, wherever bits are read or written.
#ifndef EFFC_DIALECTS_STORAGE_BYTES_H
#define EFFC_DIALECTS_STORAGE_BYTES_H

#include "llvm/ADT/Twine.h"
#include "llvm/Support/ErrorHandling.h"

#include <cstdint>
#include <optional>

namespace effc::storage {

/// The bytes that `bits` fill; absent where they end inside of one. For widths that a
/// file brings, which a reader refuses.
constexpr std::optional<uint64_t> bytesIn(uint64_t bits) {
  return bits % 8 == 0 ? std::optional(bits / 8) : std::nullopt;
}

/// The same where they are known to end with a byte. Ends the program where they do
/// not: the quotient would drop the rest in silence, and make no byte of 4 bits.
constexpr int64_t wholeBytes(int64_t bits) {
  if (std::optional<uint64_t> bytes = bytesIn(uint64_t(bits));
      bytes && bits >= 0)
    return int64_t(*bytes);
  llvm::report_fatal_error("expects a whole number of bytes, but got " +
                           llvm::Twine(bits) + " bits");
}

} // namespace effc::storage

#endif // EFFC_DIALECTS_STORAGE_BYTES_H
