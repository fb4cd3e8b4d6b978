// Arm: sdot multiplies four bytes in each of the four lanes of a register, and smmla,
// of two registers, two rows of eight bytes by two others. Vectors are made of whole
// registers of four lanes ("quarters"), whatever the level's own are.
#include "codegen/host/ByteDots.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace effc;
using namespace effc::host;

namespace {

constexpr int64_t kLanes = 4; // of a register
/// The steps whose digits one register holds.
constexpr int64_t kStepsOfLoad = 4;

class ArmByteDots : public ByteDots {
public:
  ArmByteDots(OpBuilder &b, Location loc, bool hasMatrices, int64_t lanes)
      : ByteDots(b, loc, lanes), quarters(lanes / kLanes),
        hasMatrices(hasMatrices) {
    if (lanes % kLanes != 0)
      llvm::report_fatal_error("no byte products are known of such registers");
  }

  bool takesSignedCodes() const override { return true; }
  // Sums of three digits and 16 columns take 12 registers of 32, and those of two rows
  // 24: then a half of the columns goes after the other. Without matrices two rows gain
  // nothing.
  int64_t rowsAtOnce(int64_t) const override { return hasMatrices ? 2 : 1; }
  int64_t partsAtOnce(int64_t parts, size_t accumulators) const override {
    return goesByPairs(accumulators) ? 1 : parts;
  }
  SmallVector<Value> load(ArrayRef<Row> rows, int64_t step) override;
  void add(Sums &sums, Value codes, int64_t most,
           ArrayRef<Value> digits) override;
  SmallVector<Value> finish(Sums &sums) override;
  Value lookup(Value codes, ArrayRef<int64_t> table) override;

private:
  VectorType registerOf(Type element, int64_t count) {
    return VectorType::get({count}, element);
  }
  VectorType wordRegister() { return registerOf(b.getI32Type(), kLanes); }
  Value asBytes(Value words) {
    return LLVM::BitcastOp::create(b, loc, registerOf(b.getI8Type(), 16),
                                   words);
  }
  Value quarter(Value vector, int64_t index) {
    if (quarters == 1)
      return vector;
    return vector::ExtractStridedSliceOp::create(
        b, loc, vector, ArrayRef<int64_t>{index * kLanes},
        ArrayRef<int64_t>{kLanes}, ArrayRef<int64_t>{1});
  }
  Value join(ArrayRef<Value> parts);
  Value shuffle(Value x, Value y, ArrayRef<int64_t> lanes) {
    return vector::ShuffleOp::create(b, loc, x, y, lanes);
  }
  /// `intrinsic` of a sum, null for zeros, and two registers of bytes.
  Value multiply(StringRef intrinsic, Value sum, Value x, Value y) {
    if (!sum)
      sum = splat(wordRegister(), 0);
    return call(intrinsic, wordRegister(), {sum, asBytes(x), asBytes(y)});
  }
  /// Whether so many accumulators are multiplied two by two.
  bool goesByPairs(size_t accumulators) const {
    // One row's digits would fill as many instructions.
    return hasMatrices && accumulators % 2 == 0 && accumulators > 2;
  }
  void addPairs(Sums &sums, Value codes, ArrayRef<Value> digits);

  int64_t quarters;
  bool hasMatrices;
  SmallVector<Value> loaded; ///< the digits of kStepsOfLoad steps
};

} // namespace

std::unique_ptr<ByteDots> host::makeArmByteDots(OpBuilder &b, Location loc,
                                                bool hasMatrices,
                                                int64_t lanes) {
  return std::make_unique<ArmByteDots>(b, loc, hasMatrices, lanes);
}

Value ArmByteDots::join(ArrayRef<Value> parts) {
  if (parts.size() == 1)
    return parts.front();
  auto type = cast<VectorType>(parts.front().getType());
  VectorType whole = VectorType::get(
      {int64_t(parts.size()) * type.getDimSize(0)}, type.getElementType());
  Value all = arith::ConstantOp::create(b, loc, b.getZeroAttr(whole));
  for (auto [i, part] : llvm::enumerate(parts))
    all = vector::InsertStridedSliceOp::create(
        b, loc, part, all, ArrayRef<int64_t>{int64_t(i) * type.getDimSize(0)},
        ArrayRef<int64_t>{1});
  return all;
}

