// Products of two tensors, summed over the dimensions the result lacks.
#ifndef EFFC_DIALECTS_SEQ_OPS_CONTRACT_TD
#define EFFC_DIALECTS_SEQ_OPS_CONTRACT_TD

include "dialects/seq/SeqAttributes.td"

def Seq_ContractOp : Seq_ValueOp<"contract"> {
  let summary = "Multiply two tensors and sum over shared dimensions";
  let description = [{
    Runs over all points `p` of an iteration space; the maps say which element
    of each tensor a point touches:

    ```
    out[map_out(p)] += lhs[map_lhs(p)] * rhs[map_rhs(p)]
    ```

    so a dimension that `out` lacks is summed over. Dot products, outer
    products, scaling of rows and products of matrices in batches are one op:

    | what                      | lhs       | rhs       | out         |
    |---------------------------|-----------|-----------|-------------|
    | product of matrices       | `(i, k)`  | `(k, j)`  | `(i, j)`    |
    | outer product per token   | `(t, k)`  | `(t, v)`  | `(t, k, v)` |
    | head scalar times vector  | `(t, h)`  | `(t, h, v)` | `(t, h, v)` |
    | keys times values         | `(t, k)`  | `(t, v)`  | `(k, v)`    |

    Constraints:

    * (CONTRACT1) `indexing_maps` are three maps, of `lhs`, `rhs` and `out`,
      over the same dimensions, without symbols; each result is a dimension,
      none twice in one map.
    * (CONTRACT2) Each map has as many results as its tensor has dimensions.
    * (CONTRACT3) Every dimension occurs in the map of `lhs` or of `rhs`.
    * (CONTRACT4) A dimension has one extent wherever it occurs.

    Example:

    ```mlir
    %scores = seq.contract %q, %k {indexing_maps = [
        affine_map<(g, t, s, k) -> (t, g, k)>,
        affine_map<(g, t, s, k) -> (s, g, k)>,
        affine_map<(g, t, s, k) -> (g, t, s)>]}
        : (tensor<7x2x3xf32>, tensor<7x2x3xf32>) -> tensor<2x7x7xf32>
    ```
  }];
  let arguments = (ins
    Seq_Tensor:$lhs,                        /*contract4*/
    Seq_Tensor:$rhs,                        /*contract4*/
    AffineMapArrayAttr:$indexing_maps);     /*contract1, contract2, contract3*/
  let results = (outs Seq_Tensor:$out);     /*contract4*/
  let assemblyFormat = [{
    $lhs `,` $rhs attr-dict `:` functional-type(operands, results)
  }];
  let builders = [
    // One letter per dimension, as in the table above: ("tk", "tv") -> "kv". The
    // type of the result follows. The order of the iteration space is that of
    // the letters' first occurrence in `outLetters`, `lhsLetters`, `rhsLetters`.
    OpBuilder<(ins "::mlir::Value":$lhs, "::llvm::StringRef":$lhsLetters,
                   "::mlir::Value":$rhs, "::llvm::StringRef":$rhsLetters,
                   "::llvm::StringRef":$outLetters)>
  ];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The maps of `lhs`, `rhs` and `out`.
    ::llvm::SmallVector<::mlir::AffineMap, 3> getMaps() {
      return ::llvm::to_vector<3>(
          getIndexingMaps().getAsValueRange<::mlir::AffineMapAttr>());
    }
  }];
}

#endif // EFFC_DIALECTS_SEQ_OPS_CONTRACT_TD
