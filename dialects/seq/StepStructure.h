// Reads the structure of a linear recurrence from a step that is written out.
//
// The body of `seq.recurrence` is a step of one token. Where it has the shape
// that the op's description names, the parts below are values of the body from
// which the canonical quantities are built; where not, an op stands in the way.
#ifndef EFFC_DIALECTS_SEQ_STEPSTRUCTURE_H
#define EFFC_DIALECTS_SEQ_STEPSTRUCTURE_H

#include "dialects/seq/SeqOps.h"

namespace effc::seq {

struct StepStructure {
  explicit StepStructure(RecurrenceOp op);

  bool isLinear() const { return !obstacle; }
  LinearAttr getLinear() const;

  /// What keeps the step from being linear: an op of the body, and why.
  mlir::Operation *obstacle = nullptr;
  std::string reason;

  /// A factor of the state: the op that makes it, and which of H, K and V (0,
  /// 1, 2) its dimensions are.
  struct Decay {
    mlir::Value factor;
    llvm::SmallVector<int64_t, 3> dimensions;
  };
  llvm::SmallVector<Decay> decays;

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

  mlir::Value query; ///< [H, K]
  mlir::Value read;  ///< [H, V]: what the query reads
  bool readsOldState = false;

private:
  bool dependsOnState(mlir::Value value);
  bool varies(mlir::Value value);
  void fail(mlir::Operation *op, const llvm::Twine &why);
  void failAt(mlir::Value value, const llvm::Twine &why);
  void readNextState(mlir::Value next);
  void readTerm(mlir::Value term);
  bool readDecays(mlir::Value state);
  void readProduct(ContractOp product);
  bool readProbe(mlir::Value value);
  void readOutput(mlir::Value y);
  bool isReading(ContractOp op, mlir::Value &reader, mlir::Value &state);

  RecurrenceOp op;
  mlir::Value state, next, decayed;
  llvm::DenseMap<mlir::Value, bool> depends;
};

} // namespace effc::seq

#endif // EFFC_DIALECTS_SEQ_STEPSTRUCTURE_H
