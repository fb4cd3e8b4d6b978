// The reference evaluator: what a function of the seq dialect means.
//
// Slow and readable. In double it is the oracle that forms, kernels and whole
// models are tested against; in float it shows what f32 arithmetic loses.
#ifndef EFFC_DIALECTS_SEQ_REFERENCE_EVALUATE_H
#define EFFC_DIALECTS_SEQ_REFERENCE_EVALUATE_H

#include "dialects/seq/reference/Frame.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace effc::seq::reference {

/// Evaluates `function`, whose body is one block of seq ops, on `inputs`, one
/// per argument; a dynamic T is that of the input. Returns one value per
/// result. Fails, with a message, where an input does not fit its argument,
/// where the provider fails and where an op finds its operands wrong. Where a
/// `rounding` is given, products with weights multiply rounded rows; where `results` is
/// given, it changes what each op of the function's body has computed.
template <typename S>
llvm::Expected<std::vector<Datum<S>>>
evaluate(mlir::func::FuncOp function, std::vector<Datum<S>> inputs,
         WeightProvider<S> weights, RowRounding<S> rounding = {},
         ResultRounding<S> results = {});

/// A provider for functions without weights: every weight is an error.
template <typename S> WeightProvider<S> noWeights() {
  return [](WeightOp weight) -> llvm::Expected<Tensor<S>> {
    return fail("no weights are given, but '" + weight.getSymName() +
                "' is used");
  };
}

} // namespace effc::seq::reference

#endif // EFFC_DIALECTS_SEQ_REFERENCE_EVALUATE_H
