// A softmax over the mean keys and values of whole blocks, whose sums the launch
// before has brought up to date:
//
//   s = scale (q k^T) / C
//
// taken in as RunningSoftmax.h has it, and y = o / (C l) at the end. An item is a head of keys and values of a segment,
// with the heads that share it, and some of its tokens. Floor: 2 (K + V) FLOPs per
// head and block before a token; in decode the bytes of the sums.
#include "passes/seq_to_tile/builders/Builders.h"
#include "passes/seq_to_tile/builders/window/BlockQueries.h"
#include "passes/seq_to_tile/builders/window/RunningSoftmax.h"
#include "passes/seq_to_tile/builders/window/WindowPieces.h"

using namespace mlir;
using namespace effc;

LogicalResult effc::buildMixBlockMeans(KernelBuilder &k) {
  auto root = cast<seq::MixBlockMeansOp>(k.getRoot());
  Location loc = k.loc();
  int64_t groups = root.getK().getType().getDimSize(1);
  int64_t channels = root.getV().getType().getDimSize(2);
  int64_t block = root.getBlock();
  BlockQueries queries(k, root.getQ(), root.getKeySums(), groups, block,
                       root.getScale().convertToDouble());
  int64_t heads = queries.heads();
  tile::TileType mixedType =
      k.blockType(heads, channels, tile::Role::Accumulator);
  return queries.forTokens([&]() -> LogicalResult {
    RunningSoftmax all = RunningSoftmax::of(queries.overRuns(
        queries.whole(), /*isExact=*/false,
        RunningSoftmax::begin(k, heads, channels).values(),
        [&](Value first, Value count, Value scores, ValueRange carried) {
          RunningSoftmax before = RunningSoftmax::of(carried);
          Value values = queries.loadSums(root.getValueSums(), first, count);
          return SoftmaxStep::of(k, before, scores)
              .mix(k, before.mixed, values)
              .values();
        }));
    Value y =
        k.map(mixedType, {all.mixed, all.total},
              [&](OpBuilder &builder, ValueRange e) -> Value {
                Value length = arith::ConstantOp::create(
                    builder, loc,
                    builder.getF32FloatAttr(1.0f / static_cast<float>(block)));
                return arith::MulFOp::create(
                    builder, loc, emitMean(builder, loc, e[0], e[1]), length);
              });
    SmallVector<Value> at = {queries.row(), queries.firstHead(), k.index(0)};
    SmallVector<int64_t> sizes = {1, heads, channels};
    return k.finish(
        root.getY(), y,
        [&](Value tensor) {
          return k.load(k.read(tensor), at, sizes, mixedType);
        },
        [&](unsigned result, Value tile) {
          k.store(tile, k.write(result), at, sizes);
        });
  });
}
