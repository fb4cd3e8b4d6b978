//===- StateCopies.h - A sequence's states in memory of their own ---------===//
//
// What a checkpoint is made of. States of a fixed size are copied as they lie in a
// slot. Of those that grow with the sequence, rows are copied in runs of
// consecutive tokens, each token's rows of all such states together:
//
//   checkpoint at 130     fixed states    rows of tokens 0-63, 64-127, 128-129
//   another at 150        fixed states    the same runs, and one of 130-149
//
// Runs never change and are shared, so a checkpoint costs its fixed states and the
// rows that its parent has not. A window is a ring: a run has of it the tokens that
// the sequence still held when it was copied.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_RUNTIME_SRC_STATECOPIES_H
#define EFFC_RUNTIME_SRC_STATECOPIES_H

#include "runtime/src/CodeNames.h"
#include "runtime/src/HeldStates.h"
#include "runtime/src/StateFile.h"
#include "runtime/src/StateRows.h"

#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace effc::rt {

/// Bytes that are written once.
struct CopiedBytes {
  explicit CopiedBytes(uint64_t size)
      : size(size), data(std::make_unique_for_overwrite<uint8_t[]>(size)) {}
  uint64_t size;
  std::unique_ptr<uint8_t[]> data;
};

/// The rows of some tokens in all growing states: for each state, in the order of
/// the layout, those that were held.
struct CopiedRows {
  TokenRange tokens;
  uint64_t madeAt; // the position of the sequence that they were copied from
  CopiedBytes bytes;

  uint64_t end() const { return tokens.first + tokens.count; }
};
using SharedRows = std::shared_ptr<const CopiedRows>;

/// All that a sequence at `position` holds, or what is new of it.
struct CopiedStates {
  uint64_t position = 0;
  std::shared_ptr<const CopiedBytes> fixed; // null: nothing is fixed
  std::vector<SharedRows> rows;             // by their tokens
  CodeNames codes;                          // by which it was computed
  /// Of a mark: rows of windows that the next tokens replace (CopyLayout::mark), and
  /// of how many tokens.
  std::shared_ptr<const CopiedBytes> replaced;
  uint64_t replacing = 0;

  uint64_t bytes() const;
};

/// Which bytes of a slot copies have.
class CopyLayout {
public:
  /// The most tokens of a run, so that cutting one in two copies little.
  static constexpr uint64_t kRunTokens = 64;

  struct Growing {
    uint64_t offset; // in a slot
    uint64_t rows;   // a ring of so many
    uint64_t rowBytes;
  };
  explicit CopyLayout(const artifact::Program &program);

  bool hasFixed() const { return fixedBytes > 0; }
  bool hasRows() const { return !growing.empty(); }
  /// Whether a sequence loses what an earlier position needs: a window does.
  bool losesRows() const { return loses; }
  /// Whether a sequence at `position` has every row that it ever had.
  bool hasAllRows(uint64_t position) const;

  /// How large copies are, before they are made.
  uint64_t sizeOfFixed() const { return fixedBytes; }
  uint64_t sizeOfRows(TokenRange tokens, uint64_t madeAt) const;

  /// Room for a copy of a sequence at `position` that has the rows of tokens from
  /// `first` on, and the stretches of a slot that belong there.
  CopiedStates room(uint64_t first, uint64_t position,
                    std::vector<SlotRead> &pieces) const;
  /// How many tokens can be taken back by a mark: no more than the smallest window has
  /// rows, or what was fed first would be replaced as well.
  uint64_t mostTakenBack() const { return smallestWindow; }
  /// Room for what `count` more tokens of a sequence at `position` change for good:
  /// fixed states, and the rows of windows that these tokens replace. At most
  /// mostTakenBack() tokens.
  CopiedStates mark(uint64_t position, uint64_t count,
                    std::vector<SlotRead> &pieces) const;
  /// What takes tokens back after `mark`, but for the first `kept` of them, of which
  /// there are none where states are fixed.
  std::vector<SlotWrite> takeBack(const CopiedStates &mark,
                                  uint64_t kept) const;
  /// What puts a slot into the state of `from`.
  std::vector<SlotWrite> pieces(const CopiedStates &from) const;
  /// The bytes of a state file (StateFile.h) of `states`, all of them. EFFC_OUT_OF_MEMORY:
  /// there is no room for a slot.
  Result<std::vector<uint8_t>>
  encode(const artifact::Program &program, const CopiedStates &states,
         const StateOrigin *origin = nullptr) const;
  /// A copy of what such a file holds, but for the rows of the tokens before `first`.
  CopiedStates copy(const SequenceState &from, uint64_t first = 0) const;
  /// Whether `rows` have all that a sequence at `position` needs of growing states.
  bool covers(std::span<const SharedRows> rows, uint64_t position) const;
  /// The tokens before `at`, and the others.
  std::pair<SharedRows, SharedRows> cut(const CopiedRows &run,
                                        uint64_t at) const;

private:
  TokenRange heldOf(const Growing &state, TokenRange tokens,
                    uint64_t madeAt) const;
  static TokenRange replacedBy(const Growing &state, TokenRange tokens);
  template <typename Piece>
  void addFixed(decltype(Piece::memory) memory,
                std::vector<Piece> &pieces) const;
  template <typename Byte>
  void addRows(const Growing &state, TokenRange tokens, Byte *memory,
               std::vector<SlotPiece<Byte>> &pieces) const;

  std::vector<SlotRange> fixed;
  uint64_t fixedBytes = 0;
  std::vector<Growing> growing;
  bool loses = false;
  uint64_t smallestWindow = UINT64_MAX;
};

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_STATECOPIES_H
