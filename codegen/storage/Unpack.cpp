// Field by field: addresses from strides, shifts, masks, conversion.
#include "codegen/storage/Unpack.h"
#include "codegen/storage/BlockBits.h"
#include "codegen/storage/CodeBytes.h"
#include "codegen/storage/CodePlaces.h"
#include "codegen/storage/UnpackDigits.h"

#include "dialects/storage/Digits.h"
#include "dialects/storage/Panels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/MapVector.h"

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

/// Numbers of a run of neighbours that share all digits but the last.
class Run {
public:
  /// `stored` is a block, or a panel, which `type` describes. Loads what the elements
  /// from `place` on share, and codes that lie in words.
  Run(OpBuilder &b, Location loc, Type stored, BlockType type, int64_t lanes,
      const ElementPlace &place, Permute permute, LookUp lookUp)
      : b(b), loc(loc), type(type), lanes(lanes), permute(std::move(permute)),
        lookUp(std::move(lookUp)), fields(b, loc, stored, type, lanes, place) {}

  /// f32 in every lane.
  Value numbers();

private:
  Value numberOf(FieldAttr field);
  Value numberOf(FieldAttr field, BlockBits::Bits bits);
  Value product(ArrayRef<FieldAttr> factors, Value start = {});
  Value sharedProduct(ArrayRef<FieldAttr> factors);
  Value inRegister(int64_t bits);
  /// f32, and what they are more than codes.
  using Placed = SmallVector<std::pair<Value, int64_t>>;
  Placed placedCodes();
  Value vectorOf(ArrayRef<Value> numbers);
  Value scaled(const Placed &placed);
  Value scaledAndMoved(const Placed &placed);
  Type shaped(Type element, int64_t count) {
    return count == 1 ? element : Type(VectorType::get({count}, element));
  }
  Value constant(Type element, int64_t count, int64_t value) {
    return fields.constant(element, count, value);
  }
  Value constant(float value, int64_t count);
  /// f32 of the bf16 or f16 that i32 have in their lower halves.
  Value widenHalf(Value bits, Type element, int64_t count);
  Value lookup(FieldAttr field, Value bits, int64_t count);
  Value integer(FieldAttr field, Value bits, int64_t count);
  /// Numbers of e4m3 over kUnitOfSmallE4M3, but for its NaN.
  Value smallE4M3(Value bits, int64_t count);
  Value scaledE4M3();
  static constexpr float kUnitOfSmallE4M3 = 256;

  OpBuilder &b;
  Location loc;
  BlockType type;
  int64_t lanes;
  Permute permute; // null: the target has none
  LookUp lookUp;
  BlockBits fields;
};

Value Run::constant(float value, int64_t count) {
  TypedAttr attr = b.getF32FloatAttr(value);
  if (count > 1)
    attr =
        DenseElementsAttr::get(VectorType::get({count}, b.getF32Type()), attr);
  return arith::ConstantOp::create(b, loc, attr);
}

