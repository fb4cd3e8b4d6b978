// The blocks that queries choose by their mean keys, whose sums the launch before has
// brought up to date.
//
// An item is a group of heads of a segment and some of its tokens. The scores of a
// token go to memory of the call, a run of blocks at a time, and come back as one row,
// of which the best are taken. A softmax over blocks goes over them once before, for
// its maximum and its sum. Nothing is rounded to 16 bits: what is chosen may hang on a
// last bit. Floor: 2 K FLOPs per head and block before a token, 4 K where scores are
// shares; in decode the bytes of the sums.
#include "passes/seq_to_tile/builders/Builders.h"
#include "passes/seq_to_tile/builders/window/BlockQueries.h"
#include "passes/seq_to_tile/builders/window/RunningSoftmax.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;
using namespace effc;

/// Blocks that a kernel chooses among, at most: a row of scores that threads hold.
static constexpr int64_t kMostBlocks = 2048;

namespace {
class ChooseKernel {
public:
  ChooseKernel(KernelBuilder &k, seq::ChooseBlocksOp root)
      : k(k), b(k.ops()), root(root),
        groups(root.getChosen().getType().getDimSize(1)),
        count(root.getChosen().getType().getDimSize(2)),
        queries(k, root.getQ(), root.getSums(), groups,
                static_cast<int64_t>(root.getBlock()),
                root.getScale().convertToDouble()),
        blocks(llvm::alignTo(
            std::max(root.getSums().getType().getDimSize(0), count),
            BlockQueries::kTogether)) {}

  LogicalResult build();

private:
  /// Writes the scores of the blocks before the token's own.
  void writeScores();
  /// The scores of a run, over all heads of the group.
  Value scoresOfGroup(Value scores, const RunningSoftmax &all);
  /// The row that blocks are ordered by.
  Value keys();
  Value memory() {
    return k.scratch({ShapedType::kDynamic, groups, blocks}, /*written=*/true);
  }
  SmallVector<Value> placeOf(Value block) {
    return {queries.row(), queries.group(), block};
  }
  bool isShare() { return root.getScore() == seq::BlockScore::Share; }

  KernelBuilder &k;
  OpBuilder &b;
  seq::ChooseBlocksOp root;
  int64_t groups, count;
  BlockQueries queries;
  int64_t blocks;
};
} // namespace

Value ChooseKernel::scoresOfGroup(Value scores, const RunningSoftmax &all) {
  auto type = cast<tile::TileType>(scores.getType());
  if (isShare())
    scores =
        k.map(type, {scores, all.largest, all.total},
              [&](OpBuilder &builder, ValueRange e) -> Value {
                Value below =
                    arith::SubFOp::create(builder, k.loc(), e[0], e[1]);
                Value power = math::ExpOp::create(builder, k.loc(), below);
                return arith::DivFOp::create(builder, k.loc(), power, e[2]);
              });
  return tile::ReduceOp::create(b, k.loc(), k.rowType(BlockQueries::kTogether),
                                tile::ReduceKind::Add, scores,
                                /*over_rows=*/true);
}

void ChooseKernel::writeScores() {
  RunningSoftmax all;
  if (isShare())
    all = RunningSoftmax::of(queries.overRuns(
        queries.whole(), /*isExact=*/true,
        RunningSoftmax::begin(k, queries.heads(), /*channels=*/0).values(),
        [&](Value, Value, Value scores,
            ValueRange before) -> SmallVector<Value> {
          SoftmaxStep step =
              SoftmaxStep::of(k, RunningSoftmax::of(before), scores);
          return {step.largest, step.total};
        }));
  queries.overRuns(
      queries.before(), /*isExact=*/true, {},
      [&](Value first, Value, Value scores, ValueRange) -> SmallVector<Value> {
        k.store(scoresOfGroup(scores, all), memory(), placeOf(first),
                {1, 1, BlockQueries::kTogether});
        return {};
      });
}

Value ChooseKernel::keys() {
  Value row =
      k.load(memory(), placeOf(k.index(0)), {1, 1, blocks}, k.rowType(blocks));
  Value own = queries.before();
  Value lastFrom = k.sub(own, k.index(static_cast<int64_t>(root.getLast())));
  return k.map(k.rowType(blocks), {row}, [&](OpBuilder &builder, ValueRange e) {
    Location loc = k.loc();
    auto constant = [&](double value) -> Value {
      return arith::ConstantOp::create(
          builder, loc, builder.getF32FloatAttr(static_cast<float>(value)));
    };
    Value block = tile::ColumnIndexOp::create(builder, loc);
    auto compare = [&](arith::CmpIPredicate predicate, Value to) -> Value {
      return arith::CmpIOp::create(builder, loc, predicate, block, to);
    };
    Value first = arith::ConstantIndexOp::create(
        builder, loc, static_cast<int64_t>(root.getFirst()));
    Value isAlways = arith::OrIOp::create(
        builder, loc, compare(arith::CmpIPredicate::slt, first),
        compare(arith::CmpIPredicate::sgt, lastFrom));
    double infinity = std::numeric_limits<double>::infinity();
    Value key = arith::SelectOp::create(builder, loc, isAlways,
                                        constant(infinity), e[0]);
    return arith::SelectOp::create(builder, loc,
                                   compare(arith::CmpIPredicate::sle, own), key,
                                   constant(-infinity))
        .getResult();
  });
}

LogicalResult ChooseKernel::build() {
  if (count > kMostBlocks)
    return root.emitOpError() << "has a kernel that chooses at most "
                              << kMostBlocks << " blocks, but got " << count;
  if (blocks > kMostBlocks) {
    InFlightDiagnostic error = root.emitOpError()
                               << "has a kernel that chooses among at most "
                               << kMostBlocks << " blocks, but got "
                               << root.getSums().getType().getDimSize(0);
    error.attachNote() << "longer blocks or a shorter context have fewer";
    return error;
  }
  return queries.forTokens([&]() -> LogicalResult {
    writeScores();
    auto numbersType = tile::TileType::get(b.getContext(), {count},
                                           b.getI32Type(), tile::Role::Row, {});
    auto top = tile::TopKOp::create(b, k.loc(), k.rowType(count), numbersType,
                                    ValueRange{keys()});
    Operation *results = k.getSourceBody().getTerminator();
    for (auto [i, result] : llvm::enumerate(results->getOperands()))
      if (result == root.getChosen())
        k.store(top.getNumbers(), k.write(i), placeOf(k.index(0)),
                {1, 1, count});
    return success();
  });
}

LogicalResult effc::buildChooseBlocks(KernelBuilder &k) {
  return ChooseKernel(k, cast<seq::ChooseBlocksOp>(k.getRoot())).build();
}
