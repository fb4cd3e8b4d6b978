// Rings of rows by position, and what positions say of scores.
#ifndef EFFC_DIALECTS_SEQ_OPS_POSITIONS_TD
#define EFFC_DIALECTS_SEQ_OPS_POSITIONS_TD

include "dialects/seq/SeqAttributes.td"

def Seq_RingPositionsOp : Seq_ValueOp<"ring_positions"> {
  let summary = "Which position each row of a ring holds";
  let description = [{
    Row `i` of a ring of `W` rows holds the largest position up to `p` that is `i`
    modulo `W`:

    ```
    y[i] = p - (p - i) mod W, negative where no such position exists
    ```

    with `p` the last of `positions`, or with `before` the one before the first.
    With `first` the rows hold the first `W` positions and no later ones:

    ```
    y[i] = i where i <= p, else -1
    ```

    | value       | shape | element | meaning                          |
    |-------------|-------|---------|----------------------------------|
    | `positions` | `T`   | i32     | consecutive positions, `T` >= 1  |
    | `y`         | `W`   | i32     | positions of the rows            |

    Constraints:

    * (RING_POSITIONS1) `y` has a static `W`.

    Example:

    ```mlir
    %held = seq.ring_positions %p before : tensor<7xi32> -> tensor<5xi32>
    ```
  }];
  let arguments = (ins Seq_Indices:$positions, UnitAttr:$before, UnitAttr:$first);
  let results = (outs Seq_Indices:$y);      /*ring_positions1*/
  let assemblyFormat = [{
    $positions (`first` $first^)? (`before` $before^)? attr-dict
    `:` type($positions) `->` type($y)
  }];
  let hasVerifier = 1;
}

def Seq_RingWriteOp : Seq_ValueOp<"ring_write", [AllTypesMatch<["ring", "next"]>]> {
  let summary = "Write rows into a ring by their positions";
  let description = [{
    ```
    next = ring
    for t in 0 .. T-1: next[positions[t] mod W, ...] = x[t, ...]
    ```

    With `first` positions of `W` or more are left out.

    | value       | shape   | element | meaning                  |
    |-------------|---------|---------|--------------------------|
    | `x`         | `T,...` | f32     | rows to write            |
    | `positions` | `T`     | i32     | their positions, at least 0 |
    | `ring`      | `W,...` | f32     | the ring before          |
    | `next`      | `W,...` | f32     | the ring after           |

    Constraints:

    * (RING_WRITE1) `x` has the shape of `ring` with `T` in place of `W`.
    * (RING_WRITE2) `next` has the type of `ring`.

    Example:

    ```mlir
    %next = seq.ring_write %x at(%p) into(%ring)
        : tensor<7x2x3xf32>, tensor<7xi32>, tensor<5x2x3xf32>
    ```
  }];
  let arguments = (ins
    Seq_Tensor:$x,                          /*ring_write1*/
    Seq_Indices:$positions,                 /*ring_write1*/
    Seq_StaticTensor:$ring,
    UnitAttr:$first);
  let results = (outs Seq_StaticTensor:$next);  /*ring_write2*/
  let assemblyFormat = [{
    $x `at` `(` $positions `)` `into` `(` $ring `)` (`first` $first^)? attr-dict
    `:` type($x) `,` type($positions) `,` type($ring)
  }];
  let hasVerifier = 1;
}

def Seq_RingRowOp : Seq_ValueOp<"ring_row"> {
  let summary = "Mark the row of a ring that each position lies in";
  let description = [{
    ```
    y[t, w] = 1 where w = positions[t] mod W, else 0
    ```

    | value       | shape | element | meaning                          |
    |-------------|-------|---------|----------------------------------|
    | `positions` | `T`   | i32     | positions of the tokens, at least 0 |
    | `y`         | `T,W` | f32     | 1 or 0                           |

    Constraints:

    * (RING_ROW1) `y` is `T,W`.

    Example:

    ```mlir
    %row = seq.ring_row %p : tensor<?xi32> -> tensor<?x4xf32>
    ```
  }];
  let arguments = (ins Seq_Indices:$positions);
  let results = (outs Seq_Tensor:$y);       /*ring_row1*/
  let assemblyFormat = "$positions attr-dict `:` type($positions) `->` type($y)";
  let hasVerifier = 1;
}

