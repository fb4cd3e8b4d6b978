// Loads, stores and what is read of views.
#include "codegen/host/ElementGroup.h"
#include "codegen/host/Lowerings.h"

#include "dialects/plan/SegmentRecord.h"
#include "dialects/tile/Divisors.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace effc;
using namespace effc::tile;

namespace effc::host {

void lower(LoadOp load, KernelState &s) {
  TileType tile = load.getResult().getType();
  Place window = s.windowOf(load.getView(), load.getIndices(), load.getSizes(),
                            tile, load.getRows(), load.getColumns());
  window.fetchNext = load.getFetchNext();
  if (tile.getRole() != Role::Column ||
      (window.rowStride == 1 && !window.validRows)) {
    s.places[load.getResult()] = window;
    return;
  }
  // A column whose elements lie apart is gathered, so that vectors can run
  // along it.
  Place gathered = s.allocate(tile);
  auto loop =
      scf::ForOp::create(s.b, s.memory.constant(0),
                         s.memory.constant(tile.rows()), s.memory.constant(1));
  OpBuilder::InsertionGuard guard(s.b);
  s.b.setInsertionPointToStart(loop.getBody());
  Value zero = s.memory.constant(0), row = loop.getInductionVar();
  s.memory.storeScalar(gathered, row, zero,
                       s.memory.loadScalar(window, row, zero));
  s.places[load.getResult()] = gathered;
}

// A window like that of a load, but for its rows, which are looked up.
void lower(GatherRowsOp gather, KernelState &s) {
  ViewType view = gather.getView().getType();
  auto offsetOf = [&](Value index) -> Value {
    return arith::IndexCastOp::create(s.b, s.b.getI64Type(), index);
  };
  Place window;
  window.element = view.getElementType();
  window.rowStride = view.getStrides()[0];
  Value base = s.bases.lookup(gather.getView());
  stored::ElementPlace row =
      isa<storage::PanelType>(window.element)
          ? stored::panelRow(s.b, s.loc(), base, window.element,
                             s.memory.constant(0), window.rowStride)
          : stored::firstPlace(s.b, s.loc(), base, window.element);
  window.first = stored::further(s.b, s.loc(), row, window.element,
                                 s.lookup(gather.getColumn()),
                                 divisorOf(gather.getColumn()));
  window.validRows = gather.getRows() ? s.lookup(gather.getRows()) : Value();
  window.validColumns =
      gather.getColumns() ? s.lookup(gather.getColumns()) : Value();
  Value first = s.memory.constant(0);
  for (auto [index, stride] : llvm::zip_equal(
           gather.getIndices(), gather.getNumbers().getType().getStrides()))
    first = arith::AddIOp::create(
        s.b, first,
        arith::MulIOp::create(s.b, s.lookup(index), s.memory.constant(stride)));
  Value numbers = s.bases.lookup(gather.getNumbers());
  window.rowNumbers =
      LLVM::GEPOp::create(s.b, numbers.getType(), s.b.getI32Type(), numbers,
                          ArrayRef<LLVM::GEPArg>{offsetOf(first)});
  s.places[gather.getResult()] = window;
}

// The tile's place some columns further on, where columns that it lacks read as
// 0: no element is moved. What may be written over is copied first: a view that
// the kernel writes, and a tile that was computed, which a loop may carry.
void lower(ShiftOp shift, KernelState &s) {
  TileType type = shift.getTile().getType();
  Place place = s.placeOf(shift.getTile());
  auto load = shift.getTile().getDefiningOp<LoadOp>();
  auto view = load ? dyn_cast<BlockArgument>(load.getView()) : BlockArgument();
  if (!view || place.first.number ||
      llvm::is_contained(s.kernel.getWrites(), view.getArgNumber() - 1)) {
    place = s.allocate(type);
    s.copy(shift.getTile(), type, place);
  }
  int64_t by = shift.getBy();
  place.first =
      s.memory.further(place.first, place.element, s.memory.constant(by));
  place.firstColumn = std::max<int64_t>(0, place.firstColumn - by);
  Value end = place.validColumns ? place.validColumns
                                 : s.memory.constant(type.columns());
  place.validColumns = s.memory.add(end, -by);
  place.padded = false;
  s.places[shift.getResult()] = place;
}

// A column whose elements lie apart in memory, or of which only some are
// inside; and rows that share a scale.
void lower(StoreOp store, KernelState &s) {
  keepWindowsBefore(s, store);
  TileType tile = store.getTile().getType();
  Place source = s.placeOf(store.getTile());
  Place target =
      s.windowOf(store.getView(), store.getIndices(), store.getSizes(), tile,
                 store.getRows(), store.getColumns());
  if (isa<storage::BlockType>(target.element))
    return storeRows(store, target, s);
  Value end = s.memory.constant(tile.rows());
  if (target.validRows)
    end = arith::MinSIOp::create(s.b, end, target.validRows);
  auto loop =
      scf::ForOp::create(s.b, s.memory.constant(0), end, s.memory.constant(1));
  OpBuilder::InsertionGuard guard(s.b);
  s.b.setInsertionPointToStart(loop.getBody());
  Value zero = s.memory.constant(0), row = loop.getInductionVar();
  s.memory.storeScalar(target, row, zero,
                       s.memory.loadScalar(source, row, zero));
}

void lower(ReadOp read, KernelState &s) {
  ViewType type = read.getView().getType();
  Place place;
  place.element = type.getElementType();
  place.first = s.elementAt(read.getView(), read.getIndices(), place.element);
  if (!type.getElementType().isInteger()) {
    Value zero = s.memory.constant(0);
    s.scalars.map(read.getResult(), s.memory.loadScalar(place, zero, zero));
    return;
  }
  Value value =
      LLVM::LoadOp::create(s.b, type.getElementType(), place.first.address);
  s.scalars.map(
      read.getResult(),
      arith::IndexCastOp::create(s.b, s.b.getIndexType(), value).getResult());
}

void lower(SegmentOp segment, KernelState &s) {
  using Record = plan::SegmentRecord;
  Value record = arith::MulIOp::create(s.b, s.lookup(segment.getIndex()),
                                       s.memory.constant(Record::kBytes));
  record = arith::IndexCastOp::create(s.b, s.b.getI64Type(), record);
  Value table = s.bases.lookup(segment.getTable());
  Value base = LLVM::GEPOp::create(s.b, table.getType(), s.b.getI8Type(), table,
                                   ArrayRef<LLVM::GEPArg>{record});
  auto field = [&](int32_t offset, Type type) -> Value {
    Value at = LLVM::GEPOp::create(s.b, base.getType(), s.b.getI8Type(), base,
                                   ArrayRef<LLVM::GEPArg>{offset});
    return LLVM::LoadOp::create(s.b, type, at);
  };
  auto index = [&](int32_t offset, Type type) -> Value {
    return arith::IndexCastOp::create(s.b, s.b.getIndexType(),
                                      field(offset, type));
  };
  Type i32 = s.b.getI32Type();
  s.scalars.map(segment.getSlot(), index(Record::kSlot, i32));
  s.scalars.map(segment.getFirstRow(), index(Record::kFirstRow, i32));
  s.scalars.map(segment.getLength(), index(Record::kLength, i32));
  s.scalars.map(
      segment.getBegins(),
      arith::TruncIOp::create(s.b, s.b.getI1Type(), field(Record::kFlags, i32))
          .getResult());
  s.scalars.map(segment.getStart(), index(Record::kStart, s.b.getI64Type()));
}

} // namespace effc::host
