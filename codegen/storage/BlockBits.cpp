// Addresses from strides, loads, shifts and masks.
#include "codegen/storage/BlockBits.h"

#include "codegen/storage/Unpack.h"
#include "dialects/storage/Panels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;
using namespace effc;
using namespace effc::stored;
using storage::BlockType;
using storage::FieldAttr;

BlockBits::BlockBits(OpBuilder &b, Location loc, Type stored, BlockType type,
                     int64_t lanes, const ElementPlace &place)
    : b(b), loc(loc), stored(stored), type(type), lanes(lanes) {
  split(place);
  auto load = [&](ArrayRef<FieldAttr> fields) {
    for (FieldAttr field : fields)
      for (int64_t piece = 0; piece < field.pieces(); ++piece)
        if (field.stridesOf(piece).back() == 0)
          of(field, piece);
        else
          words[{field, piece}] = loadWords(field, piece);
  };
  load(type.getCode());
  for (ArrayRef<FieldAttr> part :
       {type.getZero(), type.getScale(), type.getPlus(), type.getMinus()})
    load(part);
}

ArrayRef<Value> BlockBits::wordsOf(FieldAttr field, int64_t piece) {
  return words[{field, piece}];
}

Value BlockBits::constant(Type element, int64_t count, int64_t value) {
  TypedAttr attr = b.getIntegerAttr(element, value);
  if (count > 1)
    attr = DenseElementsAttr::get(VectorType::get({count}, element), attr);
  return arith::ConstantOp::create(b, loc, attr);
}

Value BlockBits::splat(Value scalar) {
  if (lanes == 1)
    return scalar;
  Value result =
      LLVM::PoisonOp::create(b, loc, shaped(scalar.getType(), lanes));
  for (int64_t lane = 0; lane < lanes; ++lane)
    result = LLVM::InsertElementOp::create(b, loc, result, scalar,
                                           constant(b.getI32Type(), 1, lane));
  return result;
}

void BlockBits::split(const ElementPlace &place) {
  block = blockAddress(b, loc, place, stored);
  operand = place.address;
  while (auto from = operand.getDefiningOp<LLVM::GEPOp>())
    operand = from.getBase();
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
Value BlockBits::firstBit(FieldAttr field, int64_t piece, int64_t lane) {
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
int64_t BlockBits::alignmentOf(FieldAttr field, int64_t piece, int64_t lane) {
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
Value BlockBits::scalarBits(FieldAttr field, int64_t piece, int64_t lane) {
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

SmallVector<Value> BlockBits::loadWords(FieldAttr field, int64_t piece) {
  constexpr int64_t kByte = 8, kWord = 32, kLongest = 128;
  ArrayRef<int64_t> strides = field.stridesOf(piece);
  int64_t width = field.getWidths()[piece], bits = width * lanes;
  bool isWhole = lanes > 1 && strides.back() == width && bits >= kByte &&
                 bits <= kLongest && llvm::isPowerOf2_64(bits) &&
                 field.getStarts()[piece] % bits == 0 &&
                 llvm::all_of(strides.drop_back(), [&](int64_t stride) {
                   return stride % bits == 0;
                 });
  if (!isWhole || alignmentOf(field, piece, /*lane=*/0) % (bits / kByte) != 0)
    return {};
  Type i32 = b.getI32Type();
  Value byte = arith::ShRUIOp::create(b, loc, firstBit(field, piece, 0),
                                      constant(i32, 1, 3));
  Value address = LLVM::GEPOp::create(b, loc, block.getType(), b.getI8Type(),
                                      block, ArrayRef<LLVM::GEPArg>{byte});
  int64_t count = bits / kWord;
  Type moved = count > 1 ? Type(VectorType::get({count}, i32))
                         : b.getIntegerType(unsigned(std::min(bits, kWord)));
  Value loaded = LLVM::LoadOp::create(b, loc, moved, address, bits / kByte);
  if (count == 0)
    loaded = arith::ExtUIOp::create(b, loc, i32, loaded);
  if (count <= 1)
    return {loaded};
  SmallVector<Value> words;
  for (int64_t i = 0; i < count; ++i)
    words.push_back(
        LLVM::ExtractElementOp::create(b, loc, loaded, constant(i32, 1, i)));
  return words;
}

Value BlockBits::bitsIn(ArrayRef<Value> words, int64_t width, int64_t lane,
                        int64_t to) {
  constexpr int64_t kWord = 32;
  Type i32 = b.getI32Type();
  int64_t at = lane * width, shift = to - at % kWord;
  Value bits = words[at / kWord];
  if (shift > 0)
    bits = arith::ShLIOp::create(b, loc, bits, constant(i32, 1, shift));
  if (shift < 0)
    bits = arith::ShRUIOp::create(b, loc, bits, constant(i32, 1, -shift));
  return arith::AndIOp::create(
      b, loc, bits, constant(i32, 1, ((int64_t(1) << width) - 1) << to));
}

BlockBits::Bits BlockBits::of(FieldAttr field, int64_t piece) {
  int64_t width = field.getWidths()[piece];
  int64_t stride = field.stridesOf(piece).back();
  if (lanes == 1 || stride == 0) {
    Value &bits = shared[{field, piece}];
    if (!bits)
      bits = scalarBits(field, piece, 0);
    return {bits, 1};
  }
  Type i32 = b.getI32Type(), all = shaped(i32, lanes);
  if (SmallVector<Value> packed = words.lookup({field, piece});
      !packed.empty()) {
    Value bits = LLVM::PoisonOp::create(b, loc, all);
    for (int64_t lane = 0; lane < lanes; ++lane)
      bits = LLVM::InsertElementOp::create(
          b, loc, bits, bitsIn(packed, width, lane, /*to=*/0),
          constant(i32, 1, lane));
    return {bits, lanes};
  }
  // Neighbours in bytes that follow one another: one load, one shift for all.
  if (stride == 8 && width <= 8) {
    Value bit = firstBit(field, piece, 0);
    Value byte = arith::ShRUIOp::create(b, loc, bit, constant(i32, 1, 3));
    Value address = LLVM::GEPOp::create(b, loc, block.getType(), b.getI8Type(),
                                        block, ArrayRef<LLVM::GEPArg>{byte});
    Value bits =
        LLVM::LoadOp::create(b, loc, shaped(b.getI8Type(), lanes), address,
                             alignmentOf(field, piece, /*lane=*/0));
    bits = arith::ExtUIOp::create(b, loc, all, bits);
    if (width == 8)
      return {bits, lanes};
    Value shift = arith::AndIOp::create(b, loc, bit, constant(i32, 1, 7));
    bits = arith::ShRUIOp::create(b, loc, bits, splat(shift));
    return {arith::AndIOp::create(
                b, loc, bits, constant(i32, lanes, (int64_t(1) << width) - 1)),
            lanes};
  }
  Value bits = LLVM::PoisonOp::create(b, loc, all);
  for (int64_t lane = 0; lane < lanes; ++lane)
    bits = LLVM::InsertElementOp::create(
        b, loc, bits, scalarBits(field, piece, lane), constant(i32, 1, lane));
  return {bits, lanes};
}

// The pieces of a field side by side, the first lowest.
BlockBits::Bits BlockBits::of(FieldAttr field) {
  Bits all = of(field, 0);
  int64_t below = field.getWidths()[0];
  for (int64_t piece = 1; piece < field.pieces(); ++piece) {
    Bits next = of(field, piece);
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
