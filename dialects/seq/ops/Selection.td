// Choosing the best of many, and the weights of what is chosen.
#ifndef EFFC_DIALECTS_SEQ_OPS_SELECTION_TD
#define EFFC_DIALECTS_SEQ_OPS_SELECTION_TD

include "dialects/seq/SeqAttributes.td"

def Seq_TopKOp : Seq_ValueOp<"top_k"> {
  let summary = "Find the largest elements of each row, in order";
  let description = [{
    Along the last axis, of `N` elements, the `K` that come first when they are
    ordered by size, the largest first, and where equal by their number, the
    lowest first:

    ```
    numbers[..., j] = the number of the j-th element in that order
    values[..., j]  = x[..., numbers[..., j]]
    ```

    NaN counts as larger than all else, so that it is chosen and shows.

    Constraints:

    * (TOP_K1) `x` has `T` and at least one axis more; `values` has its shape
      with `K` in place of `N`, `K` at least 1 and at most `N`.
    * (TOP_K2) `numbers` has the shape of `values`.

    Example:

    ```mlir
    %values, %numbers = seq.top_k %x
        : tensor<?x2x7xf32> -> tensor<?x2x3xf32>, tensor<?x2x3xi32>
    ```
  }];
  let arguments = (ins Seq_Tensor:$x);      /*top_k1*/
  let results = (outs
    Seq_Tensor:$values,                     /*top_k1*/
    Seq_Choices:$numbers);                  /*top_k2*/
  let assemblyFormat = [{
    $x attr-dict `:` type($x) `->` type($values) `,` type($numbers)
  }];
  let builders = [OpBuilder<(ins "::mlir::Value":$x, "int64_t":$count)>];
  let hasVerifier = 1;
}

def Seq_BestOp : Seq_ValueOp<"best", [Seq_EndsKernel]> {
  let summary = "Find the largest number of each row, and which it is";
  let description = [{
    The first element in the order of `seq.top_k`, as two numbers:

    ```
    y[r, 0] = the largest of x[r, :]; NaN where one of them is
    y[r, 1] = its number: of several the lowest
    ```

    With the logits of a model, the likeliest token. A kernel that computes `x`
    needs not write it, and so has `x` as a row in no memory.

    With `draws` the numbers are sums with noise (Gumbel-max): the largest of them
    is a draw from the softmax of a row of logits over a temperature.

    ```
    s[r, i] = scale[r] x[r, i] + amount[r] noise[r, i], which stands for x[r, i] above
    noise[r, i] = -ln(-ln u), where n is the first word of
                  Philox-2x32-10(counter (i, counter[r]), key[r]) and
                  u = (n + 1/2) / 2^32           for n below 2^31
                  u = 1 - (n - 2^31 + 1/2) / 2^32   for others
    ```

    | words of a row of `draws` | meaning                             |
    |----------------------------|-------------------------------------|
    | 0, 1                       | the bits of two f32: `scale`, 1 over the temperature, and `amount`, 1 or for the likeliest token 0 |
    | 2, 3                       | `key` and `counter`: which draw it is |

    Kernels compute noise and sums in f32 as the runtime's sampler does, to the bit.

    Constraints:

    * (BEST1) `x` is `R,N`, `N` at most 2^24, up to where an f32 holds every number.
    * (BEST2) `y` is `R,2`.
    * (BEST3) `draws` is `R,4`.

    Example:

    ```mlir
    %y = seq.best %x : tensor<?x7xf32> -> tensor<?x2xf32>
    %z = seq.best %x draws(%d : tensor<?x4xi32>) : tensor<?x7xf32> -> tensor<?x2xf32>
    ```
  }];
  let arguments = (ins Seq_Tensor:$x,       /*best1*/
    Optional<Seq_Choices>:$draws);          /*best3*/
  let results = (outs Seq_Tensor:$y);       /*best2*/
  let assemblyFormat = [{
    $x (`draws` `(` $draws^ `:` type($draws) `)`)? attr-dict `:` type($x) `->` type($y)
  }];
  let builders = [OpBuilder<(ins "::mlir::Value":$x, CArg<"::mlir::Value", "{}">:$draws)>];
  let extraClassDeclaration = [{
    /// The longest rows whose numbers an f32 holds.
    static constexpr int64_t kMostColumns = int64_t(1) << 24;
    /// Words of a row of `draws`.
    static constexpr int64_t kDrawWords = 4;
  }];
  let hasVerifier = 1;
}

def Seq_TakeOp : Seq_ValueOp<"take"> {
  let summary = "Pick elements of each row by their numbers";
  let description = [{
    ```
    y[..., j] = x[..., numbers[..., j]]
    ```

    A number outside the last axis of `x` has no meaning.

    Constraints:

    * (TAKE1) `x` and `numbers` agree on all axes but the last.
    * (TAKE2) `y` has the shape of `numbers`.

    Example:

    ```mlir
    %y = seq.take %x, %numbers
        : (tensor<?x2x7xf32>, tensor<?x2x3xi32>) -> tensor<?x2x3xf32>
    ```
  }];
  let arguments = (ins Seq_Tensor:$x, Seq_Choices:$numbers);  /*take1*/
  let results = (outs Seq_Tensor:$y);                         /*take2*/
  let assemblyFormat = [{
    $x `,` $numbers attr-dict `:` functional-type(operands, results)
  }];
  let builders = [
    OpBuilder<(ins "::mlir::Value":$x, "::mlir::Value":$numbers)>
  ];
  let hasVerifier = 1;
}

