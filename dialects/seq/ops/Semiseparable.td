// Semiseparable matrices as values, and their product with tokens.
#ifndef EFFC_DIALECTS_SEQ_OPS_SEMISEPARABLE_TD
#define EFFC_DIALECTS_SEQ_OPS_SEMISEPARABLE_TD

include "dialects/seq/SeqAttributes.td"
include "dialects/seq/SeqTypes.td"

def Seq_DecayMatrixOp : Seq_ValueOp<"decay_matrix"> {
  let summary = "The 1-semiseparable mask of log-decays";
  let description = [{
    ```
    M[h,i,j] = exp(sum over s of log_decay[s,h], j < s <= i),  j <= i
    ```

    Log-decays `H` are the same for every token, which makes a Toeplitz matrix.
    Nothing is computed here.

    Constraints:

    * (DECAYMATRIX1) `log_decay` is `T,H` or, without `T`, `H`.
    * (DECAYMATRIX2) `matrix` has `heads` H, `rank` 1 and the `decay` `head`, or
      `head_constant` where `log_decay` lacks `T`.

    Example:

    ```mlir
    %mask = seq.decay_matrix %g : tensor<?x6xf32> -> !seq.semiseparable<heads = 6, rank = 1, decay = head>
    ```

    Source: Dao and Gu, arXiv:2405.21060, section 3.2.
  }];
  let arguments = (ins Seq_Tensor:$log_decay);        /*decaymatrix1*/
  let results = (outs Seq_SemiseparableType:$matrix); /*decaymatrix2*/
  let assemblyFormat = "$log_decay attr-dict `:` type($log_decay) `->` type($matrix)";
  let hasVerifier = 1;
}

def Seq_RankMatrixOp : Seq_ValueOp<"rank_matrix", [AttrSizedOperandSegments]> {
  let summary = "The causal part of a product of two factors";
  let description = [{
    ```
    M[h,i,j] = c[i,h,:] . b[j,h,:],  j <= i
    ```

    Without `c` every row repeats `b`, without `b` every column repeats `c`: both
    are then of rank 1. A rotation by position comes before the op, on `c` and
    `b` (`seq.rotary`, in halves or in pairs). Nothing is computed here.

    Constraints:

    * (RANKMATRIX1) `c`, `b` or both are present.
    * (RANKMATRIX2) `c` and `b` are `T,H,N`, with N = 1 where one is alone.
    * (RANKMATRIX3) `matrix` has `heads` H, `rank` N and the `decay` `none`.

    Example:

    ```mlir
    %cb = seq.rank_matrix rows(%c : tensor<?x6x3xf32>) columns(%b : tensor<?x6x3xf32>)
        -> !seq.semiseparable<heads = 6, rank = 3, decay = none>
    ```

    Source: Dao and Gu, arXiv:2405.21060, section 3.1; row and column repeats:
    Badger, Structured Recurrent Mixers.
  }];
  let arguments = (ins
    Optional<Seq_Tensor>:$c,                          /*rankmatrix1, rankmatrix2*/
    Optional<Seq_Tensor>:$b);                         /*rankmatrix1, rankmatrix2*/
  let results = (outs Seq_SemiseparableType:$matrix); /*rankmatrix3*/
  let assemblyFormat = [{
    (`rows` `(` $c^ `:` type($c) `)`)? (`columns` `(` $b^ `:` type($b) `)`)?
    attr-dict `->` type($matrix)
  }];
  let hasVerifier = 1;
}

def Seq_BandMatrixOp : Seq_ValueOp<"band_matrix"> {
  let summary = "The band below the diagonal";
  let description = [{
    ```
    M[h,i,j] = 1 where 0 <= i - j < W, else 0
    ```

    with `W` the `band` of the result's type. Nothing is computed here. Multiplied
    with a matrix of vectors and decays it makes attention over a window without a
    softmax.

    Constraints:

    * (BANDMATRIX1) `matrix` has a `band`, `rank` 1 and the `decay` `none`.

    Example:

    ```mlir
    %band = seq.band_matrix -> !seq.semiseparable<heads = 6, rank = 1, decay = none, band = 4>
    ```
  }];
  let arguments = (ins);
  let results = (outs Seq_SemiseparableType:$matrix); /*bandmatrix1*/
  let assemblyFormat = "attr-dict `->` type($matrix)";
  let hasVerifier = 1;
}

