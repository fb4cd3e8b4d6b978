// Addresses, loads and stores of places.
#include "codegen/host/Place.h"

#include "codegen/host/Digits.h"
#include "codegen/storage/Unpack.h"
#include "dialects/tile/Divisors.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <numeric>

using namespace mlir;
using namespace effc;
using namespace effc::host;
using effc::stored::ElementPlace;

ColumnBlocks ColumnBlocks::cut(int64_t columns, const VectorShape &shape,
                               int64_t mainLanes) {
  ColumnBlocks blocks;
  int64_t start = 0;
  if (columns > 2 * mainLanes) {
    blocks.mainLanes = mainLanes;
    blocks.mainCount = columns / mainLanes;
    start = blocks.mainCount * mainLanes;
  }
  for (int64_t lanes = mainLanes; lanes >= shape.lanes; lanes /= 2)
    while (columns - start >= lanes) {
      blocks.rest.push_back({start, lanes, lanes});
      start += lanes;
    }
  if (start < columns)
    blocks.rest.push_back({start, shape.lanes, columns - start});
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

ElementPlace Memory::further(const ElementPlace &place, Type element,
                             Value count) {
  return stored::further(b, loc, place, element, count, tile::divisorOf(count));
}

ElementPlace Memory::at(const Place &place, Value row, Value column) {
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
  if (place.first.row) {
    ElementPlace first = place.first;
    first.row = arith::AddIOp::create(b, loc, first.row, row);
    return stored::further(b, loc, first, place.element, column,
                           tile::divisorOf(column));
  }
  Value offset = arith::MulIOp::create(b, loc, row, constant(place.rowStride));
  offset = arith::AddIOp::create(b, loc, offset, column);
  int64_t divisor = std::gcd(place.rowStride, tile::divisorOf(column));
  return stored::further(b, loc, place.first, place.element, offset, divisor);
}

void Memory::tiled(int64_t total, int64_t block,
                   function_ref<void(Value, int64_t)> body) {
  int64_t main = total / block * block;
  if (main == block) {
    body(constant(0), block);
  } else if (main > 0) {
    auto loop = scf::ForOp::create(b, loc, constant(0), constant(main),
                                   constant(block));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    body(loop.getInductionVar(), block);
  }
  if (main < total)
    body(constant(main), total - main);
}

// The host has no instruction that rounds to bf16.
Value Memory::narrow(Value value, Type element) {
  return stored::narrow(b, loc, value, element, stored::Rounding::Arithmetic);
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

Value Memory::loadAt(const ElementPlace &place, Type element, int64_t lanes,
                     int64_t valid) {
  storage::Storage storage = storage::Storage::get(element);
  if (!storage.isDense())
    return stored::unpack(b, loc, place, element, lanes,
                          valid == lanes ? Value() : constant(valid), lookUp);
  return stored::widen(b, loc, loadStored(place, element, lanes, valid),
                       element);
}

Value Memory::loadStored(const ElementPlace &place, Type element, int64_t lanes,
                         int64_t valid) {
  int64_t alignment = storage::Storage::get(element).blockBytes();
  VectorType type = vectorType(lanes, stored::storedType(element, 1));
  if (valid == lanes)
    return LLVM::LoadOp::create(b, loc, type, place.address, alignment);
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
  return LLVM::MaskedLoadOp::create(b, loc, type, place.address,
                                    staticMask(b, loc, lanes, valid), zero,
                                    b.getI32IntegerAttr(alignment));
}

// A limit is a number of lanes, so that no block is read that lies past it.
Value Memory::loadBlocks(const Place &place, Value row, Value column,
                         int64_t lanes, int64_t valid) {
  assert(place.firstColumn == 0 && "shifted rows are copied first");
  Value limit = valid == lanes ? Value() : constant(valid);
  if (place.validColumns) {
    Value left = arith::SubIOp::create(b, loc, place.validColumns, column);
    limit = limit ? Value(arith::MinSIOp::create(b, loc, limit, left)) : left;
  }
  return stored::unpack(b, loc, at(place, row, column), place.element, lanes,
                        limit, lookUp);
}

Value Memory::load(const Place &place, Value row, Value column, int64_t lanes,
                   int64_t valid) {
  storage::Storage storage = storage::Storage::get(place.element);
  if (!storage.isDense())
    return loadBlocks(place, row, column, lanes, valid);
  ElementPlace from = at(place, row, column);
  if (place.fetchNext) {
    for (int64_t line = 0; line < storage.bytes(lanes); line += kLineBytes)
      prefetch(from, place.element, kFetchAheadBytes + line);
  }
  if (!place.validColumns && place.firstColumn == 0)
    return loadAt(from, place.element, lanes, place.padded ? lanes : valid);
  VectorType type = vectorType(lanes, stored::storedType(place.element, 1));
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
      b, loc, type, from.address, mask, zero,
      b.getI32IntegerAttr(static_cast<int32_t>(storage.blockBytes())));
  return stored::widen(b, loc, loaded, place.element);
}

Value Memory::loadScalar(const Place &place, Value row, Value column) {
  ElementPlace from = at(place, row, column);
  if (!storage::Storage::get(place.element).isDense())
    return stored::unpack(b, loc, from, place.element, 1);
  Type moved = stored::storedType(place.element, 1);
  return stored::widen(
      b, loc, LLVM::LoadOp::create(b, loc, moved, from.address), place.element);
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
  if (auto digits = dyn_cast<storage::DigitsType>(place.element))
    return storeBlocks(open, row, column, vector, digits.getCount());
  Value to = at(open, row, column).address;
  Value narrowed = narrow(vector, place.element);
  int64_t alignment = storage::Storage::get(place.element).blockBytes();
  if (!place.validColumns && (valid == lanes || place.padded)) {
    LLVM::StoreOp::create(b, loc, narrowed, to, alignment);
    return;
  }
  // Of AVX-512 LLVM 22 makes a masked store of one truncated lane a store of 32
  // bits, over the neighbour of its 16.
  if (valid == 1 && !place.validColumns && shape.lanes > 8) {
    Value first =
        vector::ExtractOp::create(b, loc, narrowed, ArrayRef<int64_t>{0});
    LLVM::StoreOp::create(b, loc, first, to, alignment);
    return;
  }
  Value mask = staticMask(b, loc, lanes, valid);
  if (place.validColumns)
    mask = arith::AndIOp::create(b, loc, mask,
                                 lanesBelow(lanes, place.validColumns, column));
  LLVM::MaskedStoreOp::create(b, loc, narrowed, to, mask, alignment);
}

// Runs of columns are whole blocks of digits: a tile's columns are (STORE2).
void Memory::storeBlocks(const Place &place, Value row, Value column,
                         Value vector, int64_t digits) {
  storage::DigitsLayout layout{digits};
  int64_t lanes = cast<VectorType>(vector.getType()).getDimSize(0);
  assert(lanes % layout.kNumbers == 0 && !place.validColumns &&
         "expects whole blocks");
  for (int64_t first = 0; first < lanes; first += layout.kNumbers) {
    SmallVector<Value> numbers;
    for (int64_t i = 0; i < layout.kNumbers; i += shape.lanes)
      numbers.push_back(vector::ExtractStridedSliceOp::create(
          b, loc, vector, ArrayRef<int64_t>{first + i},
          ArrayRef<int64_t>{shape.lanes}, ArrayRef<int64_t>{1}));
    Value block = stored::blockAddress(
        b, loc, at(place, row, add(column, first)), place.element);
    storeDigits(b, loc, *this, layout, block, numbers);
  }
}

void Memory::storeScalar(const Place &place, Value row, Value column,
                         Value scalar) {
  LLVM::StoreOp::create(b, loc, narrow(scalar, place.element),
                        at(place, row, column).address);
}

void Memory::prefetch(const ElementPlace &place, Type element, int64_t bytes) {
  Value address = storage::Storage::get(element).isDense()
                      ? place.address
                      : stored::blockAddress(b, loc, place, element);
  Value ahead =
      LLVM::GEPOp::create(b, loc, address.getType(), b.getI8Type(), address,
                          ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(bytes)});
  LLVM::Prefetch::create(b, loc, ahead, /*rw=*/b.getI32IntegerAttr(0),
                         /*hint=*/b.getI32IntegerAttr(2),
                         /*cache=*/b.getI32IntegerAttr(1));
}

