// Tile products as register-blocked loops.
//
// Two loop nests cover all transpositions. When both operands run contiguously
// along the contracted dimension (x . w^T, the dense product), lanes run along
// it: each element of the result has its own vector of partial sums, which a
// fixed tree folds at the end, those of neighbours in the same instructions.
// Otherwise lanes run along the result's columns and the left operand's elements
// are broadcast. Either way an element's additions depend on the contracted
// length alone, never on the row count, so a row's bits are the same in every
// batch.
#include "codegen/host/Lowerings.h"
#include "codegen/host/PairDots.h"
#include "codegen/storage/Unpack.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;
using namespace effc;
using namespace effc::tile;

namespace effc::host {

// Elements of blocks that an iteration takes at least, so that it is worth its requests
// for the next rows, and at most, since it is unrolled.
static constexpr int64_t kBlockRun = 128, kMostBlockRun = 256;

// Elements of a row beside which it costs little to fold its sums by themselves.
static constexpr int64_t kLongRow = 512;

namespace {

/// One product and the loops around its register block.
class Product {
public:
  Product(OpBuilder &b, Location loc, Memory &memory)
      : b(b), loc(loc), memory(memory), pairs(b, loc, memory) {}

  Place a, c, acc, result; // without `acc.first`: `init` everywhere
  Value init;
  int64_t m = 0, n = 0, k = 0;
  bool transposeA = false;
  bool inPairs = false; // rounded to bf16, along the contraction

  void alongContraction();
  void alongColumns();

private:
  Value fma(Value x, Value y, Value z) {
    return vector::FMAOp::create(b, loc, x, y, z);
  }
  /// Terms of the contraction for one addition to a register block's sums.
  Value loadTerms(const stored::ElementPlace &row, Type element, Value offset,
                  int64_t valid);
  Value addTerms(Value sum, Value left, Value right) {
    return inPairs ? pairs.add(sum, left, right) : fma(left, right, sum);
  }
  void dotBlock(Value row, int64_t rows, Value column, int64_t columns);
  void foldSums(Value row, int64_t rows, Value column, int64_t columns,
                ArrayRef<Value> sums);
  /// Stores a run of a row, after what the accumulator has there.
  void addTo(Value row, Value column, Value sums);
  void broadcastBlock(Value row, int64_t rows, Value column, int64_t lanes,
                      int64_t valid);

