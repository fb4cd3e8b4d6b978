#include "dialects/seq/StepStates.h"

using namespace mlir;

namespace effc::seq {

StepStates::StepStates(RecurrenceOp op) {
  Block &body = op.getBody().front();
  size_t count = op.getInitialStates().size();
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
