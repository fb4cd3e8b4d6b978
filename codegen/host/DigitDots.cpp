// tile.dot rounded to digits: rows and panels of a tile, in registers (PanelDots.h).
#include "codegen/host/Digits.h"
#include "codegen/host/Lowerings.h"
#include "codegen/host/PanelDots.h"
#include "codegen/storage/Unpack.h"

#include "dialects/storage/Panels.h"
#include "dialects/tile/Divisors.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace effc;
using namespace effc::tile;
using storage::kPanelRows;

namespace effc::host {

// Rows that were not stored as digits are made so once for all panels.
static Place asDigits(KernelState &s, const Place &rows,
                      storage::DigitsType type, int64_t count,
                      int64_t columns) {
  storage::DigitsLayout layout{type.getCount()};
  int64_t blocks = columns / layout.kNumbers, lanes = s.memory.shape.lanes;
  Place result;
  result.element = type;
  result.rowStride = columns;
  result.first = stored::firstPlace(
      s.b, s.loc(), s.allocateBytes(count * blocks * layout.bytes()), type);
  auto loop =
      scf::ForOp::create(s.b, s.memory.constant(0), s.memory.constant(count),
                         s.memory.constant(1));
  OpBuilder::InsertionGuard guard(s.b);
  s.b.setInsertionPointToStart(loop.getBody());
  Value row = loop.getInductionVar();
  auto along =
      scf::ForOp::create(s.b, s.memory.constant(0), s.memory.constant(columns),
                         s.memory.constant(layout.kNumbers));
  s.b.setInsertionPointToStart(along.getBody());
  SmallVector<Value> numbers;
  for (int64_t i = 0; i < layout.kNumbers; i += lanes)
    numbers.push_back(s.memory.load(
        rows, row, s.memory.add(along.getInductionVar(), i), lanes, lanes));
  Value block = stored::blockAddress(
      s.b, s.loc(), s.memory.at(result, row, along.getInductionVar()), type);
  storeDigits(s.b, s.loc(), s.memory, layout, block, numbers);
  return result;
}

LogicalResult lowerPanelDot(DotOp dot, KernelState &s) {
  auto digits = dyn_cast<storage::DigitsType>(*dot.getRoundedTo());
  Place a = s.placeOf(dot.getA()), c = s.placeOf(dot.getB());
  auto panel = dyn_cast<storage::PanelType>(c.element);
  if (!digits || !panel)
    return dot.emitOpError("expects rows rounded to digits and a matrix in "
                           "panels on the host, but got ")
           << *dot.getRoundedTo() << " and " << c.element;
  if (divisorOf(c.first.row) % kPanelRows != 0)
    return dot.emitOpError("expects a matrix from a multiple of ")
           << kPanelRows << " rows on";
  TileType type = dot.getAcc().getType();
  int64_t m = type.rows(), n = type.columns(),
          k = dot.getA().getType().columns();
  if (a.element != digits)
    a = asDigits(s, a, digits, m, k);
  Value init = s.splats.lookup(dot.getAcc());
  Place acc = init ? Place() : s.placeOf(dot.getAcc());
  Place result = s.placeOf(dot.getResult());
  const int64_t lanes = s.memory.shape.lanes;
  PanelOperands operands{panel.getRows(), digits.getCount(), k, c.fetchNext};
  int64_t rowsAtOnce = panelRowsAtOnce(s.b, s.memory, s.kernel);

  auto emit = [&](Value firstColumn, int64_t columns) {
    Value base = stored::blockAddress(
        s.b, s.loc(), s.memory.at(c, firstColumn, s.memory.constant(0)), panel);
    auto rows = [&](Value first, int64_t count) {
      SmallVector<Value> addresses;
      for (int64_t i = 0; i < count; ++i)
        addresses.push_back(stored::blockAddress(
            s.b, s.loc(),
            s.memory.at(a, s.memory.add(first, i), s.memory.constant(0)),
            digits));
      SmallVector<Value> sums = multiplyPanel(s.b, s.loc(), s.memory, s.kernel,
                                              operands, base, addresses);
      int64_t parts = kPanelRows / lanes;
      for (int64_t i = 0; i < count; ++i)
        for (int64_t part = 0; part < parts && part * lanes < columns; ++part) {
          Value row = s.memory.add(first, i),
                column = s.memory.add(firstColumn, part * lanes);
          int64_t valid = std::min(lanes, columns - part * lanes);
          Value start = init ? s.memory.broadcast(init, lanes)
                             : s.memory.load(acc, row, column, lanes, valid);
          s.memory.store(
              result, row, column,
              arith::AddFOp::create(s.b, start, sums[i * parts + part]), valid);
        }
    };
    s.memory.tiled(m, rowsAtOnce, rows);
  };
  s.memory.tiled(n, kPanelRows, emit);
  return success();
}

} // namespace effc::host
