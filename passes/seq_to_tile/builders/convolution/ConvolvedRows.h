// Rows of a segment that are convolved as they are loaded.
//
// With u the W - 1 rows of the tail and then the segment's rows of x, the rows
// from the segment's t-th on are sums of W tiles: of tap w row r is u[t + w +
// r]. From t = W - 1 on each is a tile of x, the same one some rows further up,
// which the first cache has. Before that its first rows are the tail's: tiles
// are spliced and summed again then, one tap after another, in a loop of one
// round or none, on which the threads of a block agree. It has no registers of
// its own: all three tiles at once took 46 of them from a scan of 128.
#ifndef EFFC_PASSES_SEQTOTILE_BUILDERS_CONVOLVEDROWS_H
#define EFFC_PASSES_SEQTOTILE_BUILDERS_CONVOLVEDROWS_H

#include "passes/seq_to_tile/builders/convolution/ShortConvolution.h"

namespace effc {

class ConvolvedRows {
public:
  /// Of `count` channels from `first` on.
  ConvolvedRows(KernelBuilder &k, seq::ShortConvolutionOp op,
                tile::SegmentOp segment, mlir::Value first, int64_t count,
                bool writesTail);

  /// Says that the tail lies elsewhere where `isKept` holds: a copy of it, of
  /// which row i of these channels is at `at`, `row` + i, `column`.
  struct Copy {
    mlir::Value isKept, view;
    llvm::SmallVector<mlir::Value> at;
    mlir::Value row, column;
  };
  void setCopy(Copy copy);

  /// The convolved rows from `row` of the call on, `most` of them, of which
  /// `rows`, at least 1, are the segment's.
  mlir::Value load(mlir::Value row, mlir::Value rows, int64_t most);
  /// Copies the tail before the segment; zeros where the sequence begins.
  void copyTail(const Copy &to);
  /// Leaves the tail behind the segment, of whose channels nobody else reads
  /// what was there before. Of items that share the rows the one of `part` 0
  /// does it; null: one item has all rows.
  void storeTail(mlir::Value part = {});

private:
  /// Where rows of the tail lie; all of it in its slot.
  struct Past {
    mlir::Value holds; // null: always
    Copy place;
    bool isSlot;
  };
  /// What `compute` makes of the place that has the tail where `reachesTail`
  /// holds, else `tile`.
  mlir::Value whereTail(mlir::Value reachesTail, mlir::Value tile,
                        llvm::function_ref<mlir::Value(const Past &)> compute);
  /// The inputs from `from` on, a number of u, of which the first `rows` are
  /// the segment's; where these are rows of x, all of them.
  mlir::Value ofX(mlir::Value from, mlir::Value rows, tile::TileType type);
  /// The same where some are rows of the tail, and none counts from `end` on.
  mlir::Value spliced(const Past &past, mlir::Value from, mlir::Value end,
                      tile::TileType type);
  mlir::Value rowOfX(mlir::Value from);
  mlir::Value loadTap(mlir::Value tap);
  mlir::Value loadBias();
  /// Zeros in rows before `bound`.
  mlir::Value clearBefore(mlir::Value tile, mlir::Value bound);

  KernelBuilder &k;
  mlir::OpBuilder &b;
  ShortConvolution convolution;
  tile::SegmentOp segment;
  mlir::Value first, xView;
  int64_t count;
  llvm::SmallVector<Past, 2> pasts;
};

} // namespace effc

#endif // EFFC_PASSES_SEQTOTILE_BUILDERS_CONVOLVEDROWS_H
