// Adds a call's rows to the sums of their blocks, which a second launch reads.
//
// An item is a head of a segment and some of the blocks that its tokens lie in: a
// block's rows are added one by one in the order of positions, so that bits do not
// depend on where a call begins. A sequence that begins clears the sums that it has
// not reached, so that a slot's bytes tell nothing of the sequence before. Floor: the
// bytes of the rows.
#include "passes/seq_to_tile/builders/window/BlockSums.h"

#include "dialects/tile/Tile.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "passes/kernel_facts/Cores.h"
#include "passes/seq_to_tile/builders/Builders.h"
#include "passes/seq_to_tile/builders/window/Window.h"

#include <limits>

using namespace mlir;
using namespace effc;

static int64_t extentOf(Value tensor, unsigned dim) {
  return cast<RankedTensorType>(tensor.getType()).getDimSize(dim);
}

//===----------------------------------------------------------------------===//
// The sums
//===----------------------------------------------------------------------===//

namespace {
/// Rows of the call [T, G, K] and the state [L, G, K] that has their sums.
struct Summed {
  Value rows, state;
};

class SumsKernel {
public:
  SumsKernel(KernelBuilder &k, int64_t heads, int64_t block)
      : k(k), b(k.ops()), block(block),
        parts(k.isDecode() ? 1 : coresOf(k.getContext().target)) {
    k.setItems(tile::Count::Segments, 1, heads * parts);
    auto [sequence, rest] = k.divide(k.item(), heads * parts);
    auto [ofHead, ofPart] = k.divide(rest, parts);
    head = ofHead, part = ofPart;
    segment = tile::SegmentOp::create(b, k.loc(), k.segmentTable(), sequence);
  }

  void add(const Summed &summed) {
    Value first = k.divide(segment.getStart(), block).first;
    Value newest =
        k.sub(k.add(segment.getStart(), segment.getLength()), k.index(1));
    Value end = k.add(k.divide(newest, block).first, k.index(1));
    forBlocks(first, end, [&](Value number) { addBlock(summed, number); });
    Value cleared = k.either(segment.getBegins(),
                             k.index(extentOf(summed.state, 0)), k.index(0));
    forBlocks(end, cleared,
              [&](Value number) { store(zeros(summed), summed, number); });
  }

private:
  // This item's share of some blocks.
  void forBlocks(Value from, Value to, function_ref<void(Value)> body) {
    auto loop =
        scf::ForOp::create(b, k.loc(), k.add(from, part), to, k.index(parts));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    body(loop.getInductionVar());
  }

  tile::TileType typeOf(const Summed &summed) {
    return k.rowType(extentOf(summed.state, 2));
  }
  SmallVector<Value> at(Value number) {
    return {segment.getSlot(), number, head, k.index(0)};
  }
  Value zeros(const Summed &summed) {
    return tile::SplatOp::create(b, k.loc(), typeOf(summed), k.scalar(0));
  }
  void store(Value tile, const Summed &summed, Value number) {
    k.store(tile, k.readWriteState(summed.state), at(number),
            {1, 1, 1, extentOf(summed.state, 2)});
  }

  void addBlock(const Summed &summed, Value number) {
    int64_t channels = extentOf(summed.state, 2);
    Value start = segment.getStart(), begin = k.mul(number, block);
    Value isContinued = k.compare(arith::CmpIPredicate::slt, begin, start);
    Value sum = k.where(isContinued, zeros(summed), [&] {
      return k.load(k.readWriteState(summed.state), at(number),
                    {1, 1, 1, channels}, typeOf(summed));
    });
    Value from = k.sub(k.max(begin, start), start);
    Value to =
        k.min(k.sub(k.add(begin, k.index(block)), start), segment.getLength());
    auto loop = scf::ForOp::create(b, k.loc(), from, to, k.index(1), sum);
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(loop.getBody());
      Value row = k.add(segment.getFirstRow(), loop.getInductionVar());
      Value token = k.load(k.read(summed.rows), {row, head, k.index(0)},
                           {1, 1, channels}, typeOf(summed));
      Value next =
          k.map(typeOf(summed), {loop.getRegionIterArgs()[0], token},
                [&](OpBuilder &builder, ValueRange e) -> Value {
                  return arith::AddFOp::create(builder, k.loc(), e[0], e[1]);
                });
      scf::YieldOp::create(b, k.loc(), next);
    }
    store(loop.getResult(0), summed, number);
  }

  KernelBuilder &k;
  OpBuilder &b;
  int64_t block, parts;
  Value head, part;
  tile::SegmentOp segment;
};
} // namespace

LogicalResult effc::buildBlockSums(KernelBuilder &k) {
  SmallVector<Summed> all;
  int64_t block;
  if (auto choose = dyn_cast<seq::ChooseBlocksOp>(k.getRoot())) {
    all.push_back({choose.getK(), choose.getSums()});
    block = choose.getBlock();
  } else {
    auto mix = cast<seq::MixBlockMeansOp>(k.getRoot());
    all.push_back({mix.getK(), mix.getKeySums()});
    all.push_back({mix.getV(), mix.getValueSums()});
    block = mix.getBlock();
  }
  SumsKernel kernel(k, extentOf(all.front().state, 1), block);
  for (const Summed &summed : all)
    kernel.add(summed);
  return success();
}

//===----------------------------------------------------------------------===//
// Scores with their means
//===----------------------------------------------------------------------===//

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

RunningShares effc::beginShares(KernelBuilder &k, int64_t heads) {
  auto column = [&](float value) -> Value {
    return tile::SplatOp::create(k.ops(), k.loc(), k.columnType(heads),
                                 k.scalar(value));
  };
  return {column(kLowestScore), column(0)};
}

SharesStep effc::addShares(KernelBuilder &k, const RunningShares &before,
                           Value scores) {
  OpBuilder &b = k.ops();
  Location loc = k.loc();
  auto scoreType = cast<tile::TileType>(scores.getType());
  tile::TileType columnType = k.columnType(scoreType.rows());
  auto reduce = [&](tile::ReduceKind kind, Value tile) -> Value {
    return tile::ReduceOp::create(b, loc, columnType, kind, tile,
                                  /*over_rows=*/false);
  };
  auto powers = [&](tile::TileType type, Value x, Value y) {
    return k.map(type, {x, y}, [&](OpBuilder &builder, ValueRange e) -> Value {
      Value difference = arith::SubFOp::create(builder, loc, e[0], e[1]);
      return math::ExpOp::create(builder, loc, difference);
    });
  };
  SharesStep step;
  step.after.largest =
      k.map(columnType, {before.largest, reduce(tile::ReduceKind::Max, scores)},
            [&](OpBuilder &builder, ValueRange e) -> Value {
              return arith::MaximumFOp::create(builder, loc, e[0], e[1]);
            });
  step.faded = powers(columnType, before.largest, step.after.largest);
  step.weights = powers(scoreType, scores, step.after.largest);
  step.after.total = k.map(
      columnType,
      {before.total, step.faded, reduce(tile::ReduceKind::Add, step.weights)},
      [&](OpBuilder &builder, ValueRange e) -> Value {
        return math::FmaOp::create(builder, loc, e[0], e[1], e[2]);
      });
  return step;
}
