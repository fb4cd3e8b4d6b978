// Norms over the channels of a token.
#ifndef EFFC_DIALECTS_SEQ_OPS_NORMALISATION_TD
#define EFFC_DIALECTS_SEQ_OPS_NORMALISATION_TD

include "dialects/seq/SeqAttributes.td"

def Seq_RmsNormOp : Seq_ValueOp<"rms_norm", [AllTypesMatch<["x", "y"]>, Seq_WellConditioned, Seq_RowNormOpInterface]> {
  let summary = "Divide each token by the root of its mean square";
  let description = [{
    ```
    y[t, d] = x[t, d] / sqrt(mean_d(x[t, d]^2) + eps) * weight[d]
    ```

    | value    | shape | element | meaning           |
    |----------|-------|---------|-------------------|
    | `x`      | `T,D` | f32     | tokens            |
    | `weight` | `D`   | f32     | scale per channel |
    | `y`      | `T,D` | f32     | normalised tokens |

    Constraints:

    * (RMS_NORM1) `x` is `T,D`, and `y` has its type.
    * (RMS_NORM2) `weight` is `D`.
    * (RMS_NORM3) `eps` is finite and at least 0.

    Example:

    ```mlir
    %y = seq.rms_norm %x, %w {eps = 1.0e-5 : f64} : tensor<?x6xf32>, tensor<6xf32>
    ```
  }];
  let arguments = (ins
    Seq_Tensor:$x,                          /*rms_norm1*/
    Seq_StaticTensor:$weight,               /*rms_norm2*/
    F64Attr:$eps);                          /*rms_norm3*/
  let results = (outs Seq_Tensor:$y);
  let assemblyFormat = [{
    $x `,` $weight attr-dict `:` type($x) `,` type($weight)
  }];
  let hasVerifier = 1;
}

def Seq_GatedRmsNormOp
    : Seq_ValueOp<"gated_rms_norm", [AllTypesMatch<["x", "gate", "y"]>,
                                     Seq_WellConditioned, Seq_RowNormOpInterface]> {
  let summary = "Gate each token, then normalise it in groups of channels";
  let description = [{
    With the channels cut into `groups` contiguous groups of `D / groups`:

    ```
    u[t, d] = x[t, d] * silu(gate[t, d])
    y[t, d] = u[t, d] / sqrt(mean over d's group(u^2) + eps) * weight[d]
    ```

    | value    | shape | element | meaning                       |
    |----------|-------|---------|-------------------------------|
    | `x`      | `T,D` | f32     | tokens                        |
    | `gate`   | `T,D` | f32     | gate before its activation    |
    | `weight` | `D`   | f32     | scale per channel             |
    | `y`      | `T,D` | f32     | gated and normalised tokens   |

    Constraints:

    * (GATED_RMS_NORM1) `x` is `T,D`; `gate` and `y` have its type.
    * (GATED_RMS_NORM2) `weight` is `D`.
    * (GATED_RMS_NORM3) `eps` is finite and at least 0.
    * (GATED_RMS_NORM4) `groups` is at least 1 and divides `D`.

    Example:

    ```mlir
    %y = seq.gated_rms_norm %x, %z, %w {eps = 1.0e-5 : f64, groups = 2 : i64}
        : tensor<?x10xf32>, tensor<10xf32>
    ```

    Source: Dao and Gu, arXiv:2405.21060, with the gate before the norm.
  }];
  let arguments = (ins
    Seq_Tensor:$x,                          /*gated_rms_norm1*/
    Seq_Tensor:$gate,
    Seq_StaticTensor:$weight,               /*gated_rms_norm2*/
    F64Attr:$eps,                           /*gated_rms_norm3*/
    I64Attr:$groups);                       /*gated_rms_norm4*/
  let results = (outs Seq_Tensor:$y);
  let assemblyFormat = [{
    $x `,` $gate `,` $weight attr-dict `:` type($x) `,` type($weight)
  }];
  let hasVerifier = 1;
}

#endif // EFFC_DIALECTS_SEQ_OPS_NORMALISATION_TD
