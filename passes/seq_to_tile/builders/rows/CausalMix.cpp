// Sums of all tokens so far, a weight per pair of positions. An item is a block
// of channels of one segment. Tokens before the call lie in the state, those of
// the call in its rows, and the order of a sum is that of the positions: its
// bits do not depend on where a call begins. Of several weights for a pair of
// positions an item takes one. Floor: bytes of the tokens so far (decode), 2 p
// D FLOPs per token at position p and weight (prefill).
#include "passes/kernel_facts/MethodSizes.h"
#include "passes/seq_to_tile/builders/Builders.h"
#include "passes/seq_to_tile/builders/convolution/ChannelBlock.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace effc;

LogicalResult effc::buildCausalMix(KernelBuilder &k) {
  auto root = cast<seq::CausalMixOp>(k.getRoot());
  Value xView = k.read(root.getX()), weightView = k.read(root.getWeight());
  Value biasView = root.getBias() ? k.read(root.getBias()) : Value();
  Value inputsView = k.read(root.getInputs());
  RankedTensorType weightType = root.getWeight().getType();
  bool isWide = weightType.getRank() == 3;
  ChannelBlock block(k, root.getX().getType().getDimSize(1), kMixChannels,
                     isWide ? weightType.getDimSize(2) : 1);
  // The weight's number where the view has a dimension for it.
  SmallVector<Value> number;
  if (isWide)
    number.push_back(block.part ? block.part : k.index(0));
  tile::SegmentOp segment = block.segment;

  OpBuilder &b = k.ops();

  // sum + weight[position, s] row(s) for s in [from, to).
  auto addRows = [&](Value sum, Value position, Value from, Value to,
                     function_ref<Value(Value)> row) -> Value {
    auto loop =
        scf::ForOp::create(b, k.loc(), from, to, k.index(1), ValueRange{sum});
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value s = loop.getInductionVar();
    SmallVector<Value> pair = {position, s};
    llvm::append_range(pair, number);
    Value weight =
        tile::ReadOp::create(b, k.loc(), b.getF32Type(), weightView, pair);
    Value next =
        k.map(block.type, {weight, row(s), loop.getRegionIterArgs()[0]},
              [&](OpBuilder &builder, ValueRange e) -> Value {
                return math::FmaOp::create(builder, k.loc(), e[0], e[1], e[2]);
              });
    scf::YieldOp::create(b, k.loc(), next);
    return loop.getResult(0);
  };
  auto mixRow = [&](Value t) -> LogicalResult {
    Value start = segment.getStart(), position = k.add(start, t);
    Value bias = biasView ? Value(tile::ReadOp::create(
                                b, k.loc(), b.getF32Type(), biasView, position))
                          : k.scalar(0);
    Value sum = tile::SplatOp::create(b, k.loc(), block.type, bias);
    sum = addRows(sum, position, k.index(0), start, [&](Value s) {
      return block.load(inputsView, {segment.getSlot(), s});
    });
    sum = addRows(sum, position, start, k.add(position, k.index(1)),
                  [&](Value s) {
                    Value row = k.add(segment.getFirstRow(), k.sub(s, start));
                    return block.load(xView, {row});
                  });
    SmallVector<Value> at = {k.add(segment.getFirstRow(), t)};
    llvm::append_range(at, number);
    return block.finish(root.getY(), sum, at);
  };
  if (k.isDecode())
    return mixRow(k.index(0));
  auto loop = scf::ForOp::create(b, k.loc(), k.index(0), segment.getLength(),
                                 k.index(1));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  return mixRow(loop.getInductionVar());
}
