// The channels of a row in the order that a weight gives. An item is a row, or on a GPU a
// part of a long one, for which it passes over the row in parts: what a part holds is
// taken from there. Floor: bytes of the rows and of the order.
#include "passes/kernel_facts/BlockRoom.h"
#include "passes/seq_to_tile/builders/Builders.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace effc;

namespace {
/// One of the parts of a row of `channels` that are `size` long.
struct RowPart {
  Value first; ///< its first channel
  Value limit; ///< its channels, where the last part has less than the others
};
} // namespace

static RowPart partOf(KernelBuilder &k, Value number, int64_t size,
                      int64_t channels) {
  RowPart part{k.mul(number, size), {}};
  if (channels % size != 0)
    part.limit = k.min(k.sub(k.index(channels), part.first), k.index(size));
  return part;
}

// Numbers that a damaged file may have are brought inside of the part: there is none of
// another channel's row behind it that an item could read.
static Value insideOf(KernelBuilder &k, Value numbers, Value first,
                      int64_t size) {
  auto type = cast<tile::TileType>(numbers.getType());
  return k.map(
      type, {numbers, first}, [&](OpBuilder &b, ValueRange e) -> Value {
        auto scalar = [&](double number) {
          return arith::ConstantFloatOp::create(
              b, k.loc(), b.getF32Type(), APFloat(static_cast<float>(number)));
        };
        Value at = arith::SubFOp::create(b, k.loc(), e[0], e[1]);
        at = arith::MaxNumFOp::create(b, k.loc(), at, scalar(0));
        return arith::MinNumFOp::create(b, k.loc(), at,
                                        scalar(static_cast<double>(size - 1)));
      });
}

LogicalResult effc::buildPermuteChannels(KernelBuilder &k) {
  auto root = cast<seq::PermuteChannelsOp>(k.getRoot());
  int64_t channels = root.getY().getType().getDimSize(1), size = channels;
  if (k.isGpu())
    size =
        std::min(channels, BlockRoom::of(k.getContext().target).rowElements());
  int64_t parts = llvm::divideCeil(channels, size);
  k.setItems(k.getContext().lead, 1, parts);
  Value row = k.item(), number = k.index(0);
  if (parts > 1)
    std::tie(row, number) = k.divide(row, parts);
  RowPart own = partOf(k, number, size, channels);
  OpBuilder &b = k.ops();
  tile::TileType type = k.rowType(size);
  Value x = k.read(root.getX());
  Value order =
      k.load(k.read(root.getOrder()), {own.first}, {size}, type, {}, own.limit);
  auto asNumber = [&](Value index) -> Value {
    Value integer =
        arith::IndexCastOp::create(b, k.loc(), b.getI32Type(), index);
    return arith::SIToFPOp::create(b, k.loc(), b.getF32Type(), integer);
  };
  auto takeFrom = [&](const RowPart &part) -> Value {
    Value channelsThere =
        k.load(x, {row, part.first}, {1, size}, type, {}, part.limit);
    return tile::TakeOp::create(b, k.loc(), type, channelsThere,
                                insideOf(k, order, asNumber(part.first), size));
  };
  Value y;
  if (parts == 1) {
    y = takeFrom(own);
  } else {
    Value zeros = tile::SplatOp::create(b, k.loc(), type, k.scalar(0));
    auto loop = scf::ForOp::create(b, k.loc(), k.index(0), k.index(parts),
                                   k.index(1), zeros);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    RowPart part = partOf(k, loop.getInductionVar(), size, channels);
    Value first = asNumber(part.first),
          end = asNumber(k.add(part.first, k.index(size)));
    Value there = k.map(
        type, {loop.getRegionIterArg(0), takeFrom(part), order, first, end},
        [&](OpBuilder &builder, ValueRange e) -> Value {
          Value fromFirst = arith::CmpFOp::create(
                    builder, k.loc(), arith::CmpFPredicate::OGE, e[2], e[3]),
                beforeEnd = arith::CmpFOp::create(
                    builder, k.loc(), arith::CmpFPredicate::OLT, e[2], e[4]);
          Value isThere =
              arith::AndIOp::create(builder, k.loc(), fromFirst, beforeEnd);
          return arith::SelectOp::create(builder, k.loc(), isThere, e[1], e[0]);
        });
    scf::YieldOp::create(b, k.loc(), there);
    y = loop.getResult(0);
  }
  return k.finish(
      root.getY(), y,
      [&](Value tensor) {
        return k.load(k.read(tensor), {row, own.first}, {1, size}, type, {},
                      own.limit);
      },
      [&](unsigned result, Value tile) {
        k.store(tile, k.write(result), {row, own.first}, {1, size}, {},
                own.limit);
      });
}
