// Along which dimensions of a view a tile's rows and columns run.
#ifndef EFFC_DIALECTS_TILE_BOXAXES_H
#define EFFC_DIALECTS_TILE_BOXAXES_H

#include "dialects/tile/Tile.h"

namespace effc::tile {

/// Dimensions of a view, or -1 where the tile has one row or one column.
struct BoxAxes {
  int64_t row = -1, column = -1;

  /// Elements between neighbours along a dimension; 0 for -1.
  static int64_t stride(ViewType view, int64_t dimension) {
    return dimension < 0 ? 0 : view.getStrides()[dimension];
  }
};

/// Of a box of `sizes` elements: columns run along the last dimension of more
/// than one element, rows along the one before.
inline BoxAxes axesOf(llvm::ArrayRef<int64_t> sizes, TileType tile) {
  BoxAxes axes;
  for (int64_t dimension = sizes.size() - 1; dimension >= 0; --dimension) {
    if (sizes[dimension] == 1)
      continue;
    if (axes.column < 0 && tile.columns() > 1)
      axes.column = dimension;
    else if (axes.row < 0)
      axes.row = dimension;
  }
  return axes;
}

} // namespace effc::tile

#endif // EFFC_DIALECTS_TILE_BOXAXES_H
