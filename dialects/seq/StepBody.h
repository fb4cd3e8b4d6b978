// The body of `seq.recurrence` in one spelling.
#ifndef EFFC_DIALECTS_SEQ_STEPBODY_H
#define EFFC_DIALECTS_SEQ_STEPBODY_H

#include "dialects/seq/SeqOps.h"

namespace effc::seq {

/// A copy of a body in which what follows from a state, or is added to one, is
/// spelled as `StepStructure` reads it. Each rule is an identity of real
/// numbers; f32 may round elsewhere.
///
///   a * broadcast(b), a / broadcast(b)  products without a sum (`seq.contract`)
///   broadcast(b) along S                the same along a constant
///   c * S, c a constant                 the same, c per head
///   b * (k (x) v)                       k (x) (b * v), or (b * k) (x) v
///   d * (S + k (x) v)                   d * S + (d * k) (x) v
///   S + k (x) v - d * S                 (1 - d) * S + k (x) v
///
/// Ops that no rule concerns, and those of the result alone, are what they were.
class StepBody {
public:
  explicit StepBody(RecurrenceOp op);
  StepBody(const StepBody &) = delete;
  StepBody &operator=(const StepBody &) = delete;

  mlir::Block &getBlock() { return block; }
  /// The op of the recurrence that an op of the copy stands for.
  mlir::Operation *getOriginal(mlir::Operation *copied) const {
    return originals.lookup(copied);
  }

private:
  mlir::Block block;
  llvm::DenseMap<mlir::Operation *, mlir::Operation *> originals;
};

} // namespace effc::seq

#endif // EFFC_DIALECTS_SEQ_STEPBODY_H
