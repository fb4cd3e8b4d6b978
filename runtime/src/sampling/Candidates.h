//===- Candidates.h - The tokens that are left to draw from ---------------===//
#ifndef EFFC_RUNTIME_SRC_SAMPLING_CANDIDATES_H
#define EFFC_RUNTIME_SRC_SAMPLING_CANDIDATES_H

#include <cstddef>
#include <cstdint>
#include <memory>

namespace effc::rt {

struct Candidate {
  float logit;
  int32_t id;

  /// The order of filters: the likelier first, of equal ones the lower.
  bool comesBefore(const Candidate &other) const {
    return logit != other.logit ? logit > other.logit : id < other.id;
  }
};

/// A list with room for a whole vocabulary, of which memory is committed only as
/// far as it was ever filled.
class Candidates {
public:
  void reserve(size_t tokens) {
    if (tokens <= room)
      return;
    items = std::make_unique_for_overwrite<Candidate[]>(tokens);
    room = tokens;
  }

  size_t size() const { return count; }
  Candidate *begin() { return items.get(); }
  Candidate *end() { return items.get() + count; }
  void clear() { count = 0; }
  /// Keeps the first `size` of them.
  void cut(size_t size) { count = size; }
  /// Without a branch, which would be guessed wrong too often.
  void addIf(bool isIn, Candidate candidate) {
    items[count] = candidate;
    count += isIn;
  }

private:
  std::unique_ptr<Candidate[]> items;
  size_t count = 0, room = 0;
};

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_SAMPLING_CANDIDATES_H
