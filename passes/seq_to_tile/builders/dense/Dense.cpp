// y = x w^T (+ bias), followed by elementwise ops.
//
// Product keys are several such products, each of some channels of x with a
// part of the keys, and so are matrices of blocks of channels; an item belongs
// to one of them.
//
// On the host an item computes `N` outputs of all rows: its N rows of the
// weight are read once per call, in storage dtype, while the rows of x, which
// all items share, stay in cache. On a GPU it computes them of a tile of rows,
// and both operands pass through shared memory, fetched ahead; a single row is
// no matrix: threads multiply and add what they read of the weight, and need no
// more than many of them to keep memory busy. Floor: bytes of w for few rows,
// 2 R N K FLOPs for many.
//
// A single row may be normed on the way: y = f (x g) w^T with the factor f of
// its squares, which every item sums up beside its products. Its outputs may go
// into states that are kept of them (OutputUpdates.h).
//
// Where only the largest output of a row is wanted (seq.best), an item keeps
// the largest of its own and writes no output.
#include "passes/kernel_facts/SingleRows.h"
#include "passes/seq_to_tile/ScalarCode.h"
#include "passes/seq_to_tile/builders/Builders.h"
#include "passes/seq_to_tile/builders/dense/Best.h"
#include "passes/seq_to_tile/builders/dense/Contraction.h"
#include "passes/seq_to_tile/builders/dense/DepthParts.h"
#include "passes/seq_to_tile/builders/dense/Draw.h"
#include "passes/seq_to_tile/builders/dense/OutputUpdates.h"

#include "dialects/tile/Distribution.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/Support/MathExtras.h"

#include <optional>
#include <utility>

using namespace mlir;
using namespace effc;

// Whether only the largest of a row's outputs is wanted.
static bool endsInChoice(KernelBuilder &k) {
  return !k.getSourceBody().getOps<seq::BestOp>().empty();
}

namespace {
/// A norm of the whole row, which a product with a single row takes in: its
/// factor is the same for all channels, so it comes to the sums at the end.
struct NormOfRow {
  Value x, gate, weight; ///< gate: null without
  double eps;

  static std::optional<NormOfRow> of(Value x) {
    auto norm = x.getDefiningOp<seq::RowNormOpInterface>();
    if (!norm)
      return std::nullopt;
    return NormOfRow{norm.getX(), norm.getGate(), norm.getWeight(),
                     norm.getEps().convertToDouble()};
  }
};

/// Where a product's operands begin, null for at 0, and its outputs go.
struct Part {
  Value xColumn, weightRow, weightColumn;
  SmallVector<Value> block;  ///< the dimension of blocks in x, weight and bias
  SmallVector<Value> output; ///< indices after the row and before the column
};

/// A box of a view: where it begins, and its sizes.
struct Box {
  SmallVector<Value> at;
  SmallVector<int64_t> sizes;

  void add(ValueRange indices, int64_t size) {
    llvm::append_range(at, indices);
    sizes.append(indices.size(), size);
  }
};

/// A product as one item computes it: a tile of outputs, of rows after rows.
class Product {
public:
  explicit Product(KernelBuilder &k);

  /// Computes and stores the item's tile of `count` rows.
  LogicalResult emitTile(Value count);
  /// Computes and stores rows [begin, end), a tile at a time. `firstPass` says
  /// that these rows are the first to meet the item's weights.
  LogicalResult emitRows(Value begin, Value end, bool firstPass);

  /// Whether the kernel asks for what only rows have that are taken one by one; for a
  /// norm, what a single one has.
  bool isUncovered() const {
    return singleStep == 0 ? norm || !updates.isEmpty()
                           : tiles.rows > 1 && norm;
  }
  bool hasNorm() const { return norm.has_value(); }
  /// Whether it asks for what has no code; a diagnostic says for what.
  bool isBroken() const { return updates.isBroken(); }

  DenseTile tiles;
  Value tileNumber; // of the item's rows; null: it has all rows

private:
  void placePart(Value number, seq::KeyScoresOp op);
  Value multiply(Value row, Value rows, bool firstPass);
  Value multiplySingleRow(Value row);
  Value multiplyNormedRow(Value row);
  Value addProducts(Value sum, Value w, Value x);
  /// Sums of a step, of each output so many that a thread adds up a few neighbours.
  tile::TileType sumsOfStep();
  Value sumOverThreads(Value sum);
  SmallVector<Value> multiplyRows(ArrayRef<Value> rows);
  LogicalResult emitRowByRow(Value row, Value count);
  Box boxOfX(Value row, Value at, int64_t step);
  Box boxOfWeight(Value at, int64_t step);
  LogicalResult finish(Value row, Value rows, Value y, size_t number = 0);
  void setFirst(Value output);
  LogicalResult chooseOverRuns(Value row);
  void keepBest(Value row, Value rows, Best best);

