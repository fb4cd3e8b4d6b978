// y = x w^T (+ bias), followed by elementwise ops.
//
// An item computes `N` outputs of all rows: its N rows of the weight are read
// once per call, in storage dtype, while the rows of x, which all items share,
// stay in cache. Floor: bytes of w for few rows, 2 R N K FLOPs for many.
#include "passes/seq_to_tile/builders/Builders.h"

using namespace mlir;
using namespace effc;

namespace {
/// Sizes of a work item.
struct DenseTiles {
  int64_t rows, outputs;
};
} // namespace

static constexpr int64_t kRowTile = 4;

bool effc::denseLoopsOverRows(seq::EntryAttr entry) {
  return entry.getKind() == seq::EntryKind::Prefill ||
         entry.getRows() > kRowTile;
}

// Few outputs per item keep its weights close to the core while rows pass by,
// four at a time; with no more rows than that nothing passes, and longer items
// cost less.
static DenseTiles chooseTiles(const KernelContext &context, int64_t outputs) {
  if (denseLoopsOverRows(context.entry))
    return {kRowTile, std::min<int64_t>(outputs, 12)};
  return {context.entry.getRows(), std::min<int64_t>(outputs, 24)};
}

namespace {
/// A product as one item computes it: a tile of outputs, of rows after rows.
class Product {
public:
  explicit Product(KernelBuilder &k);

  /// Computes and stores rows [begin, end), a tile at a time. `firstPass` says
  /// that these rows are the first to meet the item's weights.
  LogicalResult emitRows(Value begin, Value end, bool firstPass);

  DenseTiles tiles;

private:
  Value multiply(Value row, Value rows, bool firstPass);
  LogicalResult finish(Value row, Value rows, Value y);

  KernelBuilder &k;
  Operation *core;
  int64_t inner;
  Value xView, wView, biasView;
  Value first, columns; // first output; how many there are, null: all
  tile::TileType accType;
};
} // namespace

Product::Product(KernelBuilder &k) : k(k), core(k.getCore()) {
  auto weightType = cast<RankedTensorType>(core->getOperand(1).getType());
  int64_t outputs = weightType.getDimSize(0);
  inner = weightType.getDimSize(1);
  tiles = chooseTiles(k.getContext(), outputs);
  k.setItems(tile::Count::One, 1,
             (outputs + tiles.outputs - 1) / tiles.outputs);
  xView = k.read(core->getOperand(0));
  wView = k.read(core->getOperand(1));
  if (core->getNumOperands() > 2)
    biasView = k.read(core->getOperand(2));
  first = k.mul(k.item(), tiles.outputs);
  // The last item may have fewer outputs.
  if (outputs % tiles.outputs != 0)
    columns = k.min(k.sub(k.index(outputs), first), k.index(tiles.outputs));
  accType = k.blockType(tiles.rows, tiles.outputs, tile::Role::Accumulator);
}

LogicalResult Product::emitRows(Value begin, Value end, bool firstPass) {
  OpBuilder &b = k.ops();
  OpBuilder::InsertionGuard guard(b);
  auto loop = scf::ForOp::create(b, k.loc(), begin, end, k.index(tiles.rows));
  b.setInsertionPointToStart(loop.getBody());
  Value row = loop.getInductionVar();
  Value rows =
      tiles.rows == 1 ? Value() : k.min(k.sub(end, row), k.index(tiles.rows));
  return finish(row, rows, multiply(row, rows, firstPass));
}

// The whole contraction in one step: partial sums then stay in registers from
// the first element to the last, on the host.
Value Product::multiply(Value row, Value rows, bool firstPass) {
  OpBuilder &b = k.ops();
  Value zero = tile::SplatOp::create(b, k.loc(), accType, k.scalar(0));
  auto pipeline = tile::PipelineOp::create(b, k.loc(), accType, /*stages=*/1,
                                           inner, inner, zero);
  OpBuilder::InsertionGuard guard(b);
  Block *load = b.createBlock(&pipeline.getLoad());
  Value at = load->addArgument(b.getIndexType(), k.loc());
  tile::TileType aType = k.blockType(tiles.rows, inner, tile::Role::Operand);
  tile::TileType wType = k.blockType(tiles.outputs, inner, tile::Role::Operand);
  Value a = k.load(xView, {row, at}, {tiles.rows, inner}, aType, rows);
  Value w = k.load(wView, {first, at}, {tiles.outputs, inner}, wType, columns);
  if (firstPass)
    k.fetchNext(w);
  tile::YieldOp::create(b, k.loc(), ValueRange{a, w});
  Block *compute = b.createBlock(&pipeline.getCompute());
  compute->addArguments({aType, wType, accType}, {k.loc(), k.loc(), k.loc()});
  Value sum =
      tile::DotOp::create(b, k.loc(), accType, compute->getArgument(2),
                          compute->getArgument(0), compute->getArgument(1),
                          /*transpose_a=*/false, /*transpose_b=*/true);
  tile::YieldOp::create(b, k.loc(), sum);
  return pipeline.getResult(0);
}

LogicalResult Product::finish(Value row, Value rows, Value y) {
  if (biasView) {
    Value bias = k.load(biasView, {first}, {tiles.outputs},
                        k.rowType(tiles.outputs), {}, columns);
    y = k.map(accType, {y, bias},
              [&](OpBuilder &builder, ValueRange e) -> Value {
                return arith::AddFOp::create(builder, k.loc(), e[0], e[1]);
              });
  }
  return k.finish(
      core->getResult(0), y,
      [&](Value tensor) {
        return k.load(k.read(tensor), {row, first}, {tiles.rows, tiles.outputs},
                      accType, rows, columns);
      },
      [&](unsigned result, Value tile) {
        k.store(tile, k.write(result), {row, first},
                {tiles.rows, tiles.outputs}, rows, columns);
      });
}

LogicalResult effc::buildDense(KernelBuilder &k) {
  Product product(k);
  Value zero = k.index(0);
  Value count = tile::CountOp::create(k.ops(), k.loc(), k.getContext().lead);
  if (!denseLoopsOverRows(k.getContext().entry))
    return product.emitRows(zero, count, /*firstPass=*/true);
  Value tile = k.index(product.tiles.rows);
  if (failed(product.emitRows(zero, k.min(count, tile), /*firstPass=*/true)))
    return failure();
  return product.emitRows(tile, count, /*firstPass=*/false);
}
