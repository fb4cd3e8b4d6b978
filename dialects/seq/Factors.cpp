#include "dialects/seq/Factors.h"

using namespace mlir;
using namespace effc::seq;

std::optional<Factors> Factors::of(Value matrix) {
  Operation *op = matrix.getDefiningOp();
  Factors factors;
  if (auto decays = dyn_cast_or_null<DecayMatrixOp>(op)) {
    factors.logDecays.push_back(decays.getLogDecay());
    return factors;
  }
  if (auto vectors = dyn_cast_or_null<RankMatrixOp>(op)) {
    if (vectors.getC())
      factors.rows.push_back(vectors.getC());
    if (vectors.getB())
      factors.columns.push_back(vectors.getB());
    return factors;
  }
  if (isa_and_nonnull<BandMatrixOp>(op))
    return factors;
  auto product = dyn_cast_or_null<HadamardOp>(op);
  if (!product)
    return std::nullopt;
  // No more than a matrix of use has: what is multiplied with itself over and
  // over has as many as there are ways through it.
  constexpr unsigned kMostFactors = 256;
  SmallVector<Value> open = {product.getRhs(), product.getLhs()};
  for (unsigned count = 0; !open.empty(); ++count) {
    Value side = open.pop_back_val();
    if (auto inner = side.getDefiningOp<HadamardOp>()) {
      open.push_back(inner.getRhs());
      open.push_back(inner.getLhs());
    } else if (std::optional<Factors> part = of(side)) {
      llvm::append_range(factors.logDecays, part->logDecays);
      llvm::append_range(factors.rows, part->rows);
      llvm::append_range(factors.columns, part->columns);
    } else {
      return std::nullopt;
    }
    if (count == kMostFactors)
      return std::nullopt;
  }
  return factors;
}
