// What the pieces of a sequence leave one another between two launches.
//
// A piece that starts from nothing makes a state A, and what it does to the
// state before it is linear: it decays by numbers P, one or one for each key
// channel, or where rank-one corrections read it, goes through a matrix M, the
// product of its tokens' transitions. Before piece n is
//
//   S_n = exp(P_{n-1}) S_{n-1} + A_{n-1}   or   S_n = M_{n-1} S_{n-1} + A_{n-1}
//
// M's columns are what becomes of the unit vectors where nothing is written:
// states of K more columns, from the identity and of values of 0. The first
// piece goes on from what the sequence has, and nobody goes on from the last,
// so neither has a matrix; the place of the last keeps what the sequence had.
//
// A place holds for each head and key channel a row
//
//   A: V | P: one for each block of value channels   or   A: V | M: K
//
// the latter up to a whole number of blocks of as many columns as A has, and
// behind these rows, for each head, the rows of the tail from which its values
// are convolved. The place of the last piece keeps them too, for the same
// reason.
#ifndef EFFC_PASSES_SEQTOTILE_BUILDERS_PIECEMEMORY_H
#define EFFC_PASSES_SEQTOTILE_BUILDERS_PIECEMEMORY_H

#include "passes/seq_to_tile/builders/convolution/ConvolvedRows.h"
#include "passes/seq_to_tile/builders/linear/ChunkTiles.h"

namespace effc {

class PieceMemory {
public:
  /// Of so many places, with so many blocks of columns for a matrix and rows of
  /// a tail; for the launch that fills it, `written`, or for the next one.
  PieceMemory(ChunkTiles &tiles, const Recurrence &r, int64_t places,
              int64_t transitionBlocks, int64_t tailRows, bool written);

  /// Leaves the item's columns at a place. Decays are a number or a column of
  /// K; null where states go through matrices.
  void keep(mlir::Value place, mlir::Value columns, mlir::Value decays);
  /// The state behind pieces at the places [from, to), of which the first has
  /// what was before it in its own; 0 where there are none.
  mlir::Value sum(mlir::Value from, mlir::Value to);
  /// Where a place has the tail of the item's values.
  ConvolvedRows::Copy tailOf(mlir::Value place);

private:
  using Step =
      llvm::function_ref<mlir::Value(mlir::Value place, mlir::Value state)>;
  mlir::Value overPlaces(mlir::Value from, mlir::Value to, mlir::Value state,
                         Step step);
  mlir::Value added(mlir::Value place);
  mlir::Value placeOfDecays();

  ChunkTiles &tiles;
  KernelBuilder &k;
  const Recurrence &r;
  int64_t transitionBlocks;
  mlir::Value view;
};

} // namespace effc

#endif // EFFC_PASSES_SEQTOTILE_BUILDERS_PIECEMEMORY_H
