// The token before each one. An item is a block of channels of one segment, and
// of one head where tokens have heads. Floor: bytes of x and y.
#include "passes/kernel_facts/MethodSizes.h"
#include "passes/seq_to_tile/builders/Builders.h"
#include "passes/seq_to_tile/builders/convolution/ChannelBlock.h"

using namespace mlir;
using namespace effc;

LogicalResult effc::buildTokenShift(KernelBuilder &k) {
  auto root = cast<seq::TokenShiftOp>(k.getRoot());
  ArrayRef<int64_t> shape = root.getLast().getType().getShape();
  int64_t heads = shape.size() == 2 ? shape[0] : 1;
  Value xView = k.read(root.getX()),
        lastView = k.readWriteState(root.getLast());
  ChannelBlock block(k, shape.back(), kShiftChannels, heads);
  tile::SegmentOp segment = block.segment;
  OpBuilder &b = k.ops();
  // The place of a row: the row, and the head where there is one.
  auto place = [&](Value row) {
    SmallVector<Value> at = {row};
    if (shape.size() == 2)
      at.push_back(block.part ? block.part : k.index(0));
    return at;
  };
  // A sequence that begins here has a row of zeros before it, whatever the slot
  // holds.
  Value fresh = arith::SelectOp::create(b, k.loc(), segment.getBegins(),
                                        k.scalar(1), k.scalar(0));
  Value last = k.map(
      block.type, {block.load(lastView, place(segment.getSlot())), fresh},
      [&](OpBuilder &builder, ValueRange e) -> Value {
        Value zero = arith::ConstantOp::create(builder, k.loc(),
                                               builder.getF32FloatAttr(0));
        Value isFresh = arith::CmpFOp::create(
            builder, k.loc(), arith::CmpFPredicate::OGT, e[1], zero);
        return arith::SelectOp::create(builder, k.loc(), isFresh, zero, e[0]);
      });
  Value first = segment.getFirstRow();
  if (failed(block.finish(root.getY(), last, place(first))))
    return failure();
  Value end = first;
  if (!k.isDecode()) {
    auto loop = scf::ForOp::create(b, k.loc(), k.index(1), segment.getLength(),
                                   k.index(1));
    end = k.sub(k.add(first, segment.getLength()), k.index(1));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value row = k.add(first, loop.getInductionVar());
    Value before = block.load(xView, place(k.sub(row, k.index(1))));
    if (failed(block.finish(root.getY(), before, place(row))))
      return failure();
  }
  block.store(block.load(xView, place(end)), lastView,
              place(segment.getSlot()));
  return success();
}
