// What is done with the rows that each token chose: summed, or evaluated as
// experts. The rows are read where they lie, each once per token that chose it.
// Floor: bytes of the chosen rows.
#include "passes/kernel_facts/HostSizes.h"
#include "passes/kernel_facts/MethodSizes.h"
#include "passes/seq_to_tile/ScalarCode.h"
#include "passes/seq_to_tile/builders/Builders.h"
#include "passes/seq_to_tile/builders/dense/Contraction.h"

#include "dialects/storage/Panels.h"

using namespace mlir;
using namespace effc;

/// What an item computes of the outputs of an expert: whole panels of the host, whose
/// rows are digits then.
struct ExpertRun {
  int64_t size;
  storage::DigitsType digits;

  static ExpertRun of(KernelBuilder &k, Value table, int64_t outputs) {
    if (k.getContext().isInPanels(table))
      return {std::min<int64_t>(outputs, kHostPanelOutputs),
              k.getContext().digits};
    return {std::min(outputs, kExpertUnits), {}};
  }
};

static ArrayRef<int64_t> shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

namespace {
/// The last of some runs of `size` may be shorter than the others.
struct Run {
  Value first, limit; // limit null: all of them
};
} // namespace

static Run runOf(KernelBuilder &k, Value number, int64_t size, int64_t total) {
  Run run{k.mul(number, size), {}};
  if (total % size != 0)
    run.limit = k.min(k.sub(k.index(total), run.first), k.index(size));
  return run;
}

