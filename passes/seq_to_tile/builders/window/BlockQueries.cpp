#include "passes/seq_to_tile/builders/window/BlockQueries.h"

#include "dialects/tile/Tile.h"
#include "passes/kernel_facts/Cores.h"

#include <limits>

using namespace mlir;
using namespace effc;

static int64_t extentOf(Value tensor, unsigned dim) {
  return cast<RankedTensorType>(tensor.getType()).getDimSize(dim);
}

BlockQueries::BlockQueries(KernelBuilder &k, Value queries, Value sums,
                           int64_t groups, int64_t block, double scale)
    : k(k), b(k.ops()), queries(queries), sums(sums), groups(groups),
      groupHeads(extentOf(queries, 1) / groups), block(block), scale(scale) {}

LogicalResult BlockQueries::forTokens(function_ref<LogicalResult()> body) {
  int64_t parts = k.isDecode() ? 1 : itemsThatFill(k.getContext().target);
  k.setItems(tile::Count::Segments, 1, groups * parts);
  auto [sequence, rest] = k.divide(k.item(), groups * parts);
  auto [ofGroup, part] = k.divide(rest, parts);
  ownGroup = ofGroup;
  ownKeyHead = k.divide(ownGroup, groups / extentOf(sums, 1)).first;
  segment = tile::SegmentOp::create(b, k.loc(), k.segmentTable(), sequence);
  auto loop =
      scf::ForOp::create(b, k.loc(), part, segment.getLength(), k.index(parts));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  tokenRow = k.add(segment.getFirstRow(), loop.getInductionVar());
  Value position = k.add(segment.getStart(), loop.getInductionVar());
  blocksBefore = k.divide(position, block).first;
  blocksWhole = k.divide(k.add(position, k.index(1)), block).first;
  int64_t channels = extentOf(queries, 2);
  tile = k.load(k.read(queries), {tokenRow, firstHead(), k.index(0)},
                {1, groupHeads, channels},
                k.blockType(groupHeads, channels, tile::Role::Operand));
  return body();
}

Value BlockQueries::loadSums(Value state, Value first, Value count) {
  int64_t channels = extentOf(state, 2);
  return k.load(k.read(state),
                {segment.getSlot(), first, ownKeyHead, k.index(0)},
                {1, kTogether, 1, channels},
                k.blockType(kTogether, channels, tile::Role::Operand), count);
}

Value BlockQueries::scoresOf(Value first, Value count, Value end,
                             bool isExact) {
  tile::TileType type =
      k.blockType(groupHeads, kTogether, tile::Role::Accumulator);
  Value zeros = tile::SplatOp::create(b, k.loc(), type, k.scalar(0));
  Value keys = loadSums(sums, first, count);
  Value products = isExact ? k.exactDot(zeros, tile, keys, /*transposeA=*/false,
                                        /*transposeB=*/true)
                           : k.dot(zeros, tile, keys, /*transposeA=*/false,
                                   /*transposeB=*/true);
  Value left = k.sub(end, first);
  return k.map(type, {products}, [&](OpBuilder &builder, ValueRange e) {
    Location loc = k.loc();
    auto constant = [&](double value) -> Value {
      return arith::ConstantOp::create(
          builder, loc, builder.getF32FloatAttr(static_cast<float>(value)));
    };
    Value isSeen =
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt,
                              tile::ColumnIndexOp::create(builder, loc), left);
    Value score = arith::MulFOp::create(builder, loc, e[0],
                                        constant(scale / double(block)));
    return arith::SelectOp::create(
               builder, loc, isSeen, score,
               constant(-std::numeric_limits<double>::infinity()))
        .getResult();
  });
}

SmallVector<Value> BlockQueries::overRuns(
    Value end, bool isExact, SmallVector<Value> carried,
    function_ref<SmallVector<Value>(Value, Value, Value, ValueRange)> body) {
  auto loop = scf::ForOp::create(b, k.loc(), k.index(0), end,
                                 k.index(kTogether), carried);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value first = loop.getInductionVar();
  Value count =
      k.min(k.index(kTogether), k.sub(k.index(extentOf(sums, 0)), first));
  SmallVector<Value> next =
      body(first, count, scoresOf(first, count, end, isExact),
           ValueRange(loop.getRegionIterArgs()));
  if (!next.empty())
    scf::YieldOp::create(b, k.loc(), next);
  return SmallVector<Value>(loop.getResults());
}
