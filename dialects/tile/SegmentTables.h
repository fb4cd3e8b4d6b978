// Where a block of threads keeps the decays of which `tile.segment_decay` makes
// those between any two tokens.
//
// Tokens lie in runs of kRun. From token j up to token i, whose runs differ, a
// decay is the product of three: over what follows j in its run, over the runs
// between the two, and from the start of i's run up to i. Inside of a run the
// decay itself is kept. So no exponent is a difference, each of C x C is at most
// one multiplication beside one for each row and run, and exponentials are taken
// of the tables alone.
#ifndef EFFC_DIALECTS_TILE_SEGMENTTABLES_H
#define EFFC_DIALECTS_TILE_SEGMENTTABLES_H

#include <cstdint>

namespace effc::tile {

/// The tables of a column of C tokens, f32 each, one behind the other.
struct SegmentTables {
  static constexpr int64_t kRun = 8;

  explicit SegmentTables(int64_t tokens)
      : runs((tokens + kRun - 1) / kRun), after(tokens * kRun),
        since(after + tokens), totals(since + tokens), between(totals + runs),
        bytes((between + runs * runs) * 4) {}

  int64_t runs;
  /// From byte 0 on, C x kRun: the decay from the column's token in the row's own
  /// run up to the row's token; 0 for tokens behind it. Then, at these numbers: C,
  /// the decay over what follows a token in its run; C, the decay over what its
  /// run has up to it; as many as there are runs, the sum of a run's log-decays;
  /// runs x runs, the decay over the runs between the row's and the column's, 0
  /// where the column's is not the earlier one. Between two runs alone there is
  /// nothing: only three of these are used then, and `since` is 0 in the first.
  int64_t after, since, totals, between;
  int64_t bytes;
};

} // namespace effc::tile

#endif // EFFC_DIALECTS_TILE_SEGMENTTABLES_H
