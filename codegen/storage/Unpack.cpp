// Field by field: addresses from strides, shifts, masks, conversion.
#include "codegen/storage/Unpack.h"

#include "dialects/storage/Digits.h"
#include "dialects/storage/Panels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <cmath>
#include <numeric>

using namespace mlir;
using namespace effc;
using namespace effc::stored;
using storage::BlockType;
using storage::DigitsType;
using storage::FieldAttr;
using storage::FieldKind;
using storage::PanelType;

namespace {

/// Code for a run of neighbours that share all digits but the last.
class Run {
public:
  /// `stored` is a block, or a panel, which `type` describes.
  Run(OpBuilder &b, Location loc, Type stored, BlockType type, int64_t lanes)
      : b(b), loc(loc), stored(stored), type(type), lanes(lanes) {}

  /// f32 for the elements from `place` on.
  Value unpack(const ElementPlace &place);

private:
  using Bits = std::pair<Value, int64_t>; // i32, and lanes: 1 or all

  void split(const ElementPlace &place);
  Value firstBit(FieldAttr field, int64_t piece, int64_t lane);
  int64_t alignmentOf(FieldAttr field, int64_t piece, int64_t lane);
  Bits bitsOf(FieldAttr field);
  Bits bitsOf(FieldAttr field, int64_t piece);
  Value scalarBits(FieldAttr field, int64_t piece, int64_t lane);
  Value numberOf(FieldAttr field);
  Value product(ArrayRef<FieldAttr> factors, Value start = {});

  Type shaped(Type element, int64_t count) {
    return count == 1 ? element : Type(VectorType::get({count}, element));
  }
  Value constant(Type element, int64_t count, int64_t value);
  Value constant(float value, int64_t count);
  /// f32 of the bf16 or f16 that i32 have in their lower halves.
  Value widenHalf(Value bits, Type element, int64_t count);
  Value splat(Value scalar);
  Value lookup(FieldAttr field, Value bits, int64_t count);
  Value integer(FieldAttr field, Value bits, int64_t count);

