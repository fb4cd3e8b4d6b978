// Which results of kernels are states: they lie in slots, not in buffers.
#ifndef EFFC_PASSES_SEQTOTILE_STATERESULTS_H
#define EFFC_PASSES_SEQTOTILE_STATERESULTS_H

#include "dialects/seq/Seq.h"

#include <optional>

namespace effc {

/// The state operand of `kernel` whose next value result `index` is, or none.
inline std::optional<unsigned> stateOfResult(seq::KernelOp kernel,
                                             unsigned index) {
  mlir::Value yielded =
      kernel.getBody().front().getTerminator()->getOperand(index);
  auto stateful = yielded.getDefiningOp<seq::StatefulOpInterface>();
  if (!stateful)
    return std::nullopt;
  for (const seq::StateDescriptor &state : stateful.getStates())
    if (stateful->getResult(state.result) == yielded)
      return llvm::cast<mlir::BlockArgument>(
                 stateful->getOperand(state.operand))
          .getArgNumber();
  return std::nullopt;
}

} // namespace effc

#endif // EFFC_PASSES_SEQTOTILE_STATERESULTS_H
