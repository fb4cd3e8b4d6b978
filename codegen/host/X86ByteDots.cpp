// x86: vpdpbusd where the level has it, else vpmaddubsw, whose sums of two products
// saturate in 16 bits and so are added to words before they can.
#include "codegen/host/ByteDots.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace effc;
using namespace effc::host;

namespace {

/// The instructions on registers of so many lanes.
struct Names {
  int64_t lanes;
  StringLiteral pairs, sum, quads, lookup;

  static const Names &of(int64_t lanes) {
    static constexpr Names kAll[] = {
        {4, "llvm.x86.ssse3.pmadd.ub.sw.128", "llvm.x86.sse2.pmadd.wd",
         "llvm.x86.avx512.vpdpbusd.128", "llvm.x86.ssse3.pshuf.b.128"},
        {8, "llvm.x86.avx2.pmadd.ub.sw", "llvm.x86.avx2.pmadd.wd",
         "llvm.x86.avx512.vpdpbusd.256", "llvm.x86.avx2.pshuf.b"},
        {16, "llvm.x86.avx512.pmaddubs.w.512", "llvm.x86.avx512.pmaddw.d.512",
         "llvm.x86.avx512.vpdpbusd.512", "llvm.x86.avx512.pshuf.b.512"}};
    for (const Names &names : kAll)
      if (names.lanes == lanes)
        return names;
    llvm::report_fatal_error("no byte products are known of such registers");
  }
};

class X86ByteDots : public ByteDots {
public:
  X86ByteDots(OpBuilder &b, Location loc, bool hasQuads, int64_t lanes)
      : ByteDots(b, loc, lanes), quads(hasQuads), names(Names::of(lanes)) {}

  bool takesSignedCodes() const override { return false; }
  // Of 32 registers 12 hold sums of the digits of four rows; of 16 there are two
  // parts of a panel, and six hold those of a row.
  int64_t rowsAtOnce(int64_t registers) const override {
    return registers >= 32 ? 4 : 1;
  }
  SmallVector<Value> load(ArrayRef<Row> rows, int64_t step) override;
  void add(Sums &sums, Value codes, int64_t most,
           ArrayRef<Value> digits) override;
  SmallVector<Value> finish(Sums &sums) override;
  Value lookup(Value codes, ArrayRef<int64_t> table) override;

private:
  Value asBytes(Value words);
  void flush(Sums &sums);
  Value addPair(Value sum, Value codes, Value word);

  bool quads; ///< one instruction multiplies and adds four bytes
  const Names &names;
};

} // namespace

std::unique_ptr<ByteDots> host::makeX86ByteDots(OpBuilder &b, Location loc,
                                                bool hasQuads, int64_t lanes) {
  return std::make_unique<X86ByteDots>(b, loc, hasQuads, lanes);
}

SmallVector<Value> X86ByteDots::load(ArrayRef<Row> rows, int64_t step) {
  SmallVector<Value> words;
  for (const Row &row : rows)
    words.push_back(ByteDots::load(b.getI32Type(), row, step * 4));
  return words;
}

Value X86ByteDots::asBytes(Value words) {
  return LLVM::BitcastOp::create(
      b, loc, VectorType::get({4 * lanes}, b.getI8Type()), words);
}

// Sums of pairs, as words.
void X86ByteDots::flush(Sums &sums) {
  VectorType pairType = VectorType::get({2 * lanes}, b.getI16Type());
  Value ones = splat(pairType, 1);
  auto take = [&](Value &pairs) {
    Value sum = call(names.sum, words(), {pairs, ones});
    pairs = {};
    return sum;
  };
  for (auto [word, pairs, high] :
       llvm::zip_equal(sums.words, sums.pairs, sums.high)) {
    if (!pairs)
      continue;
    Value sum = take(pairs);
    if (high)
      sum = arith::AddIOp::create(
          b, loc, sum,
          arith::ShLIOp::create(b, loc, take(high), splat(words(), 4)));
    word = word ? Value(arith::AddIOp::create(b, loc, word, sum)) : sum;
  }
  sums.steps = 0;
}

Value X86ByteDots::addPair(Value sum, Value codes, Value word) {
  Value products =
      call(names.pairs, VectorType::get({2 * lanes}, b.getI16Type()),
           {asBytes(codes),
            asBytes(vector::BroadcastOp::create(b, loc, words(), word))});
  return sum ? Value(arith::AddIOp::create(b, loc, sum, products)) : products;
}

void X86ByteDots::add(Sums &sums, Value codes, int64_t most,
                      ArrayRef<Value> words) {
  if (quads) {
    for (auto [sum, word] : llvm::zip_equal(sums.words, words)) {
      if (!sum)
        sum = splat(this->words(), 0);
      sum = call(
          names.quads, this->words(),
          {sum, asBytes(codes),
           asBytes(vector::BroadcastOp::create(b, loc, this->words(), word))});
    }
    return;
  }
  // Two products of at most `most` by 128 fit 16 bits up to 127; codes of 8 bits go
  // by halves.
  Value upper;
  if (most > 127) {
    Value mask = splat(this->words(), 0x0f0f0f0f);
    upper = arith::AndIOp::create(
        b, loc, arith::ShRUIOp::create(b, loc, codes, splat(this->words(), 4)),
        mask);
    codes = arith::AndIOp::create(b, loc, codes, mask);
    most = 15;
  }
  if (sums.steps >= 32767 / (most * 256))
    flush(sums);
  for (auto [pairs, high, word] :
       llvm::zip_equal(sums.pairs, sums.high, words)) {
    pairs = addPair(pairs, codes, word);
    if (upper)
      high = addPair(high, upper, word);
  }
  ++sums.steps;
}

SmallVector<Value> X86ByteDots::finish(Sums &sums) {
  flush(sums);
  for (Value &word : sums.words)
    if (!word)
      word = splat(words(), 0);
  return sums.words;
}

// The same 16 bytes in each 128 bits of a register, which is how vpshufb reads them.
Value X86ByteDots::lookup(Value codes, ArrayRef<int64_t> table) {
  VectorType bytes = VectorType::get({4 * lanes}, b.getI8Type());
  SmallVector<APInt> entries;
  for (int64_t i = 0; i < 4 * lanes; ++i)
    entries.push_back(APInt(8, uint64_t(table[i % 16] & 0xff)));
  Value all =
      arith::ConstantOp::create(b, loc, DenseElementsAttr::get(bytes, entries));
  Value found = call(names.lookup, bytes, {all, asBytes(codes)});
  return LLVM::BitcastOp::create(b, loc, words(), found);
}
