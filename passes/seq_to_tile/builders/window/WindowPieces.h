// What the pieces of a segment's keys leave for the launch that merges them.
//
// A piece is a run of positions that begins at a multiple of its length. It leaves
// for each head the largest score m of its keys, the sum l of e^(s - m) and the values
// o weighted by these:
//
//   [row of the call, head, piece]: o: V | m | l
//
// A place is the piece's number less that of the oldest one in sight. Pieces are merged
// one after another in this order, by the functions below: where an item has all pieces
// of its heads it merges them itself, and the bits are the same.
#ifndef EFFC_PASSES_SEQ_TO_TILE_BUILDERS_WINDOW_WINDOWPIECES_H
#define EFFC_PASSES_SEQ_TO_TILE_BUILDERS_WINDOW_WINDOWPIECES_H

#include "passes/seq_to_tile/KernelBuilder.h"

#include <limits>

namespace effc {

struct WindowPieces {
  /// Of a decode call's segment at `position`, whose token sees up to `window` keys; 0:
  /// all of them.
  static WindowPieces of(KernelBuilder &k, mlir::Value position, int64_t window,
                         int64_t positions);
  /// The most pieces of so many positions that keys in sight lie in, of a window, or 0,
  /// and a ring of so many rows.
  static int64_t most(int64_t window, int64_t ringRows, int64_t positions);
  /// Of at most `most` pieces, how many are read at once: as many each time.
  static int64_t together(int64_t most);
  /// The memory of `heads` heads with `channels` values each, with places for at most
  /// `most` pieces, read `together(most)` at a time.
  static mlir::Value memory(KernelBuilder &k, int64_t heads, int64_t channels,
                            int64_t most, bool written);

  mlir::Value oldest; ///< number of the oldest piece
  mlir::Value count;  ///< at least 1
};

/// What a running maximum starts with: below every score, yet finite, so that no
/// difference of infinities arises.
inline constexpr float kLowestScore = std::numeric_limits<float>::lowest();

/// The larger of two maxima.
mlir::Value emitLarger(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x,
                       mlir::Value y);
/// e^(x - max(x, y)) and e^(y - max(x, y)), of which one is 1.
std::pair<mlir::Value, mlir::Value> emitWeights(mlir::OpBuilder &b,
                                                mlir::Location loc,
                                                mlir::Value x, mlir::Value y);
/// x xWeight + y yWeight.
mlir::Value emitWeightedSum(mlir::OpBuilder &b, mlir::Location loc,
                            mlir::Value x, mlir::Value xWeight, mlir::Value y,
                            mlir::Value yWeight);
/// Weighted values over the sum of their weights; 0 where that is empty.
mlir::Value emitMean(mlir::OpBuilder &b, mlir::Location loc, mlir::Value mixed,
                     mlir::Value total);

} // namespace effc

#endif // EFFC_PASSES_SEQ_TO_TILE_BUILDERS_WINDOW_WINDOWPIECES_H
