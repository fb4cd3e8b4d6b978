// Blocks of keys that queries choose, and the scores of what they have chosen.
#ifndef EFFC_DIALECTS_SEQ_OPS_CHOSENBLOCKS_TD
#define EFFC_DIALECTS_SEQ_OPS_CHOSENBLOCKS_TD

include "dialects/seq/SeqAttributes.td"

def Seq_ChooseBlocksOp
    : Seq_ValueOp<"choose_blocks", [
        AllTypesMatch<["sums", "next_sums"]>,
        DeclareOpInterfaceMethods<Seq_StatefulOpInterface>]> {
  let summary = "The blocks of keys that each query chooses by their mean keys";
  let description = [{
    Positions are cut into blocks of `C = block`, from the sequence's start on. Each
    token adds its key to the sum of its block, and chooses `U = count` blocks for
    each of `M` groups of heads: the first `first` blocks and the last `last` ones,
    which end with its own, and of the others before its own those of the best
    scores. Head `h` belongs to group `h / (H / M)` and reads key head
    `h / (H / G)`, rounded down:

    ```
    for t in 0 .. T-1:
      p = positions[t], own = p / C
      sums[own] = (p mod C = 0 ? 0 : sums[own]) + k[t]
      for m in 0 .. M-1, each head h of group m and each block c < own:
        s[h,c] = scale * (q[t,h,:] . sums[c, h / (H / G), :]) / C
        s[h,c] = e^s[h,c] / sum of e^s[h,c'] over c' < (p + 1) / C  where score = share
      key[m,c] = infinity                    where c <= own and (c < first or c > own - last)
                 sum over h of s[h,c]        where c < own otherwise
                 -infinity                   where c > own
      chosen[t,m,:] = the count blocks c = 0, 1, ... of the largest keys, the largest
                      first, of equal ones the lowest first
    ```

    Quotients are rounded down. The blocks of a softmax are those that are whole once
    the token is in. A token whose sequence has fewer than `U` blocks chooses blocks
    after its own, too, of which it sees no key. NaN counts as the largest key.

    MoBA chooses by `mean` for each head, with its own block among the `U`; native
    sparse attention chooses by `share` for the heads of a key, with the first block
    and the last two among them.

    | value       | shape   | element | meaning                                   |
    |-------------|---------|---------|-------------------------------------------|
    | `q`         | `T,H,K` | f32     | queries                                   |
    | `k`         | `T,G,K` | f32     | keys                                      |
    | `positions` | `T`     | i32     | positions in the sequence, each one more than the one before |
    | `sums`      | `L,G,K` | f32     | sum of each block's keys before the tokens |
    | `chosen`    | `T,M,U` | i32     | numbers of blocks                         |
    | `next_sums` | `L,G,K` | f32     | the same sums after the tokens            |

    `L` is for how many blocks the state has room. It is free in a model's text:
    `seq-size-context` sets it to those of the longest context. A position of `L C` or
    more is an error of the call, which the runtime refuses before anything is
    computed.

    Constraints:

    * (CHOOSE_BLOCKS1) `q` is `T,H,K`, `k` is `T,G,K`, `positions` is `T`.
    * (CHOOSE_BLOCKS2) `sums` is `L,G,K`, and `next_sums` has its type.
    * (CHOOSE_BLOCKS3) `chosen` is `T,M,U`; `M` divides `H`, and `G` divides `M`.
    * (CHOOSE_BLOCKS4) `block` is in 1..2^30, `first` at least 0, `last` at least 1, and
      `first + last` at most `U`.
    * (CHOOSE_BLOCKS5) `scale` is finite.

    Example:

    ```mlir
    %chosen, %next = seq.choose_blocks %q, %k positions(%p) state(%sums)
        {block = 16 : i64, scale = 0.5 : f64, score = #seq.block_score<share>,
         first = 1 : i64, last = 2 : i64}
        : (tensor<?x6x4xf32>, tensor<?x2x4xf32>, tensor<?xi32>, tensor<8x2x4xf32>)
          -> (tensor<?x2x5xi32>, tensor<8x2x4xf32>)
    ```

    Source: Lu et al., MoBA, arXiv:2502.13189, section 2.2; Yuan et al., Native
    Sparse Attention, arXiv:2502.11089, section 3.3.2.
  }];
  let arguments = (ins
    Seq_Tensor:$q,                          /*choose_blocks1*/
    Seq_Tensor:$k,                          /*choose_blocks1*/
    Seq_Indices:$positions,                 /*choose_blocks1*/
    Seq_StaticTensor:$sums,                 /*choose_blocks2*/
    I64Attr:$block,                         /*choose_blocks4*/
    F64Attr:$scale,                         /*choose_blocks5*/
    Seq_BlockScoreAttr:$score,
    DefaultValuedAttr<I64Attr, "0">:$first, /*choose_blocks4*/
    DefaultValuedAttr<I64Attr, "1">:$last); /*choose_blocks4*/
  let results = (outs
    Seq_Choices:$chosen,                    /*choose_blocks3*/
    Seq_StaticTensor:$next_sums);           /*choose_blocks2*/
  let assemblyFormat = [{
    $q `,` $k `positions` `(` $positions `)` `state` `(` $sums `)` attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Seq_BlockMaskOp : Seq_ValueOp<"block_mask", [AllTypesMatch<["scores", "y"]>]> {
  let summary = "Keep the scores of keys whose block is chosen";
  let description = [{
    ```
    y[h, t, s] = scores[h, t, s]   where keys[s] >= 0 and keys[s] / block is among
                                   chosen[t, h / (H / M), :]
                 -inf              elsewhere
    ```

    with quotients rounded down.

    | value    | shape   | element | meaning                         |
    |----------|---------|---------|---------------------------------|
    | `scores` | `H,T,S` | f32     | a score per head, query and key |
    | `keys`   | `S`     | i32     | positions of the keys           |
    | `chosen` | `T,M,U` | i32     | numbers of the chosen blocks    |
    | `y`      | `H,T,S` | f32     | scores, or -inf                 |

    Constraints:

    * (BLOCK_MASK1) The shapes are those of the table, and `M` divides `H`.
    * (BLOCK_MASK2) `block` is in 1..2^30.
    * (BLOCK_MASK3) `y` has the type of `scores`.

    Example:

    ```mlir
    %y = seq.block_mask %scores keys(%pk) chosen(%blocks) {block = 4 : i64}
        : tensor<6x7x5xf32>, tensor<5xi32>, tensor<7x2x3xi32>
    ```
  }];
  let arguments = (ins
    Seq_Tensor:$scores,                     /*block_mask1*/
    Seq_Indices:$keys,                      /*block_mask1*/
    Seq_Choices:$chosen,                    /*block_mask1*/
    I64Attr:$block);                        /*block_mask2*/
  let results = (outs Seq_Tensor:$y);       /*block_mask3*/
  let assemblyFormat = [{
    $scores `keys` `(` $keys `)` `chosen` `(` $chosen `)` attr-dict
    `:` type($scores) `,` type($keys) `,` type($chosen)
  }];
  let hasVerifier = 1;
}

#endif // EFFC_DIALECTS_SEQ_OPS_CHOSENBLOCKS_TD
