//===- Drafts.h - How a text may go on, by what it has said before --------===//
//
// Prompt lookup: where the last tokens of a text stood earlier in it, what followed
// there is a draft of what follows now. Drafts are checked by the model, so a bad one
// costs time alone.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_RUNTIME_SRC_SERVING_DRAFTS_H
#define EFFC_RUNTIME_SRC_SERVING_DRAFTS_H

#include "runtime/src/serving/DraftLength.h"

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace effc::rt {

class Drafts {
public:
  /// Drafts have at most `most` tokens.
  explicit Drafts(uint32_t most) : length(most) {}

  /// The text goes on with this token.
  void add(int32_t token);
  /// At most `room` tokens that may follow; none where nothing is like it, or while
  /// drafts pause.
  std::vector<int32_t> next(uint64_t room);
  /// How many of `drafted` tokens were right.
  void learn(uint64_t drafted, uint64_t accepted) {
    length.learn(drafted, accepted);
  }

private:
  static constexpr uint32_t kNone = UINT32_MAX;
  uint64_t likeness(uint32_t end) const;

  DraftLength length;
  std::vector<int32_t> text;
  /// Behind which tokens a run of kLeast was seen last, by a hash of it; and before
  /// that, by the place.
  std::unordered_map<uint64_t, uint32_t> last;
  std::vector<uint32_t> before;
};

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_SERVING_DRAFTS_H
