//===- HeldStates.h - What of a slot a sequence has filled ----------------===//
//
// A slot has room for a whole context, of which a sequence fills what its tokens
// need: states of a fixed size from the first token on, of those that grow with
// it a row for each token up to their rows. Token t lies in row t modulo the
// rows (StateRows.h), so the rows in use are always the first ones. Copies and
// memory go by that, not by the room.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_RUNTIME_SRC_HELDSTATES_H
#define EFFC_RUNTIME_SRC_HELDSTATES_H

#include "runtime/schema/program_generated.h"

#include <cstdint>
#include <span>
#include <vector>

namespace effc::rt {

/// A stretch of bytes of a slot.
struct SlotRange {
  uint64_t offset, size;
  bool operator==(const SlotRange &) const = default;
};

/// A stretch of a slot, and where its bytes lie in the host's memory.
template <typename Byte> struct SlotPiece {
  uint64_t offset, size;
  Byte *memory;
};
using SlotRead = SlotPiece<uint8_t>;
using SlotWrite = SlotPiece<const uint8_t>;

/// `ranges` where all of the slot would lie at `base`.
template <typename Byte>
std::vector<SlotPiece<Byte>> piecesAt(std::span<const SlotRange> ranges,
                                      Byte *base) {
  std::vector<SlotPiece<Byte>> pieces;
  for (const SlotRange &range : ranges)
    pieces.push_back({range.offset, range.size, base + range.offset});
  return pieces;
}

class HeldStates {
public:
  explicit HeldStates(const artifact::Program &program);

  /// What a sequence holds after `position` tokens. Nothing at 0, where states
  /// are neutral whatever the slot holds.
  uint64_t bytes(uint64_t position) const;
  /// The stretches that hold it, as many as there are states at most. Valid
  /// until the next call; allocates nothing.
  std::span<const SlotRange> ranges(uint64_t position);
  /// Those that `more` tokens fill and `fewer` do not, as ranges() does.
  std::span<const SlotRange> rangesBetween(uint64_t fewer, uint64_t more);

  /// Bytes of the states that do not grow.
  uint64_t fixedBytes() const { return fixed; }
  /// What a token adds before any window is full.
  uint64_t bytesPerToken() const { return bytesUntil(1); }

private:
  uint64_t bytesUntil(uint64_t tokens) const;

  struct Part {
    uint64_t offset; // in a slot
    uint64_t rows;   // 0: does not grow
    uint64_t bytes;  // of a row, or of all
    uint64_t used(uint64_t tokens) const;
  };
  void add(const Part &part, uint64_t fewer, uint64_t more);

  std::vector<Part> parts;
  /// Growing states with equally many rows, as one.
  struct Growth {
    uint64_t rows, rowBytes;
  };
  std::vector<Growth> growths;
  uint64_t fixed = 0;
  std::vector<SlotRange> found;
};

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_HELDSTATES_H
