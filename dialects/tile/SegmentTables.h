// Where a block of threads keeps the sums from which `tile.segment_sum` makes
// those between any two tokens.
//
// Tokens lie in runs of kRun. From token j up to token i, whose runs differ, it
// is what follows j in its run, and what lies from the end of that run up to i;
// inside of a run the sum itself is kept. So no sum is a difference, and each
// of C x C is at most one addition.
#ifndef EFFC_DIALECTS_TILE_SEGMENTTABLES_H
#define EFFC_DIALECTS_TILE_SEGMENTTABLES_H

#include <cstdint>

namespace effc::tile {

/// The tables of a column of C tokens, f32 each, one behind the other.
struct SegmentTables {
  static constexpr int64_t kRun = 8;

  explicit SegmentTables(int64_t tokens)
      : runs((tokens + kRun - 1) / kRun), pitch(runs | 1), after(tokens * kRun),
        upTo(after + tokens), bytes((upTo + tokens * pitch) * 4) {}

  int64_t runs;
  /// Numbers from a row of `upTo` to the next one, odd: what rows have in the
  /// same column lies in different banks.
  int64_t pitch;
  /// From byte 0 on, C x kRun: the sum from the column's token in the row's own
  /// run up to the row's token. Then, at these numbers: C, what follows a token
  /// in its run; C x runs, the sum from the end of the column's run up to the
  /// row's token, where that run lies before the token's own.
  int64_t after, upTo;
  int64_t bytes;
};

} // namespace effc::tile

#endif // EFFC_DIALECTS_TILE_SEGMENTTABLES_H
