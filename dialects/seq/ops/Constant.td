// A tensor of one number.
#ifndef EFFC_DIALECTS_SEQ_OPS_CONSTANT_TD
#define EFFC_DIALECTS_SEQ_OPS_CONSTANT_TD

include "dialects/seq/SeqAttributes.td"

def Seq_ConstantOp : Seq_ValueOp<"constant"> {
  let summary = "A tensor whose elements are one number";
  let description = [{
    ```
    y[...] = value
    ```

    For scales, offsets and blocks of zeros; weights are `seq.parameter`. Where
    the shape has a dynamic `T`, a constant without it is broadcast.

    Constraints:

    * (CONSTANT1) `value` is not NaN.
    * (CONSTANT2) `y` is static.

    Example:

    ```mlir
    %half = seq.constant 5.000000e-01 : tensor<6xf32>
    ```
  }];
  let arguments = (ins F64Attr:$value);     /*constant1*/
  let results = (outs Seq_StaticTensor:$y); /*constant2*/
  let assemblyFormat = "$value attr-dict `:` type($y)";
  let builders = [
    OpBuilder<(ins "double":$value, "::llvm::ArrayRef<int64_t>":$shape)>
  ];
  let hasVerifier = 1;
}

#endif // EFFC_DIALECTS_SEQ_OPS_CONSTANT_TD
