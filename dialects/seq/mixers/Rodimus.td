// Rodimus with data-dependent tempered selection.
#ifndef EFFC_DIALECTS_SEQ_MIXERS_RODIMUS_TD
#define EFFC_DIALECTS_SEQ_MIXERS_RODIMUS_TD

include "dialects/seq/mixers/LinearMixer.td"

def Seq_RodimusOp : Seq_LinearMixerOp<"rodimus", 6, 1, 1> {
  let summary = "Rodimus: decay and input gate move against each other";
  let description = [{
    Reads `T` tokens and the state left by those before them; returns the mixed
    tokens and the state after them. For head `h`, with `S` starting at `state[h]`:

    ```
    for t in 0 .. T-1:
      g        = softplus(select[t,h,:])
      r        = sigmoid(temper[t,h,:])
      S        = exp(-g * r) (.) S + (g^r * k[t,h,:]) (x) v[t,h,:]
      y[t,h,:] = scale * q[t,h,:] @ S + d[h,:] * x[t,h,:]
    next_state[h] = S
    ```

    `(.)` scales each row of the state, `(x)` is the outer product, `@` the product of
    a vector and a matrix. A larger `g` forgets more and takes in more; the
    temperature `r` sets how sharply. The state before the first token of a sequence
    is 0.

    | value        | shape   | element | meaning                        |
    |--------------|---------|---------|--------------------------------|
    | `q`          | `T,H,K` | f32     | queries                        |
    | `k`          | `T,H,K` | f32     | keys                           |
    | `v`          | `T,H,V` | f32     | values                         |
    | `select`     | `T,H,K` | f32     | selection before softplus      |
    | `temper`     | `T,H,K` | f32     | temperature before the sigmoid |
    | `x`          | `T,H,V` | f32     | what is fed through            |
    | `d`          | `H,V`   | f32     | weight of the feed-through     |
    | `state`      | `H,K,V` | f32     | state before the tokens        |
    | `y`          | `T,H,V` | f32     | mixed tokens                   |
    | `next_state` | `H,K,V` | f32     | the same after the tokens      |

    `scale` multiplies the query; it is 1 where it is absent.

    `form` is absent until a form is chosen.

    Constraints:

    * (RODIMUS1) `q` is `T,H,K`.
    * (RODIMUS2) `k` is `T,H,K`.
    * (RODIMUS3) `v` is `T,H,V`.
    * (RODIMUS4) `select` is `T,H,K`.
    * (RODIMUS5) `temper` is `T,H,K`.
    * (RODIMUS6) `x` is `T,H,V`.
    * (RODIMUS7) `d` is `H,V`.
    * (RODIMUS8) `state` is `H,K,V`, and `next_state` has its type.
    * (RODIMUS9) `y` is `T,H,V`.

    Numerics: the log-decay is at most 0 and has no lower bound. g^r is the
    exponential of r log g, with g = softplus at least 1e-38.

    Example:

    ```mlir
    %y, %next = seq.rodimus %q, %k, %v, %select, %temper, %x parameters(%d)
          state(%state) {scale = 5.000000e-01 : f64}
        : (tensor<?x6x3xf32>, tensor<?x6x3xf32>, tensor<?x6x5xf32>, tensor<?x6x3xf32>,
          tensor<?x6x3xf32>, tensor<?x6x5xf32>, tensor<6x5xf32>, tensor<6x3x5xf32>)
        -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>)
    ```

    Source: He et al., arXiv:2410.06577, equations 9 to 11.
  }];
  let arguments = (ins
    Seq_Tensor:$q,                          /*rodimus1*/
    Seq_Tensor:$k,                          /*rodimus2*/
    Seq_Tensor:$v,                          /*rodimus3*/
    Seq_Tensor:$select,                     /*rodimus4*/
    Seq_Tensor:$temper,                     /*rodimus5*/
    Seq_Tensor:$x,                          /*rodimus6*/
    Seq_StaticTensor:$d,                    /*rodimus7*/
    Seq_StaticTensor:$state,                /*rodimus8*/
    DefaultValuedAttr<F64Attr, "1.0">:$scale,
    OptionalAttr<Seq_FormAttr>:$form);
  let results = (outs
    Seq_Tensor:$y,                          /*rodimus9*/
    Seq_StaticTensor:$next_state);          /*rodimus8*/
  let assemblyFormat = [{
    $q `,` $k `,` $v `,` $select `,` $temper `,` $x
    `parameters` `(` $d `)`
    `state` `(` $state `)` attr-dict `:` functional-type(operands, results)
  }];
}

#endif // EFFC_DIALECTS_SEQ_MIXERS_RODIMUS_TD
