// Rows by number: the embedding table, and a choice of tokens.
#ifndef EFFC_DIALECTS_SEQ_OPS_ROWS_TD
#define EFFC_DIALECTS_SEQ_OPS_ROWS_TD

include "dialects/seq/SeqAttributes.td"

def Seq_EmbeddingOp : Seq_ValueOp<"embedding"> {
  let summary = "Look up the embeddings of tokens";
  let description = [{
    ```
    y[t, :] = table[tokens[t], :]
    ```

    | value    | shape | element      | meaning              |
    |----------|-------|--------------|----------------------|
    | `tokens` | `T`   | i32          | token ids            |
    | `table`  | `N,D` | f32/bf16/f16 | one row per token id |
    | `y`      | `T,D` | f32          | embeddings           |

    `N` is the size of the vocabulary. An id outside `[0, N)` is an error of the
    call, which the runtime refuses; it has no meaning here.

    Constraints:

    * (EMBEDDING1) `y` is `T,D` with the `T` of `tokens` and the `D` of `table`.

    Example:

    ```mlir
    %x = seq.embedding %tokens, %table
        : (tensor<?xi32>, tensor<11x6xbf16>) -> tensor<?x6xf32>
    ```
  }];
  let arguments = (ins Seq_Indices:$tokens, Seq_Matrix:$table);
  let results = (outs Seq_Tensor:$y);       /*embedding1*/
  let assemblyFormat = [{
    $tokens `,` $table attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Seq_SelectRowsOp : Seq_ValueOp<"select_rows"> {
  let summary = "Keep the tokens of given row numbers";
  let description = [{
    ```
    y[r, ...] = x[rows[r], ...]
    ```

    | value  | shape   | element | meaning                       |
    |--------|---------|---------|-------------------------------|
    | `x`    | `T,...` | f32     | one row per token             |
    | `rows` | `R`     | i32     | row numbers, in `[0, T)`      |
    | `y`    | `R,...` | f32     | the rows wanted, in that order |

    A model keeps the rows whose logits are wanted before its head. A row number
    may occur more than once.

    Constraints:

    * (SELECT_ROWS1) `x` has at least one dimension.
    * (SELECT_ROWS2) `y` has the shape of `x` with `R` in place of `T`.

    Example:

    ```mlir
    %last = seq.select_rows %x, %rows
        : (tensor<?x6xf32>, tensor<2xi32>) -> tensor<2x6xf32>
    ```
  }];
  let arguments = (ins Seq_Tensor:$x, Seq_Indices:$rows);   /*select_rows1*/
  let results = (outs Seq_Tensor:$y);                       /*select_rows2*/
  let assemblyFormat = [{
    $x `,` $rows attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

#endif // EFFC_DIALECTS_SEQ_OPS_ROWS_TD