def Seq_HadamardOp : Seq_ValueOp<"hadamard"> {
  let summary = "The product of two matrices, element by element";
  let description = [{
    `M[h,i,j] = lhs[h,i,j] * rhs[h,i,j]`: log-decays add, vectors multiply with
    those of rank 1, and of two bands the narrower one is left. Nothing is computed here. The product of two matrices of
    a higher rank has as rank the product of theirs, and would have to be
    materialised: it is an error.

    Constraints:

    * (HADAMARD1) `lhs` and `rhs` have the same `heads`.
    * (HADAMARD2) One of them is of rank 1.
    * (HADAMARD3) `matrix` has their heads, the higher rank, the narrower `band`,
      and the `decay` `head` where one has it, else `head_constant` where one has it.

    Example:

    ```mlir
    %m = seq.hadamard %cb, %mask : !seq.semiseparable<heads = 6, rank = 3, decay = none>,
        !seq.semiseparable<heads = 6, rank = 1, decay = head>
        -> !seq.semiseparable<heads = 6, rank = 3, decay = head>
    ```
  }];
  let arguments = (ins
    Seq_SemiseparableType:$lhs,                       /*hadamard1, hadamard2*/
    Seq_SemiseparableType:$rhs);                      /*hadamard1, hadamard2*/
  let results = (outs Seq_SemiseparableType:$matrix); /*hadamard3*/
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs) `,` type($rhs) `->` type($matrix)";
  let hasVerifier = 1;
}

def Seq_ApplyOp
    : Seq_ValueOp<"apply", [
        AllTypesMatch<["x", "y"]>, AllTypesMatch<["state", "next_state"]>,
        DeclareOpInterfaceMethods<Seq_StatefulOpInterface>]> {
  let summary = "The product of a semiseparable matrix with tokens";
  let description = [{
    ```
    y[i,h,:] = sum over j <= i of M[h,i,j] x[j,h,:] + c[i,h,:] @ (d[i,h] state[h])
    next_state[h] = d[T-1,h] state[h] + sum over j of (d[T-1,h] / d[j,h]) b[j,h,:] (x) x[j,h,:]
    ```

    with `c`, `b` and the log-decays `g` of `M`, and `d[i,h]` the exponential of
    the sum of `g[s,h]` over `s <= i`: the tokens before these have left the state,
    which is 0 before the first. `seq-apply-matrices` makes of it a recurrence,
    whose forms are those of the class `linear`; the state-space dual is the one
    with `M` the product of a mask and a matrix of rank N.

    | value        | shape   | element | meaning                      |
    |--------------|---------|---------|------------------------------|
    | `matrix`     |         |         | `!seq.semiseparable` of rank N |
    | `x`          | `T,H,V` | f32     | tokens                       |
    | `state`      | `H,N,V` | f32     | state before the tokens      |
    | `y`          | `T,H,V` | f32     | mixed tokens                 |
    | `next_state` | `H,N,V` | f32     | state after the tokens       |

    Constraints:

    * (APPLY1) `x` and `y` are `T,H,V`, with H the heads of `matrix`.
    * (APPLY2) `state` is `H,N,V`, with N the rank of `matrix`, and `next_state` has
      its type.
    * (APPLY3) `matrix` is made by `seq.decay_matrix`, `seq.rank_matrix` or
      `seq.hadamard`: as an argument it would have to be materialised.
    * (APPLY4) `matrix` has no `band`: one is the business of `seq.apply_band`.

    Example:

    ```mlir
    %y, %next = seq.apply %m, %x state(%s)
        : !seq.semiseparable<heads = 6, rank = 3, decay = head>, tensor<?x6x5xf32>, tensor<6x3x5xf32>
    ```

    Source: Dao and Gu, arXiv:2405.21060, section 5.
  }];
  let arguments = (ins
    Seq_SemiseparableType:$matrix,          /*apply1, apply2, apply3, apply4*/
    Seq_Tensor:$x,                          /*apply1*/
    Seq_StaticTensor:$state);               /*apply2*/
  let results = (outs
    Seq_Tensor:$y,                          /*apply1*/
    Seq_StaticTensor:$next_state);          /*apply2*/
  let assemblyFormat = [{
    $matrix `,` $x `state` `(` $state `)` attr-dict
    `:` type($matrix) `,` type($x) `,` type($state)
  }];
  let hasVerifier = 1;
}

