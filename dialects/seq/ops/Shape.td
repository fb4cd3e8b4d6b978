// Ops that move elements without computing.
#ifndef EFFC_DIALECTS_SEQ_OPS_SHAPE_TD
#define EFFC_DIALECTS_SEQ_OPS_SHAPE_TD

include "dialects/seq/SeqAttributes.td"

def Seq_SliceOp : Seq_ValueOp<"slice", [Seq_View]> {
  let summary = "Keep a contiguous range of one axis";
  let description = [{
    ```
    y[..., i, ...] = x[..., offset + i, ...],  i = 0 .. size-1 on `axis`
    ```

    On a dynamic leading axis the range is that of the tokens given; a range
    past their end has no meaning.

    Constraints:

    * (SLICE1) `axis` is an axis of `x`.
    * (SLICE2) `offset` is at least 0 and `size` at least 1.
    * (SLICE3) On a static axis, `offset + size` is at most its extent.
    * (SLICE4) `y` has the shape of `x` with `size` on `axis`.
    * (SLICE5) A matrix of weights in 16 bits or in blocks is sliced along its rows.

    Example:

    ```mlir
    %z = seq.slice %x {axis = 1 : i64, offset = 10 : i64, size = 6 : i64}
        : tensor<?x22xf32> -> tensor<?x6xf32>
    ```
  }];
  let arguments = (ins
    Seq_Sliceable:$x,                       /*slice5*/
    I64Attr:$axis,                          /*slice1*/
    I64Attr:$offset,                        /*slice2, slice3*/
    I64Attr:$size);                         /*slice2, slice3*/
  let results = (outs Seq_Sliceable:$y);    /*slice4*/
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($y)";
  let builders = [
    OpBuilder<(ins "::mlir::Value":$x, "int64_t":$axis, "int64_t":$offset,
                   "int64_t":$size)>
  ];
  let hasVerifier = 1;
}

def Seq_ReshapeOp : Seq_ValueOp<"reshape", [Seq_View]> {
  let summary = "Read the same elements under another shape";
  let description = [{
    `y` has the elements of `x` in row-major order. A dynamic leading `T` stays
    as it is: only the dimensions after it are split or merged.

    Constraints:

    * (RESHAPE1) `x` and `y` hold the same number of elements; where `T` is
      dynamic it leads both, and the dimensions after it hold the same number.

    Example:

    ```mlir
    %heads = seq.reshape %x : tensor<?x30xf32> -> tensor<?x6x5xf32>
    ```
  }];
  let arguments = (ins Seq_Tensor:$x);
  let results = (outs Seq_Tensor:$y);       /*reshape1*/
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($y)";
  let builders = [
    OpBuilder<(ins "::mlir::Value":$x, "::llvm::ArrayRef<int64_t>":$shape)>
  ];
  let hasVerifier = 1;
}

def Seq_ConcatOp : Seq_ValueOp<"concat", [Seq_EndsKernel]> {
  let summary = "Join tensors along one axis";
  let description = [{
    `y` holds the operands one after another along `axis`.

    Constraints:

    * (CONCAT1) There is at least one operand.
    * (CONCAT2) `axis` is an axis of the operands, which share their rank and
      all dimensions but that one.
    * (CONCAT3) `y` has their shape with the sum of their extents on `axis`,
      dynamic where one of them is.

    Example:

    ```mlir
    %y = seq.concat %a, %b {axis = 0 : i64}
        : (tensor<12x6xf32>, tensor<3x6xf32>) -> tensor<15x6xf32>
    ```
  }];
  let arguments = (ins
    Variadic<Seq_Tensor>:$xs,               /*concat1, concat2*/
    I64Attr:$axis);                         /*concat2*/
  let results = (outs Seq_Tensor:$y);       /*concat3*/
  let assemblyFormat = "$xs attr-dict `:` functional-type($xs, $y)";
  let builders = [OpBuilder<(ins "::mlir::ValueRange":$xs, "int64_t":$axis)>];
  let hasVerifier = 1;
}

def Seq_BroadcastOp : Seq_ValueOp<"broadcast", [AllTypesMatch<["like", "y"]>, Seq_View]> {
  let summary = "Repeat a tensor along the axes it lacks";
  let description = [{
    Dimension `i` of `x` is dimension `dimensions[i]` of `y`; along the others
    `y` repeats:

    ```
    y[i_0, i_1, ...] = x[i_dimensions[0], i_dimensions[1], ...]
    ```

    Only the shape of `like` matters, which is how a dynamic `T` is given. No
    other op repeats anything: what looks like a broadcast is written out.

    Constraints:

    * (BROADCAST1) `dimensions` has one entry per dimension of `x`, strictly
      increasing, each a dimension of `like`.
    * (BROADCAST2) Each dimension of `x` has the extent of the dimension of
      `like` it stands for.
    * (BROADCAST3) `y` has the type of `like`.

    Example:

    ```mlir
    %rows = seq.broadcast %bias along %x {dimensions = array<i64: 1>}
        : tensor<6xf32>, tensor<?x6xf32>
    ```
  }];
  let arguments = (ins
    Seq_Tensor:$x,                          /*broadcast2*/
    Seq_Tensor:$like,
    DenseI64ArrayAttr:$dimensions);         /*broadcast1*/
  let results = (outs Seq_Tensor:$y);       /*broadcast3*/
  let assemblyFormat = [{
    $x `along` $like attr-dict `:` type($x) `,` type($like)
  }];
  let builders = [
    OpBuilder<(ins "::mlir::Value":$x, "::mlir::Value":$like,
                   "::llvm::ArrayRef<int64_t>":$dimensions), [{
      build($_builder, $_state, like.getType(), x, like, dimensions);
    }]>
  ];
  let hasVerifier = 1;
}

#endif // EFFC_DIALECTS_SEQ_OPS_SHAPE_TD
