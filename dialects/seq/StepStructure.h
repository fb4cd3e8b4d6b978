// Reads the structure of a linear recurrence from a step that is written out.
//
// The body of `seq.recurrence` is a step of one token. Where it has the shape
// that the op's description names, the parts below are values of a copy of the
// body in one spelling, from which the canonical quantities are built; where not,
// an op stands in the way.
#ifndef EFFC_DIALECTS_SEQ_STEPSTRUCTURE_H
#define EFFC_DIALECTS_SEQ_STEPSTRUCTURE_H

#include "dialects/seq/StepBody.h"
#include "dialects/seq/StepDecays.h"
#include "dialects/seq/StepStates.h"
#include "dialects/seq/StepWrites.h"

namespace effc::seq {

struct StepStructure {
  explicit StepStructure(RecurrenceOp op);

  bool isLinear() const { return !obstacle; }
  /// What the values below are of.
  mlir::Block &getBlock() { return body.getBlock(); }
  LinearAttr getLinear() const;

  /// What keeps the step from being linear: an op of the recurrence, and why.
  mlir::Operation *obstacle = nullptr;
  std::string reason;

  llvm::SmallVector<StepDecay> decays;

  /// One behind the other, at least one where the step is linear. The probes of
  /// those behind the first read what is left by the write before.
  llvm::SmallVector<StepWrite, 2> writes;

  mlir::Value query; ///< [H, K]
  mlir::Value read;  ///< [H, V]: what the query reads
  bool readsOldState = false;

  /// Of a sum of keys beside the state: what it takes, terms of [H, K]; with
  /// what it is read, [H, K]; and what is read, [H]. Empty and null without.
  llvm::SmallVector<mlir::Value> sumKeys;
  mlir::Value sumQuery, denominator;
  /// Whether the sum takes and is read with other vectors than the state, or
  /// the state is corrected, which the sum is not.
  bool sumIsApart = false;

private:
  bool findStates();
  bool dependsOnState(mlir::Value value) { return states.dependsOnAny(value); }
  bool varies(const StepWrite &write);
  void fail(mlir::Operation *op, const llvm::Twine &why);
  void failAt(mlir::Value value, const llvm::Twine &why);
  void readNextState(mlir::Value next);
  void readNextSum(mlir::Value next);
  bool followDecays(mlir::Value value, mlir::Value state,
                    llvm::SmallVectorImpl<StepDecay> &decays);
  bool haveSameDecays(llvm::ArrayRef<StepDecay> others) const;
  // StepWrites.cpp
  std::optional<llvm::SmallVector<StepProduct>>
  findProducts(llvm::ArrayRef<StepTerm> terms);
  mlir::Value probedBy(mlir::Value value);
  llvm::SmallBitVector productsIn(mlir::Value probed,
                                  llvm::ArrayRef<StepProduct> products);
  void readWrites(llvm::ArrayRef<StepTerm> terms);
  void readProduct(const StepProduct &product, StepWrite &write);
  bool readProbe(const StepProduct &product, StepWrite &write);
  void readOutput(mlir::Value y);
  void readSum(ContractOp reading, mlir::Value reader, mlir::Value ofSum);
  bool isReading(ContractOp op, mlir::Value &reader, mlir::Value &state);

  void readStep();

  RecurrenceOp op;
  StepBody body;
  StepStates states;
  StepBounds bounds;
  mlir::Value state, next, decayed;
  mlir::Value sum, nextSum; // null without a sum of keys
  bool readsOldSum = false;
};

} // namespace effc::seq

#endif // EFFC_DIALECTS_SEQ_STEPSTRUCTURE_H
