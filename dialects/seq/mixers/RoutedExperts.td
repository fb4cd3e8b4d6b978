// Gated networks, of which a router chooses some for each token.
#ifndef EFFC_DIALECTS_SEQ_MIXERS_ROUTEDEXPERTS_TD
#define EFFC_DIALECTS_SEQ_MIXERS_ROUTEDEXPERTS_TD

include "dialects/seq/SeqAttributes.td"

def Seq_RoutedExpertsOp
    : Seq_ValueOp<"routed_experts", [
        AllTypesMatch<["x", "y"]>,
        DeclareOpInterfaceMethods<Seq_StatefulOpInterface>,
        DeclareOpInterfaceMethods<Seq_MixerOpInterface,
                                  ["getStructure", "getRetrievalOperands"]>]> {
  let summary = "Sum the outputs of the gated experts that a router chooses";
  let description = [{
    Reads the tokens and a router's logits for `E` experts, chooses the `top_k` of
    the highest logit, or of the highest number in `order`, the lowest number
    first where equal, and sums what they make of the token. With `f` the `nonlinearity`, and expert `e` the rows from
    `2 F e` on of `gate_up` (its `F` gates, then its `F` ups) and from `D e` on of
    `down`:

    ```
    h_e[t,u] = f(x[t,:] . gate_up[2 F e + u,:]) * (x[t,:] . gate_up[2 F e + F + u,:])
    y[t,d]   = sum_{e in C[t]} weight[t,e] * sum_u down[D e + d,u] * h_e[t,u]
    ```

    `weighting` says how logits become weights, as in `seq.choose_rows`: `softmax`
    is the softmax over all experts, renormalised to the chosen ones, and
    `softmax_all` the same without that; `share` of scores that a function of its
    own has made, say a sigmoid, is each one's share of the chosen ones' sum.
    `order` is what a router balances its experts by: a score and a number that
    chooses and does not weigh. There is no state: each token is by itself. Experts that every token passes through are dense layers beside this
    op, added to its result (shared-expert isolation).

    | value     | shape     | element      | meaning                            |
    |-----------|-----------|--------------|------------------------------------|
    | `x`       | `T,D`     | f32          | tokens                             |
    | `logits`  | `T,E`     | f32          | the router's score of each expert  |
    | `order`   | `T,E`     | f32          | what experts are chosen by         |
    | `gate_up` | `2 F E,D` | f32/bf16/f16 | gates and ups, expert after expert |
    | `down`    | `D E,F`   | f32/bf16/f16 | outputs, expert after expert       |
    | `y`       | `T,D`     | f32          | weighted sums                      |

    `form` is absent until a form is chosen.

    Constraints:

    * (ROUTED1) `x` is `T,D`, and `y` has its type.
    * (ROUTED2) `logits` is `T,E`.
    * (ROUTED3) `gate_up` is `G,D` with `G = 2 F E`.
    * (ROUTED4) `down` is `O,F` with `O = D E`.
    * (ROUTED5) `top_k` is at least 1 and at most `E`.
    * (ROUTED6) `order`, where present, has the type of `logits`.

    Example:

    ```mlir
    %y = seq.routed_experts %x, %logits parameters(%gate_up, %down)
        {top_k = 2 : i64, nonlinearity = #seq.nonlinearity<silu>}
        : (tensor<?x5xf32>, tensor<?x7xf32>),
          (tensor<42x5xbf16>, tensor<35x3xbf16>)
    ```

    Source: Shazeer et al., arXiv:1701.06538; as in Mixtral, arXiv:2401.04088
    (`softmax`), and Qwen2-MoE (either, by its `norm_topk_prob`); `order`:
    DeepSeek-AI, DeepSeek-V3, arXiv:2412.19437, section 2.1.2.
  }];
  let arguments = (ins
    Seq_Tensor:$x,                          /*routed1*/
    Seq_Tensor:$logits,                     /*routed2*/
    Optional<Seq_Tensor>:$order,            /*routed6*/
    Seq_Matrix:$gate_up,                    /*routed3*/
    Seq_Matrix:$down,                       /*routed4*/
    I64Attr:$top_k,                         /*routed5*/
    Seq_NonlinearityAttr:$nonlinearity,
    DefaultValuedAttr<Seq_WeightingAttr,
                      "::effc::seq::RetrievalWeighting::Softmax">:$weighting,
    OptionalAttr<Seq_FormAttr>:$form);
  let results = (outs Seq_Tensor:$y);       /*routed1*/
  let assemblyFormat = [{
    $x `,` $logits (`order` `(` $order^ `:` type($order) `)`)?
    `parameters` `(` $gate_up `,` $down `)` attr-dict `:`
    `(` type($x) `,` type($logits) `)` `,`
    `(` type($gate_up) `,` type($down) `)`
  }];
  let hasVerifier = 1;
}

#endif // EFFC_DIALECTS_SEQ_MIXERS_ROUTEDEXPERTS_TD
