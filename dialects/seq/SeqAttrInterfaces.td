// What the dialect asks of an attribute, whichever it is.
#ifndef EFFC_DIALECTS_SEQ_SEQATTRINTERFACES_TD
#define EFFC_DIALECTS_SEQ_SEQATTRINTERFACES_TD

include "mlir/IR/OpBase.td"

def Seq_ComputedWeightInterface : AttrInterface<"ComputedWeightInterface"> {
  let cppNamespace = "::effc::seq";
  let description = [{
    A rule that gives the numbers of a weight from the model's config: what a
    `seq.weight` names as `computed`.
  }];
  let methods = [
    InterfaceMethod<"The numbers of a weight of `count` elements, in double.",
      "::llvm::SmallVector<double>", "compute", (ins "int64_t":$count)>,
    InterfaceMethod<"Whether the rule gives `count` numbers; else an error.",
      "::llvm::LogicalResult", "verifyCount",
      (ins "int64_t":$count,
           "::llvm::function_ref<::mlir::InFlightDiagnostic()>":$emitError),
      "", "return ::llvm::success();">,
    InterfaceMethod<"Whether a weight has a row of such numbers for each position.",
      "bool", "hasRows", (ins), "", "return false;">,
    InterfaceMethod<"How many rows it has, where the rule says; 0: as many as are wanted.",
      "int64_t", "getRowCount", (ins), "", "return 0;">,
    InterfaceMethod<"The `count` numbers of the row of a position, in double.",
      "::llvm::SmallVector<double>", "computeRow",
      (ins "int64_t":$position, "int64_t":$count), "",
      "return $_attr.compute(count);">
  ];
}

#endif // EFFC_DIALECTS_SEQ_SEQATTRINTERFACES_TD
