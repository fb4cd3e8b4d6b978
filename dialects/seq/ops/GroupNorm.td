// Norms of groups of channels: layer norms, head norms, unit vectors.
#ifndef EFFC_DIALECTS_SEQ_OPS_GROUPNORM_TD
#define EFFC_DIALECTS_SEQ_OPS_GROUPNORM_TD

include "dialects/seq/SeqAttributes.td"

def Seq_GroupNormOp : Seq_ValueOp<"group_norm", [AttrSizedOperandSegments,
                                                 AllTypesMatch<["x", "y"]>,
                                                 Seq_WellConditioned]> {
  let summary = "Normalise each group of a token's channels";
  let description = [{
    With the channels cut into `groups` contiguous groups of `C = D / groups`, and
    `u` the group less its mean where `centred`, else as it is:

    ```
    y[t, d] = u[t, d] / size[t, d's group] * w[d] + bias[d]
    ```

    | `measure`     | size of a group                |
    |---------------|--------------------------------|
    | `mean_square` | sqrt(mean of u^2 + eps)        |
    | `sum_square`  | sqrt(sum of u^2 + eps)         |
    | `max_length`  | max(sqrt(sum of u^2), eps)     |

    `w` is `weight`, or `1 + weight` with `unit_offset`, or 1 where it is absent; an
    absent `bias` is 0. Either has a number for each channel, or `C` numbers that
    all groups share. Public names:

    | name                         | centred | measure       | groups | weight     | bias |
    |------------------------------|---------|---------------|--------|------------|------|
    | LayerNorm                    | yes     | `mean_square` | 1      | D          | D or none |
    | GroupNorm of RWKV            | yes     | `mean_square` | heads  | D          | D    |
    | LayerNorm of each head       | yes     | `mean_square` | heads  | C          | C or none |
    | RMSNorm of Gemma             | no      | `mean_square` | 1      | D, 1 + w   | none |
    | RMSNorm of each head         | no      | `mean_square` | heads  | C, D, none | none |
    | L2 norm (flash-linear-attention) | no  | `sum_square`  | heads  | none       | none |
    | `torch.nn.functional.normalize` | no   | `max_length`  | heads  | none       | none |

    | value    | shape      | element | meaning               |
    |----------|------------|---------|-----------------------|
    | `x`      | `T,D`      | f32     | tokens                |
    | `weight` | `D` or `C` | f32     | optional scale        |
    | `bias`   | `D` or `C` | f32     | optional shift        |
    | `y`      | `T,D`      | f32     | normalised tokens     |

    Constraints:

    * (GROUP_NORM1) `x` is `T,D`, and `y` has its type.
    * (GROUP_NORM2) `groups` is at least 1 and divides `D`.
    * (GROUP_NORM3) `weight` and `bias`, where present, are `D` or `C`.
    * (GROUP_NORM4) `eps` is finite and at least 0.
    * (GROUP_NORM5) `unit_offset` comes with a `weight`.

    Numerics: squares are taken of what is left after the mean is subtracted, in
    two passes; the mean of squares less the square of the mean would cancel.

    Example:

    ```mlir
    %y = seq.group_norm %x weight(%w : tensor<12xf32>) bias(%b : tensor<12xf32>)
        {centred, eps = 1.0e-5 : f64, groups = 3 : i64} : tensor<?x12xf32>
    ```

    Source: Ba et al., arXiv:1607.06450; Wu and He, arXiv:1803.08494; Zhang and
    Sennrich, arXiv:1910.07467.
  }];
  let arguments = (ins
    Seq_Tensor:$x,                          /*group_norm1*/
    Optional<Seq_StaticTensor>:$weight,     /*group_norm3*/
    Optional<Seq_StaticTensor>:$bias,       /*group_norm3*/
    F64Attr:$eps,                           /*group_norm4*/
    DefaultValuedAttr<I64Attr, "1">:$groups, /*group_norm2*/
    DefaultValuedAttr<Seq_NormMeasureAttr,
                      "::effc::seq::NormMeasure::MeanSquare">:$measure,
    UnitAttr:$centred,
    UnitAttr:$unit_offset);                 /*group_norm5*/
  let results = (outs Seq_Tensor:$y);
  let assemblyFormat = [{
    $x (`weight` `(` $weight^ `:` type($weight) `)`)?
    (`bias` `(` $bias^ `:` type($bias) `)`)? attr-dict `:` type($x)
  }];
  let hasVerifier = 1;
}

#endif // EFFC_DIALECTS_SEQ_OPS_GROUPNORM_TD
