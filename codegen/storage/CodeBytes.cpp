// Bytes of four neighbours at a time, in one register.
#include "codegen/storage/CodeBytes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"

using namespace mlir;
using namespace effc;
using namespace effc::stored;
using storage::FieldAttr;
using storage::FieldKind;

/// Neighbours whose bytes are one register.
static constexpr int64_t kBytes = 4;
static constexpr size_t kEntries = 16;
/// 2^15 as f32: the last place of its second byte is 1.
static constexpr int64_t kPower = 0x47000000, kPowerValue = 1 << 15;

namespace {

class Bytes {
public:
  Bytes(OpBuilder &b, Location loc, const Permute &permute)
      : b(b), loc(loc), permute(permute) {}

  /// The f32 whose second byte is byte `i` of `bytes`, and whose others are those of 2^15.
  Value place(Value bytes, int64_t i) {
    return asF32(permute(bytes, number(kPower), number(0x7504 | (i << 4))));
  }

  /// For the codes of 4 bits in half `half` of a word the bytes of a table.
  Value lookUp(ArrayRef<uint8_t> table, Value word, int64_t half);
  /// The same of a table of f32.
  SmallVector<Value> lookUp(ArrayRef<float> table, Value word, int64_t half);
  /// f32 of four numbers of 8 bits.
  SmallVector<Value> widenE4M3(Value word);

  Value flip(Value word, int64_t mask) {
    return arith::XOrIOp::create(b, loc, word, number(mask));
  }
  /// Of eight codes' bits in a word, `width` each, those of the even and of the odd ones,
  /// a code in a byte, from bit `to` on. Null: there is no short way.
  std::pair<Value, Value> spread(Value word, int64_t width, int64_t to);
  Value either(Value one, Value other) {
    return arith::OrIOp::create(b, loc, one, other);
  }
  Value number(int64_t value) {
    return arith::ConstantOp::create(b, loc,
                                     b.getI32IntegerAttr(int32_t(value)));
  }

private:
  Value asF32(Value bits) {
    return arith::BitcastOp::create(b, loc, b.getF32Type(), bits);
  }
  Value masked(Value word, int64_t mask) {
    return arith::AndIOp::create(b, loc, word, number(mask));
  }
  Value higher(Value word, int64_t by) {
    return by <= 0 ? lower(word, -by)
                   : Value(arith::ShLIOp::create(b, loc, word, number(by)));
  }
  Value lower(Value word, int64_t by) {
    return by == 0 ? word
                   : Value(arith::ShRUIOp::create(b, loc, word, number(by)));
  }

  OpBuilder &b;
  Location loc;
  const Permute &permute;
};

} // namespace

std::pair<Value, Value> Bytes::spread(Value word, int64_t width, int64_t to) {
  constexpr int64_t kEach = 0x01010101;
  int64_t mask = (kEach * ((1 << width) - 1)) << to;
  switch (width) {
  case 4: // two in a byte
    return {masked(higher(word, to), mask), masked(higher(word, to - 4), mask)};
  case 2: { // four in a byte, of which two go to the next one
    Value apart = permute(word, number(0), number(0x4140));
    auto two = [&](int64_t by) {
      return masked(either(higher(apart, by), higher(apart, by + 4)), mask);
    };
    return {two(to), two(to - 2)};
  }
  case 1: { // each at four places, of which the one in its byte meets no other
    if (to == 0)
      return {};
    constexpr int64_t kPlaces = 1 | 1 << 6 | 1 << 12 | 1 << 18;
    auto four = [&](int64_t codes, int64_t by) {
      return masked(arith::MulIOp::create(b, loc, masked(word, codes),
                                          number(kPlaces << by)),
                    mask);
    };
    return {four(0x55, to), four(0xaa, to - 1)};
  }
  default:
    return {};
  }
}

// Three bits of a code choose among the lower and the upper half of a table; its highest
// bit chooses which of the two counts.
Value Bytes::lookUp(ArrayRef<uint8_t> table, Value word, int64_t half) {
  constexpr int64_t kThreeBits = 0x77777777, kNumbers = 0x32103210,
                    kSecond = 0x44444444;
  if (llvm::all_equal(table))
    return number(table[0] * int64_t(0x01010101));
  auto four = [&](size_t first) {
    uint32_t bytes = 0;
    for (size_t i = 0; i < kBytes; ++i)
      bytes |= uint32_t(table[first + i]) << (8 * i);
    return number(bytes);
  };
  Value three = lower(masked(word, kThreeBits), half * 16);
  Value second = lower(
      either(masked(lower(word, 1), kSecond), number(kNumbers)), half * 16);
  return permute(permute(four(0), four(4), three),
                 permute(four(8), four(12), three), second);
}

// A byte of all four after another, then the bytes of each together.
SmallVector<Value> Bytes::lookUp(ArrayRef<float> table, Value word,
                                 int64_t half) {
  SmallVector<Value> planes;
  for (int64_t plane = 0; plane < kBytes; ++plane)
    planes.push_back(lookUp(
        llvm::map_to_vector(table,
                            [&](float entry) {
                              return uint8_t(llvm::bit_cast<uint32_t>(entry) >>
                                             (8 * plane));
                            }),
        word, half));
  SmallVector<Value> numbers;
  for (int64_t selector : {0x5140, 0x7362}) {
    Value low = permute(planes[0], planes[1], number(selector)),
          high = permute(planes[2], planes[3], number(selector));
    numbers.push_back(asF32(permute(low, high, number(0x5410))));
    numbers.push_back(asF32(permute(low, high, number(0x7632))));
  }
  return numbers;
}

