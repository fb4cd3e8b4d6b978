#include "dialects/seq/StepFactors.h"

#include "dialects/seq/Seq.h"

using namespace mlir;

namespace effc::seq {

StepFactor StepFactor::whole(Value value) {
  return {value,
          llvm::to_vector<3>(llvm::seq<int64_t>(typeOf(value).getRank()))};
}

std::optional<SmallVector<int64_t, 3>> dimensionsInResult(ContractOp op,
                                                          unsigned side) {
  SmallVector<AffineMap, 3> maps = op.getMaps();
  SmallVector<int64_t, 3> dimensions;
  for (AffineExpr dimension : maps[side].getResults()) {
    std::optional<unsigned> position = maps[2].getResultPosition(dimension);
    if (!position)
      return std::nullopt;
    dimensions.push_back(*position);
  }
  return dimensions;
}

std::optional<double> numberOf(Value value) {
  auto constant = value.getDefiningOp<ConstantOp>();
  if (!constant)
    return std::nullopt;
  return constant.getValue().convertToDouble();
}

SmallVector<StepFactor> splitFactor(const StepFactor &factor) {
  SmallVector<StepFactor> factors;
  // Of an operand whose dimensions are `inFactor` among those of the product.
  auto add = [&](Value operand, ArrayRef<int64_t> inFactor) {
    SmallVector<int64_t, 3> inState;
    for (int64_t dimension : inFactor)
      inState.push_back(factor.dimensions[dimension]);
    factors.push_back({operand, inState});
  };
  auto all = llvm::to_vector(llvm::seq<int64_t>(factor.dimensions.size()));
  Operation *maker = factor.value.getDefiningOp();
  if (auto product = dyn_cast_or_null<MulOp>(maker)) {
    add(product.getA(), all);
    add(product.getB(), all);
  } else if (auto repeated = dyn_cast_or_null<BroadcastOp>(maker)) {
    add(repeated.getX(), repeated.getDimensions());
  } else if (auto contract = dyn_cast_or_null<ContractOp>(maker)) {
    auto left = dimensionsInResult(contract, 0),
         right = dimensionsInResult(contract, 1);
    if (left && right) {
      add(contract.getLhs(), *left);
      add(contract.getRhs(), *right);
    }
  }
  return factors;
}

StepLine StepLine::of(Value value) {
  StepLine line{value};
  while (Operation *maker = line.base.getDefiningOp()) {
    if (auto neg = dyn_cast<NegOp>(maker)) {
      line = {neg.getX(), -line.slope, line.offset};
      continue;
    }
    if (auto scale = dyn_cast<ScaleOp>(maker)) {
      line = {scale.getX(), line.slope * scale.getFactor().convertToDouble(),
              line.offset};
      continue;
    }
    if (!isa<AddOp, SubOp, MulOp>(maker))
      break;
    std::optional<double> first = numberOf(maker->getOperand(0)),
                          second = numberOf(maker->getOperand(1));
    if (!first == !second)
      break;
    double number = first ? *first : *second;
    Value other = maker->getOperand(first ? 1 : 0);
    bool isSub = isa<SubOp>(maker);
    if (isa<MulOp>(maker))
      line = {other, line.slope * number, line.offset};
    else
      line = {other, isSub && first ? -line.slope : line.slope,
              line.offset + line.slope * (isSub && second ? -number : number)};
  }
  return line;
}

} // namespace effc::seq
