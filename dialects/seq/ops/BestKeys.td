// Keys chosen by a number of their own.
#ifndef EFFC_DIALECTS_SEQ_OPS_BESTKEYS_TD
#define EFFC_DIALECTS_SEQ_OPS_BESTKEYS_TD

include "dialects/seq/SeqAttributes.td"

def Seq_CountBetterOp : Seq_ValueOp<"count_better"> {
  let summary = "How many keys in sight come before each key";
  let description = [{
    A key comes before another if its number is larger, or equal and its position
    lower. Counts, for each query and key, the `others` that come before the key
    and that the query sees, by the rule of `seq.window_mask`:

    ```
    y[n, t, s] = number of u with 0 <= at[u] <= queries[t],
                                  queries[t] - at[u] < window,
                 others[u, n] > numbers[s, n],
                 or others[u, n] = numbers[s, n] and at[u] < keys[s]
    ```

    With `passed` the `others` that count are those that the window has passed, with
    `queries[t] - at[u] >= window`. Counts over parts of the keys add up to the rank
    of a key among all of them.

    | value     | shape   | element | meaning                          |
    |-----------|---------|---------|----------------------------------|
    | `numbers` | `S,N`   | f32     | a number per key                 |
    | `keys`    | `S`     | i32     | positions of the keys            |
    | `others`  | `U,N`   | f32     | numbers of the keys that are counted |
    | `at`      | `U`     | i32     | their positions                  |
    | `queries` | `T`     | i32     | positions of the queries         |
    | `y`       | `N,T,S` | f32     | counts                           |

    Constraints:

    * (COUNT_BETTER1) The shapes are those of the table.
    * (COUNT_BETTER2) `window`, where present, is at least 1.
    * (COUNT_BETTER3) `passed` comes beside a `window`.

    Example:

    ```mlir
    %ranks = seq.count_better %d at(%pk) among %e at(%pe) queries(%pq) {window = 4 : i64}
        : (tensor<5x2xf32>, tensor<5xi32>, tensor<3x2xf32>, tensor<3xi32>,
           tensor<7xi32>) -> tensor<2x7x5xf32>
    ```
  }];
  let arguments = (ins
    Seq_Tensor:$numbers,                    /*count_better1*/
    Seq_Indices:$keys,
    Seq_Tensor:$others,
    Seq_Indices:$at,
    Seq_Indices:$queries,
    OptionalAttr<I64Attr>:$window,          /*count_better2*/
    UnitAttr:$passed);                      /*count_better3*/
  let results = (outs Seq_Tensor:$y);       /*count_better1*/
  let assemblyFormat = [{
    $numbers `at` `(` $keys `)` `among` $others `at` `(` $at `)`
    `queries` `(` $queries `)` (`passed` $passed^)? attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Seq_KeepBestOp : Seq_ValueOp<"keep_best", [AllTypesMatch<["scores", "y"]>]> {
  let summary = "Keep the scores of the keys of the lowest ranks";
  let description = [{
    ```
    y[h, t, s] = scores[h, t, s]   where ranks[h / (H / N), t, s] < keep
                 -inf              elsewhere
    ```

    | value    | shape   | element | meaning                          |
    |----------|---------|---------|----------------------------------|
    | `scores` | `H,T,S` | f32     | a score per head, query and key  |
    | `ranks`  | `N,T,S` | f32     | how many keys come before        |
    | `y`      | `H,T,S` | f32     | scores, or -inf                  |

    Constraints:

    * (KEEP_BEST1) `ranks` is `N,T,S`, and `N` divides `H`.
    * (KEEP_BEST2) `keep` is at least 1.
    * (KEEP_BEST3) `y` has the type of `scores`.

    Example:

    ```mlir
    %y = seq.keep_best %scores, %ranks {keep = 3 : i64}
        : tensor<6x7x5xf32>, tensor<2x7x5xf32>
    ```
  }];
  let arguments = (ins
    Seq_Tensor:$scores,                     /*keep_best1*/
    Seq_Tensor:$ranks,                      /*keep_best1*/
    I64Attr:$keep);                         /*keep_best2*/
  let results = (outs Seq_Tensor:$y);       /*keep_best3*/
  let assemblyFormat = [{
    $scores `,` $ranks attr-dict `:` type($scores) `,` type($ranks)
  }];
  let hasVerifier = 1;
}

#endif // EFFC_DIALECTS_SEQ_OPS_BESTKEYS_TD
