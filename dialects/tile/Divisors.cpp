#include "dialects/tile/Divisors.h"

#include "dialects/tile/Tile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

#include <numeric>

using namespace mlir;
using namespace effc;

int64_t tile::divisorOf(Value index) {
  APInt value;
  if (matchPattern(index, m_ConstantInt(&value)))
    return value.getSExtValue();
  if (auto product = index.getDefiningOp<arith::MulIOp>())
    return divisorOf(product.getLhs()) * divisorOf(product.getRhs());
  if (auto sum = index.getDefiningOp<arith::AddIOp>())
    return std::gcd(divisorOf(sum.getLhs()), divisorOf(sum.getRhs()));
  if (auto choice = index.getDefiningOp<arith::SelectOp>())
    return std::gcd(divisorOf(choice.getTrueValue()),
                    divisorOf(choice.getFalseValue()));
  if (auto argument = dyn_cast<BlockArgument>(index)) {
    Operation *parent = argument.getOwner()->getParentOp();
    if (auto loop = dyn_cast<scf::ForOp>(parent);
        loop && argument == loop.getInductionVar())
      return std::gcd(divisorOf(loop.getLowerBound()),
                      divisorOf(loop.getStep()));
    if (auto pipeline = dyn_cast<tile::PipelineOp>(parent);
        pipeline && argument.getOwner() == &pipeline.getLoad().front())
      return pipeline.getStep();
  }
  return 1;
}
