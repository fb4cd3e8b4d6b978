// Sizes that no sound artifact exceeds. The compiler refuses a model that asks
// for more, the loader a file: whatever is compiled loads.
#ifndef EFFC_RUNTIME_SCHEMA_SIZELIMITS_H
#define EFFC_RUNTIME_SCHEMA_SIZELIMITS_H

#include <cstdint>

namespace effc::artifact {

/// What one call holds, and what one sequence does: beyond the memory of any
/// machine of today.
inline constexpr uint64_t kMaxArenaBytes = uint64_t(1) << 40;
inline constexpr uint64_t kMaxSlotBytes = uint64_t(1) << 40;
/// Elements of one dimension of a product, which libraries count in 32 bits.
inline constexpr uint64_t kMaxProductExtent = uint64_t(1) << 31; // and pitch
inline constexpr uint32_t kMaxLaunches = 65536;                  // of one entry
/// Tokens of a vocabulary, and so the numbers of a row that a call gives; and inner
/// values that such a row is made of: several of each op of a hundred layers.
inline constexpr uint32_t kMaxVocabulary = 1u << 24;
inline constexpr uint32_t kMaxTaps = 1u << 14;

} // namespace effc::artifact

#endif // EFFC_RUNTIME_SCHEMA_SIZELIMITS_H
