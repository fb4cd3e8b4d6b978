// How long a core takes for a linear recurrence, by its form: what chooses forms
// (passes/seq/ChooseForms.cpp), and how many pieces a sequence is cut into
// (passes/seq_to_tile/builders/linear).
#ifndef EFFC_PASSES_KERNELFACTS_RECURRENCECOST_H
#define EFFC_PASSES_KERNELFACTS_RECURRENCECOST_H

#include "dialects/seq/SeqAttributes.h"
#include "dialects/tile/Tile.h"

namespace effc {

/// The tokens of one head, with a state of `keys` x `values`. Cycles are those of a
/// token.
struct HeadCost {
  seq::LinearAttr linear;
  tile::TargetAttr target;
  int64_t keys, values;

  /// One token after another.
  double ofSteps() const;
  /// In chunks of so many tokens, of which an item has one behind the other; all of
  /// a call as one chunk in the quadratic form.
  double ofChunks(int64_t chunk) const;
  /// Of a call of so many rows, in pieces that wait beside one another.
  double ofScan(int64_t rows) const;
};

/// One sequence in chunks, whose items share it: each has `values` of a head's value
/// channels, and one of the pieces that the chunks are dealt to.
struct ChunkPiecesCost {
  seq::LinearAttr linear;
  tile::TargetAttr target;
  int64_t heads, itemsOfHead;
  int64_t keys, values; ///< of an item's state
  int64_t chunk;        ///< tokens

  /// Of `chunks` that so many pieces share; 1: in one launch. A head has
  /// `transitionItems` beside for each piece, whose columns are those of the matrix
  /// between the states before and behind the piece.
  double of(int64_t chunks, int64_t pieces, int64_t transitionItems) const;
};

/// One sequence token by token on a GPU, whose items share it.
struct TokenPiecesCost {
  tile::TargetAttr target;
  int64_t tokens;
  int64_t items;    ///< of the sequence, uncut
  int64_t elements; ///< of an item's state
  int64_t blocks;   ///< of it, one after another

  /// Items that a core has at once: their states take a quarter of its registers,
  /// each at least that of a warp.
  int64_t residentItems() const;
  /// In so many pieces; 1: in one launch.
  double of(int64_t pieces) const;
};

} // namespace effc

#endif // EFFC_PASSES_KERNELFACTS_RECURRENCECOST_H