  OpBuilder &b;
  Location loc;
  Type stored;
  BlockType type;
  int64_t lanes;
  Value block;               // !llvm.ptr
  int64_t alignment = 1;     // of the block, in bytes
  SmallVector<Value> digits; // i32, of the first lane
};

Value Run::constant(Type element, int64_t count, int64_t value) {
  TypedAttr attr = b.getIntegerAttr(element, value);
  if (count > 1)
    attr = DenseElementsAttr::get(VectorType::get({count}, element), attr);
  return arith::ConstantOp::create(b, loc, attr);
}

Value Run::splat(Value scalar) {
  if (lanes == 1)
    return scalar;
  Value result =
      LLVM::PoisonOp::create(b, loc, shaped(scalar.getType(), lanes));
  for (int64_t lane = 0; lane < lanes; ++lane)
    result = LLVM::InsertElementOp::create(b, loc, result, scalar,
                                           constant(b.getI32Type(), 1, lane));
  return result;
}

void Run::split(const ElementPlace &place) {
  block = blockAddress(b, loc, place, stored);
  alignment =
      std::gcd(place.alignment, storage::Storage::get(stored).blockBytes());
  Value each = arith::ConstantIndexOp::create(
      b, loc, storage::Storage::get(stored).blockElements());
  Value rest = arith::IndexCastOp::create(
      b, loc, b.getI32Type(),
      arith::RemUIOp::create(b, loc, place.number, each));
  digits.resize(type.getDigits().size());
  // The first digit of a panel is the row.
  size_t first = place.row ? 1 : 0;
  if (place.row)
    digits[0] = arith::IndexCastOp::create(
        b, loc, b.getI32Type(),
        arith::RemUIOp::create(
            b, loc, place.row,
            arith::ConstantIndexOp::create(b, loc, storage::kPanelRows)));
  for (size_t i = digits.size(); i-- > first;) {
    Value radix = constant(b.getI32Type(), 1, type.getDigits()[i]);
    digits[i] = i == first ? rest : arith::RemUIOp::create(b, loc, rest, radix);
    if (i > first)
      rest = arith::DivUIOp::create(b, loc, rest, radix);
  }
}

// The first bit of a piece of lane `lane`, as an i32.
Value Run::firstBit(FieldAttr field, int64_t piece, int64_t lane) {
  ArrayRef<int64_t> strides = field.stridesOf(piece);
  Type i32 = b.getI32Type();
  Value bit =
      constant(i32, 1, field.getStarts()[piece] + lane * strides.back());
  for (auto [digit, stride] : llvm::zip_equal(digits, strides))
    if (stride != 0)
      bit = arith::AddIOp::create(
          b, loc, bit,
          arith::MulIOp::create(b, loc, digit, constant(i32, 1, stride)));
  return bit;
}

// What the byte of a piece of lane `lane` is a multiple of, whatever the digits; the last
// is one of the run's multiples.
int64_t Run::alignmentOf(FieldAttr field, int64_t piece, int64_t lane) {
  constexpr int64_t kByte = 8;
  ArrayRef<int64_t> strides = field.stridesOf(piece);
  int64_t start = field.getStarts()[piece] + lane * strides.back();
  int64_t inByte = start % kByte;
  int64_t known = std::gcd(alignment, start / kByte);
  for (auto [i, stride] : llvm::enumerate(strides)) {
    int64_t step = i + 1 == strides.size() ? stride * lanes : stride;
    if (step % kByte == 0)
      known = std::gcd(known, step / kByte);
    else
      inByte += step * (type.getDigits()[i] - 1);
  }
  return inByte < kByte ? known : 1;
}

// Bits of one element's piece: whole bytes, or a part of one.
Value Run::scalarBits(FieldAttr field, int64_t piece, int64_t lane) {
  int64_t width = field.getWidths()[piece];
  Type i32 = b.getI32Type();
  Value bit = firstBit(field, piece, lane);
  Value byte = arith::ShRUIOp::create(b, loc, bit, constant(i32, 1, 3));
  Value address = LLVM::GEPOp::create(b, loc, block.getType(), b.getI8Type(),
                                      block, ArrayRef<LLVM::GEPArg>{byte});
  bool whole = width % 8 == 0;
  Type moved = b.getIntegerType(whole ? unsigned(width) : 8);
  Value bits = LLVM::LoadOp::create(
      b, loc, moved, address,
      std::gcd(alignmentOf(field, piece, lane),
               int64_t(moved.getIntOrFloatBitWidth()) / 8));
  if (moved != i32)
    bits = arith::ExtUIOp::create(b, loc, i32, bits);
  if (whole)
    return bits;
  Value shift = arith::AndIOp::create(b, loc, bit, constant(i32, 1, 7));
  bits = arith::ShRUIOp::create(b, loc, bits, shift);
  return arith::AndIOp::create(b, loc, bits,
                               constant(i32, 1, (int64_t(1) << width) - 1));
}

Run::Bits Run::bitsOf(FieldAttr field, int64_t piece) {
  int64_t width = field.getWidths()[piece];
  int64_t stride = field.stridesOf(piece).back();
  if (lanes == 1 || stride == 0)
    return {scalarBits(field, piece, 0), 1};
  Type i32 = b.getI32Type(), words = shaped(i32, lanes);
  // Neighbours in bytes that follow one another: one load, one shift for all.
  if (stride == 8 && width <= 8) {
    Value bit = firstBit(field, piece, 0);
    Value byte = arith::ShRUIOp::create(b, loc, bit, constant(i32, 1, 3));
    Value address = LLVM::GEPOp::create(b, loc, block.getType(), b.getI8Type(),
                                        block, ArrayRef<LLVM::GEPArg>{byte});
    Value bits =
        LLVM::LoadOp::create(b, loc, shaped(b.getI8Type(), lanes), address,
                             alignmentOf(field, piece, /*lane=*/0));
    bits = arith::ExtUIOp::create(b, loc, words, bits);
    if (width == 8)
      return {bits, lanes};
    Value shift = arith::AndIOp::create(b, loc, bit, constant(i32, 1, 7));
    bits = arith::ShRUIOp::create(b, loc, bits, splat(shift));
    return {arith::AndIOp::create(
                b, loc, bits, constant(i32, lanes, (int64_t(1) << width) - 1)),
            lanes};
  }
  Value bits = LLVM::PoisonOp::create(b, loc, words);
  for (int64_t lane = 0; lane < lanes; ++lane)
    bits = LLVM::InsertElementOp::create(
        b, loc, bits, scalarBits(field, piece, lane), constant(i32, 1, lane));
  return {bits, lanes};
}

// The pieces of a field side by side, the first lowest.
Run::Bits Run::bitsOf(FieldAttr field) {
  Bits all = bitsOf(field, 0);
  int64_t below = field.getWidths()[0];
  for (int64_t piece = 1; piece < field.pieces(); ++piece) {
    Bits next = bitsOf(field, piece);
    int64_t count = std::max(all.second, next.second);
    auto widened = [&](Bits bits) {
      return bits.second == count ? bits.first : splat(bits.first);
    };
    Value shifted = arith::ShLIOp::create(
        b, loc, widened(next), constant(b.getI32Type(), count, below));
    all = {arith::OrIOp::create(b, loc, widened(all), shifted), count};
    below += field.getWidths()[piece];
  }
  return all;
}

Value Run::constant(float value, int64_t count) {
  TypedAttr attr = b.getF32FloatAttr(value);
  if (count > 1)
    attr =
        DenseElementsAttr::get(VectorType::get({count}, b.getF32Type()), attr);
  return arith::ConstantOp::create(b, loc, attr);
}

// An entry of a table, as f32 (STORED6): bit after bit chooses between halves of what
// is left. A table is short, and needs no memory of its own.
Value Run::lookup(FieldAttr field, Value bits, int64_t count) {
  SmallVector<Value> left;
  for (int64_t entry : field.getTable())
    left.push_back(constant(float(entry), count));
  for (int64_t bit = 0; left.size() > 1; ++bit) {
    Type i32 = b.getI32Type();
    Value masked = arith::AndIOp::create(
        b, loc, bits, constant(i32, count, int64_t(1) << bit));
    Value isSet = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne,
                                        masked, constant(i32, count, 0));
    for (size_t i = 0; i < left.size() / 2; ++i)
      left[i] =
          arith::SelectOp::create(b, loc, isSet, left[2 * i + 1], left[2 * i]);
    left.resize(left.size() / 2);
  }
  return left.front();
}

