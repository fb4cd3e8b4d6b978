// The largest magnitude, its power of two, integers, their bytes and sums.
#include "codegen/host/Digits.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace effc;
using namespace effc::host;
using storage::DigitsLayout;

namespace {

class DigitsWriter {
public:
  DigitsWriter(OpBuilder &b, Location loc, Memory &memory, DigitsLayout layout,
               Value address)
      : b(b), loc(loc), memory(memory), layout(layout), address(address) {}

  void write(ArrayRef<Value> numbers);

private:
  Value word(int64_t value) {
    return arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(value));
  }
  Value words(int64_t value, int64_t lanes) {
    return memory.broadcast(word(value), lanes);
  }
  Value at(int64_t bytes) {
    return LLVM::GEPOp::create(
        b, loc, address.getType(), b.getI8Type(), address,
        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(bytes)});
  }
  void store(Value value, int64_t bytes) {
    LLVM::StoreOp::create(b, loc, value, at(bytes), /*alignment=*/1);
  }
  Value largestOf(ArrayRef<Value> numbers);
  void chooseScale(Value largest);
  Value sumOf(ArrayRef<Value> vectors);
  void storeSums(ArrayRef<Value> whole, ArrayRef<Value> low);

  OpBuilder &b;
  Location loc;
  Memory &memory;
  DigitsLayout layout;
  Value address;
  Value scale, inverse, finite;
};

} // namespace

// As the bits of an f32: magnitudes are ordered as their bits are, and those of
// infinities and NaNs lie above all others.
Value DigitsWriter::largestOf(ArrayRef<Value> numbers) {
  Value largest;
  for (Value vector : numbers) {
    int64_t lanes = cast<VectorType>(vector.getType()).getDimSize(0);
    Value bits = arith::BitcastOp::create(
        b, loc, memory.vectorType(lanes, b.getI32Type()), vector);
    bits = arith::AndIOp::create(b, loc, bits, words(0x7fffffff, lanes));
    largest =
        largest ? Value(arith::MaxSIOp::create(b, loc, largest, bits)) : bits;
  }
  return vector::ReductionOp::create(b, loc, vector::CombiningKind::MAXSI,
                                     largest);
}

void DigitsWriter::chooseScale(Value largest) {
  Type f32 = b.getF32Type();
  auto asFloat = [&](Value bits) -> Value {
    return arith::BitcastOp::create(b, loc, f32, bits);
  };
  finite = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, largest,
                                 word(0x7f800000));
  Value nan = asFloat(word(0x7fc00000)), zero = memory.constantF32(0);
  if (layout.count == 3) {
    // largest = m 2^(E-150) with m in [2^23, 2^24). Its digits fit with the scale
    // 2^(E-149), unless m / 2 is more than 127 (2^16 + 2^8 + 1).
    Value exponent = arith::ShRUIOp::create(b, loc, largest, word(23));
    Value fraction = arith::AndIOp::create(b, loc, largest, word(0x7fffff));
    Value tooLarge = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt,
                                           fraction, word(0xfefefe - 0x800000));
    exponent = arith::AddIOp::create(
        b, loc, exponent,
        arith::ExtUIOp::create(b, loc, b.getI32Type(), tooLarge));
    // E - 126 is at least -79.
    exponent = arith::MaxSIOp::create(b, loc, exponent, word(47));
    auto power = [&](Value biased) {
      return asFloat(arith::ShLIOp::create(b, loc, biased, word(23)));
    };
    scale = power(arith::SubIOp::create(b, loc, exponent, word(22)));
    inverse = power(arith::SubIOp::create(b, loc, word(276), exponent));
  } else {
    Value most = memory.constantF32(float(storage::mostOfDigits(layout.count)));
    scale = arith::DivFOp::create(b, loc, asFloat(largest), most);
    inverse = arith::DivFOp::create(b, loc, memory.constantF32(1), scale);
    Value large = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLT,
                                        inverse, asFloat(word(0x7f800000)));
    scale = arith::SelectOp::create(b, loc, large, scale, zero);
    inverse = arith::SelectOp::create(b, loc, large, inverse, zero);
  }
  scale = arith::SelectOp::create(b, loc, finite, scale, nan);
  inverse = arith::SelectOp::create(b, loc, finite, inverse, zero);
}