  KernelBuilder &k;
  Operation *root;
  int64_t inner, outputs;
  int64_t singleStep; // of rows one by one; 0: they are a matrix
  bool isShort;       // of items, which take longer steps
  Part part;
  std::optional<NormOfRow> norm; // of x, where the kernel has it
  OutputUpdates updates;
  Value xView, gateView, normView, wView, biasView;
  Value first, columns; // first output; how many there are, null: all
  tile::TileType accType;
  std::optional<ChoiceItems> choice; // where only the largest output is wanted
  Value choiceItem;                  // of the items of a row
  Value depthPart;    // of the terms, which the item has; null: it has all
  Value outputsOfRun; // the last tile of them
};
} // namespace

Product::Product(KernelBuilder &k)
    : tiles(k.getContext().sizes.dense), k(k), root(k.getRoot()),
      inner(DenseShape::of(root).inner), outputs(DenseShape::of(root).outputs),
      singleStep(tiles.singleRowStep),
      updates(k, outputs, tiles.outputs, tiles.rows) {
  auto keyScores = dyn_cast<seq::KeyScoresOp>(root);
  bool isBlocks =
      cast<RankedTensorType>(root->getOperand(1).getType()).getRank() == 3;
  int64_t parts = DenseShape::of(root).parts;
  int64_t runs = updates.isEmpty() ? llvm::divideCeil(outputs, tiles.outputs)
                                   : updates.getRuns();
  if (endsInChoice(k)) {
    choice = ChoiceItems::of(root, k.getContext());
    runs = choice->count;
  }
  // Where cores have no items, those that there are wait for each step.
  isShort = tiles.rows <= tile::kPieceRows &&
            tiles.depthParts * parts * runs < k.getContext().cores();
  Value item = k.item();
  if (k.isGpu()) {
    int64_t items = tiles.depthParts * parts * runs;
    k.setItems(k.getContext().lead, tiles.rows, items);
    std::tie(tileNumber, item) = k.divide(item, items);
    if (tiles.depthParts > 1)
      std::tie(depthPart, item) = k.divide(item, parts * runs);
  } else {
    k.setItems(tile::Count::One, 1, parts * runs);
  }
  norm = NormOfRow::of(root->getOperand(0));
  xView = k.read(norm ? norm->x : root->getOperand(0));
  if (norm && norm->gate)
    gateView = k.read(norm->gate);
  if (norm)
    normView = k.read(norm->weight);
  wView = k.read(root->getOperand(1));
  if (root->getNumOperands() > 2 && tiles.depthParts == 1)
    biasView = k.read(root->getOperand(2));
  Value run = item;
  if (keyScores || isBlocks) {
    auto [number, rest] = k.divide(item, runs);
    run = rest;
    if (keyScores)
      placePart(number, keyScores);
    else
      part.block = part.output = {number};
  }
  choiceItem = run;
  if (updates.isEmpty())
    setFirst(k.mul(run, (choice ? choice->runsPerItem : 1) * tiles.outputs));
  else
    std::tie(first, columns) = updates.begin(run);
  // The sums along the rows of a weight are a column.
  accType = singleStep > 0 ? k.columnType(tiles.outputs)
                           : k.blockType(tiles.rows, tiles.outputs,
                                         tile::Role::Accumulator);
}

void Product::setFirst(Value output) {
  first = output;
  // The last run may have fewer outputs.
  if (outputs % tiles.outputs != 0)
    columns = k.min(k.sub(k.index(outputs), first), k.index(tiles.outputs));
}

