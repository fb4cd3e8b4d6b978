//===- RowVectors.h - Vectors of any width ---------------------------------===//
#ifndef EFFC_RUNTIME_SRC_SAMPLING_ROWVECTORS_H
#define EFFC_RUNTIME_SRC_SAMPLING_ROWVECTORS_H

#include "runtime/src/sampling/LogitRow.h"

#include <cstdint>
#include <cstring>

// What is written for vectors of any width is inlined into functions that may use wider
// ones than the rest of the library.
#define EFFC_INLINE inline __attribute__((always_inline))

namespace effc::rt {

/// Vectors of `Count` numbers of 64 bits, or twice as many of 32.
template <int Count> struct Lanes {
  typedef uint64_t U64 __attribute__((vector_size(8 * Count)));
  typedef double F64 __attribute__((vector_size(8 * Count)));
  typedef uint32_t U32 __attribute__((vector_size(8 * Count)));
  typedef int32_t I32 __attribute__((vector_size(8 * Count)));
  typedef float F32 __attribute__((vector_size(8 * Count)));
  typedef float Half __attribute__((vector_size(4 * Count)));
  static constexpr size_t kFloats = 2 * Count;
  static_assert(LogitRow::kBlock % (2 * kFloats) == 0);
};

template <typename Vector>
EFFC_INLINE static void load(const float *from, Vector &to) {
  std::memcpy(&to, from, sizeof to);
}

template <int Count>
EFFC_INLINE static bool isAnySet(const typename Lanes<Count>::I32 &mask) {
  uint64_t words[Count], any = 0;
  std::memcpy(words, &mask, sizeof words);
  for (uint64_t word : words)
    any |= word;
  return any != 0;
}

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_SAMPLING_ROWVECTORS_H