static Value zeros(KernelBuilder &k, int64_t columns) {
  return tile::SplatOp::create(k.ops(), k.loc(),
                               k.blockType(1, columns, tile::Role::Accumulator),
                               k.scalar(0));
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

LogicalResult effc::buildSumRows(KernelBuilder &k) {
  auto sum = cast<seq::SumRowsOp>(k.getRoot());
  int64_t count = shapeOf(sum.getRows())[1];
  int64_t channels = shapeOf(sum.getTable())[1];
  int64_t size = std::min(channels, kSummedChannels);
  int64_t runs = llvm::divideCeil(channels, size);
  k.setItems(k.getContext().lead, 1, runs);
  auto [row, number] = k.divide(k.item(), runs);
  Run run = runOf(k, number, size, channels);
  Value zero = k.index(0);
  OpBuilder &b = k.ops();
  Value weights = k.load(k.read(sum.getWeights()), {row, zero}, {1, count},
                         k.blockType(1, count, tile::Role::Operand));
  Value rows = tile::GatherRowsOp::create(
      b, k.loc(), k.blockType(count, size, tile::Role::Operand),
      k.read(sum.getTable()), run.first, k.read(sum.getRows()),
      ValueRange{row, zero}, /*rows=*/Value(), run.limit);
  Value acc = zeros(k, size);
  Value y = k.exactDot(acc, weights, rows);
  auto type = cast<tile::TileType>(acc.getType());
  SmallVector<int64_t> sizes = {1, size};
  return k.finish(
      sum.getY(), y,
      [&](Value tensor) {
        return k.load(k.read(tensor), {row, run.first}, sizes, type, {},
                      run.limit);
      },
      [&](unsigned result, Value tile) {
        k.store(tile, k.write(result), {row, run.first}, sizes, {}, run.limit);
      });
}

//===----------------------------------------------------------------------===//
// Hidden units
//===----------------------------------------------------------------------===//

// The hidden units from the dot products: f(sum) weight, f(weight sum), or
// f(sum) ups weight. `weight` is a scalar or as many as there are sums.
static Value activate(KernelBuilder &k, seq::ExpertHiddenOp op, Value sums,
                      Value weight, Value ups) {
  SmallVector<Value> inputs = {sums, weight};
  if (ups)
    inputs.push_back(ups);
  auto times = [&](OpBuilder &builder, Value x, Value y) -> Value {
    return arith::MulFOp::create(builder, k.loc(), x, y);
  };
  return k.map(cast<tile::TileType>(sums.getType()), inputs,
               [&](OpBuilder &builder, ValueRange e) -> Value {
                 auto f = [&](Value x) {
                   return emitNonlinearity(builder, k.loc(),
                                           op.getNonlinearity(), x);
                 };
                 if (op.getWeightInside())
                   return f(times(builder, e[1], e[0]));
                 Value y = f(e[0]);
                 if (ups)
                   y = times(builder, y, e[2]);
                 return times(builder, e[1], y);
               });
}

// Experts of one unit: an item takes some of the experts that a row chose.
static LogicalResult buildNeurons(KernelBuilder &k, seq::ExpertHiddenOp op) {
  int64_t count = shapeOf(op.getRows())[1], channels = shapeOf(op.getX())[1];
  int64_t size = std::min(count, kNeurons);
  int64_t runs = llvm::divideCeil(count, size);
  k.setItems(k.getContext().lead, 1, runs);
  auto [row, number] = k.divide(k.item(), runs);
  Run run = runOf(k, number, size, count);
  OpBuilder &b = k.ops();
  Value zero = k.index(0);
  auto type = k.blockType(1, size, tile::Role::Accumulator);
  Value xView = k.read(op.getX()), tableView = k.read(op.getTable()),
        rowsView = k.read(op.getRows());
  auto along = Contraction::of(k.getContext(), channels);
  Value sums = contract(k, along, zeros(k, size), [&](Value at) {
    Value x = k.load(xView, {row, at}, {1, along.step},
                     k.blockType(1, along.step, tile::Role::Operand));
    Value experts = tile::GatherRowsOp::create(
        b, k.loc(), k.blockType(size, along.step, tile::Role::Operand),
        tableView, at, rowsView, ValueRange{row, run.first}, run.limit,
        /*columns=*/Value());
    return std::pair<Value, Value>(x, experts);
  });
  Value weights = k.load(k.read(op.getWeights()), {row, run.first}, {1, size},
                         type, {}, run.limit);
  SmallVector<Value> at = {row, run.first, zero};
  SmallVector<int64_t> sizes = {1, size, 1};
  return k.finish(
      op.getHidden(), activate(k, op, sums, weights, /*ups=*/{}),
      [&](Value tensor) {
        return k.load(k.read(tensor), at, sizes, type, {}, run.limit);
      },
      [&](unsigned result, Value tile) {
        k.store(tile, k.write(result), at, sizes, {}, run.limit);
      });
}

// Experts of several units: an item takes some units of one of them.
static LogicalResult buildNetworks(KernelBuilder &k, seq::ExpertHiddenOp op) {
  int64_t count = shapeOf(op.getRows())[1], channels = shapeOf(op.getX())[1];
  int64_t units = shapeOf(op.getHidden())[2];
  auto [size, digits] = ExpertRun::of(k, op.getTable(), units);
  int64_t runs = llvm::divideCeil(units, size);
  k.setItems(k.getContext().lead, 1, count * runs);
  auto [row, rest] = k.divide(k.item(), count * runs);
  auto [choice, number] = k.divide(rest, runs);
  Run run = runOf(k, number, size, units);
  OpBuilder &b = k.ops();
  auto type = k.blockType(1, size, tile::Role::Accumulator);
  Value xView = k.read(op.getX()), tableView = k.read(op.getTable());
  Value expert =
      tile::ReadOp::create(b, k.loc(), b.getIndexType(), k.read(op.getRows()),
                           ValueRange{row, choice});
  Value weight =
      tile::ReadOp::create(b, k.loc(), b.getF32Type(), k.read(op.getWeights()),
                           ValueRange{row, choice});
  auto along = Contraction::of(k.getContext(), channels);
  auto dots = [&, size = size, digits = digits](int64_t skipped) {
    Value first = k.add(k.mul(expert, op.getRowsPerExpert()),
                        k.add(run.first, k.index(skipped)));
    auto load = [&](Value at) {
      return std::pair(
          k.load(xView, {row, at}, {1, along.step},
                 k.blockType(1, along.step, tile::Role::Operand)),
          k.load(tableView, {first, at}, {size, along.step},
                 k.blockType(size, along.step, tile::Role::Operand),
                 run.limit));
    };
    return contract(k, along, zeros(k, size), load, digits);
  };
  Value sums = dots(0);
  Value ups = op.getGated() ? dots(units) : Value();
  SmallVector<Value> at = {row, choice, run.first};
  SmallVector<int64_t> sizes = {1, 1, size};
  return k.finish(
      op.getHidden(), activate(k, op, sums, weight, ups),
      [&](Value tensor) {
        return k.load(k.read(tensor), at, sizes, type, {}, run.limit);
      },
      [&](unsigned result, Value tile) {
        k.store(tile, k.write(result), at, sizes, {}, run.limit);
      });
}

LogicalResult effc::buildExpertHidden(KernelBuilder &k) {
  auto op = cast<seq::ExpertHiddenOp>(k.getRoot());
  bool single = shapeOf(op.getHidden())[2] == 1 && !op.getGated();
  return single ? buildNeurons(k, op) : buildNetworks(k, op);
}

//===----------------------------------------------------------------------===//
// Outputs
//===----------------------------------------------------------------------===//

LogicalResult effc::buildExpertOutput(KernelBuilder &k) {
  auto op = cast<seq::ExpertOutputOp>(k.getRoot());
  int64_t count = shapeOf(op.getRows())[1], units = shapeOf(op.getTable())[1];
  int64_t outputs = shapeOf(op.getY())[1];
  auto [size, digits] = ExpertRun::of(k, op.getTable(), outputs);
  int64_t runs = llvm::divideCeil(outputs, size);
  k.setItems(k.getContext().lead, 1, runs);
  auto [row, number] = k.divide(k.item(), runs);
  Run run = runOf(k, number, size, outputs);
  OpBuilder &b = k.ops();
  Value zero = k.index(0);
  Value hiddenView = k.read(op.getHidden()), rowsView = k.read(op.getRows()),
        tableView = k.read(op.getTable());
  auto type = k.blockType(1, size, tile::Role::Accumulator);
  auto along = Contraction::of(k.getContext(), units);
  auto loop = scf::ForOp::create(b, k.loc(), zero, k.index(count), k.index(1),
                                 zeros(k, size));
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value choice = loop.getInductionVar();
    Value expert = tile::ReadOp::create(b, k.loc(), b.getIndexType(), rowsView,
                                        ValueRange{row, choice});
    Value first = k.add(k.mul(expert, outputs), run.first);
    auto load = [&, size = size](Value at) {
      return std::pair(
          k.load(hiddenView, {row, choice, at}, {1, 1, along.step},
                 k.blockType(1, along.step, tile::Role::Operand)),
          k.load(tableView, {first, at}, {size, along.step},
                 k.blockType(size, along.step, tile::Role::Operand),
                 run.limit));
    };
    Value sums = contract(k, along, loop.getRegionIterArg(0), load, digits);
    scf::YieldOp::create(b, k.loc(), sums);
  }
  SmallVector<int64_t> sizes = {1, size};
  return k.finish(
      op.getY(), loop.getResult(0),
      [&](Value tensor) {
        return k.load(k.read(tensor), {row, run.first}, sizes, type, {},
                      run.limit);
      },
      [&](unsigned result, Value tile) {
        k.store(tile, k.write(result), {row, run.first}, sizes, {}, run.limit);
      });
}
