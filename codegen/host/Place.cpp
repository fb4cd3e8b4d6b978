// Addresses, loads and stores of places.
#include "codegen/host/Place.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace effc::host;

ColumnBlocks ColumnBlocks::cut(int64_t columns, int64_t mainLanes) {
  ColumnBlocks blocks;
  int64_t start = 0;
  if (columns > 2 * mainLanes) {
    blocks.mainLanes = mainLanes;
    blocks.mainCount = columns / mainLanes;
    start = blocks.mainCount * mainLanes;
  }
  for (int64_t lanes = mainLanes; lanes >= kLanes; lanes /= 2)
    while (columns - start >= lanes) {
      blocks.rest.push_back({start, lanes, lanes});
      start += lanes;
    }
  if (start < columns)
    blocks.rest.push_back({start, kLanes, columns - start});
  return blocks;
}

Value Memory::constant(int64_t value) {
  return arith::ConstantIndexOp::create(b, loc, value);
}

Value Memory::constantF32(float value) {
  return arith::ConstantOp::create(b, loc, b.getF32FloatAttr(value));
}

Value Memory::add(Value lhs, int64_t rhs) {
  return rhs == 0 ? lhs : arith::AddIOp::create(b, loc, lhs, constant(rhs));
}

VectorType Memory::vectorType(int64_t lanes, Type element) {
  return VectorType::get({lanes}, element ? element : b.getF32Type());
}

Value Memory::broadcast(Value scalar, int64_t lanes) {
  return vector::BroadcastOp::create(
      b, loc, vectorType(lanes, scalar.getType()), scalar);
}

Value Memory::iota(int64_t lanes) {
  SmallVector<Attribute> values;
  for (int64_t i = 0; i < lanes; ++i)
    values.push_back(b.getIndexAttr(i));
  return arith::ConstantOp::create(
      b, loc,
      DenseElementsAttr::get(vectorType(lanes, b.getIndexType()), values));
}

Value Memory::address(const Place &place, Value row, Value column) {
  if (place.validRows) {
    Value last = arith::SubIOp::create(b, loc, place.validRows, constant(1));
    row = arith::MinSIOp::create(b, loc, row, last);
  }
  if (place.rowNumbers) {
    Value at = LLVM::GEPOp::create(
        b, loc, place.rowNumbers.getType(), b.getI32Type(), place.rowNumbers,
        ArrayRef<LLVM::GEPArg>{
            Value(arith::IndexCastOp::create(b, loc, b.getI64Type(), row))});
    row = arith::IndexCastOp::create(
        b, loc, b.getIndexType(),
        LLVM::LoadOp::create(b, loc, b.getI32Type(), at));
  }
  Value offset = arith::MulIOp::create(b, loc, row, constant(place.rowStride));
  offset = arith::AddIOp::create(b, loc, offset, column);
  offset = arith::IndexCastOp::create(b, loc, b.getI64Type(), offset);
  Type storage = place.element.isF32() ? place.element : Type(b.getI16Type());
  return LLVM::GEPOp::create(b, loc, place.base.getType(), storage, place.base,
                             ArrayRef<LLVM::GEPArg>{offset});
}

// bf16 is the upper half of an f32; f16 goes through the conversion unit.
Value Memory::widen(Value stored, Type element) {
  if (element.isF32())
    return stored;
  auto shape = dyn_cast<VectorType>(stored.getType());
  auto like = [&](Type type) -> Type {
    return shape ? Type(shape.clone(type)) : type;
  };
  if (element.isF16()) {
    Value half = arith::BitcastOp::create(b, loc, like(element), stored);
    return arith::ExtFOp::create(b, loc, like(b.getF32Type()), half);
  }
  Value wide = arith::ExtUIOp::create(b, loc, like(b.getI32Type()), stored);
  Type wideType = wide.getType();
  TypedAttr sixteen = b.getI32IntegerAttr(16);
  if (shape)
    sixteen = DenseElementsAttr::get(cast<VectorType>(wideType),
                                     b.getI32IntegerAttr(16));
  wide = arith::ShLIOp::create(b, loc, wide,
                               arith::ConstantOp::create(b, loc, sixteen));
  return arith::BitcastOp::create(b, loc, like(b.getF32Type()), wide);
}

// Rounds to nearest even by integer arithmetic; a NaN keeps its quiet bit.
Value Memory::narrow(Value value, Type element) {
  if (element.isF32())
    return value;
  auto shape = dyn_cast<VectorType>(value.getType());
  auto like = [&](Type type) -> Type {
    return shape ? Type(shape.clone(type)) : type;
  };
  if (element.isF16()) {
    Value half = arith::TruncFOp::create(b, loc, like(element), value);
    return arith::BitcastOp::create(b, loc, like(b.getI16Type()), half);
  }
  auto splat = [&](int32_t bits) -> Value {
    TypedAttr attr = b.getI32IntegerAttr(bits);
    if (shape)
      attr = DenseElementsAttr::get(cast<VectorType>(like(b.getI32Type())),
                                    b.getI32IntegerAttr(bits));
    return arith::ConstantOp::create(b, loc, attr);
  };
  Value bits = arith::BitcastOp::create(b, loc, like(b.getI32Type()), value);
  Value upper = arith::ShRUIOp::create(b, loc, bits, splat(16));
  Value odd = arith::AndIOp::create(b, loc, upper, splat(1));
  Value rounded = arith::AddIOp::create(b, loc, bits, splat(0x7fff));
  rounded = arith::AddIOp::create(b, loc, rounded, odd);
  rounded = arith::ShRUIOp::create(b, loc, rounded, splat(16));
  Value isNan =
      arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, value, value);
  Value quiet = arith::OrIOp::create(b, loc, upper, splat(0x40));
  Value chosen = arith::SelectOp::create(b, loc, isNan, quiet, rounded);
  return arith::TruncIOp::create(b, loc, like(b.getI16Type()), chosen);
}

