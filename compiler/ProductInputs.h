// `effc compile --product-inputs`: a model that gives what its matrices are multiplied
// by.
#ifndef EFFC_COMPILER_PRODUCTINPUTS_H
#define EFFC_COMPILER_PRODUCTINPUTS_H

#include "frontend/checkpoint/UnreadKeys.h"
#include "frontend/importance/EntryNames.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

namespace effc {

/// Makes the model in `module`, as imported, give in place of logits what each product
/// with a matrix of weights reads, named as runtime/include/effc/product_inputs.h says. Not the
/// product of the head, whose input llama-imatrix leaves out as well. Remarks name the
/// matrices whose products have other ops: nothing is gathered of them.
///
/// Experts' hidden units are given without the weights of the experts, and computed once
/// more where an op keeps them to itself.
llvm::Error giveProductInputs(mlir::ModuleOp module,
                              const frontend::EntryNames &names,
                              frontend::Remarks &remarks);

} // namespace effc

#endif // EFFC_COMPILER_PRODUCTINPUTS_H
