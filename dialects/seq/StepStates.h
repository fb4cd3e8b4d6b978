// Which states the values of a written step follow from.
#ifndef EFFC_DIALECTS_SEQ_STEPSTATES_H
#define EFFC_DIALECTS_SEQ_STEPSTATES_H

#include "dialects/seq/SeqOps.h"

#include "llvm/ADT/SmallBitVector.h"

namespace effc::seq {

/// Looks at the body of a `seq.recurrence`, which must not change meanwhile.
class StepStates {
public:
  explicit StepStates(RecurrenceOp op);
  /// The same for a body whose last `count` arguments are states.
  StepStates(mlir::Block &body, size_t count);

  size_t size() const { return arguments.size(); }
  /// The body's argument that holds state `index`, and the value that is
  /// yielded for it.
  mlir::Value before(unsigned index) const { return arguments[index]; }
  mlir::Value after(unsigned index) const { return next[index]; }

  /// The states, by index, that a value follows from.
  const llvm::SmallBitVector &of(mlir::Value value) const {
    return sources.find(value)->second;
  }
  bool dependsOnAny(mlir::Value value) const { return of(value).any(); }
  bool dependsOn(mlir::Value value, unsigned index) const {
    return of(value).test(index);
  }

private:
  llvm::SmallVector<mlir::Value> arguments, next;
  llvm::DenseMap<mlir::Value, llvm::SmallBitVector> sources;
};

} // namespace effc::seq

#endif // EFFC_DIALECTS_SEQ_STEPSTATES_H
