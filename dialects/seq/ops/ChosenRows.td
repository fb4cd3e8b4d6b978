// What chosen rows of a table are used for: summed, or experts to be evaluated.
#ifndef EFFC_DIALECTS_SEQ_OPS_CHOSENROWS_TD
#define EFFC_DIALECTS_SEQ_OPS_CHOSENROWS_TD

include "dialects/seq/SeqAttributes.td"

def Seq_GatherRowsOp : Seq_ValueOp<"gather_rows"> {
  let summary = "Copy the blocks of rows that each token chooses";
  let description = [{
    The table is cut into `E = N / B` blocks of `B` rows:

    ```
    y[t, j, b, :] = table[rows[t, j] * B + b, :]
    ```

    | value   | shape     | element      | meaning            |
    |---------|-----------|--------------|--------------------|
    | `table` | `N,D`     | f32/bf16/f16 | rows               |
    | `rows`  | `T,J`     | i32          | numbers of blocks  |
    | `y`     | `T,J,B,D` | f32          | the chosen blocks  |

    It writes out what `seq.sum_rows`, `seq.expert_hidden` and
    `seq.expert_output` read where it lies. A number outside `[0, E)` has no
    meaning.

    Constraints:

    * (GATHER_ROWS1) `y` is `T,J,B,D` with the `T,J` of `rows` and the `D` of
      `table`.
    * (GATHER_ROWS2) `B` divides `N`.

    Example:

    ```mlir
    %y = seq.gather_rows %table, %rows
        : (tensor<22x6xbf16>, tensor<?x3xi32>) -> tensor<?x3x2x6xf32>
    ```
  }];
  let arguments = (ins
    Seq_Matrix:$table,                      /*gather_rows2*/
    Seq_Choices:$rows);                     /*gather_rows1*/
  let results = (outs Seq_Tensor:$y);       /*gather_rows1*/
  let assemblyFormat = [{
    $table `,` $rows attr-dict `:` functional-type(operands, results)
  }];
  let builders = [
    OpBuilder<(ins "::mlir::Value":$table, "::mlir::Value":$rows,
                   "int64_t":$block)>
  ];
  let hasVerifier = 1;
}

def Seq_SumRowsOp : Seq_ValueOp<"sum_rows"> {
  let summary = "Sum the rows that each token chooses, with weights";
  let description = [{
    ```
    y[t, :] = sum_j weights[t, j] * table[rows[t, j], :]
    ```

    | value     | shape | element      | meaning                   |
    |-----------|-------|--------------|---------------------------|
    | `weights` | `T,J` | f32          | weight of each chosen row |
    | `rows`    | `T,J` | i32          | numbers of the rows       |
    | `table`   | `N,D` | f32/bf16/f16 | rows                      |
    | `y`       | `T,D` | f32          | sums                      |

    Constraints:

    * (SUM_ROWS1) `weights` and `rows` are `T,J`.
    * (SUM_ROWS2) `y` is `T,D` with the `D` of `table`.

    Example:

    ```mlir
    %y = seq.sum_rows %w, %rows, %table
        : (tensor<?x3xf32>, tensor<?x3xi32>, tensor<22x6xbf16>) -> tensor<?x6xf32>
    ```
  }];
  let arguments = (ins
    Seq_Tensor:$weights,                    /*sum_rows1*/
    Seq_Choices:$rows,                      /*sum_rows1*/
    Seq_Matrix:$table);
  let results = (outs Seq_Tensor:$y);       /*sum_rows2*/
  let assemblyFormat = [{
    $weights `,` $rows `,` $table attr-dict `:` functional-type(operands, results)
  }];
  let builders = [
    OpBuilder<(ins "::mlir::Value":$weights, "::mlir::Value":$rows,
                   "::mlir::Value":$table)>
  ];
  let hasVerifier = 1;
}