Value Memory::shuffle(Value a, Value b, ArrayRef<int64_t> lanes) {
  return vector::ShuffleOp::create(this->b, loc, a, b, lanes);
}

Value Memory::reduceLanes(Value vector, bool max) {
  int64_t lanes = cast<VectorType>(vector.getType()).getDimSize(0);
  for (int64_t half = lanes / 2; half >= 1; half /= 2) {
    SmallVector<int64_t> low, high;
    for (int64_t i = 0; i < half; ++i) {
      low.push_back(i);
      high.push_back(i + half);
    }
    Value a = shuffle(vector, vector, low), c = shuffle(vector, vector, high);
    vector = max ? Value(arith::MaximumFOp::create(b, loc, a, c))
                 : Value(arith::AddFOp::create(b, loc, a, c));
  }
  return vector::ExtractOp::create(b, loc, vector, ArrayRef<int64_t>{0});
}

// Each vector is a group of lanes that are summed up. Halves of the groups of two vectors
// fill one: their low halves one vector, their high halves another, whose sum has both
// vectors' groups, half as long. Once there is one vector it gets shorter instead. Groups
// of up to four lanes stay inside of the 128 bits in which they are, which takes no
// instruction that crosses them.
Value Memory::sumLanes(ArrayRef<Value> vectors) {
  struct Groups {
    Value vector;
    SmallVector<int64_t> owners; // whose sum each group is a part of
  };
  constexpr int64_t kNearLanes = 4;
  SmallVector<Groups> parts;
  for (auto [number, vector] : llvm::enumerate(vectors))
    parts.push_back({vector, {int64_t(number)}});
  int64_t lanes = cast<VectorType>(vectors[0].getType()).getDimSize(0);
  for (int64_t size = lanes; size > 1; size /= 2) {
    // So many groups of one vector, then as many of the other.
    int64_t together = std::max<int64_t>(
        size >= kNearLanes * 2 ? lanes / size
                               : std::min(lanes, kNearLanes) / size,
        1);
    SmallVector<Groups> next;
    for (size_t i = 0; i < parts.size(); i += 2) {
      ArrayRef<Groups> pair =
          ArrayRef(parts).slice(i, std::min<size_t>(2, parts.size()));
      SmallVector<int64_t> low, high;
      Groups sums;
      int64_t groups = pair[0].owners.size();
      for (int64_t first = 0; first < groups; first += together)
        for (auto [number, from] : llvm::enumerate(pair))
          for (int64_t g = first; g < std::min(first + together, groups); ++g) {
            sums.owners.push_back(from.owners[g]);
            for (int64_t lane = 0; lane < size / 2; ++lane) {
              int64_t at = int64_t(number) * groups * size + g * size + lane;
              low.push_back(at);
              high.push_back(at + size / 2);
            }
          }
      Value a = pair.front().vector, c = pair.back().vector;
      sums.vector = arith::AddFOp::create(b, loc, shuffle(a, c, low),
                                          shuffle(a, c, high));
      next.push_back(std::move(sums));
    }
    parts = std::move(next);
  }
  SmallVector<int64_t> inOrder(vectors.size());
  for (auto [lane, owner] : llvm::enumerate(parts[0].owners))
    inOrder[owner] = int64_t(lane);
  Value sums = parts[0].vector;
  return llvm::is_sorted(inOrder) ? sums : shuffle(sums, sums, inOrder);
}
