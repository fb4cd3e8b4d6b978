// What an index of a kernel is known to be a multiple of.
#ifndef EFFC_DIALECTS_TILE_DIVISORS_H
#define EFFC_DIALECTS_TILE_DIVISORS_H

#include "mlir/IR/Value.h"

namespace effc::tile {

/// A number that divides `index`, as far as its ops show: constants, sums,
/// products, choices, and counters of loops. 0 for a constant 0, which every
/// number divides; 1 where nothing is known.
int64_t divisorOf(mlir::Value index);

} // namespace effc::tile

#endif // EFFC_DIALECTS_TILE_DIVISORS_H
