// Experts of one hidden unit, retrieved by product keys.
#ifndef EFFC_DIALECTS_SEQ_MIXERS_PRODUCTKEYEXPERTS_TD
#define EFFC_DIALECTS_SEQ_MIXERS_PRODUCTKEYEXPERTS_TD

include "dialects/seq/SeqAttributes.td"

def Seq_ProductKeyExpertsOp
    : Seq_ValueOp<"product_key_experts", [
        AllTypesMatch<["x", "y"]>,
        AllTypesMatch<["down", "up"]>,
        DeclareOpInterfaceMethods<Seq_StatefulOpInterface>,
        DeclareOpInterfaceMethods<Seq_MixerOpInterface,
                                  ["getStructure", "getRetrievalOperands"]>]> {
  let summary = "Sum the outputs of one-neuron experts chosen by product keys";
  let description = [{
    Reads the tokens and the scores of two sets of `S` keys; each of `H` heads
    chooses its best `top_k` of `S * S` experts, each of which is one row of
    `down` and one of `up`. With `f` the `nonlinearity`:

    ```
    score[t,h,i S + j] = scores[t,0,h,i] + scores[t,1,h,j]
    C[t,h]             = the top_k experts of the highest score, lowest number
                         first where equal
    y[t,:]             = sum_h sum_{e in C[t,h]} weight[t,h,e] * f(x[t,:] . down[e,:]) * up[e,:]
    ```

    and with `weight_inside` `f(weight[t,h,e] * (x[t,:] . down[e,:])) * up[e,:]`.
    `weighting` says how scores become weights, as in `seq.choose_rows`. There is
    no state: each token is by itself. `seq.key_scores` computes `scores`; a
    router without keys gives them as a `seq.linear`. Public variants:

    | variant                  | weighting | place   | f    | scores                                   |
    |--------------------------|-----------|---------|------|------------------------------------------|
    | PEER                     | softmax   | outside | gelu | `seq.key_scores`, `half_head`            |
    | PEER, non-competing      | relu      | outside | gelu | the same, with `top_k = 1`               |
    | CDMoE, paper listing     | score     | inside  | silu | `seq.key_scores`, `half_head`            |
    | CDMoE, code of the paper | softmax   | outside | silu | the same                                 |
    | Doge                     | softmax   | outside | silu | `seq.linear` to `2 S`, read as `2,1,S`   |

    | value      | shape     | element      | meaning                         |
    |------------|-----------|--------------|---------------------------------|
    | `x`        | `T,D`     | f32          | tokens                          |
    | `scores`   | `T,2,H,S` | f32          | scores of the keys of each half |
    | `down`     | `N,D`     | f32/bf16/f16 | what an expert reads            |
    | `up`       | `N,D`     | f32/bf16/f16 | what an expert writes           |
    | `y`        | `T,D`     | f32          | weighted sums                   |

    `form` is absent until a form is chosen.

    Constraints:

    * (PKE1) `x` is `T,D`, and `y` has its type.
    * (PKE2) `scores` is `T,2,H,S`.
    * (PKE3) `down` is `N,D` with `N` of at least `S * S`, and `up` has its type;
      experts past those are never chosen.
    * (PKE4) `top_k` is at least 1 and at most `S * S`.

    Numerics: sums of scores are rounded before they are compared, see
    `seq.choose_rows`. A NaN score makes its token's result NaN.

    Example:

    ```mlir
    %y = seq.product_key_experts %x, %scores parameters(%down, %up)
        {top_k = 4 : i64, nonlinearity = #seq.nonlinearity<gelu>}
        : (tensor<?x5xf32>, tensor<?x2x3x7xf32>),
          (tensor<49x5xbf16>, tensor<49x5xbf16>)
    ```

    Source: He, arXiv:2407.04153; Shi et al., Wonderful Matrices,
    arXiv:2412.11834, section 3.3.
  }];
  let arguments = (ins
    Seq_Tensor:$x,                          /*pke1*/
    Seq_Tensor:$scores,                     /*pke2*/
    Seq_Matrix:$down,                       /*pke3*/
    Seq_Matrix:$up,                         /*pke3*/
    I64Attr:$top_k,                         /*pke4*/
    Seq_NonlinearityAttr:$nonlinearity,
    DefaultValuedAttr<Seq_WeightingAttr,
                      "::effc::seq::RetrievalWeighting::Softmax">:$weighting,
    UnitAttr:$weight_inside,
    OptionalAttr<Seq_FormAttr>:$form);
  let results = (outs Seq_Tensor:$y);       /*pke1*/
  let assemblyFormat = [{
    $x `,` $scores `parameters` `(` $down `,` $up `)` attr-dict `:`
    `(` type($x) `,` type($scores) `)` `,` `(` type($down) `,` type($up) `)`
  }];
  let hasVerifier = 1;
}

#endif // EFFC_DIALECTS_SEQ_MIXERS_PRODUCTKEYEXPERTS_TD