Value Memory::lanesBelow(int64_t lanes, Value limit, Value column) {
  Value left = arith::SubIOp::create(b, loc, limit, column);
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, iota(lanes),
                               broadcast(left, lanes));
}

static Value staticMask(OpBuilder &b, Location loc, int64_t lanes,
                        int64_t valid) {
  SmallVector<bool> bits(lanes, false);
  std::fill_n(bits.begin(), valid, true);
  return arith::ConstantOp::create(
      b, loc,
      DenseElementsAttr::get(VectorType::get({lanes}, b.getI1Type()), bits));
}

Value Memory::loadAt(Value address, Type element, int64_t lanes,
                     int64_t valid) {
  Type storage = element.isF32() ? element : Type(b.getI16Type());
  unsigned alignment = element.isF32() ? 4 : 2;
  VectorType type = vectorType(lanes, storage);
  if (valid == lanes)
    return widen(LLVM::LoadOp::create(b, loc, type, address, alignment),
                 element);
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
  Value loaded = LLVM::MaskedLoadOp::create(
      b, loc, type, address, staticMask(b, loc, lanes, valid), zero,
      b.getI32IntegerAttr(alignment));
  return widen(loaded, element);
}

Value Memory::load(const Place &place, Value row, Value column, int64_t lanes,
                   int64_t valid) {
  Value at = address(place, row, column);
  if (place.fetchNext) {
    int64_t bytes = lanes * place.element.getIntOrFloatBitWidth() / 8;
    for (int64_t line = 0; line < bytes; line += kLineBytes)
      prefetch(at, kFetchAheadBytes + line);
  }
  if (!place.validColumns && place.firstColumn == 0)
    return loadAt(at, place.element, lanes, place.padded ? lanes : valid);
  Type storage = place.element.isF32() ? place.element : Type(b.getI16Type());
  VectorType type = vectorType(lanes, storage);
  Value mask;
  auto restrict = [&](Value other) {
    mask = mask ? arith::AndIOp::create(b, loc, mask, other) : other;
  };
  if (place.validColumns)
    restrict(lanesBelow(lanes, place.validColumns, column));
  if (place.firstColumn > 0) {
    Value numbers =
        arith::AddIOp::create(b, loc, iota(lanes), broadcast(column, lanes));
    restrict(
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, numbers,
                              broadcast(constant(place.firstColumn), lanes)));
  }
  if (valid != lanes)
    restrict(staticMask(b, loc, lanes, valid));
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
  Value loaded = LLVM::MaskedLoadOp::create(
      b, loc, type, at, mask, zero,
      b.getI32IntegerAttr(place.element.isF32() ? 4 : 2));
  return widen(loaded, place.element);
}

Value Memory::loadScalar(const Place &place, Value row, Value column) {
  Type storage = place.element.isF32() ? place.element : Type(b.getI16Type());
  return widen(
      LLVM::LoadOp::create(b, loc, storage, address(place, row, column)),
      place.element);
}

void Memory::store(const Place &place, Value row, Value column, Value vector,
                   int64_t valid) {
  int64_t lanes = cast<VectorType>(vector.getType()).getDimSize(0);
  OpBuilder::InsertionGuard guard(b);
  if (place.validRows) {
    Value inside = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, row,
                                         place.validRows);
    auto guarded = scf::IfOp::create(b, loc, inside, /*withElseRegion=*/false);
    b.setInsertionPointToStart(guarded.thenBlock());
  }
  Place open = place;
  open.validRows = {};
  Value at = address(open, row, column);
  Value narrowed = narrow(vector, place.element);
  unsigned alignment = place.element.isF32() ? 4 : 2;
  if (!place.validColumns && (valid == lanes || place.padded)) {
    LLVM::StoreOp::create(b, loc, narrowed, at, alignment);
    return;
  }
  Value mask = staticMask(b, loc, lanes, valid);
  if (place.validColumns)
    mask = arith::AndIOp::create(b, loc, mask,
                                 lanesBelow(lanes, place.validColumns, column));
  LLVM::MaskedStoreOp::create(b, loc, narrowed, at, mask, alignment);
}

void Memory::storeScalar(const Place &place, Value row, Value column,
                         Value scalar) {
  LLVM::StoreOp::create(b, loc, narrow(scalar, place.element),
                        address(place, row, column));
}

void Memory::prefetch(Value address, int64_t bytes) {
  Value ahead =
      LLVM::GEPOp::create(b, loc, address.getType(), b.getI8Type(), address,
                          ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(bytes)});
  LLVM::Prefetch::create(b, loc, ahead, /*rw=*/b.getI32IntegerAttr(0),
                         /*hint=*/b.getI32IntegerAttr(2),
                         /*cache=*/b.getI32IntegerAttr(1));
}

Value Memory::reduceLanes(Value vector, bool max) {
  int64_t lanes = cast<VectorType>(vector.getType()).getDimSize(0);
  for (int64_t half = lanes / 2; half >= 1; half /= 2) {
    SmallVector<int64_t> low, high;
    for (int64_t i = 0; i < half; ++i) {
      low.push_back(i);
      high.push_back(i + half);
    }
    Value a = vector::ShuffleOp::create(b, loc, vector, vector, low);
    Value c = vector::ShuffleOp::create(b, loc, vector, vector, high);
    vector = max ? Value(arith::MaximumFOp::create(b, loc, a, c))
                 : Value(arith::AddFOp::create(b, loc, a, c));
  }
  return vector::ExtractOp::create(b, loc, vector, ArrayRef<int64_t>{0});
}