// An entry of a table, as f32 (STORED6). Without an instruction bit after bit chooses
// between halves of what is left. A table is short, and needs no memory of its own.
Value Run::lookup(FieldAttr field, Value bits, int64_t count) {
  constexpr size_t kEntries = 16;
  if (count == lookUp.lanes && field.getTable().size() == kEntries)
    return lookUp.entries(llvm::to_vector_of<float>(field.getTable()), bits);
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

// An f16 whose exponent is 8 too small: with its sign twice in front, of which one goes.
Value Run::smallE4M3(Value bits, int64_t count) {
  Type i8 = b.getI8Type(), i16 = b.getI16Type();
  Value half = arith::ExtSIOp::create(
      b, loc, shaped(i16, count),
      arith::TruncIOp::create(b, loc, shaped(i8, count), bits));
  half = arith::ShLIOp::create(b, loc, half, constant(i16, count, 7));
  half = arith::AndIOp::create(b, loc, half, constant(i16, count, ~0x4000));
  return widen(b, loc, half, b.getF16Type());
}

// Codes of e4m3 times one scale, which takes the power of two that is left of them: no
// code is NaN, and no scale too large for this power (StorageBase.td).
Value Run::scaledE4M3() {
  FieldAttr code = type.getCode();
  if (code.getKind() != FieldKind::E4M3 || type.getScale().size() != 1)
    return {};
  BlockBits::Bits scale = fields.of(type.getScale()[0]);
  if (scale.second != 1)
    return {};
  Value factor =
      arith::MulFOp::create(b, loc, numberOf(type.getScale()[0], scale),
                            constant(kUnitOfSmallE4M3, 1));
  return arith::MulFOp::create(b, loc, smallE4M3(fields.of(code).first, lanes),
                               fields.splat(factor));
}

// What a field stands for, as f32 in every lane.
Value Run::numberOf(FieldAttr field) {
  BlockBits::Bits bits = fields.of(field);
  Value number = numberOf(field, bits);
  return bits.second == lanes ? number : fields.splat(number);
}

// The same of bits, in as many lanes as these have.
Value Run::numberOf(FieldAttr field, BlockBits::Bits bitsAndCount) {
  auto [bits, count] = bitsAndCount;
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
    // The one NaN is made one. Registers of bytes take more of them.
    Type i8 = b.getI8Type();
    auto narrow = [&, count = count](int64_t value) {
      return constant(i8, count, value);
    };
    Value byte = arith::TruncIOp::create(b, loc, shaped(i8, count), bits);
    Value isNone = arith::CmpIOp::create(
        b, loc, arith::CmpIPredicate::eq,
        arith::AndIOp::create(b, loc, byte, narrow(0x7f)), narrow(0x7f));
    result = arith::MulFOp::create(b, loc, smallE4M3(bits, count),
                                   constant(kUnitOfSmallE4M3, count));
    result = arith::SelectOp::create(b, loc, isNone,
                                     constant(std::nanf(""), count), result);
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
  return result;
}

// The product of factors that all lanes share, as a scalar.
Value Run::sharedProduct(ArrayRef<FieldAttr> factors) {
  Value result;
  for (FieldAttr field : factors) {
    Value number = numberOf(field, fields.of(field));
    result =
        result ? Value(arith::MulFOp::create(b, loc, result, number)) : number;
  }
  return result;
}

// Bits in a register: an operation of three inputs takes a mask and them, where assemblers
// make two of an operation with two constants. That the highest bit of an address is 0, no
// assembler knows.
Value Run::inRegister(int64_t bits) {
  Type i64 = b.getI64Type();
  Value address = LLVM::PtrToIntOp::create(b, loc, i64, fields.getOperand());
  Value zero = arith::TruncIOp::create(
      b, loc, b.getI32Type(),
      arith::ShRUIOp::create(b, loc, address, constant(i64, 1, 63)));
  return arith::SubIOp::create(b, loc, constant(b.getI32Type(), 1, bits), zero);
}

// Codes as f32 that are too large by a number known for each; empty where they do not lie
// in words.
Run::Placed Run::placedCodes() {
  FieldAttr code = type.getCode();
  if (lanes == 1)
    return {};
  std::optional<CodePlaces> places = CodePlaces::of(type, lanes);
  // Bytes take fewer operations, unless their numbers take one more each.
  bool areShorter = places && code.pieces() == 1 && type.getPlus().empty() &&
                    type.getMinus().empty() &&
                    !CodePlaces::isExact(type, CodeBytes::aboveOf(code));
  if (permute && !areShorter)
    if (std::optional<CodeBytes> bytes = CodeBytes::of(
            b, loc, permute, code,
            [&](int64_t piece) { return fields.wordsOf(code, piece); },
            lanes)) {
      Placed placed;
      for (Value number : bytes->numbers)
        placed.push_back({number, bytes->above});
      return placed;
    }
  if (!places)
    return {};
  for (int64_t piece = 0; piece < code.pieces(); ++piece)
    if (fields.wordsOf(code, piece).empty())
      return {};
  constexpr int64_t kFraction = 23, kPower = 0x4b000000;
  Type i32 = b.getI32Type();
  // A code at bit p is whole in 2^(23-p).
  SmallVector<Value> powers =
      llvm::map_to_vector(places->bits, [&](int64_t bit) {
        return inRegister(kPower - (bit << kFraction));
      });
  Placed placed;
  for (int64_t lane = 0; lane < lanes; ++lane) {
    size_t place = size_t(lane) % places->bits.size();
    int64_t bit = places->bits[place], to = bit;
    Value bits;
    for (int64_t piece = 0; piece < code.pieces(); ++piece) {
      int64_t width = code.getWidths()[piece];
      Value part = fields.bitsIn(fields.wordsOf(code, piece), width, lane, to);
      bits = bits ? Value(arith::OrIOp::create(b, loc, bits, part)) : part;
      to += width;
    }
    bits = arith::XOrIOp::create(b, loc, bits, powers[place]);
    if (places->flip)
      bits = arith::XOrIOp::create(b, loc, bits,
                                   constant(i32, 1, places->flip << bit));
    placed.push_back({arith::BitcastOp::create(b, loc, b.getF32Type(), bits),
                      (int64_t(1) << (kFraction - bit)) + places->zero});
  }
  return placed;
}

Value Run::vectorOf(ArrayRef<Value> numbers) {
  Value result = LLVM::PoisonOp::create(b, loc, shaped(b.getF32Type(), lanes));
  for (auto [lane, number] : llvm::enumerate(numbers))
    result = LLVM::InsertElementOp::create(
        b, loc, result, number, constant(b.getI32Type(), 1, int64_t(lane)));
  return result;
}

// Codes, less their zero, times their scale: one operation (CodePlaces.h). Null where what
// it takes away is not exact.
Value Run::scaled(const Placed &placed) {
  if (placed.empty() || type.getScale().empty() ||
      !llvm::all_of(placed, [&](const auto &code) {
        return CodePlaces::isExact(type, code.second);
      }))
    return {};
  Value scale = sharedProduct(type.getScale());
  Value zero = sharedProduct(type.getZero());
  llvm::SmallMapVector<int64_t, Value, 4> terms;
  SmallVector<Value> numbers;
  for (auto [code, above] : placed) {
    Value &term = terms[above];
    if (!term && !zero)
      term = arith::MulFOp::create(b, loc, scale, constant(-float(above), 1));
    if (!term)
      term = arith::MulFOp::create(
          b, loc, scale,
          arith::SubFOp::create(b, loc, constant(-float(above), 1), zero));
    numbers.push_back(math::FmaOp::create(b, loc, code, scale, term));
  }
  return vectorOf(numbers);
}

// Codes times their scale and what is added, in one operation each.
Value Run::scaledAndMoved(const Placed &placed) {
  bool isPlus = !type.getPlus().empty(), isMinus = !type.getMinus().empty();
  auto areShared = [](ArrayRef<FieldAttr> fields) {
    return llvm::all_of(fields, CodePlaces::isShared);
  };
  if (placed.empty() || isPlus == isMinus || type.getScale().empty() ||
      !type.getZero().empty() || !areShared(type.getScale()) ||
      !areShared(type.getPlus()) || !areShared(type.getMinus()) ||
      !CodePlaces::isExact(type, /*above=*/0))
    return {};
  Value scale = sharedProduct(type.getScale());
  Value moved = sharedProduct(isPlus ? type.getPlus() : type.getMinus());
  if (isMinus)
    moved = arith::NegFOp::create(b, loc, moved);
  SmallVector<Value> numbers;
  for (auto [code, above] : placed) {
    Value exact =
        arith::SubFOp::create(b, loc, code, constant(float(above), 1));
    numbers.push_back(math::FmaOp::create(b, loc, exact, scale, moved));
  }
  return vectorOf(numbers);
}

Value Run::product(ArrayRef<FieldAttr> factors, Value start) {
  for (FieldAttr field : factors) {
    Value number = numberOf(field);
    start =
        start ? Value(arith::MulFOp::create(b, loc, start, number)) : number;
  }
  return start;
}

Value Run::numbers() {
  Placed placed = placedCodes();
  if (Value whole = scaledAndMoved(placed))
    return whole;
  Value number = scaled(placed);
  if (!number && placed.empty())
    number = scaledE4M3();
  if (!number) {
    Value code;
    if (placed.empty())
      code = product(type.getCode());
    else
      code = vectorOf(llvm::map_to_vector(placed, [&](auto each) -> Value {
        if (each.second == 0)
          return each.first;
        return arith::SubFOp::create(b, loc, each.first,
                                     constant(float(each.second), 1));
      }));
    if (!type.getZero().empty())
      code = arith::SubFOp::create(b, loc, code, product(type.getZero()));
    number = product(type.getScale(), code);
  }
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

ElementPlace stored::blockPlace(OpBuilder &b, Location loc,
                                const ElementPlace &place, Type type) {
  storage::Storage storage = storage::Storage::get(type);
  assert(!place.row && place.divisor % storage.blockElements() == 0 &&
         "expects a block's first element");
  ElementPlace first =
      firstPlace(b, loc, blockAddress(b, loc, place, type), type);
  first.alignment = std::gcd(place.alignment, storage.blockBytes());
  return first;
}

// What describes an element of blocks or panels; null of digits.
static BlockType describe(Type type) {
  if (auto panel = dyn_cast<PanelType>(type))
    return storage::PanelLayout::of(panel.getRows()).describe();
  return dyn_cast<BlockType>(type);
}

std::function<Value()> stored::beginUnpack(OpBuilder &b, Location loc,
                                           const ElementPlace &place, Type type,
                                           int64_t lanes, Permute permute,
                                           LookUp lookUp) {
  assert(describe(type).getDigits().back() % lanes == 0 && "of two digits");
  auto run = std::make_shared<Run>(b, loc, type, describe(type), lanes, place,
                                   std::move(permute), std::move(lookUp));
  return [run] { return run->numbers(); };
}

Value stored::unpack(OpBuilder &b, Location loc, const ElementPlace &place,
                     Type type, int64_t lanes, Value valid,
                     const LookUp &lookUp) {
  BlockType described = describe(type);
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
                        ? beginUnpack(b, loc, at, type, run, {}, lookUp)()
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
