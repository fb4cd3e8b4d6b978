// The product-key memory layer.
#ifndef EFFC_DIALECTS_SEQ_MIXERS_PRODUCTKEYMEMORY_TD
#define EFFC_DIALECTS_SEQ_MIXERS_PRODUCTKEYMEMORY_TD

include "dialects/seq/SeqAttributes.td"

def Seq_ProductKeyMemoryOp
    : Seq_ValueOp<"product_key_memory", [
        DeclareOpInterfaceMethods<Seq_StatefulOpInterface>,
        DeclareOpInterfaceMethods<Seq_MixerOpInterface,
                                  ["getStructure", "getRetrievalOperands"]>]> {
  let summary = "Sum the rows of a table that the scores of two half keys choose";
  let description = [{
    Reads the scores of two sets of `S` keys and returns the weighted sum of rows
    of a table of `S * S`, of which each of `H` heads chooses its best `top_k`:

    ```
    score[t,h,i S + j] = scores[t,0,h,i] + scores[t,1,h,j]
    C[t,h]             = the top_k rows of the highest score, lowest number first
                         where equal
    y[t,:]             = sum_h sum_{n in C[t,h]} weight[t,h,n] * values[n,:]
    ```

    `weighting` says how scores become weights, as in `seq.choose_rows`; by
    default it is the softmax over the rows that the head chose. There is no
    state: each token is by itself. `seq.key_scores` computes `scores`.

    | value    | shape     | element      | meaning                         |
    |----------|-----------|--------------|---------------------------------|
    | `scores` | `T,2,H,S` | f32          | scores of the keys of each half |
    | `values` | `N,D`     | f32/bf16/f16 | one row for each pair of keys   |
    | `y`      | `T,D`     | f32          | weighted sums                   |

    `form` is absent until a form is chosen.

    Constraints:

    * (PKM1) `scores` is `T,2,H,S`.
    * (PKM2) `values` is `N,D` with `N` of at least `S * S`; rows past those are
      never chosen.
    * (PKM3) `top_k` is at least 1 and at most `S * S`.
    * (PKM4) `y` is `T,D`.

    Numerics: sums of scores are rounded before they are compared, see
    `seq.choose_rows`. A NaN score makes its token's result NaN.

    Example:

    ```mlir
    %y = seq.product_key_memory %scores parameters(%values) {top_k = 4 : i64}
        : tensor<?x2x3x7xf32>, (tensor<49x5xbf16>) -> tensor<?x5xf32>
    ```

    Source: Lample et al., arXiv:1907.05242.
  }];
  let arguments = (ins
    Seq_Tensor:$scores,                     /*pkm1*/
    Seq_Matrix:$values,                     /*pkm2*/
    I64Attr:$top_k,                         /*pkm3*/
    DefaultValuedAttr<Seq_WeightingAttr,
                      "::effc::seq::RetrievalWeighting::Softmax">:$weighting,
    OptionalAttr<Seq_FormAttr>:$form);
  let results = (outs Seq_Tensor:$y);       /*pkm4*/
  let assemblyFormat = [{
    $scores `parameters` `(` $values `)` attr-dict `:` type($scores) `,`
    `(` type($values) `)` `->` type($y)
  }];
  let hasVerifier = 1;
}

#endif // EFFC_DIALECTS_SEQ_MIXERS_PRODUCTKEYMEMORY_TD
