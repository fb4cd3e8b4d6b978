// The ranges of the sampling settings that a file may carry. The compiler accepts
// these of a checkpoint, the loader these of a file: whatever is compiled loads.
#ifndef EFFC_RUNTIME_SCHEMA_GENERATIONLIMITS_H
#define EFFC_RUNTIME_SCHEMA_GENERATIONLIMITS_H

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace effc::artifact {

/// Beyond it all tokens are equally likely in f32.
inline constexpr double kMostTemperature = 1e6;
inline constexpr uint32_t kMostTopK = INT32_MAX;
/// A penalty above it leaves nothing of a logit in f32.
inline constexpr double kMostRepeatPenalty = 1e6;
/// The library looks through them at each token, and so does `effc run`.
inline constexpr size_t kMostStops = 64;
inline constexpr size_t kMostStopBytes = 1024;

/// Whether a generation can end at `text`. A zero byte would end the text for a
/// reader in C.
inline bool isStopText(std::string_view text) {
  return !text.empty() && text.size() <= kMostStopBytes &&
         text.find('\0') == text.npos;
}

inline bool isTemperature(double x) { return x >= 0 && x <= kMostTemperature; }
/// 0 keeps the likeliest token alone, as the public library does.
inline bool isTopP(double x) { return x >= 0 && x <= 1; }
inline bool isMinP(double x) { return x >= 0 && x <= 1; }
inline bool isRepeatPenalty(double x) {
  return x > 0 && x <= kMostRepeatPenalty;
}

} // namespace effc::artifact

#endif // EFFC_RUNTIME_SCHEMA_GENERATIONLIMITS_H
