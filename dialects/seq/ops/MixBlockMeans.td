// A softmax over the mean keys of whole blocks, and their mean values.
#ifndef EFFC_DIALECTS_SEQ_OPS_MIXBLOCKMEANS_TD
#define EFFC_DIALECTS_SEQ_OPS_MIXBLOCKMEANS_TD

include "dialects/seq/SeqAttributes.td"

def Seq_MixBlockMeansOp
    : Seq_ValueOp<"mix_block_means", [
        AllTypesMatch<["key_sums", "next_key_sums"]>,
        AllTypesMatch<["value_sums", "next_value_sums"]>,
        DeclareOpInterfaceMethods<Seq_StatefulOpInterface>]> {
  let summary = "Softmax over the mean keys of whole blocks, and their mean values";
  let description = [{
    Positions are cut into blocks of `C = block`, from the sequence's start on. Each
    token adds its key and its value to the sums of its block, and sees the blocks
    that are whole then. Head `h` reads key and value head `h / (H / G)`, rounded
    down, written `g`:

    ```
    for t in 0 .. T-1:
      p = positions[t], own = p / C
      key_sums[own]   = (p mod C = 0 ? 0 : key_sums[own]) + k[t]
      value_sums[own] = (p mod C = 0 ? 0 : value_sums[own]) + v[t]
      for h in 0 .. H-1 and each block c < (p + 1) / C:
        s_c = scale * (q[t,h,:] . key_sums[c,g,:]) / C
      y[t,h,:] = sum_c e^s_c value_sums[c,g,:] / C / sum_c e^s_c
    ```

    with quotients of positions rounded down. A token before the end of the first
    block has the result 0.

    | value        | shape   | element | meaning                                  |
    |--------------|---------|---------|------------------------------------------|
    | `q`          | `T,H,K` | f32     | queries                                  |
    | `k`          | `T,G,K` | f32     | keys                                     |
    | `v`          | `T,G,V` | f32     | values                                   |
    | `positions`  | `T`     | i32     | positions in the sequence, each one more than the one before |
    | `key_sums`, `value_sums` | `L,G,K`, `L,G,V` | f32 | sums of each block before the tokens |
    | `y`          | `T,H,V` | f32     | mixed tokens                             |
    | `next_key_sums`, `next_value_sums` | | f32 | the same sums after the tokens       |

    `L` is for how many blocks the states have room, as for `seq.choose_blocks`.

    Constraints:

    * (MEANS1) `q` is `T,H,K`, `k` is `T,G,K`, `v` is `T,G,V`, `positions` is `T`,
      `y` is `T,H,V`; `G` divides `H`.
    * (MEANS2) `key_sums` is `L,G,K`, `value_sums` is `L,G,V`, and the next ones
      have their types.
    * (MEANS3) `block` is in 1..2^30.
    * (MEANS4) `scale` is finite.

    Example:

    ```mlir
    %y, %next_k, %next_v = seq.mix_block_means %q, %k, %v positions(%p)
        states(%key_sums, %value_sums) {block = 16 : i64, scale = 0.5 : f64}
        : (tensor<?x6x4xf32>, tensor<?x2x4xf32>, tensor<?x2x5xf32>, tensor<?xi32>,
           tensor<8x2x4xf32>, tensor<8x2x5xf32>)
          -> (tensor<?x6x5xf32>, tensor<8x2x4xf32>, tensor<8x2x5xf32>)
    ```

    Source: Yuan et al., Native Sparse Attention, arXiv:2502.11089, section 3.3.1,
    with means in place of learned maps, as in flash-linear-attention.
  }];
  let arguments = (ins
    Seq_Tensor:$q,                          /*means1*/
    Seq_Tensor:$k,                          /*means1*/
    Seq_Tensor:$v,                          /*means1*/
    Seq_Indices:$positions,                 /*means1*/
    Seq_StaticTensor:$key_sums,             /*means2*/
    Seq_StaticTensor:$value_sums,           /*means2*/
    I64Attr:$block,                         /*means3*/
    F64Attr:$scale);                        /*means4*/
  let results = (outs
    Seq_Tensor:$y,                          /*means1*/
    Seq_StaticTensor:$next_key_sums,        /*means2*/
    Seq_StaticTensor:$next_value_sums);     /*means2*/
  let assemblyFormat = [{
    $q `,` $k `,` $v `positions` `(` $positions `)`
    `states` `(` $key_sums `,` $value_sums `)` attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

#endif // EFFC_DIALECTS_SEQ_OPS_MIXBLOCKMEANS_TD
