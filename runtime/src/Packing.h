//===- Packing.h - Cutting prompts and steps into compiled calls ----------===//
//
// Pure logic: which entry runs next, and which rows of which sequence it takes.
//
// A call takes the smallest entry that holds all the rows still waiting, else
// the largest. Rows are dealt out in the order of the sequences, each at most
// once per call. A sequence that does not end in the call is cut on a multiple
// of the entry's chunk, counted from its position 0; when no such place is left
// in the call, the sequence waits for the next one.
//
//   entries of 4 and 8 rows, chunk 4; new prompts of 10, 3 and 2 tokens
//   call 0 (8 rows): 8 of the first
//   call 1 (8 rows): 2 of the first, 3 of the second, 2 of the third
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_RUNTIME_SRC_PACKING_H
#define EFFC_RUNTIME_SRC_PACKING_H

#include <cstdint>
#include <span>
#include <vector>

namespace effc::rt {

/// An entry as far as packing is concerned.
struct EntryShape {
  uint32_t index; // into the program's entries
  uint32_t rows;
  uint32_t chunk;
};

/// What a sequence still has to take.
struct Feed {
  uint64_t position;  // of its next token
  uint64_t remaining; // tokens
};

/// Consecutive tokens of one sequence in one call.
struct Piece {
  uint32_t feed;     // which sequence
  uint64_t position; // of the first token
  uint32_t length;   // at least 1
  bool last;         // nothing of this feed remains
};

class Packer {
public:
  /// `entries` are of one kind and at least one; the largest has rows >= chunk.
  explicit Packer(std::vector<EntryShape> entries);

  uint32_t mostRows() const { return entries.back().rows; }

  /// Fills `pieces` with the next call over `feeds`, advances them, and returns
  /// the index of the entry. `pieces` comes out empty when nothing remains.
  /// Allocates nothing once `pieces` has room for every feed.
  uint32_t nextCall(std::span<Feed> feeds, std::vector<Piece> &pieces) const;

private:
  const EntryShape &choose(std::span<const Feed> feeds) const;

  std::vector<EntryShape> entries; // by ascending rows
};

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_PACKING_H
