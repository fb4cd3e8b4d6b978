#include "dialects/seq/StepStates.h"

using namespace mlir;

namespace effc::seq {

StepStates::StepStates(RecurrenceOp op)
    : StepStates(op.getBody().front(), op.getInitialStates().size()) {}

StepStates::StepStates(Block &body, size_t count) {
  llvm::append_range(arguments, body.getArguments().take_back(count));
  llvm::append_range(next, body.getTerminator()->getOperands().drop_front());
  for (Value argument : body.getArguments())
    sources[argument].resize(count);
  for (auto [index, argument] : llvm::enumerate(arguments))
    sources[argument].set(index);
  for (Operation &inside : body.without_terminator()) {
    llvm::SmallBitVector all(count);
    for (Value operand : inside.getOperands())
      all |= sources.find(operand)->second;
    for (Value result : inside.getResults())
      sources[result] = all;
  }
}

} // namespace effc::seq