  OpBuilder &b;
  Location loc;
  Memory &memory;
  PairDots pairs;
};

Value Product::loadTerms(const stored::ElementPlace &row, Type element,
                         Value offset, int64_t valid) {
  stored::ElementPlace place = memory.further(row, element, offset);
  return inPairs ? pairs.load(place, element, valid)
                 : memory.loadAt(place, element, memory.shape.lanes, valid);
}

// rows x columns vectors of partial sums.
void Product::alongContraction() {
  storage::Storage storage = storage::Storage::get(c.element);
  int64_t rows = std::min<int64_t>(m, 4);
  int64_t columns = memory.shape.contractionColumns(rows);
  if (storage.block())
    columns = memory.shape.unpackedColumns(rows);
  else if (c.fetchNext && rows == 1 && k >= kLongRow &&
           memory.shape.takesOneColumn(
               storage.bytes(inPairs ? pairs.terms() : memory.shape.lanes)))
    columns = 1;
  memory.tiled(m, rows, [&](Value row, int64_t rowCount) {
    memory.tiled(n, columns, [&](Value column, int64_t columnCount) {
      dotBlock(row, rowCount, column, columnCount);
    });
  });
}

void Product::dotBlock(Value row, int64_t rows, Value column, int64_t columns) {
  const int64_t lanes = memory.shape.lanes;
  const int64_t terms = inPairs ? pairs.terms() : lanes;
  Value zero = memory.constant(0);
  SmallVector<stored::ElementPlace> aRows, cRows;
  for (int64_t i = 0; i < rows; ++i)
    aRows.push_back(memory.at(a, memory.add(row, i), zero));
  for (int64_t j = 0; j < columns; ++j)
    cRows.push_back(memory.at(c, memory.add(column, j), zero));
  // Terms from `offset` on, which in c's rows lie `further` behind `from`.
  auto step = [&](Value offset, ArrayRef<stored::ElementPlace> from,
                  int64_t further, int64_t valid, SmallVector<Value> sums) {
    SmallVector<Value> right;
    for (const stored::ElementPlace &start : from)
      right.push_back(
          loadTerms(start, c.element, memory.constant(further), valid));
    for (int64_t i = 0; i < rows; ++i) {
      Value left = loadTerms(aRows[i], a.element, offset, valid);
      for (int64_t j = 0; j < columns; ++j)
        sums[i * columns + j] = addTerms(sums[i * columns + j], left, right[j]);
    }
    return sums;
  };
  SmallVector<Value> sums(rows * columns,
                          memory.broadcast(memory.constantF32(0), lanes));
  // An iteration takes a cache line of each of c's rows, or whole blocks, so that one
  // request for the next rows goes with it, and blocks have their addresses once.
  storage::Storage storage = storage::Storage::get(c.element);
  int64_t run = terms, elements = storage.blockElements();
  if (storage.block()) {
    int64_t blocks = std::lcm(elements, terms);
    if (blocks <= kMostBlockRun)
      run = blocks * std::max<int64_t>(1, kBlockRun / blocks);
  } else if (c.fetchNext) {
    run = llvm::alignTo(kLineBytes / storage.blockBytes(), terms);
  }
  int64_t blockBytes =
      std::max(columns * storage.bytes(c.rowStride), kLineBytes);
  int64_t ahead =
      blockBytes * std::max<int64_t>(1, kFetchAheadBytes / blockBytes);
  int64_t main = k / run * run;
  if (main > 0) {
    auto loop = scf::ForOp::create(b, loc, zero, memory.constant(main),
                                   memory.constant(run), sums);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    sums = SmallVector<Value>(loop.getRegionIterArgs());
    SmallVector<stored::ElementPlace> from;
    for (const stored::ElementPlace &start : cRows) {
      from.push_back(memory.further(start, c.element, loop.getInductionVar()));
      if (storage.block() && from.back().divisor % elements == 0)
        from.back() = stored::blockPlace(b, loc, from.back(), c.element);
      for (int64_t line = 0; c.fetchNext && line < storage.bytes(run);
           line += kLineBytes)
        memory.prefetch(from.back(), c.element, ahead + line);
    }
    for (int64_t i = 0; i < run; i += terms)
      sums = step(memory.add(loop.getInductionVar(), i), from, i, terms, sums);
    scf::YieldOp::create(b, loc, sums);
    sums = SmallVector<Value>(loop.getResults());
  }
  for (int64_t i = main; i < k; i += terms)
    sums = step(memory.constant(i), cRows, i, std::min(terms, k - i), sums);
  foldSums(row, rows, column, columns, sums);
}

// As many neighbours of all rows as one vector has lanes for are folded together.
void Product::foldSums(Value row, int64_t rows, Value column, int64_t columns,
                       ArrayRef<Value> sums) {
  int64_t lanes = memory.shape.lanes;
  bool together = llvm::isPowerOf2_64(rows) && rows <= lanes;
  for (int64_t j = 0, width = 0; j < columns; j += width) {
    width = std::min<int64_t>(llvm::bit_floor<uint64_t>(columns - j),
                              together ? lanes / rows : lanes);
    Value col = memory.add(column, j);
    SmallVector<Value> block;
    for (int64_t i = 0; i < rows; ++i) {
      llvm::append_range(block, sums.slice(i * columns + j, width));
      if (together && i + 1 < rows)
        continue;
      Value folded = memory.sumLanes(block);
      int64_t count = int64_t(block.size()) / width;
      for (int64_t of = 0; of < count; ++of)
        addTo(memory.add(row, i + 1 - count + of), col,
              count == 1 ? folded
                         : vector::ExtractStridedSliceOp::create(
                               b, loc, folded, ArrayRef<int64_t>{of * width},
                               ArrayRef<int64_t>{width}, ArrayRef<int64_t>{1}));
      block.clear();
    }
  }
}

void Product::addTo(Value row, Value column, Value sums) {
  int64_t width = cast<VectorType>(sums.getType()).getDimSize(0);
  Value start = acc.first.address ? memory.load(acc, row, column, width, width)
                                  : memory.broadcast(init, width);
  memory.store(result, row, column, arith::AddFOp::create(b, loc, start, sums),
               width);
}

void Product::alongColumns() {
  const int64_t lanes = memory.shape.lanes, pair = 2 * lanes;
  memory.tiled(m, memory.shape.broadcastRows(), [&](Value row, int64_t rows) {
    int64_t main = n / pair * pair;
    if (main > 0) {
      auto loop =
          scf::ForOp::create(b, loc, memory.constant(0), memory.constant(main),
                             memory.constant(pair));
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(loop.getBody());
      broadcastBlock(row, rows, loop.getInductionVar(), pair, pair);
    }
    for (int64_t j = main; j < n; j += lanes)
      broadcastBlock(row, rows, memory.constant(j), lanes,
                     std::min(lanes, n - j));
  });
}

void Product::broadcastBlock(Value row, int64_t rows, Value column,
                             int64_t lanes, int64_t valid) {
  SmallVector<Value> inits;
  for (int64_t i = 0; i < rows; ++i)
    inits.push_back(acc.first.address ? memory.load(acc, memory.add(row, i),
                                                    column, lanes, valid)
                                      : memory.broadcast(init, lanes));
  auto loop = scf::ForOp::create(b, loc, memory.constant(0), memory.constant(k),
                                 memory.constant(1), inits);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value step = loop.getInductionVar();
    Value right = memory.load(c, step, column, lanes, valid);
    SmallVector<Value> next;
    for (int64_t i = 0; i < rows; ++i) {
      Value r = memory.add(row, i);
      Value left = transposeA ? memory.loadScalar(a, step, r)
                              : memory.loadScalar(a, r, step);
      next.push_back(
          fma(memory.broadcast(left, lanes), right, loop.getRegionIterArg(i)));
    }
    scf::YieldOp::create(b, loc, next);
  }
  for (int64_t i = 0; i < rows; ++i)
    memory.store(result, memory.add(row, i), column, loop.getResult(i), valid);
}

} // namespace

