// Which elements of a tile a thread holds, as numbers.
//
// In every layout of registers a thread holds the product of some rows and some
// columns: the thread's number gives the first of either, and the others lie at
// offsets that all threads share. So loads, maps, sums and exchanges are
// written once for all layouts.
#ifndef EFFC_DIALECTS_TILE_AXIS_H
#define EFFC_DIALECTS_TILE_AXIS_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>

namespace effc::tile {

class TileType;

/// Threads of a warp.
inline constexpr int64_t kWarp = 32;

/// `count` bits of a thread's number from bit `shift` on, times `step`.
struct ThreadField {
  unsigned shift, count;
  int64_t step;
};

/// One axis of a tile, rows or columns.
struct Axis {
  int64_t size;                          // of the tile
  llvm::SmallVector<ThreadField> fields; // sum: the thread's first place
  llvm::SmallVector<int64_t> offsets;    // from there, ascending
  /// Whether all places of all threads lie inside the tile.
  bool exact() const;
  /// The bits of a thread's number on which the axis depends.
  unsigned threadBits() const;
};

struct Distribution {
  Axis rows, columns;

  /// Of a tile in registers. The elements are held row by row. A `row` has one
  /// row, which all threads hold, a `column` one column.
  static Distribution of(TileType type);
};

} // namespace effc::tile

#endif // EFFC_DIALECTS_TILE_AXIS_H