Value Run::widenHalf(Value bits, Type element, int64_t count) {
  Value half =
      arith::TruncIOp::create(b, loc, shaped(b.getI16Type(), count), bits);
  return widen(b, loc, half, element);
}

// As the last bits of an f32 of 2^23, which is then taken away: exact, and faster than a
// conversion on GPUs. A signed code counts from the least one, whose sign alone is set.
// What is too long for that is converted.
Value Run::integer(FieldAttr field, Value bits, int64_t count) {
  constexpr int64_t kFractionBits = 23, kExponent = 0x4b000000;
  constexpr float kPower = 0x1p23f;
  Type i32 = b.getI32Type(), f32 = shaped(b.getF32Type(), count);
  auto number = [&](int64_t value) { return constant(i32, count, value); };
  bool isSigned = field.getKind() == FieldKind::Signed;
  if (field.bits() >= kFractionBits) {
    if (isSigned) {
      int64_t unused = 32 - field.bits();
      bits = arith::ShLIOp::create(b, loc, bits, number(unused));
      bits = arith::ShRSIOp::create(b, loc, bits, number(unused));
    }
    if (field.getBias() != 0)
      bits = arith::AddIOp::create(b, loc, bits, number(field.getBias()));
    return arith::SIToFPOp::create(b, loc, f32, bits);
  }
  int64_t least = isSigned ? int64_t(1) << (field.bits() - 1) : 0;
  bits = arith::XOrIOp::create(b, loc, bits, number(kExponent ^ least));
  return arith::SubFOp::create(
      b, loc, arith::BitcastOp::create(b, loc, f32, bits),
      constant(kPower + float(least - field.getBias()), count));
}

