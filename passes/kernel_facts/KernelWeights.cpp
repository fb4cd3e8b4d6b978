#include "passes/kernel_facts/KernelWeights.h"

#include "dialects/seq/Seq.h"

using namespace mlir;
using namespace effc;

seq::WeightOp effc::weightInKernel(Value tensor) {
  auto argument = dyn_cast<BlockArgument>(tensor);
  auto kernel =
      argument ? dyn_cast<seq::KernelOp>(argument.getOwner()->getParentOp())
               : seq::KernelOp();
  if (!kernel)
    return {};
  auto parameter = kernel.getInputs()[argument.getArgNumber()]
                       .getDefiningOp<seq::ParameterOp>();
  return parameter ? SymbolTable::lookupNearestSymbolFrom<seq::WeightOp>(
                         parameter, parameter.getWeightAttr())
                   : seq::WeightOp();
}
