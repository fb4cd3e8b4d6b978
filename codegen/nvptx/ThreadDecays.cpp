// Decays between tokens: exponentials of sums of a column in shared memory,
// whose elements are added and never subtracted.
#include "codegen/nvptx/Lowerings.h"
#include "codegen/nvptx/ThreadMath.h"
#include "codegen/nvptx/ThreadPlaces.h"
#include "codegen/nvptx/ThreadShared.h"
#include "dialects/tile/SegmentTables.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;
using namespace effc;
using namespace effc::tile;

namespace effc::nvptx {

static constexpr int64_t kRun = SegmentTables::kRun;

namespace {
/// The tables of a `tile.segment_decay` in shared memory.
class DecayTables {
public:
  DecayTables(ThreadState &t, SegmentDecayOp op)
      : t(t), from(op.getTile().getType()), offset(*op.getScratch()),
        tables(from.rows()) {}

  /// A thread for each token; a barrier has to follow.
  void fillRuns();
  /// A thread for each two runs, behind the runs themselves; likewise.
  void fillBetween();
  bool hasBetween() const { return tables.runs > 2; }
  /// The decays that a thread holds of the matrix.
  Elements read(const Held &held);

private:
  /// A row or a column of the matrix: a token that is so far behind `base`, by
  /// whole runs.
  struct Line {
    Value base;
    int64_t distance;
    int64_t runs() const { return distance / SegmentTables::kRun; }
  };
  /// Of a row and a column, from where others are a constant away.
  struct Start {
    Value within, between; // addresses
    Value rowRun, columnRun;
  };
  Elements termsOf(Value run);
  SmallVector<Line> linesOf(const Axis &axis, Value first,
                            ArrayRef<Value> counts);
  Start startOf(Value row, Value column);
  Value factorOf(Value sum);

  Value at(int64_t table, Value place) {
    return sharedAddress(t, offset + 4 * table, place, t.b.getF32Type());
  }
  Value further(Value address, int64_t count) {
    return t.further(address, t.b.getF32Type(), count);
  }
  Value load(Value address) {
    return LLVM::LoadOp::create(t.b, t.b.getF32Type(), address);
  }
  void store(Value value, Value address) {
    LLVM::StoreOp::create(t.b, value, address);
  }
  Value plus(Value x, Value y) { return arith::AddFOp::create(t.b, x, y); }
  Value times(Value x, Value y) { return arith::MulFOp::create(t.b, x, y); }
  Value isSame(Value x, Value y) {
    return arith::CmpIOp::create(t.b, arith::CmpIPredicate::eq, x, y);
  }
  Value runOf(Value token) {
    return arith::ShRUIOp::create(t.b, token, t.constant(llvm::Log2_64(kRun)));
  }
  Value placeInRun(Value token) {
    return arith::AndIOp::create(t.b, token, t.constant(kRun - 1));
  }

