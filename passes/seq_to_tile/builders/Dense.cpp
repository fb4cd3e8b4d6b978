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

int64_t effc::denseRows(seq::EntryAttr entry) {
  return std::min<int64_t>(entry.getRows(), 4);
}

// A decode call has as many rows as its entry; a prefill call takes them four
// at a time. Few outputs per item keep its weights close to the core while the
// rows pass by; with few rows nothing passes, and longer items cost less.
static DenseTiles chooseTiles(const KernelContext &context, int64_t outputs) {
  bool decode = context.entry.getKind() == seq::EntryKind::Decode;
  return {denseRows(context.entry),
          std::min<int64_t>(outputs, decode ? 24 : 12)};
}

LogicalResult effc::buildDense(KernelBuilder &k) {
  Operation *core = k.getCore();
  Value x = core->getOperand(0), weight = core->getOperand(1);
  Value bias = core->getNumOperands() > 2 ? core->getOperand(2) : Value();
  auto weightType = cast<RankedTensorType>(weight.getType());
  int64_t outputs = weightType.getDimSize(0), inner = weightType.getDimSize(1);
  DenseTiles tiles = chooseTiles(k.getContext(), outputs);
  k.setItems(tile::Count::One, 1,
             (outputs + tiles.outputs - 1) / tiles.outputs);

  Value xView = k.read(x), wView = k.read(weight);
  Value biasView = bias ? k.read(bias) : Value();
  Value first = k.mul(k.item(), tiles.outputs);
  // The last item may have fewer outputs.
  Value columns =
      outputs % tiles.outputs == 0
          ? Value()
          : k.min(k.sub(k.index(outputs), first), k.index(tiles.outputs));
  OpBuilder &b = k.ops();
  Value count = tile::CountOp::create(b, k.loc(), k.getContext().lead);
  auto loop =
      scf::ForOp::create(b, k.loc(), k.index(0), count, k.index(tiles.rows));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value row = loop.getInductionVar();
  Value rows =
      tiles.rows == 1 ? Value() : k.min(k.sub(count, row), k.index(tiles.rows));

  tile::TileType accType =
      k.blockType(tiles.rows, tiles.outputs, tile::Role::Accumulator);
  Value zero = tile::SplatOp::create(b, k.loc(), accType, k.scalar(0));
  // The whole contraction in one step: partial sums then stay in registers from
  // the first element to the last, on the host.
  auto pipeline = tile::PipelineOp::create(b, k.loc(), accType, /*stages=*/1,
                                           inner, inner, zero);
  {
    OpBuilder::InsertionGuard inLoad(b);
    Block *load = b.createBlock(&pipeline.getLoad());
    Value at = load->addArgument(b.getIndexType(), k.loc());
    tile::TileType aType = k.blockType(tiles.rows, inner, tile::Role::Operand);
    tile::TileType wType =
        k.blockType(tiles.outputs, inner, tile::Role::Operand);
    Value a = k.load(xView, {row, at}, {tiles.rows, inner}, aType, rows);
    Value w =
        k.load(wView, {first, at}, {tiles.outputs, inner}, wType, columns);
    tile::YieldOp::create(b, k.loc(), ValueRange{a, w});
    Block *compute = b.createBlock(&pipeline.getCompute());
    compute->addArguments({aType, wType, accType}, {k.loc(), k.loc(), k.loc()});
    Value sum =
        tile::DotOp::create(b, k.loc(), accType, compute->getArgument(2),
                            compute->getArgument(0), compute->getArgument(1),
                            /*transpose_a=*/false, /*transpose_b=*/true);
    tile::YieldOp::create(b, k.loc(), sum);
  }
  Value y = pipeline.getResult(0);
  if (bias) {
    Value biasRow = k.load(biasView, {first}, {tiles.outputs},
                           k.rowType(tiles.outputs), {}, columns);
    y = k.map(accType, {y, biasRow},
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
