// The inverse of a unit lower triangular matrix by halves:
//
//   [1 - A    0  ]^-1   [    S        0 ]
//   [ -L    1 - B]    = [ T L S       T ]   with S = (1 - A)^-1, T = (1 - B)^-1
//
// from single tokens up. Each part is the inverse for some neighbouring tokens
// alone, so nothing is formed that is larger than what a recurrence of rates up
// to 2 has. A sum of powers of the matrix is not of that kind: for 16 equal
// keys and a rate of 2 its terms reach 10^6 times the inverse's elements.
#include "passes/seq_to_tile/builders/linear/ChunkTiles.h"

using namespace mlir;
using namespace effc;

Value effc::emitUnitLowerInverse(ChunkTiles &tiles, Value lower) {
  KernelBuilder &k = tiles.k;
  tile::TileType type = tiles.scoreType;
  auto meetAt = [&](int64_t half) {
    return [&k, half](OpBuilder &b, Value row, Value column) {
      return emitMeetAt(b, k.loc(), half, row, column);
    };
  };
  Value zero = k.scalar(0);
  Value inverse = tiles.where(
      type,
      [&](OpBuilder &b, Value row, Value column) -> Value {
        return arith::CmpIOp::create(b, k.loc(), arith::CmpIPredicate::eq, row,
                                     column);
      },
      k.scalar(1), zero);
  if (tiles.chunk > 1)
    inverse = tiles.where(type, meetAt(1), lower, inverse);
  for (int64_t half = 2; half < tiles.chunk; half *= 2) {
    Value between = tiles.where(type, meetAt(half), lower, zero);
    Value reaching = tiles.k.exactDot(tiles.zeros(type), between, inverse);
    inverse = tiles.k.exactDot(inverse, inverse, reaching);
  }
  return inverse;
}