// In pairs: an f16 has the sign, one exponent bit that is 0, and what is left of the byte,
// and stands for 2^-8 of the number. No code is the one NaN (StorageBase.td).
SmallVector<Value> Bytes::widenE4M3(Value word) {
  constexpr double kPower = 256;
  VectorType pair = VectorType::get({2}, b.getF16Type());
  auto half = [&](double value) -> Value {
    return arith::ConstantOp::create(
        b, loc,
        DenseElementsAttr::get(
            pair, b.getFloatAttr(b.getF16Type(), value).getValue()));
  };
  SmallVector<Value> numbers;
  for (int64_t selector : {0x1404, 0x3424}) {
    Value high = permute(word, number(0), number(selector));
    Value bits =
        either(masked(high, 0x80008000), lower(masked(high, 0x7f007f00), 1));
    Value halves = LLVM::BitcastOp::create(b, loc, pair, bits);
    halves = arith::MulFOp::create(b, loc, halves, half(kPower));
    for (int64_t i : {0, 1})
      numbers.push_back(arith::ExtFOp::create(
          b, loc, b.getF32Type(),
          Value(LLVM::ExtractElementOp::create(b, loc, halves, number(i)))));
  }
  return numbers;
}

// What flips the sign of a signed code, which then counts from the least one.
static int64_t flipOf(FieldAttr code) {
  return code.getKind() == FieldKind::Signed ? int64_t(1) << (code.bits() - 1)
                                             : 0;
}

int64_t CodeBytes::aboveOf(FieldAttr integers) {
  return kPowerValue + flipOf(integers) - integers.getBias();
}

// Integers, a code in a byte, which is `flipped` where the code is signed; empty where
// there is no short way. Four of a register follow one another, or every second one.
static SmallVector<Value> integersInBytes(Bytes &bytes, FieldAttr code,
                                          const PlaneWords &words,
                                          int64_t flipped) {
  if (code.bits() == 8 && code.pieces() == 1)
    return llvm::map_to_vector(words(0), [&](Value word) {
      return flipped ? bytes.flip(word, flipped * 0x01010101) : word;
    });
  Value even, odd;
  int64_t below = 0;
  for (int64_t piece = 0; piece < code.pieces(); ++piece) {
    int64_t width = code.getWidths()[piece];
    auto [ofEven, ofOdd] = bytes.spread(words(piece).front(), width, below);
    if (!ofEven)
      return {};
    even = even ? bytes.either(ofEven, even) : ofEven;
    odd = odd ? bytes.either(ofOdd, odd) : ofOdd;
    below += width;
  }
  if (flipped)
    for (Value *half : {&even, &odd})
      *half = bytes.flip(*half, flipped * 0x01010101);
  return {even, odd};
}

std::optional<CodeBytes> CodeBytes::of(OpBuilder &b, Location loc,
                                       const Permute &permute, FieldAttr code,
                                       const PlaneWords &words, int64_t lanes) {
  constexpr int64_t kLanes = 8;
  if (!permute || lanes != kLanes)
    return std::nullopt;
  for (int64_t piece = 0; piece < code.pieces(); ++piece)
    if (words(piece).empty())
      return std::nullopt;
  Bytes bytes(b, loc, permute);
  CodeBytes codes{{}, 0};
  if (code.getKind() == FieldKind::E4M3) {
    for (Value word : words(0))
      llvm::append_range(codes.numbers, bytes.widenE4M3(word));
    return codes;
  }
  if (!code.isInteger() || code.bits() > 8)
    return std::nullopt;
  ArrayRef<int64_t> table = code.getTable();
  if (table.empty()) {
    SmallVector<Value> fours =
        integersInBytes(bytes, code, words, flipOf(code));
    if (fours.empty())
      return std::nullopt;
    codes.above = aboveOf(code);
    bool follow = code.bits() == 8;
    for (int64_t lane = 0; lane < lanes; ++lane)
      codes.numbers.push_back(
          follow ? bytes.place(fours[size_t(lane / kBytes)], lane % kBytes)
                 : bytes.place(fours[size_t(lane % 2)], lane / 2));
    return codes;
  }
  if (code.bits() != 4 || code.pieces() != 1 || table.size() != kEntries)
    return std::nullopt;
  // What an entry is less than its byte.
  constexpr int64_t kByteBias = 128;
  bool inBytes = llvm::all_of(table, [&](int64_t entry) {
    return entry >= -kByteBias && entry < kByteBias;
  });
  if (inBytes)
    codes.above = kPowerValue + kByteBias;
  auto ofBytes = llvm::map_to_vector(
      table, [&](int64_t entry) { return uint8_t(entry + kByteBias); });
  auto ofNumbers =
      llvm::map_to_vector(table, [](int64_t entry) { return float(entry); });
  for (int64_t half : {0, 1}) {
    if (!inBytes) {
      llvm::append_range(codes.numbers,
                         bytes.lookUp(ofNumbers, words(0).front(), half));
      continue;
    }
    Value four = bytes.lookUp(ofBytes, words(0).front(), half);
    for (int64_t i = 0; i < kBytes; ++i)
      codes.numbers.push_back(bytes.place(four, i));
  }
  return codes;
}
