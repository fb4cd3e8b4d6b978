// The permutation of bytes that lowerings use.
#ifndef EFFC_CODEGEN_MATH_PERMUTATION_H
#define EFFC_CODEGEN_MATH_PERMUTATION_H

#include <cstdint>

namespace effc::f32 {

/// The selector of `prmt` that puts the upper halves of two registers into one,
/// the first one's lower.
inline constexpr int32_t kUpperHalves = 0x7632;

} // namespace effc::f32

#endif // EFFC_CODEGEN_MATH_PERMUTATION_H