// Part `number` is a head of a half, half after half. Places are linear in
// both.
void Product::placePart(Value number, seq::KeyScoresOp op) {
  auto [half, head] = k.divide(number, op.getHeads());
  seq::KeyScoresOp::Part ofHalf = op.getPart(1, 0), ofHead = op.getPart(0, 1);
  auto at = [&, half = half, head = head](int64_t perHalf, int64_t perHead) {
    return k.add(k.mul(half, perHalf), k.mul(head, perHead));
  };
  part = {at(ofHalf.queryChannel, ofHead.queryChannel),
          at(ofHalf.keyRow, ofHead.keyRow),
          at(ofHalf.keyChannel, ofHead.keyChannel),
          {},
          {half, head}};
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

LogicalResult Product::emitTile(Value count) {
  Value row = k.mul(tileNumber, tiles.rows);
  if (choice && choice->runsPerItem > 1)
    return chooseOverRuns(row);
  if (singleStep > 0 && tiles.rows > 1)
    return emitRowByRow(row, count);
  if (singleStep > 0)
    return finish(row, {}, multiplySingleRow(row));
  Value rows = k.min(k.sub(count, row), k.index(tiles.rows));
  return finish(row, rows, multiply(row, rows, /*firstPass=*/false));
}

// The rows from `row` on, of which a call has one at least. Those that it does not
// have are the last one's numbers again, and nothing is stored of them.
LogicalResult Product::emitRowByRow(Value row, Value count) {
  Value last = k.sub(count, k.index(1));
  SmallVector<Value> rows = {row};
  for (int64_t i = 1; i < tiles.rows; ++i)
    rows.push_back(k.min(k.add(row, k.index(i)), last));
  for (auto [i, y] : llvm::enumerate(multiplyRows(rows))) {
    LogicalResult done = success();
    Value isThere = k.compare(arith::CmpIPredicate::slt,
                              k.add(row, k.index(int64_t(i))), count);
    k.when(isThere, [&] { done = finish(rows[i], {}, y, i); });
    if (failed(done))
      return failure();
  }
  return success();
}

// The product with each of the item's runs of outputs, as every other product
// with a single row computes it: by its bits a choice is that of the logits.
// What is best at each place of a run is kept; the places meet at the end.
LogicalResult Product::chooseOverRuns(Value row) {
  OpBuilder &b = k.ops();
  Value end = k.min(k.add(first, k.index(choice->runsPerItem * tiles.outputs)),
                    k.index(outputs));
  Best none = noBest(k);
  auto everywhere = [&](Value number) -> Value {
    return tile::SplatOp::create(b, k.loc(), accType, number);
  };
  auto loop = scf::ForOp::create(
      b, k.loc(), first, end, k.index(tiles.outputs),
      ValueRange{everywhere(none.value), everywhere(none.number)});
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    setFirst(loop.getInductionVar());
    if (failed(finish(row, {}, multiplySingleRow(row))))
      return failure();
    Best best =
        bestOfPlaces(k, {loop.getRegionIterArg(0), loop.getRegionIterArg(1)},
                     outputsOfRun, first, columns);
    scf::YieldOp::create(b, k.loc(), ValueRange{best.value, best.number});
  }
  keepBest(row, {}, bestOf(k, {loop.getResult(0), loop.getResult(1)}));
  return success();
}

// What the item has found, a column with one of each row or a single one, goes
// to the memory between the launches.
void Product::keepBest(Value row, Value rows, Best best) {
  Value memory = choiceMemory(k, *choice, /*written=*/true);
  for (int64_t half : {0, 1}) {
    Value kept = half == 0 ? best.value : best.number;
    if (!isa<tile::TileType>(kept.getType()))
      kept = tile::SplatOp::create(k.ops(), k.loc(), k.rowType(1), kept);
    k.store(kept, memory, {row, k.index(half), choiceItem}, {tiles.rows, 1, 1},
            rows);
  }
}

static Value from(KernelBuilder &k, Value begin, Value index) {
  return begin ? k.add(begin, index) : index;
}

Box Product::boxOfX(Value row, Value at, int64_t step) {
  Box box;
  box.add(row, singleStep > 0 ? 1 : tiles.rows);
  box.add(part.block, 1);
  box.add(from(k, part.xColumn, at), step);
  return box;
}

Box Product::boxOfWeight(Value at, int64_t step) {
  Box box;
  box.add(part.block, 1);
  box.add(from(k, part.weightRow, first), tiles.outputs);
  box.add(from(k, part.weightColumn, at), step);
  return box;
}

static Type storedAs(Value view) {
  return cast<tile::ViewType>(view.getType()).getElementType();
}

Value Product::multiply(Value row, Value rows, bool firstPass) {
  StoredOperands stored = {storedAs(xView), storedAs(wView)};
  int64_t terms = inner / tiles.depthParts;
  auto contraction = isShort
                         ? Contraction::ofFewRows(k.getContext(), terms, stored)
                         : Contraction::of(k.getContext(), terms, stored);
  Value zero = tile::SplatOp::create(k.ops(), k.loc(), accType, k.scalar(0));
  tile::TileType aType =
      k.blockType(tiles.rows, contraction.step, tile::Role::Operand);
  tile::TileType wType =
      k.blockType(tiles.outputs, contraction.step, tile::Role::Operand);
  contraction.stages += tiles.furtherStages;
  Value start = depthPart ? k.mul(depthPart, terms) : Value();
  storage::DigitsType digits;
  if (k.getContext().isInPanels(root->getOperand(1)))
    digits = k.getContext().digits;
  auto load = [&](Value place) {
    Value at = from(k, start, place);
    Box ofX = boxOfX(row, at, contraction.step),
        ofWeight = boxOfWeight(at, contraction.step);
    Value a = k.load(xView, ofX.at, ofX.sizes, aType, rows);
    Value w = k.load(wView, ofWeight.at, ofWeight.sizes, wType, columns);
    if (firstPass)
      k.fetchNext(w);
    return std::pair(a, w);
  };
  return contract(k, contraction, zero, load, digits);
}

