// The diagonal structured state space model, S4D.
#ifndef EFFC_DIALECTS_SEQ_MIXERS_S4D_TD
#define EFFC_DIALECTS_SEQ_MIXERS_S4D_TD

include "dialects/seq/mixers/LinearMixer.td"

def Seq_S4dOp : Seq_LinearMixerOp<"s4d", 1, 6, 1> {
  let summary = "S4D: complex modes that turn and decay at fixed rates";
  let description = [{
    Reads `T` tokens and the state left by those before them; returns the mixed
    tokens and the state after them. For head `h`, with the complex `S` starting at
    `state[h] + i state_imaginary[h]`:

    ```
    A[k,v]     = -exp(log_a[h,k,v]) + i a_imaginary[h,k,v]
    decay[k,v] = exp(exp(log_dt[h,v]) * A[k,v])
    B[k,v]     = (decay[k,v] - 1) / A[k,v]
    C[k,v]     = c[h,k,v] + i c_imaginary[h,k,v]
    for t in 0 .. T-1:
      S[k,v]     = decay[k,v] * S[k,v] + B[k,v] * x[t,h,v]
      y[t,h,v]   = 2 Re(sum_k C[k,v] * S[k,v]) + d[h,v] * x[t,h,v]
    next_state[h] + i next_state_imaginary[h] = S
    ```

    Modes come in conjugate pairs, of which one is kept: hence the 2. S4D has one
    head, whose value channels are the model's; its parameters are the public tensors
    transposed. The state before the first token of a sequence is 0.

    | value                  | shape   | element | meaning                         |
    |------------------------|---------|---------|---------------------------------|
    | `x`                    | `T,H,V` | f32     | values                          |
    | `log_dt`               | `H,V`   | f32     | log of the time step            |
    | `log_a`                | `H,K,V` | f32     | log of minus the real part of A |
    | `a_imaginary`          | `H,K,V` | f32     | imaginary part of A             |
    | `c`                    | `H,K,V` | f32     | real part of C                  |
    | `c_imaginary`          | `H,K,V` | f32     | imaginary part of C             |
    | `d`                    | `H,V`   | f32     | weight of the feed-through      |
    | `state`                | `H,K,V` | f32     | real part before the tokens     |
    | `state_imaginary`      | `H,K,V` | f32     | imaginary part before the tokens |
    | `y`                    | `T,H,V` | f32     | mixed tokens                    |
    | `next_state`           | `H,K,V` | f32     | real part after the tokens      |
    | `next_state_imaginary` | `H,K,V` | f32     | imaginary part after the tokens |

    `form` is absent until a form is chosen.

    Constraints:

    * (S4D1) `x` is `T,H,V`.
    * (S4D2) `log_dt` is `H,V`.
    * (S4D3) `log_a` is `H,K,V`.
    * (S4D4) `a_imaginary` is `H,K,V`.
    * (S4D5) `c` is `H,K,V`.
    * (S4D6) `c_imaginary` is `H,K,V`.
    * (S4D7) `d` is `H,V`.
    * (S4D8) `state` is `H,K,V`, and `next_state` has its type.
    * (S4D9) `state_imaginary` is `H,K,V`, and `next_state_imaginary` has its type.
    * (S4D10) `y` is `T,H,V`.

    Numerics: decay - 1 is computed without cancellation, since time steps are
    small. The angle of a mode is rounded once per token, as in any f32 recurrence.

    Example:

    ```mlir
    %y, %next:2 = seq.s4d %x parameters(%log_dt, %log_a, %a_im, %c, %c_im, %d)
          state(%state, %state_im)
        : (tensor<?x6x5xf32>, tensor<6x5xf32>, tensor<6x3x5xf32>, tensor<6x3x5xf32>,
          tensor<6x3x5xf32>, tensor<6x3x5xf32>, tensor<6x5xf32>, tensor<6x3x5xf32>,
          tensor<6x3x5xf32>)
        -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>, tensor<6x3x5xf32>)
    ```

    Source: Gu et al., arXiv:2206.11893, with zero-order hold.
  }];
  let arguments = (ins
    Seq_Tensor:$x,                          /*s4d1*/
    Seq_StaticTensor:$log_dt,               /*s4d2*/
    Seq_StaticTensor:$log_a,                /*s4d3*/
    Seq_StaticTensor:$a_imaginary,          /*s4d4*/
    Seq_StaticTensor:$c,                    /*s4d5*/
    Seq_StaticTensor:$c_imaginary,          /*s4d6*/
    Seq_StaticTensor:$d,                    /*s4d7*/
    Seq_StaticTensor:$state,                /*s4d8*/
    Seq_StaticTensor:$state_imaginary,      /*s4d9*/
    OptionalAttr<Seq_FormAttr>:$form);
  let results = (outs
    Seq_Tensor:$y,                          /*s4d10*/
    Seq_StaticTensor:$next_state,           /*s4d8*/
    Seq_StaticTensor:$next_state_imaginary);  /*s4d9*/
  let assemblyFormat = [{
    $x `parameters` `(` $log_dt `,` $log_a `,` $a_imaginary `,` $c `,`
    $c_imaginary `,` $d `)`
    `state` `(` $state `,` $state_imaginary `)`
    attr-dict `:` functional-type(operands, results)
  }];
}

#endif // EFFC_DIALECTS_SEQ_MIXERS_S4D_TD