def Seq_SoftmaxOp : Seq_ValueOp<"softmax", [AllTypesMatch<["x", "y"]>]> {
  let summary = "Turn the numbers of each row into weights whose sum is 1";
  let description = [{
    Along the last axis, with `m` the largest element of the row:

    ```
    y[..., j] = e^(x[..., j] - m) / sum_i e^(x[..., i] - m)
    ```

    A NaN makes its whole row NaN, as does a row of which each element is -inf.

    Constraints:

    * (SOFTMAX1) `x` and `y` have one type, of at least one dimension.

    Example:

    ```mlir
    %y = seq.softmax %x : tensor<?x2x3xf32>
    ```
  }];
  let arguments = (ins Seq_Tensor:$x);      /*softmax1*/
  let results = (outs Seq_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x)";
  let builders = [OpBuilder<(ins "::mlir::Value":$x), [{
    build($_builder, $_state, x.getType(), x);
  }]>];
  let hasVerifier = 1;
}

def Seq_ChooseRowsOp : Seq_ValueOp<"choose_rows"> {
  let summary = "Choose the best rows of each head, with their weights";
  let description = [{
    With `A = 1` axis a head has `N = S` rows and row `n` the score
    `scores[t, 0, h, n]`. With two it has `N = S * S`, and row `i S + j` the score
    `scores[t, 0, h, i] + scores[t, 1, h, j]`, a sum that is formed for few rows
    only: where the keys of each axis are ordered as `seq.top_k` orders them, a
    row of the `a`-th key of one axis and the `b`-th of the other (counted from
    1) has `a b - 1` rows before it, so that it is among the first `K` only if
    `a b` is at most `K`.

    ```
    rows[t, h K + j]    = the j-th row of head h, as seq.top_k would order them
    weights[t, h K + j] = its weight, by `weighting`
    ```

    With `order` rows are chosen and ordered by its numbers, and weighed by their
    scores all the same.

    | weighting     | weight of a chosen row of score s                     |
    |---------------|-------------------------------------------------------|
    | `softmax`     | e^s / sum of e^s over the head's chosen rows          |
    | `softmax_all` | e^s / sum of e^s over all rows of the head            |
    | `sigmoid`     | 1 / (1 + e^-s)                                        |
    | `relu`        | max(s, 0)                                             |
    | `score`       | s                                                     |
    | `share`       | s / (1e-20 + sum of s over the head's chosen rows)    |

    | value     | shape     | element | meaning                          |
    |-----------|-----------|---------|----------------------------------|
    | `scores`  | `T,A,H,S` | f32     | scores of the keys of each axis  |
    | `order`   | `T,A,H,S` | f32     | what rows are chosen by          |
    | `weights` | `T,J`     | f32     | `J = H K`, head after head       |
    | `rows`    | `T,J`     | i32     | numbers of the chosen rows       |

    Constraints:

    * (CHOOSE_ROWS1) `scores` is `T,A,H,S` with an `A` of 1 or 2.
    * (CHOOSE_ROWS2) `top_k` is at least 1 and at most `N`, and `N` at most 2^31.
    * (CHOOSE_ROWS3) `weights` and `rows` are `T,J` with `J = H * top_k`.
    * (CHOOSE_ROWS4) `order`, where present, has the type of `scores`, with an `A`
      of 1.

    Numerics: a sum of two scores is rounded before it is compared. Two rows
    whose sums differ by less than that are equal, and it is the candidates with
    `a b <= K` among which the lowest number then wins. A NaN among the scores
    of a head makes its weights NaN, all of them with either softmax or `share`;
    the rows are then some rows of the table. With `order` a NaN counts where its
    row is chosen, or, with `softmax_all`, always.

    Example:

    ```mlir
    %w, %rows = seq.choose_rows %scores {top_k = 4 : i64}
        : tensor<?x2x3x7xf32> -> tensor<?x12xf32>, tensor<?x12xi32>
    ```

    Source: Lample et al., arXiv:1907.05242, section 3.1.
  }];
  let arguments = (ins
    Seq_Tensor:$scores,                     /*choose_rows1*/
    Optional<Seq_Tensor>:$order,            /*choose_rows4*/
    I64Attr:$top_k,                         /*choose_rows2*/
    DefaultValuedAttr<Seq_WeightingAttr,
                      "::effc::seq::RetrievalWeighting::Softmax">:$weighting);
  let results = (outs
    Seq_Tensor:$weights,                    /*choose_rows3*/
    Seq_Choices:$rows);                     /*choose_rows3*/
  let assemblyFormat = [{
    $scores (`order` `(` $order^ `:` type($order) `)`)? attr-dict `:`
    type($scores) `->` type($weights) `,` type($rows)
  }];
  let builders = [
    OpBuilder<(ins "::mlir::Value":$scores, "::mlir::Value":$order,
                   "int64_t":$top_k,
                   "::effc::seq::RetrievalWeighting":$weighting)>
  ];
  let hasVerifier = 1;
}

#endif // EFFC_DIALECTS_SEQ_OPS_SELECTION_TD
