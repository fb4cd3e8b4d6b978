#include "dialects/seq/StepDecays.h"

#include "dialects/seq/Seq.h"

using namespace mlir;

namespace effc::seq {

// A product of a product with itself has more factors than there are ops.
static constexpr size_t kMostDecays = 64;

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

static std::optional<double> numberOf(Value value) {
  auto constant = value.getDefiningOp<ConstantOp>();
  if (!constant)
    return std::nullopt;
  return constant.getValue().convertToDouble();
}

Value complementOf(Value factor) {
  auto difference = factor.getDefiningOp<SubOp>();
  if (!difference || numberOf(difference.getA()) != 1)
    return {};
  auto share = difference.getB().getDefiningOp<SigmoidOp>();
  return share ? share.getX() : Value();
}

std::string readDecays(Value factor, ArrayRef<int64_t> dimensions,
                       SmallVectorImpl<StepDecay> &decays) {
  SmallVector<StepDecay> open = {{factor, SmallVector<int64_t, 3>(dimensions)}};
  while (!open.empty()) {
    auto [part, own] = open.pop_back_val();
    Operation *maker = part.getDefiningOp();
    // Of an operand whose dimensions are `inPart` among those of the product.
    auto follow = [&](Value operand, ArrayRef<int64_t> inPart) {
      SmallVector<int64_t, 3> inState;
      for (int64_t dimension : inPart)
        inState.push_back(own[dimension]);
      open.push_back({operand, inState});
    };
    auto all = llvm::to_vector(llvm::seq<int64_t>(own.size()));
    if (auto product = dyn_cast_or_null<MulOp>(maker)) {
      follow(product.getB(), all);
      follow(product.getA(), all);
    } else if (auto repeated = dyn_cast_or_null<BroadcastOp>(maker)) {
      follow(repeated.getX(), repeated.getDimensions());
    } else if (auto contract = dyn_cast_or_null<ContractOp>(maker)) {
      auto left = dimensionsInResult(contract, 0),
           right = dimensionsInResult(contract, 1);
      if (!left || !right)
        return "scales the state by a sum of products";
      follow(contract.getRhs(), *right);
      follow(contract.getLhs(), *left);
    } else {
      double number = numberOf(part).value_or(1);
      bool isDecay = isa_and_nonnull<ExpOp, SigmoidOp, ConstantOp>(maker) ||
                     complementOf(part);
      if (!isDecay || !(number > 0 && number <= 1))
        return "scales the state by what is not an exponential, a logistic "
               "function, one minus one, a constant in (0, 1] or a product of "
               "these";
      if (!llvm::is_sorted(own, std::less_equal<>()))
        return "scales the state by a decay of its dimensions in another order";
      decays.push_back({part, own});
    }
    if (decays.size() + open.size() > kMostDecays)
      return "scales the state by more than " + std::to_string(kMostDecays) +
             " decays";
  }
  return "";
}

} // namespace effc::seq