def Seq_WindowMaskOp : Seq_ValueOp<"window_mask", [AllTypesMatch<["scores", "y"]>]> {
  let summary = "Keep the scores of keys in sight";
  let description = [{
    ```
    y[..., t, s] = scores[..., t, s]   where 0 <= keys[s] <= queries[t]
                                       and queries[t] - keys[s] < window
                   -inf                elsewhere
    ```

    without the last condition where there is no `window`; with `passed` the keys
    that the window has passed, so that the last condition is
    `queries[t] - keys[s] >= window`. A negative position is that of no key. What a
    score out of sight is does not matter, be it NaN.

    | value     | shape     | element | meaning              |
    |-----------|-----------|---------|----------------------|
    | `scores`  | `...,T,S` | f32     | a score per query and key |
    | `queries` | `T`       | i32     | positions of the queries |
    | `keys`    | `S`       | i32     | positions of the keys    |
    | `y`       | `...,T,S` | f32     | scores, or -inf      |

    Constraints:

    * (WINDOW_MASK1) The last two extents of `scores` are those of `queries` and
      `keys`.
    * (WINDOW_MASK2) `window`, where present, is at least 1.
    * (WINDOW_MASK3) `y` has the type of `scores`.
    * (WINDOW_MASK4) `passed` comes beside a `window`.

    Example:

    ```mlir
    %y = seq.window_mask %scores queries(%pq) keys(%pk) {window = 4 : i64}
        : tensor<2x7x5xf32>, tensor<7xi32>, tensor<5xi32>
    ```
  }];
  let arguments = (ins
    Seq_Tensor:$scores,                     /*window_mask1*/
    Seq_Indices:$queries,
    Seq_Indices:$keys,
    OptionalAttr<I64Attr>:$window,          /*window_mask2*/
    UnitAttr:$passed);                      /*window_mask4*/
  let results = (outs Seq_Tensor:$y);       /*window_mask3*/
  let assemblyFormat = [{
    $scores `queries` `(` $queries `)` `keys` `(` $keys `)` (`passed` $passed^)?
    attr-dict
    `:` type($scores) `,` type($queries) `,` type($keys)
  }];
  let hasVerifier = 1;
}

def Seq_DistancesOp : Seq_ValueOp<"distances"> {
  let summary = "How far each key lies from each query";
  let description = [{
    ```
    y[t, s] = keys[s] - queries[t]
    ```

    at most 0 for a key that the query may see. With `last` queries at positions
    above it stand there: `keys[s] - min(queries[t], last)`.

    | value     | shape | element | meaning                  |
    |-----------|-------|---------|--------------------------|
    | `queries` | `T`   | i32     | positions of the queries |
    | `keys`    | `S`   | i32     | positions of the keys    |
    | `y`       | `T,S` | f32     | differences, in positions |

    Constraints:

    * (DISTANCES1) `y` is `T,S`.
    * (DISTANCES2) `last`, where present, is at least 0.

    Example:

    ```mlir
    %far = seq.distances %pq, %pk : (tensor<7xi32>, tensor<5xi32>) -> tensor<7x5xf32>
    ```
  }];
  let arguments = (ins Seq_Indices:$queries, Seq_Indices:$keys,
    OptionalAttr<I64Attr>:$last);           /*distances2*/
  let results = (outs Seq_Tensor:$y);       /*distances1*/
  let assemblyFormat = [{
    $queries `,` $keys attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Seq_AtStartOp : Seq_ValueOp<"at_start"> {
  let summary = "Mark the tokens that a sequence begins with";
  let description = [{
    ```
    y[t] = 1 where positions[t] = 0, else 0
    ```

    | value       | shape | element | meaning                 |
    |-------------|-------|---------|-------------------------|
    | `positions` | `T`   | i32     | positions of the tokens |
    | `y`         | `T`   | f32     | 1 or 0                  |

    Constraints:

    * (AT_START1) `y` is `T`.

    Example:

    ```mlir
    %first = seq.at_start %p : tensor<?xi32> -> tensor<?xf32>
    ```
  }];
  let arguments = (ins Seq_Indices:$positions);
  let results = (outs Seq_Tensor:$y);       /*at_start1*/
  let assemblyFormat = [{
    $positions attr-dict `:` type($positions) `->` type($y)
  }];
  let builders = [OpBuilder<(ins "::mlir::Value":$positions), [{
    auto type = ::llvm::cast<::mlir::RankedTensorType>(positions.getType());
    build($_builder, $_state, type.clone($_builder.getF32Type()), positions);
  }]>];
  let hasVerifier = 1;
}

def Seq_KeyNumbersOp : Seq_ValueOp<"key_numbers", [AllTypesMatch<["scores", "y"]>]> {
  let summary = "Let a number per key act on its scores";
  let description = [{
    With `d = numbers[s, h / (H / N)]`, rounded down:

    ```
    y[h, t, s] = scores[h, t, s] + d        `bias`
                 scores[h, t, s] * d        `scale`
                 -inf where d < 1, else scores[h, t, s]   `threshold`
    ```

    | value     | shape   | element | meaning                |
    |-----------|---------|---------|------------------------|
    | `scores`  | `H,T,S` | f32     | a score per head, query and key |
    | `numbers` | `S,N`   | f32     | a number per key and group of heads |
    | `y`       | `H,T,S` | f32     | scores                 |

    Constraints:

    * (KEY_NUMBERS1) `numbers` is `S,N`, and `N` divides `H`.
    * (KEY_NUMBERS2) `kind` is not `none`.
    * (KEY_NUMBERS3) `y` has the type of `scores`.

    Example:

    ```mlir
    %y = seq.key_numbers <bias> %scores, %d : tensor<6x7x5xf32>, tensor<5x2xf32>
    ```
  }];
  let arguments = (ins
    Seq_KeyScoreAttr:$kind,                 /*key_numbers2*/
    Seq_Tensor:$scores,                     /*key_numbers1*/
    Seq_Tensor:$numbers);                   /*key_numbers1*/
  let results = (outs Seq_Tensor:$y);       /*key_numbers3*/
  let assemblyFormat = [{
    $kind $scores `,` $numbers attr-dict `:` type($scores) `,` type($numbers)
  }];
  let hasVerifier = 1;
}

#endif // EFFC_DIALECTS_SEQ_OPS_POSITIONS_TD