Value Product::multiplySingleRow(Value row) {
  return norm ? multiplyNormedRow(row) : multiplyRows(row).front();
}

// Of a weight whose codes come eight at once: as many sums as threads have elements would
// take the registers of blocks that a core could have besides.
tile::TileType Product::sumsOfStep() {
  int64_t run = tile::widestRun(storedAs(wView));
  bool inRuns = run > tile::kUsualRun && singleStep % run == 0;
  return k.blockType(tiles.outputs, singleStep / (inRuns ? run : 1),
                     tile::Role::Accumulator);
}

// Where each thread adds up its own part.
Value Product::addProducts(Value sum, Value w, Value x) {
  if (sum.getType() != w.getType())
    return tile::DotRunsOp::create(k.ops(), k.loc(), sum, w, x);
  return k.map(cast<tile::TileType>(sum.getType()), {sum, w, x},
               [&](OpBuilder &inside, ValueRange e) -> Value {
                 return math::FmaOp::create(inside, k.loc(), e[1], e[2], e[0]);
               });
}

Value Product::sumOverThreads(Value sum) {
  return tile::ReduceOp::create(k.ops(), k.loc(), accType,
                                tile::ReduceKind::Add, sum,
                                /*over_rows=*/false);
}

// Each thread adds up its own part of every output of every row, over all steps,
// before the threads add up theirs: of the weight it reads each element once.
SmallVector<Value> Product::multiplyRows(ArrayRef<Value> rows) {
  OpBuilder &b = k.ops();
  tile::TileType wType =
      k.blockType(tiles.outputs, singleStep, tile::Role::Accumulator);
  SmallVector<Value> inits(
      rows.size(),
      tile::SplatOp::create(b, k.loc(), sumsOfStep(), k.scalar(0)));
  auto loop = scf::ForOp::create(b, k.loc(), k.index(0), k.index(inner),
                                 k.index(singleStep), inits);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value at = loop.getInductionVar();
    Box ofWeight = boxOfWeight(at, singleStep);
    Value w = k.load(wView, ofWeight.at, ofWeight.sizes, wType, columns);
    SmallVector<Value> sums;
    for (auto [row, sum] : llvm::zip_equal(rows, loop.getRegionIterArgs())) {
      Box ofX = boxOfX(row, at, singleStep);
      Value x = k.load(xView, ofX.at, ofX.sizes, k.rowType(singleStep));
      sums.push_back(addProducts(sum, w, x));
    }
    scf::YieldOp::create(b, k.loc(), sums);
  }
  SmallVector<Value> results;
  for (Value sum : loop.getResults())
    results.push_back(sumOverThreads(sum));
  return results;
}