// What a field stands for, as f32 in every lane.
Value Run::numberOf(FieldAttr field) {
  auto [bits, count] = bitsOf(field);
  Type i32 = b.getI32Type(), f32 = shaped(b.getF32Type(), count);
  auto number = [&, count = count](int64_t value) {
    return constant(i32, count, value);
  };
  Value result;
  switch (field.getKind()) {
  case FieldKind::Unsigned:
  case FieldKind::Signed:
    if (!field.getTable().empty()) {
      result = lookup(field, bits, count);
      break;
    }
    result = integer(field, bits, count);
    break;
  case FieldKind::Half:
    result = widenHalf(bits, b.getF16Type(), count);
    break;
  case FieldKind::Brain:
    result = widenHalf(bits, b.getBF16Type(), count);
    break;
  case FieldKind::Single:
    result = arith::BitcastOp::create(b, loc, f32, bits);
    break;
  case FieldKind::E4M3: {
    // An f16 whose exponent is 8 too small: with its sign twice in front, of which one
    // goes. The one NaN is made one. Registers of bytes and halves take more of them.
    Type i8 = b.getI8Type(), i16 = b.getI16Type();
    auto narrow = [&, count = count](Type element, int64_t value) {
      return constant(element, count, value);
    };
    Value byte = arith::TruncIOp::create(b, loc, shaped(i8, count), bits);
    Value isNone = arith::CmpIOp::create(
        b, loc, arith::CmpIPredicate::eq,
        arith::AndIOp::create(b, loc, byte, narrow(i8, 0x7f)),
        narrow(i8, 0x7f));
    Value half = arith::ExtSIOp::create(b, loc, shaped(i16, count), byte);
    half = arith::ShLIOp::create(b, loc, half, narrow(i16, 7));
    half = arith::AndIOp::create(b, loc, half, narrow(i16, ~0x4000));
    half = arith::SelectOp::create(b, loc, isNone, narrow(i16, 0x7e00), half);
    result = arith::MulFOp::create(b, loc, widen(b, loc, half, b.getF16Type()),
                                   constant(256.0f, count));
    break;
  }
  case FieldKind::E5M2:
    bits = arith::ShLIOp::create(b, loc, bits, number(8));
    result = widenHalf(bits, b.getF16Type(), count);
    break;
  case FieldKind::Exponent: {
    Value power = arith::ShLIOp::create(b, loc, bits, number(23));
    auto replace = [&](int64_t exponent, int64_t by) {
      Value is = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, bits,
                                       number(exponent));
      power = arith::SelectOp::create(b, loc, is, number(by), power);
    };
    replace(0, 0x00400000);   // 2^-127 is a subnormal number
    replace(255, 0x7fc00000); // no number
    result = arith::BitcastOp::create(b, loc, f32, power);
    if (field.getBias() != 0)
      result = arith::MulFOp::create(
          b, loc, result,
          constant(std::ldexp(1.0f, int(field.getBias())), count));
    break;
  }
  }
  return count == lanes ? result : splat(result);
}

Value Run::product(ArrayRef<FieldAttr> factors, Value start) {
  for (FieldAttr field : factors) {
    Value number = numberOf(field);
    start =
        start ? Value(arith::MulFOp::create(b, loc, start, number)) : number;
  }
  return start;
}

Value Run::unpack(const ElementPlace &place) {
  split(place);
  Value code = product(type.getCode());
  if (!type.getZero().empty())
    code = arith::SubFOp::create(b, loc, code, product(type.getZero()));
  Value number = product(type.getScale(), code);
  if (!type.getPlus().empty())
    number = arith::AddFOp::create(b, loc, number, product(type.getPlus()));
  if (!type.getMinus().empty())
    number = arith::SubFOp::create(b, loc, number, product(type.getMinus()));
  return number;
}

} // namespace

Value stored::blockAddress(OpBuilder &b, Location loc,
                           const ElementPlace &place, Type type) {
  storage::Storage storage = storage::Storage::get(type);
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, loc, value);
  };
  Value number = arith::DivUIOp::create(b, loc, place.number,
                                        index(storage.blockElements()));
  if (place.row) {
    Value panel =
        arith::DivUIOp::create(b, loc, place.row, index(storage.blockRows()));
    number = arith::AddIOp::create(
        b, loc, number,
        arith::MulIOp::create(
            b, loc, panel, index(place.rowElements / storage.blockElements())));
  }
  Value offset =
      arith::MulIOp::create(b, loc, number, index(storage.blockBytes()));
  offset = arith::IndexCastOp::create(b, loc, b.getI64Type(), offset);
  return LLVM::GEPOp::create(b, loc, place.address.getType(), b.getI8Type(),
                             place.address, ArrayRef<LLVM::GEPArg>{offset});
}

