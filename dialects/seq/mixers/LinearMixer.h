// What the mixers of class `linear` are written with.
#ifndef EFFC_DIALECTS_SEQ_MIXERS_LINEARMIXER_H
#define EFFC_DIALECTS_SEQ_MIXERS_LINEARMIXER_H

#include "dialects/seq/SeqOps.h"

namespace effc::seq {

/// The operands of a mixer in the order of its signature; null where absent.
template <typename Op> llvm::SmallVector<mlir::Value> signatureOperands(Op op) {
  llvm::SmallVector<mlir::Value> operands;
  for (size_t i = 0; i < Op::getSignature().size(); ++i) {
    auto range = op.getODSOperands(i);
    operands.push_back(range.empty() ? mlir::Value() : range.front());
  }
  return operands;
}

/// The operands that are there with their names.
llvm::SmallVector<std::pair<llvm::StringRef, mlir::Value>>
nameOperands(llvm::ArrayRef<OperandSignature> signature,
             llvm::ArrayRef<mlir::Value> operands);

/// The role of the operand of number `index` among those present.
OperandRole roleOf(unsigned index, llvm::ArrayRef<OperandSignature> signature,
                   llvm::ArrayRef<mlir::Value> operands);

/// The descriptors of an op whose last operands and results are its states.
llvm::SmallVector<StateDescriptor>
describeStates(mlir::Operation *op, llvm::ArrayRef<OperandSignature> signature);

/// Operands and mixed tokens have the shapes of the signature, and groups are
/// whole; reports what is not so.
mlir::LogicalResult verifyShapes(mlir::Operation *op,
                                 llvm::ArrayRef<OperandSignature> signature,
                                 llvm::ArrayRef<mlir::Value> operands);

/// An attribute is finite and above 0; reports that it is not.
mlir::LogicalResult expectPositive(mlir::Operation *op, llvm::StringRef name,
                                   mlir::FloatAttr attribute);

/// A structure record under construction: what is not said is absent.
struct LinearStructure {
  DecayAxis decay = DecayAxis::None;
  InputGate inputGate = InputGate::None;
  LowRankPair lowRank = LowRankPair::None;
  ReadOrder read = ReadOrder::AfterWrite;
  DecayField field = DecayField::Real;
  bool bonus = false, feedThrough = false;
  Normaliser normaliser = Normaliser::None;
  Stabiliser stabiliser = Stabiliser::None;
  int64_t headsPerGroup = 1;

  StructureAttr get(mlir::MLIRContext *context) const;
};

/// Writes expressions of token maps.
class MapBuilder {
public:
  MapBuilder(mlir::OpBuilder &builder, mlir::Location loc)
      : builder(builder), loc(loc) {}

  template <typename Op, typename... Operands>
  mlir::Value create(Operands... operands) {
    return Op::create(builder, loc, operands...);
  }
  mlir::Value add(mlir::Value a, mlir::Value b) { return create<AddOp>(a, b); }
  mlir::Value mul(mlir::Value a, mlir::Value b) { return create<MulOp>(a, b); }
  mlir::Value neg(mlir::Value x) { return create<NegOp>(x); }
  mlir::Value exp(mlir::Value x) { return create<ExpOp>(x); }
  mlir::Value sigmoid(mlir::Value x) { return create<SigmoidOp>(x); }
  mlir::Value softplus(mlir::Value x) { return create<SoftplusOp>(x); }
  mlir::Value logSigmoid(mlir::Value x) { return create<LogSigmoidOp>(x); }
  /// `number`, repeated to the shape of `like`.
  mlir::Value constant(double number, mlir::Value like);
  mlir::Value atStart(mlir::Value positions) {
    return create<AtStartOp>(positions);
  }
  mlir::Value cos(mlir::Value x) { return create<CosOp>(x); }
  mlir::Value sin(mlir::Value x) { return create<SinOp>(x); }
  /// e^x - 1, which does not cancel near 0.
  mlir::Value expMinusOne(mlir::Value x);
  /// x times a number; `x` itself where that is 1.
  mlir::Value scaled(mlir::Value x, double number);
  /// `x` repeated along the leading axes of `like` that it lacks.
  mlir::Value spread(mlir::Value x, mlir::Value like);
  /// A product of elements: "thv" takes from "th" and "thv" alike.
  mlir::Value product(mlir::Value a, llvm::StringRef aLetters, mlir::Value b,
                      llvm::StringRef bLetters, llvm::StringRef outLetters);

private:
  mlir::OpBuilder &builder;
  mlir::Location loc;
};

} // namespace effc::seq

#endif // EFFC_DIALECTS_SEQ_MIXERS_LINEARMIXER_H
