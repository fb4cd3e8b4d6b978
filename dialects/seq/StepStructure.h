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

  mlir::Value key, value; ///< [H, K] and [H, V]; null where nothing is written
  mlir::Value probe;      ///< [H, K], or null
  mlir::Value probed;     ///< [H, V]: what the probe reads
  bool probesOldState = false;
  /// [H, K]: the key of a product of `probed` itself; null where there is none.
  mlir::Value erase;
  /// How `value` follows from `probed`: the factors [H] and the sign on the
  /// way.
  llvm::SmallVector<mlir::Value> scales;
  double sign = 1;
  bool valueDependsOnProbe = false;
  /// 1 or -1: what is added of the value, and of the product with `erase`.
  double valueSign = 1, eraseSign = 1;

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
  bool varies(mlir::Value value);
  void fail(mlir::Operation *op, const llvm::Twine &why);
  void failAt(mlir::Value value, const llvm::Twine &why);
  void readNextState(mlir::Value next);
  void readTerm(mlir::Value term, double termSign);
  void readNextSum(mlir::Value next);
  bool followDecays(mlir::Value value, mlir::Value state,
                    llvm::SmallVectorImpl<StepDecay> &decays);
  bool haveSameDecays(llvm::ArrayRef<StepDecay> others) const;
  void readProduct(ContractOp product, double termSign);
  bool readProbe(mlir::Value value);
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