LogicalResult lower(DotOp dot, KernelState &s) {
  if (dot.getRoundedTo() && isa<storage::DigitsType>(*dot.getRoundedTo()))
    return lowerPanelDot(dot, s);
  Product product(s.b, s.loc(), s.memory);
  product.a = s.placeOf(dot.getA());
  product.c = s.placeOf(dot.getB());
  product.m = dot.getAcc().getType().rows();
  product.n = dot.getAcc().getType().columns();
  product.k = dot.getTransposeA() ? dot.getA().getType().rows()
                                  : dot.getA().getType().columns();
  product.transposeA = dot.getTransposeA();
  // What may be rounded need not be, so that other levels multiply in f32.
  product.inPairs = PairDots::canTake(dot, product.a, product.c);
  if (auto splat = s.splats.find(dot.getAcc()); splat != s.splats.end()) {
    product.init = splat->second;
    product.result = s.placeOf(dot.getResult());
  } else {
    product.acc = s.placeOf(dot.getAcc());
    // An accumulator that is used up here is added to in place.
    bool last = dot.getAcc().hasOneUse() && product.acc.padded &&
                dot.getAcc().getDefiningOp() &&
                dot.getAcc().getDefiningOp()->getBlock() == dot->getBlock();
    if (last)
      s.places[dot.getResult()] = product.acc;
    product.result = s.placeOf(dot.getResult());
  }
  if (dot.getTransposeB() && !dot.getTransposeA()) {
    product.alongContraction();
    return success();
  }
  if (dot.getTransposeB()) {
    // a^T . b^T: neither operand is contiguous as needed; b is turned once.
    auto type = dot.getB().getType();
    Place turned = s.allocate(
        TileType::get(s.b.getContext(), {type.columns(), type.rows()},
                      s.b.getF32Type(), Role::Operand, {}));
    auto rows = scf::ForOp::create(s.b, s.memory.constant(0),
                                   s.memory.constant(type.rows()),
                                   s.memory.constant(1));
    OpBuilder::InsertionGuard guard(s.b);
    s.b.setInsertionPointToStart(rows.getBody());
    auto columns = scf::ForOp::create(s.b, s.memory.constant(0),
                                      s.memory.constant(type.columns()),
                                      s.memory.constant(1));
    s.b.setInsertionPointToStart(columns.getBody());
    Value i = rows.getInductionVar(), j = columns.getInductionVar();
    s.memory.storeScalar(turned, j, i, s.memory.loadScalar(product.c, i, j));
    s.b.setInsertionPointAfter(rows);
    product.c = turned;
    product.alongColumns();
    return success();
  }
  product.alongColumns();
  return success();
}

} // namespace effc::host
