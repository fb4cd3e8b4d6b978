// Buffers and windows of a kernel on the host.
#include "codegen/host/KernelState.h"
#include "codegen/host/TableLookUp.h"

#include "dialects/tile/BoxAxes.h"
#include "dialects/tile/Divisors.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <numeric>

using namespace mlir;
using namespace effc;
using namespace effc::tile;

namespace effc::host {

KernelState::KernelState(KernelOp kernel, Block *entry)
    : kernel(kernel), b(kernel.getLoc(), OpBuilder::atBlockEnd(entry)),
      entry(entry), memory(b, kernel.getLoc(), VectorShape::of(kernel),
                           makeLookUp(b, kernel.getLoc(), kernel)) {
  Type pointer = LLVM::LLVMPointerType::get(b.getContext());
  Value operands = entry->getArgument(0);
  for (auto [index, operand] : llvm::enumerate(kernel.getOperandArguments())) {
    Value at = LLVM::GEPOp::create(
        b, pointer, pointer, operands,
        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(index)});
    bases[operand] = LLVM::LoadOp::create(b, pointer, at);
  }
}

Value KernelState::allocateBytes(int64_t bytes) {
  stackUsed += (bytes + 63) / 64 * 64;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(entry);
  Value count =
      LLVM::ConstantOp::create(b, b.getI64Type(), b.getI64IntegerAttr(bytes));
  return LLVM::AllocaOp::create(b, LLVM::LLVMPointerType::get(b.getContext()),
                                b.getI8Type(), count, /*alignment=*/64);
}

Place KernelState::allocate(TileType type) {
  bool column = type.getRole() == Role::Column;
  int64_t rowStride = column ? 1 : memory.shape.padded(type.columns());
  int64_t elements =
      column ? memory.shape.padded(type.rows()) : type.rows() * rowStride;
  Place place;
  place.first.address = allocateBytes(elements * 4);
  place.element = b.getF32Type();
  place.rowStride = rowStride;
  place.padded = true;
  return place;
}

Place KernelState::placeOf(Value tile) {
  if (auto found = places.find(tile); found != places.end())
    return found->second;
  auto type = cast<TileType>(tile.getType());
  Place place = allocate(type);
  if (auto splat = splats.find(tile); splat != splats.end())
    fill(place, type, splat->second);
  places[tile] = place;
  return place;
}

// Of a panel an element is a row and a place in it.
stored::ElementPlace KernelState::elementAt(Value view, ValueRange indices,
                                            Type element) {
  ArrayRef<int64_t> strides = cast<ViewType>(view.getType()).getStrides();
  bool isPanel = isa<storage::PanelType>(element);
  int64_t rowElements = isPanel ? strides.drop_back().back() : 0;
  Value offset = memory.constant(0), row = offset;
  int64_t divisor = 0;
  for (auto [axis, index, stride] : llvm::enumerate(indices, strides)) {
    bool alongRows = isPanel && axis + 1 < strides.size();
    Value scaled = arith::MulIOp::create(
        b, lookup(index),
        memory.constant(alongRows ? stride / rowElements : stride));
    Value &sum = alongRows ? row : offset;
    sum = arith::AddIOp::create(b, sum, scaled);
    if (!alongRows)
      divisor = std::gcd(divisor, divisorOf(index) * stride);
  }
  Value base = bases.lookup(view);
  stored::ElementPlace first =
      isPanel ? stored::panelRow(b, loc(), base, element, row, rowElements)
              : stored::firstPlace(b, loc(), base, element);
  return stored::further(b, loc(), first, element, offset, divisor);
}

Place KernelState::windowOf(Value view, ValueRange indices,
                            ArrayRef<int64_t> sizes, TileType tile, Value rows,
                            Value columns) {
  auto type = cast<ViewType>(view.getType());
  BoxAxes axes = axesOf(sizes, tile);
  Place place;
  // An i32 is only moved, as the bits of an f32.
  place.element = type.getElementType().isInteger(32) ? b.getF32Type()
                                                      : type.getElementType();
  place.first = elementAt(view, indices, place.element);
  place.rowStride = BoxAxes::stride(type, axes.row);
  place.validRows = rows ? lookup(rows) : Value();
  place.validColumns = columns ? lookup(columns) : Value();
  return place;
}

void KernelState::copy(Value from, TileType type, const Place &to) {
  if (auto splat = splats.find(from); splat != splats.end())
    return fill(to, type, splat->second);
  Place source = placeOf(from);
  if (source.first.address == to.first.address)
    return;
  bool column = type.getRole() == Role::Column;
  ColumnBlocks blocks =
      ColumnBlocks::cut(column ? type.rows() : type.columns(), memory.shape);
  Value zero = memory.constant(0);
  auto row = [&](Value row) {
    auto block = [&](Value column, int64_t lanes, int64_t valid) {
      memory.store(to, row, column,
                   memory.load(source, row, column, lanes, valid), valid);
    };
    if (blocks.mainCount > 0) {
      auto loop = scf::ForOp::create(
          b, zero, memory.constant(blocks.mainCount * blocks.mainLanes),
          memory.constant(blocks.mainLanes));
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(loop.getBody());
      block(loop.getInductionVar(), blocks.mainLanes, blocks.mainLanes);
    }
    for (const ColumnBlock &rest : blocks.rest)
      block(memory.constant(rest.start), rest.lanes, rest.valid);
  };
  if (column || type.rows() == 1)
    return row(zero);
  auto loop = scf::ForOp::create(b, zero, memory.constant(type.rows()),
                                 memory.constant(1));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  row(loop.getInductionVar());
}

void KernelState::fill(const Place &to, TileType type, Value scalar) {
  bool column = type.getRole() == Role::Column;
  const int64_t lanes = memory.shape.lanes;
  int64_t columns = memory.shape.padded(column ? type.rows() : type.columns());
  auto row = [&](Value row) {
    for (int64_t j = 0; j < columns; j += lanes)
      memory.store(to, row, memory.constant(j), memory.broadcast(scalar, lanes),
                   lanes);
  };
  if (column || type.rows() == 1)
    return row(memory.constant(0));
  auto loop = scf::ForOp::create(
      b, memory.constant(0), memory.constant(type.rows()), memory.constant(1));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  row(loop.getInductionVar());
}

} // namespace effc::host
