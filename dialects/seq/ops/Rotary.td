// Positions as angles.
#ifndef EFFC_DIALECTS_SEQ_OPS_ROTARY_TD
#define EFFC_DIALECTS_SEQ_OPS_ROTARY_TD

include "dialects/seq/SeqAttributes.td"

def Seq_RotaryOp : Seq_ValueOp<"rotary", [AllTypesMatch<["x", "y"]>, Seq_WellConditioned]> {
  let summary = "Turn pairs of channels by an angle that grows with the position";
  let description = [{
    With `a = positions[t] * frequencies[i]` and the pair `(b, c)` of channels
    `(i, i + P)` for `half`, `(2 i, 2 i + 1)` for `interleaved`:

    ```
    y[t,h,b] = amplitude * (x[t,h,b] cos a - x[t,h,c] sin a)
    y[t,h,c] = amplitude * (x[t,h,c] cos a + x[t,h,b] sin a)    i = 0 .. P-1
    ```

    Channels from `2 P` on stay as they are. The scalings of public configs
    (linear, dynamic, llama3, yarn, longrope) are choices of `frequencies` and
    `amplitude`. With `last` tokens at positions above it are turned as if they
    stood there: `a = min(positions[t], last) * frequencies[i]`. Frequencies may have a
    row for each position, of which a token takes its own; a position without one is
    an error of the call, which `seq-size-context` rules out.

    | value         | shape   | element | meaning                        |
    |---------------|---------|---------|--------------------------------|
    | `x`           | `T,H,K` | f32     | queries or keys                |
    | `positions`   | `T`     | i32     | positions in the sequence      |
    | `frequencies` | `P` or `C,P` | f32 | radians per position          |
    | `y`           | `T,H,K` | f32     | the same, turned               |

    Constraints:

    * (ROTARY1) `x` and `y` are `T,H,K`, `positions` is `T`, `frequencies` is `P` or
      `C,P`.
    * (ROTARY2) `2 P` is at most `K`.
    * (ROTARY3) `amplitude` is finite.
    * (ROTARY4) `last`, where present, is at least 0.

    Numerics: whole turns are removed from the product of position and frequency
    before it is rounded. An angle is off by 6e-7 at most up to position 2^44, by
    1.3e-6 up to 2^48, which no sequence outgrows.

    Example:

    ```mlir
    %y = seq.rotary half %x at(%p), %f {amplitude = 1.0 : f64}
        : tensor<?x6x8xf32>, tensor<?xi32>, tensor<3xf32>
    ```

    Source: Su et al., arXiv:2104.09864.
  }];
  let arguments = (ins
    Seq_RotaryPairsAttr:$pairs,
    Seq_Tensor:$x,                          /*rotary1, rotary2*/
    Seq_Indices:$positions,                 /*rotary1*/
    Seq_StaticTensor:$frequencies,          /*rotary1, rotary2*/
    DefaultValuedAttr<F64Attr, "1.0">:$amplitude,   /*rotary3*/
    OptionalAttr<I64Attr>:$last);           /*rotary4*/
  let extraClassDeclaration = [{
    /// How many positions have frequencies of their own; 0: all have the same.
    int64_t getFrequencyRows() {
      auto shape = getFrequencies().getType().getShape();
      return shape.size() == 2 ? shape[0] : 0;
    }
  }];
  let results = (outs Seq_Tensor:$y);       /*rotary1*/
  let assemblyFormat = [{
    $pairs $x `at` `(` $positions `)` `,` $frequencies attr-dict
    `:` type($x) `,` type($positions) `,` type($frequencies)
  }];
  let hasVerifier = 1;
}

def Seq_CosineSineOp : Seq_ValueOp<"cosine_sine"> {
  let summary = "Channels times cosine and sine of the position: twice as many";
  let description = [{
    With `a = positions[t] * frequencies[h, k]`:

    ```
    y[t,h,k]     = x[t,h,k] cos a
    y[t,h,K + k] = x[t,h,k] sin a
    ```

    so that the product of a query at `i` and a key at `j` is the sum over
    channels of `q_k k_k cos((i - j) frequencies[h,k])`.

    | value         | shape    | element | meaning                        |
    |---------------|----------|---------|--------------------------------|
    | `x`           | `T,H,K`  | f32     | queries or keys                |
    | `positions`   | `T`      | i32     | positions in the sequence      |
    | `frequencies` | `H,K`    | f32     | radians per position           |
    | `y`           | `T,H,2K` | f32     | reweighted                     |

    Constraints:

    * (COSINE_SINE1) The shapes are those of the table.

    Numerics: as of `seq.rotary`.

    Example:

    ```mlir
    %y = seq.cosine_sine %x at(%p), %f : (tensor<?x3x4xf32>, tensor<?xi32>,
        tensor<3x4xf32>) -> tensor<?x3x8xf32>
    ```

    Source: Qin et al., arXiv:2307.09270.
  }];
  let arguments = (ins
    Seq_Tensor:$x,                          /*cosine_sine1*/
    Seq_Indices:$positions,
    Seq_StaticTensor:$frequencies);
  let results = (outs Seq_Tensor:$y);
  let assemblyFormat = [{
    $x `at` `(` $positions `)` `,` $frequencies attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

#endif // EFFC_DIALECTS_SEQ_OPS_ROTARY_TD
