// Adds a call's rows to the sums of their blocks, which a second launch reads.
//
// An item is a head of a segment and some of the blocks that its tokens lie in: a
// block's rows are added one by one in the order of positions, so that bits do not
// depend on where a call begins. A sequence that begins clears the sums that it has
// not reached, so that a slot's bytes tell nothing of the sequence before. Floor: the
// bytes of the rows.
#include "passes/seq_to_tile/builders/Builders.h"

#include "dialects/tile/Tile.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/kernel_facts/Cores.h"

using namespace mlir;
using namespace effc;

namespace {
/// Rows of the call [T, G, K] and the state [L, G, K] that has their sums.
struct Summed {
  Value rows, state;

  int64_t blocks() const { return sizeOf(0); }
  int64_t heads() const { return sizeOf(1); }
  int64_t channels() const { return sizeOf(2); }

  int64_t sizeOf(unsigned dim) const {
    return cast<RankedTensorType>(state.getType()).getDimSize(dim);
  }
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
    Value cleared =
        k.either(segment.getBegins(), k.index(summed.blocks()), k.index(0));
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
    return k.rowType(summed.channels());
  }
  SmallVector<Value> at(Value number) {
    return {segment.getSlot(), number, head, k.index(0)};
  }
  Value zeros(const Summed &summed) {
    return tile::SplatOp::create(b, k.loc(), typeOf(summed), k.scalar(0));
  }
  void store(Value tile, const Summed &summed, Value number) {
    k.store(tile, k.readWriteState(summed.state), at(number),
            {1, 1, 1, summed.channels()});
  }

  void addBlock(const Summed &summed, Value number) {
    int64_t channels = summed.channels();
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
  SumsKernel kernel(k, all.front().heads(), block);
  for (const Summed &summed : all)
    kernel.add(summed);
  return success();
}
