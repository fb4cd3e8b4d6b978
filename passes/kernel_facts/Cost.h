// How long a core takes for work, in cycles: the one place where a duration is
// computed from the target's record. What recurrences take is RecurrenceCost.h.
//
// Durations are estimates that choose between ways to compute the same; none is
// promised. Work that no way avoids is counted in dialects/seq/Work.h.
#ifndef EFFC_PASSES_KERNELFACTS_COST_H
#define EFFC_PASSES_KERNELFACTS_COST_H

#include "dialects/tile/Tile.h"

namespace effc {

/// Cycles of one core of a target.
class CoreCycles {
public:
  explicit CoreCycles(tile::TargetAttr target) : target(target) {}

  /// Of so many FLOPs in a fused time loop.
  double ofSteps(double flops) const;
  /// Of so many FLOPs in products of tiles, whose operands are rounded where the
  /// target rounds them.
  double ofProducts(double flops) const;
  /// The same of operands that are never rounded.
  double ofExactProducts(double flops) const;
  /// That an item of a GPU waits whatever it computes: for its numbers, at
  /// `barriers`, and for products of each 16 of `terms`, one behind the other. A
  /// host's items wait for nothing.
  double ofWaits(int64_t barriers, double terms = 0) const;
  /// That a further launch of a GPU takes besides its items.
  double ofLaunch() const;
  /// Of so many bytes that one launch of a GPU writes and the next one reads.
  double ofHandingOn(double bytes) const;

private:
  tile::TargetAttr target;
};

/// Items that the core with the most has, where cores share them.
int64_t itemsOfCore(int64_t items, int64_t cores);

/// Cycles of a step of a product whose items form such tiles.
int64_t tileCycles(const tile::DotTile &tile, int64_t items, int64_t cores);

} // namespace effc

#endif // EFFC_PASSES_KERNELFACTS_COST_H
