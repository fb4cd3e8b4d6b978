// Which piece of a sequence an item has, and where pieces leave what they make.
#ifndef EFFC_PASSES_SEQTOTILE_BUILDERS_SEGMENTPIECES_H
#define EFFC_PASSES_SEQTOTILE_BUILDERS_SEGMENTPIECES_H

#include "passes/seq_to_tile/builders/linear/Recurrence.h"

namespace effc {

/// The pieces of a segment, in units of tokens or of chunks. There are so many
/// places in a call, which its segments share; where these are more, each is one
/// piece and has no place.
struct SegmentPieces {
  mlir::Value count;      ///< of the segment, at least 1
  mlir::Value firstPlace; ///< of the segment
  mlir::Value from, to;   ///< units of the item's piece; none behind the last

  /// Of the item of `r`, whose segment has so many units.
  static SegmentPieces of(KernelBuilder &k, const Recurrence &r, int64_t places,
                          mlir::Value units);

  mlir::Value place(KernelBuilder &k, mlir::Value piece) const {
    return k.add(firstPlace, piece);
  }
  mlir::Value last(KernelBuilder &k) const { return k.sub(count, k.index(1)); }
};

/// What an item of the launch that fills places has to do.
struct PieceToKeep {
  /// Whether it starts from what the sequence has and not from nothing: its
  /// piece is the first one, or the last one, whose place keeps that.
  mlir::Value begins;
  mlir::Value to;      ///< its units end here: the last piece takes none
  mlir::Value isThere; ///< whether it has a place
  mlir::Value isLast;

  static PieceToKeep of(KernelBuilder &k, const Recurrence &r,
                        const SegmentPieces &pieces);
};

/// What an item of the launch behind it starts from.
struct PieceStart {
  /// Whether the segment is one piece, which is the item's: it has the slot to
  /// itself.
  mlir::Value isWhole;
  mlir::Value isThere;  ///< whether the piece has units
  mlir::Value from, to; ///< the places to sum up; none unless it is there

  static PieceStart of(KernelBuilder &k, const Recurrence &r,
                       const SegmentPieces &pieces);
  /// Whether the piece is there and ends with its segment, which has so many
  /// units. Asked behind the piece's loop, so that no register holds the answer.
  mlir::Value reachesEnd(KernelBuilder &k, const SegmentPieces &pieces,
                         mlir::Value units) const;
};

} // namespace effc

#endif // EFFC_PASSES_SEQTOTILE_BUILDERS_SEGMENTPIECES_H
