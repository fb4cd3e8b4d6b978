//===- SumOps.td - sums and decays between the tokens of a chunk ------------===//
//
// Included by TileOps.td; and sums of products along rows. Log-decays are added and never subtracted, so that one
// very strong decay does not disturb the others.
#ifndef EFFC_DIALECTS_TILE_SUMOPS_TD
#define EFFC_DIALECTS_TILE_SUMOPS_TD

def Tile_ScanOp : Tile_Op<"scan", [Pure]> {
  let summary = "Running sums of a column, or their exponentials";
  let description = [{
    Forward: element i is the sum of elements 0..i. `reverse`: the sum of the
    elements *after* i, so that the last one is 0. Both add and never subtract,
    which keeps log-decays exact; a target adds in an order of its own. `exp`: the
    exponentials of these sums, which are decays where the elements are log-decays
    in nats; a target takes one for each sum, however many threads want it.

    Constraints:

    * (TILE_SCAN1) The tile is a `column`, and so is the result, of the same shape; at
      scheduled level the tile lies in shared memory.

    Example: `%p = tile.scan %a reverse exp : !tile.tile<16xf32, column>`
  }];
  let arguments = (ins Tile_TileType:$tile, UnitAttr:$reverse, UnitAttr:$exp);
  let results = (outs Tile_TileType:$result);
  let assemblyFormat = "$tile (`reverse` $reverse^)? (`exp` $exp^)? attr-dict `:` custom<SameTile>(type($tile), type($result))";
  let hasVerifier = 1;
}

def Tile_SegmentDecayOp : Tile_Op<"segment_decay", [Pure]> {
  let summary = "Decays between every two tokens of a chunk";
  let description = [{
    `result[i, j] = exp(sum of tile[k] for j < k <= i)`, for j <= i; 0 above the
    diagonal. The exponents are sums of terms and never differences: one very
    strong decay does not disturb the others.

    Terms are log-decays in nats, as a rule at most 0; minus infinity leaves
    nothing. A target may multiply decays over parts of what lies between two
    tokens. Each of these is an element of the matrix itself, so that nothing is
    lost with terms of at most 0. With positive ones it may be past what an f32
    holds where the product is not. Then the product is wrong, as is the state,
    which a recurrence multiplies by the same decay; elements that it is no part of
    are right, and those above the diagonal 0, so that no token before suffers.

    At scheduled level the tile lies in shared memory, and the threads share
    decays of parts through it from byte `scratch` on (SegmentTables.h).

    Constraints:

    * (SEGMENT_DECAY1) The tile is a `column` of length C and the result C x C.
    * (SEGMENT_DECAY2) `scratch` is a multiple of 16, at least 0; a tile in shared
      memory has one, unless the places of its kernel are not decided yet.

    Example:
    `%d = tile.segment_decay %a : !tile.tile<16xf32, column> -> !tile.tile<16x16xf32, operand>`
  }];
  let arguments = (ins Tile_TileType:$tile, OptionalAttr<I64Attr>:$scratch);
  let results = (outs Tile_TileType:$result);
  let builders = [OpBuilder<(ins "::mlir::Type":$result, "::mlir::Value":$tile), [{
    build($_builder, $_state, result, tile, ::mlir::IntegerAttr());
  }]>];
  let assemblyFormat = "$tile (`scratch` $scratch^)? attr-dict `:` type($tile) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_DotRunsOp : Tile_Op<"dot_runs", [Pure, AllTypesMatch<["acc", "result"]>]> {
  let summary = "Adds products along rows to sums, a run of neighbours to each";
  let description = [{
    `result[r, j] = acc[r, j] + tile[r, n j] row[n j] + .. + tile[r, n j + n-1] row[n j + n-1]`,
    where the tile has n columns for each one of the sums. Multiply-adds are fused, and
    go in this order. A thread keeps one sum where a map over the tile would keep n.

    Constraints:

    * (DOT_RUNS1) `acc` and `tile` are blocks with the same rows, and the columns of
      `tile` are those of `acc` times a power of two.
    * (DOT_RUNS2) `row` is a `row` with the columns of `tile`.
    * (DOT_RUNS3) At scheduled level all three lie in runs (`#tile.lin`) side by side in
      as many lanes: `tile` and `row` alike, `acc` with the sums of what a thread has.

    Example:
    `%s = tile.dot_runs %acc, %w, %x : <4x32xf32, accumulator>, <4x128xf32, accumulator>, <128xf32, row>`
  }];
  let arguments = (ins Tile_TileType:$acc, Tile_TileType:$tile, Tile_TileType:$row);
  let results = (outs Tile_TileType:$result);
  let assemblyFormat = "$acc `,` $tile `,` $row attr-dict `:` type($acc) `,` type($tile) `,` type($row)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The columns of the tile that a sum is of.
    int64_t getRun() { return getTile().getType().columns() / getAcc().getType().columns(); }
  }];
}

#endif // EFFC_DIALECTS_TILE_SUMOPS_TD