// The same of a row that is normed, whose squares are summed up beside.
Value Product::multiplyNormedRow(Value row) {
  OpBuilder &b = k.ops();
  tile::TileType wType =
      k.blockType(tiles.outputs, singleStep, tile::Role::Accumulator);
  tile::TileType xType = k.rowType(singleStep);
  auto zero = [&](tile::TileType type) -> Value {
    return tile::SplatOp::create(b, k.loc(), type, k.scalar(0));
  };
  auto loop = scf::ForOp::create(b, k.loc(), k.index(0), k.index(inner),
                                 k.index(singleStep),
                                 ValueRange{zero(sumsOfStep()), zero(xType)});
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value at = loop.getInductionVar();
    Box ofX = boxOfX(row, at, singleStep),
        ofWeight = boxOfWeight(at, singleStep);
    Value w = k.load(wView, ofWeight.at, ofWeight.sizes, wType, columns);
    Value x = k.load(xView, ofX.at, ofX.sizes, xType);
    Value scale = k.load(normView, {at}, {singleStep}, xType);
    if (gateView)
      x = k.map(xType, {x, k.load(gateView, ofX.at, ofX.sizes, xType)},
                [&](OpBuilder &inside, ValueRange e) -> Value {
                  return arith::MulFOp::create(inside, k.loc(), e[0],
                                               emitSilu(inside, k.loc(), e[1]));
                });
    Value squares =
        k.map(xType, {loop.getRegionIterArg(1), x},
              [&](OpBuilder &inside, ValueRange e) -> Value {
                return math::FmaOp::create(inside, k.loc(), e[1], e[1], e[0]);
              });
    x = k.map(xType, {x, scale}, [&](OpBuilder &inside, ValueRange e) -> Value {
      return arith::MulFOp::create(inside, k.loc(), e[0], e[1]);
    });
    Value sum = addProducts(loop.getRegionIterArg(0), w, x);
    scf::YieldOp::create(b, k.loc(), ValueRange{sum, squares});
  }
  Value y = sumOverThreads(loop.getResult(0));
  Value squares = tile::ReduceOp::create(
      b, k.loc(), b.getF32Type(), tile::ReduceKind::Add, loop.getResult(1),
      /*over_rows=*/false);
  Value mean = arith::DivFOp::create(b, k.loc(), squares,
                                     k.scalar(static_cast<double>(inner)));
  Value rootMeanSquare = math::SqrtOp::create(
      b, k.loc(), arith::AddFOp::create(b, k.loc(), mean, k.scalar(norm->eps)));
  Value factor = arith::DivFOp::create(b, k.loc(), k.scalar(1), rootMeanSquare);
  return k.map(accType, {y, factor},
               [&](OpBuilder &inside, ValueRange e) -> Value {
                 return arith::MulFOp::create(inside, k.loc(), e[0], e[1]);
               });
}

// `number` is the row's among those that are taken one by one.
LogicalResult Product::finish(Value row, Value rows, Value y, size_t number) {
  if (depthPart) {
    k.store(y, sumsOfParts(k, outputs, /*written=*/true),
            {row, depthPart, first}, {tiles.rows, 1, tiles.outputs}, rows,
            columns);
    return success();
  }
  // Limits of tiles of outputs, which are the rows of a column.
  Value columnLimit = columns, biasRows, rowsOfItem = rows;
  tile::TileType biasType = k.rowType(tiles.outputs);
  if (singleStep > 0) {
    biasType = accType;
    biasRows = rows = std::exchange(columnLimit, Value());
  }
  if (biasView) {
    Box box;
    box.add(part.block, 1);
    box.add(first, tiles.outputs);
    Value bias =
        k.load(biasView, box.at, box.sizes, biasType, biasRows, columnLimit);
    y = k.map(accType, {y, bias},
              [&](OpBuilder &builder, ValueRange e) -> Value {
                return arith::AddFOp::create(builder, k.loc(), e[0], e[1]);
              });
  }
  Box box;
  box.add(row, singleStep > 0 ? 1 : tiles.rows);
  box.add(part.output, 1);
  box.add(first, tiles.outputs);
  Value result = root->getResult(0);
  if (!updates.isEmpty()) {
    auto whole = updates.finish(number, row, y);
    if (!whole)
      return success();
    std::tie(result, y) = *whole;
  }
  return k.finish(
      result, y,
      [&](Value tensor) {
        return k.load(k.read(tensor), box.at, box.sizes, accType, rows,
                      columnLimit);
      },
      [&](unsigned result, Value tile) {
        if (!choice)
          return k.store(tile, k.write(result), box.at, box.sizes, rows,
                         columnLimit);
        outputsOfRun = DrawWords::read(k, row, tiles.rows, rowsOfItem)
                           .addNoise(k, tile, first);
        if (choice->runsPerItem == 1)
          keepBest(row, rowsOfItem, bestOf(k, outputsOfRun, first, columns));
      });
}

LogicalResult effc::buildDense(KernelBuilder &k) {
  Product product(k);
  if (product.isUncovered())
    return k.getRoot()->emitOpError()
           << "shares its kernel with "
           << (product.hasNorm()
                   ? "a norm, which only a single row on a GPU does"
                   : "what keeps a state, which only rows do that a GPU takes "
                     "one by one")
           << ", and whose bits need not be stable";
  if (product.isBroken())
    return failure();
  Value zero = k.index(0);
  Value count = tile::CountOp::create(k.ops(), k.loc(), k.getContext().lead);
  if (product.tileNumber)
    return product.emitTile(count);
  if (!product.tiles.passesRows)
    return product.emitRows(zero, count, /*firstPass=*/true);
  Value tile = k.index(product.tiles.rows);
  if (failed(product.emitRows(zero, k.min(count, tile), /*firstPass=*/true)))
    return failure();
  return product.emitRows(tile, count, /*firstPass=*/false);
}