  ThreadState &t;
  TileType from;
  int64_t offset; // byte
  SegmentTables tables;
};
} // namespace

// Finite, so that it is 0 times a factor of 0.
Value DecayTables::factorOf(Value sum) {
  return arith::MinimumFOp::create(t.b, exponential(t, sum),
                                   t.f32(std::numeric_limits<float>::max()));
}

// The log-decays of a run; 0 for tokens past the last.
Elements DecayTables::termsOf(Value run) {
  Value first = t.mul(run, kRun);
  Elements terms;
  if (from.rows() % kRun == 0) {
    Value start = sharedPlace(t, from, first, {});
    for (int64_t k = 0; k < kRun; ++k)
      terms.push_back(load(further(start, k)));
    return terms;
  }
  for (int64_t k = 0; k < kRun; ++k) {
    Value token = t.add(first, t.constant(k));
    Value isThere = t.less(token, t.constant(from.rows()));
    token = t.select(isThere, token, t.constant(0));
    terms.push_back(
        t.select(isThere, loadShared(t, from, token, {}), t.f32(0)));
  }
  return terms;
}

void DecayTables::fillRuns() {
  t.forEachOf(from.rows(), [&](Value token) {
    Value run = runOf(token), place = placeInRun(token), zero = t.f32(0);
    Elements until;
    Value after = zero;
    for (auto [k, term] : llvm::enumerate(termsOf(run))) {
      Value isAfter = t.less(place, t.constant(static_cast<int64_t>(k)));
      until.push_back(t.select(isAfter, zero, term));
      after = plus(after, t.select(isAfter, term, zero));
    }
    Value within = at(0, t.mul(token, kRun)), sum = zero;
    for (int64_t k = kRun; k-- > 0;) {
      Value left = k == kRun - 1 ? t.f32(1) : exponential(t, sum);
      store(t.select(t.less(place, t.constant(k)), zero, left),
            further(within, k));
      sum = plus(sum, until[k]);
    }
    if (tables.runs == 1)
      return;
    store(factorOf(after), at(tables.after, token));
    Value since = factorOf(sum);
    if (tables.runs == 2) // none is between them, and none before the first
      since = t.select(t.less(t.constant(0), run), since, zero);
    store(since, at(tables.since, token));
    if (hasBetween())
      t.guarded(isSame(place, t.constant(kRun - 1)),
                [&] { store(sum, at(tables.totals, run)); });
  });
}

// A loop over what is between: conditions for each run of it would be in
// registers as long as the kernel runs.
void DecayTables::fillBetween() {
  t.forEachOf(tables.runs * tables.runs, [&](Value pair) {
    Value runs = t.constant(tables.runs);
    Value later = arith::DivUIOp::create(t.b, pair, runs);
    Value earlier = arith::RemUIOp::create(t.b, pair, runs);
    auto loop = scf::ForOp::create(t.b, t.add(earlier, t.constant(1)), later,
                                   t.constant(1), ValueRange(t.f32(0)));
    {
      OpBuilder::InsertionGuard guard(t.b);
      t.b.setInsertionPointToStart(loop.getBody());
      Value total = load(at(tables.totals, loop.getInductionVar()));
      Value sum = plus(loop.getRegionIterArg(0), total);
      scf::YieldOp::create(t.b, sum);
    }
    Value factor = factorOf(loop.getResult(0));
    store(t.select(t.less(earlier, later), factor, t.f32(0)),
          at(tables.between, pair));
  });
}

SmallVector<DecayTables::Line>
DecayTables::linesOf(const Axis &axis, Value first, ArrayRef<Value> counts) {
  llvm::DenseMap<int64_t, Value> bases; // by the distance within a run
  SmallVector<Line> lines;
  for (auto [distance, counted] : llvm::zip_equal(axis.offsets, counts)) {
    if (counted) {
      Value token = t.add(first, t.constant(distance));
      lines.push_back({t.select(counted, token, t.constant(0)), 0});
      continue;
    }
    int64_t rest = distance % kRun;
    Value &base = bases[rest];
    if (!base)
      base = t.add(first, t.constant(rest));
    lines.push_back({base, distance - rest});
  }
  return lines;
}

DecayTables::Start DecayTables::startOf(Value row, Value column) {
  Start start{at(0, t.add(t.mul(row, kRun), placeInRun(column))),
              {},
              runOf(row),
              runOf(column)};
  if (hasBetween())
    start.between = at(tables.between, t.add(t.mul(start.rowRun, tables.runs),
                                             start.columnRun));
  return start;
}

// A thread's places lie at distances that all threads share, so that few
// addresses are in registers as long as the kernel runs.
Elements DecayTables::read(const Held &held) {
  Counted counted = countedOf(t, held);
  const auto &[rowAxis, columnAxis] = held.distribution;
  SmallVector<Line> rows = linesOf(rowAxis, held.firstRow, counted.rows);
  SmallVector<Line> columns =
      linesOf(columnAxis, held.firstColumn, counted.columns);
  auto factorsOf = [&](ArrayRef<Line> lines, int64_t table) {
    Elements factors;
    for (const Line &line : lines)
      factors.push_back(tables.runs > 1
                            ? load(further(at(table, line.base), line.distance))
                            : Value());
    return factors;
  };
  Elements since = factorsOf(rows, tables.since),
           after = factorsOf(columns, tables.after), elements;
  llvm::DenseMap<std::pair<Value, Value>, Start> starts;
  for (auto [row, sinceStart] : llvm::zip_equal(rows, since))
    for (auto [column, afterEnd] : llvm::zip_equal(columns, after)) {
      Start &start = starts[{row.base, column.base}];
      if (!start.within)
        start = startOf(row.base, column.base);
      Value element = load(further(start.within, row.distance * kRun));
      if (tables.runs > 1) {
        Value upTo = sinceStart;
        if (hasBetween())
          upTo =
              times(upTo, load(further(start.between, row.runs() * tables.runs +
                                                          column.runs())));
        Value inRun = isSame(t.add(start.rowRun, t.constant(row.runs())),
                             t.add(start.columnRun, t.constant(column.runs())));
        element = t.select(inRun, element, times(upTo, afterEnd));
      }
      elements.push_back(element);
    }
  return elements;
}

// Three tables for tokens of different runs, one for those of the same.
void lower(SegmentDecayOp decay, ThreadState &t) {
  DecayTables tables(t, decay);
  tables.fillRuns();
  t.barrier();
  if (tables.hasBetween()) {
    tables.fillBetween();
    t.barrier();
  }
  t.tiles[decay.getResult()] =
      tables.read(heldOf(t, decay.getResult().getType()));
}

} // namespace effc::nvptx