Value DigitsWriter::sumOf(ArrayRef<Value> vectors) {
  Value sum = vectors.front();
  for (Value vector : vectors.drop_front())
    sum = arith::AddIOp::create(b, loc, sum, vector);
  return vector::ReductionOp::create(b, loc, vector::CombiningKind::ADD, sum);
}

// `whole` and, of three digits, `low`: i32 vectors of all columns.
void DigitsWriter::storeSums(ArrayRef<Value> high, ArrayRef<Value> low) {
  size_t half = high.size() / 2;
  auto sums = [&](ArrayRef<Value> vectors) {
    std::array<Value, 3> result;
    if (half == 0) { // one vector of 32 lanes
      Value parts[2];
      for (int64_t i : {0, 1})
        parts[i] = vector::ExtractStridedSliceOp::create(
            b, loc, vectors.front(), ArrayRef<int64_t>{16 * i},
            ArrayRef<int64_t>{16}, ArrayRef<int64_t>{1});
      result[0] = sumOf(parts[0]);
      result[1] = sumOf(parts[1]);
    } else {
      result[0] = sumOf(vectors.take_front(half));
      result[1] = sumOf(vectors.drop_front(half));
    }
    result[2] = arith::AddIOp::create(b, loc, result[0], result[1]);
    return result;
  };
  auto asFloat = [&](Value integer) -> Value {
    return arith::SIToFPOp::create(b, loc, b.getF32Type(), integer);
  };
  auto ofHigh = sums(high);
  std::array<Value, 3> ofLow;
  if (layout.count == 3)
    ofLow = sums(low);
  for (int64_t i = 0; i < 3; ++i) {
    store(ofHigh[i], layout.sumHigh(i));
    Value sum = asFloat(ofHigh[i]);
    if (layout.count == 3) {
      store(ofLow[i], layout.sumLow(i));
      sum = math::FmaOp::create(b, loc, memory.constantF32(256), sum,
                                asFloat(ofLow[i]));
    }
    store(arith::MulFOp::create(b, loc, sum, scale), layout.sum(i));
  }
}

void DigitsWriter::write(ArrayRef<Value> numbers) {
  chooseScale(largestOf(numbers));
  store(scale, layout.scale());
  SmallVector<Value> high, low;
  int64_t column = 0;
  for (Value vector : numbers) {
    int64_t lanes = cast<VectorType>(vector.getType()).getDimSize(0);
    Type i32 = memory.vectorType(lanes, b.getI32Type());
    // What is not finite has no integer.
    Value number = arith::SelectOp::create(
        b, loc, finite, vector, memory.broadcast(memory.constantF32(0), lanes));
    number =
        arith::MulFOp::create(b, loc, number, memory.broadcast(inverse, lanes));
    Value rest = arith::FPToSIOp::create(
        b, loc, i32, math::RoundEvenOp::create(b, loc, number));
    for (int64_t digit = layout.count; digit-- > 0;) {
      Value byte = arith::TruncIOp::create(
          b, loc, memory.vectorType(lanes, b.getI8Type()), rest);
      store(byte, layout.digit(digit) + column);
      bool isLow = layout.count == 3 && digit == 2;
      if (digit == layout.count - 1 && !isLow)
        high.push_back(rest);
      if (digit == 0)
        break;
      Value wide = arith::ExtSIOp::create(b, loc, i32, byte);
      // Exact: the difference is a multiple of 256.
      rest = arith::ShRSIOp::create(
          b, loc, arith::SubIOp::create(b, loc, rest, wide), words(8, lanes));
      if (isLow) {
        low.push_back(wide);
        high.push_back(rest);
      }
    }
    column += lanes;
  }
  storeSums(high, low);
}

void host::storeDigits(OpBuilder &b, Location loc, Memory &memory,
                       DigitsLayout layout, Value address,
                       ArrayRef<Value> numbers) {
  DigitsWriter(b, loc, memory, layout, address).write(numbers);
}