def Seq_ExpertHiddenOp : Seq_ValueOp<"expert_hidden"> {
  let summary = "Compute the weighted hidden units of the chosen experts";
  let description = [{
    Expert `e` has `F` rows of `table`, from row `e F` on; a `gated` one `2 F`
    rows from `2 F e` on, first its gates, then its ups. With `f` the
    `nonlinearity`:

    ```
    hidden[t, j, u] = weights[t, j] * f(x[t, :] . table[e F + u, :])
    hidden[t, j, u] = weights[t, j] * f(x[t, :] . table[2 F e + u, :])
                                    * (x[t, :] . table[2 F e + F + u, :])   (gated)
    hidden[t, j, u] = f(weights[t, j] * (x[t, :] . table[e F + u, :]))      (weight_inside)
    ```

    where `e = rows[t, j]`.

    | value     | shape   | element      | meaning                      |
    |-----------|---------|--------------|------------------------------|
    | `x`       | `T,D`   | f32          | tokens                       |
    | `weights` | `T,J`   | f32          | weight of each chosen expert |
    | `rows`    | `T,J`   | i32          | numbers of the experts       |
    | `table`   | `N,D`   | f32/bf16/f16 | the experts' rows            |
    | `hidden`  | `T,J,F` | f32          | hidden units                 |

    Constraints:

    * (EXPERT_HIDDEN1) `x` is `T,D`, `weights` and `rows` are `T,J`.
    * (EXPERT_HIDDEN2) `table` is `N,D` with the `D` of `x`.
    * (EXPERT_HIDDEN3) `hidden` is `T,J,F`; an expert's rows, `F` or `2 F`,
      divide `N`.
    * (EXPERT_HIDDEN4) `gated` and `weight_inside` exclude one another.

    Example:

    ```mlir
    %h = seq.expert_hidden %x, %w, %rows, %table
        {gated, nonlinearity = #seq.nonlinearity<silu>}
        : (tensor<?x5xf32>, tensor<?x3xf32>, tensor<?x3xi32>, tensor<44x5xbf16>)
          -> tensor<?x3x2xf32>
    ```
  }];
  let arguments = (ins
    Seq_Tensor:$x,                          /*expert_hidden1*/
    Seq_Tensor:$weights,                    /*expert_hidden1*/
    Seq_Choices:$rows,                      /*expert_hidden1*/
    Seq_Matrix:$table,                      /*expert_hidden2, expert_hidden3*/
    Seq_NonlinearityAttr:$nonlinearity,
    UnitAttr:$gated,                        /*expert_hidden4*/
    UnitAttr:$weight_inside);               /*expert_hidden4*/
  let results = (outs Seq_Tensor:$hidden);  /*expert_hidden3*/
  let assemblyFormat = [{
    $x `,` $weights `,` $rows `,` $table attr-dict `:`
    functional-type(operands, results)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Rows of the table that belong to one expert.
    int64_t getRowsPerExpert() {
      return getHidden().getType().getDimSize(2) * (getGated() ? 2 : 1);
    }
  }];
}

def Seq_ExpertOutputOp : Seq_ValueOp<"expert_output"> {
  let summary = "Sum the outputs of the chosen experts from their hidden units";
  let description = [{
    Expert `e` has `O` rows of `table`, from row `e O` on, one per output:

    ```
    y[t, o] = sum_j sum_u table[rows[t, j] O + o, u] * hidden[t, j, u]
    ```

    | value    | shape   | element      | meaning                |
    |----------|---------|--------------|------------------------|
    | `hidden` | `T,J,F` | f32          | weighted hidden units  |
    | `rows`   | `T,J`   | i32          | numbers of the experts |
    | `table`  | `N,F`   | f32/bf16/f16 | the experts' rows      |
    | `y`      | `T,O`   | f32          | sums of the outputs    |

    Constraints:

    * (EXPERT_OUTPUT1) `hidden` is `T,J,F` and `rows` `T,J`.
    * (EXPERT_OUTPUT2) `table` is `N,F` with the `F` of `hidden`.
    * (EXPERT_OUTPUT3) `y` is `T,O`, and `O` divides `N`.

    Example:

    ```mlir
    %y = seq.expert_output %h, %rows, %table
        : (tensor<?x3x2xf32>, tensor<?x3xi32>, tensor<55x2xbf16>) -> tensor<?x5xf32>
    ```
  }];
  let arguments = (ins
    Seq_Tensor:$hidden,                     /*expert_output1*/
    Seq_Choices:$rows,                      /*expert_output1*/
    Seq_Matrix:$table);                     /*expert_output2, expert_output3*/
  let results = (outs Seq_Tensor:$y);       /*expert_output3*/
  let assemblyFormat = [{
    $hidden `,` $rows `,` $table attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

#endif // EFFC_DIALECTS_SEQ_OPS_CHOSENROWS_TD
