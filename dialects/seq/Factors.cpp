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
  for (Value side : {product.getLhs(), product.getRhs()}) {
    std::optional<Factors> part = of(side);
    if (!part)
      return std::nullopt;
    llvm::append_range(factors.logDecays, part->logDecays);
    llvm::append_range(factors.rows, part->rows);
    llvm::append_range(factors.columns, part->columns);
  }
  return factors;
}
