// The permutation of bytes that lowerings use.
#ifndef EFFC_CODEGEN_NVPTX_PERMUTATION_H
#define EFFC_CODEGEN_NVPTX_PERMUTATION_H

#include <cstdint>

namespace effc::nvptx {

/// The selector of `prmt` that puts the upper halves of two registers into one,
/// the first one's lower.
inline constexpr int32_t kUpperHalves = 0x7632;

} // namespace effc::nvptx

#endif // EFFC_CODEGEN_NVPTX_PERMUTATION_H
