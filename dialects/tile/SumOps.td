//===- SumOps.td - sums between the tokens of a chunk -----------------------===//
//
// Included by TileOps.td. Log-decays are added and never subtracted, so that one
// very strong decay does not disturb the others.
#ifndef EFFC_DIALECTS_TILE_SUMOPS_TD
#define EFFC_DIALECTS_TILE_SUMOPS_TD

def Tile_ScanOp : Tile_Op<"scan", [Pure]> {
  let summary = "Running sums of a column";
  let description = [{
    Forward: element i is the sum of elements 0..i. `reverse`: the sum of the
    elements *after* i, so that the last one is 0. Both add and never subtract,
    which keeps log-decays exact; a target adds in an order of its own.

    Constraints:

    * (SCAN1) The tile is a `column`, and so is the result, of the same shape; at
      scheduled level the tile lies in shared memory.

    Example: `%p = tile.scan %a : !tile.tile<16xf32, column>`
  }];
  let arguments = (ins Tile_TileType:$tile, UnitAttr:$reverse);
  let results = (outs Tile_TileType:$result);
  let assemblyFormat = "$tile (`reverse` $reverse^)? attr-dict `:` custom<SameTile>(type($tile), type($result))";
  let hasVerifier = 1;
}

def Tile_SegmentSumOp : Tile_Op<"segment_sum", [Pure]> {
  let summary = "Sums between every two tokens of a chunk";
  let description = [{
    `result[i, j] = sum of tile[k] for j < k <= i`, for j <= i; minus infinity
    above the diagonal. The sums run from j, so they are sums of terms and never
    differences: one very strong decay does not disturb the others.

    Constraints:

    At scheduled level the tile lies in shared memory, and the threads share sums
    of parts through it from byte `scratch` on.

    Constraints:

    * (SEGMENT_SUM1) The tile is a `column` of length C and the result C x C.
    * (SEGMENT_SUM2) `scratch` is a multiple of 16, at least 0; a tile in shared
      memory has one.

    Example:
    `%l = tile.segment_sum %a : !tile.tile<16xf32, column> -> !tile.tile<16x16xf32, operand>`
  }];
  let arguments = (ins Tile_TileType:$tile, OptionalAttr<I64Attr>:$scratch);
  let results = (outs Tile_TileType:$result);
  let builders = [OpBuilder<(ins "::mlir::Type":$result, "::mlir::Value":$tile), [{
    build($_builder, $_state, result, tile, ::mlir::IntegerAttr());
  }]>];
  let assemblyFormat = "$tile (`scratch` $scratch^)? attr-dict `:` type($tile) `->` type($result)";
  let hasVerifier = 1;
}

#endif // EFFC_DIALECTS_TILE_SUMOPS_TD