// Neighbours in a row of digits, all in one block.
static Value unpackDigits(OpBuilder &b, Location loc, const ElementPlace &place,
                          DigitsType type, int64_t lanes) {
  storage::DigitsLayout layout{type.getCount()};
  Value block = blockAddress(b, loc, place, type);
  Value column = arith::RemUIOp::create(
      b, loc, place.number,
      arith::ConstantIndexOp::create(b, loc, layout.kNumbers));
  column = arith::IndexCastOp::create(b, loc, b.getI64Type(), column);
  auto load = [&](Type moved, Value from, int64_t bytes) -> Value {
    Value at = LLVM::GEPOp::create(
        b, loc, from.getType(), b.getI8Type(), from,
        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(bytes)});
    return LLVM::LoadOp::create(b, loc, moved, at, /*alignment=*/1);
  };
  auto shaped = [&](Type element) {
    return lanes == 1 ? element : Type(VectorType::get({lanes}, element));
  };
  auto splat = [&](Value scalar) -> Value {
    return lanes == 1 ? scalar
                      : vector::BroadcastOp::create(
                            b, loc, VectorType::get({lanes}, scalar.getType()),
                            scalar);
  };
  Value row = LLVM::GEPOp::create(b, loc, block.getType(), b.getI8Type(), block,
                                  ArrayRef<LLVM::GEPArg>{column});
  Type i32 = shaped(b.getI32Type());
  Value whole;
  for (int64_t digit = 0; digit < layout.count; ++digit) {
    Value byte = arith::ExtSIOp::create(
        b, loc, i32, load(shaped(b.getI8Type()), row, layout.digit(digit)));
    if (whole) {
      Value eight =
          splat(arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(8)));
      byte = arith::AddIOp::create(
          b, loc, arith::ShLIOp::create(b, loc, whole, eight), byte);
    }
    whole = byte;
  }
  Value number = arith::SIToFPOp::create(b, loc, shaped(b.getF32Type()), whole);
  return arith::MulFOp::create(
      b, loc, number, splat(load(b.getF32Type(), block, layout.scale())));
}

Value stored::unpack(OpBuilder &b, Location loc, const ElementPlace &place,
                     Type type, int64_t lanes, Value valid) {
  BlockType described = dyn_cast<BlockType>(type);
  if (auto panel = dyn_cast<PanelType>(type))
    described = storage::PanelLayout::of(panel.getRows()).describe();
  // Neighbours that differ in the last digit alone, from a multiple on.
  int64_t run = std::gcd(std::gcd(lanes, place.divisor),
                         described ? described.getDigits().back()
                                   : storage::DigitsLayout::kNumbers);
  Type f32 = b.getF32Type();
  Type whole = lanes == 1 ? f32 : Type(VectorType::get({lanes}, f32));
  auto i32 = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(value));
  };
  Value result;
  for (int64_t first = 0; first < lanes; first += run) {
    ElementPlace at = place;
    Value offset = arith::ConstantIndexOp::create(b, loc, first);
    if (first > 0)
      at = further(b, loc, place, type, offset, run);
    Value read;
    if (valid) {
      read = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, offset,
                                   valid);
      // What does not count is not read: element 0 is, which is always there.
      at.number = arith::SelectOp::create(
          b, loc, read, at.number, arith::ConstantIndexOp::create(b, loc, 0));
    }
    Value numbers = described
                        ? Run(b, loc, type, described, run).unpack(at)
                        : unpackDigits(b, loc, at, cast<DigitsType>(type), run);
    if (run == lanes) {
      result = numbers;
      break;
    }
    if (!result)
      result = LLVM::PoisonOp::create(b, loc, whole);
    for (int64_t lane = 0; lane < run; ++lane) {
      Value number = numbers;
      if (run > 1)
        number = LLVM::ExtractElementOp::create(b, loc, numbers, i32(lane));
      result = LLVM::InsertElementOp::create(b, loc, result, number,
                                             i32(first + lane));
    }
  }
  if (!valid)
    return result;
  // Zeros from `valid` on.
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(f32));
  if (lanes == 1) {
    Value counts =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt,
                              arith::ConstantIndexOp::create(b, loc, 0), valid);
    return arith::SelectOp::create(b, loc, counts, result, zero);
  }
  for (int64_t lane = 0; lane < lanes; ++lane) {
    Value counts = arith::CmpIOp::create(
        b, loc, arith::CmpIPredicate::slt,
        arith::ConstantIndexOp::create(b, loc, lane), valid);
    Value number = LLVM::ExtractElementOp::create(b, loc, result, i32(lane));
    number = arith::SelectOp::create(b, loc, counts, number, zero);
    result = LLVM::InsertElementOp::create(b, loc, result, number, i32(lane));
  }
  return result;
}