// A register of digits in place of four words: a product takes any word of it.
SmallVector<Value> ArmByteDots::load(ArrayRef<Row> rows, int64_t step) {
  if (step % kStepsOfLoad == 0) {
    loaded.clear();
    for (const Row &row : rows)
      loaded.push_back(ByteDots::load(wordRegister(), row, step * 4));
  }
  int64_t word = step % kStepsOfLoad;
  SmallVector<Value> digits;
  if (!goesByPairs(rows.size())) {
    for (Value row : loaded)
      digits.push_back(shuffle(row, row, {word, word, word, word}));
    return digits;
  }
  // Of two accumulators this step's and the next one's words, side by side.
  if (word % 2 == 0)
    for (size_t i = 0; i < rows.size(); i += 2)
      digits.push_back(shuffle(loaded[i], loaded[i + 1],
                               {word, word + 1, 4 + word, 5 + word}));
  return digits;
}

void ArmByteDots::add(Sums &sums, Value codes, int64_t,
                      ArrayRef<Value> digits) {
  size_t count = sums.pairs.size(); // of accumulators, one entry each
  if (goesByPairs(count))
    return addPairs(sums, codes, digits);
  sums.words.resize(count * quarters);
  for (int64_t part = 0; part < quarters; ++part) {
    Value ofPart = quarter(codes, part);
    for (size_t i = 0; i < count; ++i) {
      Value &sum = sums.words[i * quarters + part];
      sum = multiply("llvm.aarch64.neon.sdot.v4i32.v16i8", sum, ofPart,
                     digits[i]);
    }
  }
}

// A register of products has two accumulators' sums of two lanes:
// (first, lane 0), (first, lane 1), (second, lane 0), (second, lane 1).
void ArmByteDots::addPairs(Sums &sums, Value codes, ArrayRef<Value> digits) {
  if (!sums.codes) {
    sums.codes = codes;
    sums.digits.assign(digits.begin(), digits.end());
    return;
  }
  size_t pairs = sums.pairs.size() / 2;
  sums.words.resize(pairs * quarters * 2);
  for (int64_t part = 0; part < quarters; ++part) {
    Value even = quarter(sums.codes, part), odd = quarter(codes, part);
    for (int64_t half = 0; half < 2; ++half) {
      // Eight columns of two lanes.
      int64_t lane = 2 * half;
      Value two = shuffle(even, odd, {lane, 4 + lane, lane + 1, 5 + lane});
      for (size_t i = 0; i < pairs; ++i) {
        Value &sum = sums.words[(i * quarters + part) * 2 + half];
        sum = multiply("llvm.aarch64.neon.smmla.v4i32.v16i8", sum,
                       sums.digits[i], two);
      }
    }
  }
  sums.codes = {};
}

SmallVector<Value> ArmByteDots::finish(Sums &sums) {
  size_t count = sums.pairs.size();
  bool byPairs = goesByPairs(count);
  SmallVector<Value> all;
  for (size_t i = 0; i < count; ++i) {
    SmallVector<Value> parts;
    for (int64_t part = 0; part < quarters; ++part) {
      if (!byPairs) {
        parts.push_back(sums.words[i * quarters + part]);
        continue;
      }
      const Value *halves = &sums.words[(i / 2 * quarters + part) * 2];
      int64_t lane = i % 2 * 2;
      parts.push_back(
          shuffle(halves[0], halves[1], {lane, lane + 1, 4 + lane, 5 + lane}));
    }
    all.push_back(join(parts));
  }
  return all;
}

Value ArmByteDots::lookup(Value codes, ArrayRef<int64_t> table) {
  SmallVector<APInt> entries;
  for (int64_t entry : table)
    entries.push_back(APInt(8, uint64_t(entry & 0xff)));
  VectorType bytes = registerOf(b.getI8Type(), 16);
  Value all =
      arith::ConstantOp::create(b, loc, DenseElementsAttr::get(bytes, entries));
  SmallVector<Value> found;
  for (int64_t part = 0; part < quarters; ++part)
    found.push_back(
        LLVM::BitcastOp::create(b, loc, wordRegister(),
                                call("llvm.aarch64.neon.tbl1.v16i8", bytes,
                                     {all, asBytes(quarter(codes, part))})));
  return join(found);
}