def Seq_ApplyBandOp
    : Seq_ValueOp<"apply_band", [
        AllTypesMatch<["x", "y"]>, AllTypesMatch<["keys", "next_keys"]>,
        AllTypesMatch<["values", "next_values"]>,
        DeclareOpInterfaceMethods<Seq_StatefulOpInterface>]> {
  let summary = "The product of a banded semiseparable matrix with tokens";
  let description = [{
    ```
    y[i,h,:] = sum over j, 0 <= i - j < W, of M[h,i,j] x[j,h,:]
    ```

    where `j` counts tokens before these too. A band forgets tokens one by one, so
    the last `W` of them are kept, at their positions modulo `W`:

    ```
    for t in 0 .. T-1:
      w             = positions[t] mod W
      values[h]     = exp(g[t,h]) values[h]
      values[h,w,:] = x[t,h,:]
      keys[h,:,w]   = b[t,h,:]
      y[t,h,:]      = (c[t,h,:] @ keys[h]) @ values[h]
    ```

    with `c`, `b` and the log-decays `g` of `M`. The states before the first token
    are 0. `seq-apply-matrices` makes of it two recurrences, one that keeps `b` and
    is read by `c`, and one that keeps the decayed tokens and is read by what the
    first has read: a row of a state that is due to be forgotten decays by
    exp(-1e30). Their forms are those of the class `linear`. What is not finite does
    not decay, so that a token of NaN makes all later ones NaN, as in any
    recurrence.

    | value         | shape   | element | meaning                                |
    |---------------|---------|---------|----------------------------------------|
    | `matrix`      |         |         | `!seq.semiseparable` of rank N, band W |
    | `x`           | `T,H,V` | f32     | tokens                                 |
    | `positions`   | `T`     | i32     | positions in the sequence, each one more than the one before |
    | `keys`        | `H,N,W` | f32     | vectors `b` of the last tokens         |
    | `values`      | `H,W,V` | f32     | the last tokens, decayed               |
    | `y`           | `T,H,V` | f32     | mixed tokens                           |
    | `next_keys`   | `H,N,W` | f32     | the same after the tokens              |
    | `next_values` | `H,W,V` | f32     | the same after the tokens              |

    Constraints:

    * (APPLYBAND1) `x` and `y` are `T,H,V`, with H the heads of `matrix`.
    * (APPLYBAND2) `positions` is `T`.
    * (APPLYBAND3) `keys` is `H,N,W`, with N the rank and W the band of `matrix`, and
      `next_keys` has its type.
    * (APPLYBAND4) `values` is `H,W,V`, and `next_values` has its type.
    * (APPLYBAND5) `matrix` has a `band` and is made by the ops of this file: as an
      argument it would have to be materialised.

    Example:

    ```mlir
    %y, %next_keys, %next_values = seq.apply_band %m, %x positions(%p) states(%keys, %values)
        : !seq.semiseparable<heads = 6, rank = 3, decay = head, band = 4>, tensor<?x6x5xf32>,
          tensor<?xi32>, tensor<6x3x4xf32>, tensor<6x4x5xf32>
    ```

    Source: Dao and Gu, arXiv:2405.21060, section 5, with a band as its mask.
  }];
  let arguments = (ins
    Seq_SemiseparableType:$matrix,          /*applyband1, applyband3, applyband5*/
    Seq_Tensor:$x,                          /*applyband1*/
    Seq_Indices:$positions,                 /*applyband2*/
    Seq_StaticTensor:$keys,                 /*applyband3*/
    Seq_StaticTensor:$values);              /*applyband4*/
  let results = (outs
    Seq_Tensor:$y,                          /*applyband1*/
    Seq_StaticTensor:$next_keys,            /*applyband3*/
    Seq_StaticTensor:$next_values);         /*applyband4*/
  let assemblyFormat = [{
    $matrix `,` $x `positions` `(` $positions `)` `states` `(` $keys `,` $values `)`
    attr-dict `:` type($matrix) `,` type($x) `,` type($positions) `,` type($keys) `,`
    type($values)
  }];
  let hasVerifier = 1;
}

#endif // EFFC_DIALECTS_SEQ_OPS_SEMISEPARABLE_TD
