// Rows as integers of signed bytes: what products with panels multiply.
//
// Of 32 numbers x the integers are A = round(x / s), halves to even, with one scale s:
//
//   3 digits   s = 2^(e-23), e the least integer from -79 on for which the largest
//              |A| is at most 127 (2^16 + 2^8 + 1), so that no digit overflows
//   2 digits   s = max |x| / 32639, which is 127 (2^8 + 1)
//   1 digit    s = max |x| / 127
//
// and A = h 256 + l with l in [-128, 127]; of three digits h is 256 a + b likewise.
// Where a number is not finite the scale is NaN and the integers are 0.
//
// A block of the type has the digits, most significant first, 32 bytes each; then f32
// and i32 words:
//
//   s | sums of h of columns 0-15, 16-31, all | the same of l | sums of the numbers
//
// With fewer than three digits h is A and there is no l. A sum of the numbers is
// fma(256, f32(sum h), f32(sum l)) s, or f32(sum h) s.
#ifndef EFFC_DIALECTS_STORAGE_DIGITS_H
#define EFFC_DIALECTS_STORAGE_DIGITS_H

#include "dialects/storage/StorageDialect.h"

namespace effc::storage {

struct DigitsLayout {
  int64_t count;

  static constexpr int64_t kNumbers = 32;
  /// Bytes from the start of a block; `half` 0 and 1, 2 for both.
  int64_t digit(int64_t number) const { return number * kNumbers; }
  int64_t scale() const { return count * kNumbers; }
  int64_t sumHigh(int64_t half) const { return scale() + 4 + half * 4; }
  int64_t sumLow(int64_t half) const { return scale() + 16 + half * 4; }
  int64_t sum(int64_t half) const {
    return scale() + (count == 3 ? 28 : 16) + half * 4;
  }
  int64_t bytes() const { return scale() + (count == 3 ? 48 : 32); }
};

/// The largest magnitude of an integer: all digits are 127.
int64_t mostOfDigits(int64_t count);

/// Writes the block of 32 numbers.
void encodeDigits(int64_t count, llvm::ArrayRef<float> numbers,
                  llvm::MutableArrayRef<uint8_t> block);

/// Number `index` of a block.
float numberOfDigits(int64_t count, llvm::ArrayRef<uint8_t> block,
                     int64_t index);

} // namespace effc::storage

#endif // EFFC_DIALECTS_STORAGE_DIGITS_H
