//===- DraftLength.h - How many tokens are guessed at a time --------------===//
//
// More while guesses are right, and none for a while where they are not.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_RUNTIME_SRC_SERVING_DRAFTLENGTH_H
#define EFFC_RUNTIME_SRC_SERVING_DRAFTLENGTH_H

#include <algorithm>
#include <cstdint>

namespace effc::rt {

class DraftLength {
public:
  explicit DraftLength(uint64_t most) : most(most) {}

  uint64_t now() const { return std::min(length, most); }
  /// Whether nothing is guessed in this step, in which something could be.
  bool pauses() { return pause > 0 && pause--; }
  /// How many of `drafted` tokens were right.
  void learn(uint64_t drafted, uint64_t accepted) {
    if (accepted == drafted)
      length = std::min(most, 2 * length);
    else
      length = std::max<uint64_t>(accepted + 1, 2);
    failures = accepted > 0 ? 0 : failures + 1;
    if (failures > 0)
      pause = (uint64_t(1) << std::min(failures, kMostPause)) - 1;
  }

private:
  /// After so many drafts for nothing they pause for 2^that steps.
  static constexpr uint64_t kMostPause = 6;

  uint64_t most;
  uint64_t length = 4;   // of the next draft
  uint64_t pause = 0;    // steps to go without
  uint64_t failures = 0; // drafts in a row of which nothing was right
};

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_SERVING_DRAFTLENGTH_H
