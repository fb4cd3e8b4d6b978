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

def Seq_HadamardOp : Seq_ValueOp<"hadamard"> {
  let summary = "The product of two matrices, element by element";
  let description = [{
    `M[h,i,j] = lhs[h,i,j] * rhs[h,i,j]`: log-decays add, and vectors multiply
    with those of rank 1. Nothing is computed here. The product of two matrices of
    a higher rank has as rank the product of theirs, and would have to be
    materialised: it is an error.

    Constraints:

    * (HADAMARD1) `lhs` and `rhs` have the same `heads`.
    * (HADAMARD2) One of them is of rank 1.
    * (HADAMARD3) `matrix` has their heads, the higher rank, and the `decay`
      `head` where one has it, else `head_constant` where one has it.

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

    Example:

    ```mlir
    %y, %next = seq.apply %m, %x state(%s)
        : !seq.semiseparable<heads = 6, rank = 3, decay = head>, tensor<?x6x5xf32>, tensor<6x3x5xf32>
    ```

    Source: Dao and Gu, arXiv:2405.21060, section 5.
  }];
  let arguments = (ins
    Seq_SemiseparableType:$matrix,          /*apply1, apply2, apply3*/
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

#endif // EFFC_DIALECTS_SEQ_OPS_SEMISEPARABLE_TD
