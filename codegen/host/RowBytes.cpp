// Rows of signed bytes behind a scale: the largest magnitude of a row first, then the
// scale, then a byte for each number. What they mean in C++: StateElements.cpp of the
// runtime.
#include "codegen/host/Lowerings.h"
#include "codegen/storage/Unpack.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace effc;
using namespace effc::tile;

namespace effc::host {

namespace {

class RowWriter {
public:
  RowWriter(KernelState &s, const Place &source, const Place &target,
            int64_t columns)
      : b(s.b), loc(s.loc()), memory(s.memory), source(source), target(target),
        lanes(s.memory.shape.lanes), whole(columns / lanes * lanes),
        rest(columns - whole) {}

  void write(Value row);

private:
  Value load(Value row, Value column, int64_t valid) {
    return memory.load(source, row, column, lanes, valid);
  }
  Value at(Value block, Value bytes) {
    return LLVM::GEPOp::create(
        b, loc, block.getType(), b.getI8Type(), block,
        ArrayRef<LLVM::GEPArg>{
            Value(arith::IndexCastOp::create(b, loc, b.getI64Type(), bytes))});
  }
  Value magnitudes(Value numbers) {
    return math::AbsFOp::create(b, loc, numbers);
  }
  Value findLargest(Value row);
  void chooseScale(Value largest);
  void storeBytes(Value row, Value column, Value block, int64_t valid);

  static constexpr int64_t kScaleBytes = 4;

  OpBuilder &b;
  Location loc;
  Memory &memory;
  const Place &source, &target;
  int64_t lanes, whole, rest;
  Value scale, inverse, finite;
};

} // namespace

// A NaN among the numbers is the largest; an infinity makes the scale one.
Value RowWriter::findLargest(Value row) {
  Value largest = memory.broadcast(memory.constantF32(0), lanes);
  if (whole > 0) {
    auto loop =
        scf::ForOp::create(b, loc, memory.constant(0), memory.constant(whole),
                           memory.constant(lanes), largest);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value further = arith::MaximumFOp::create(
        b, loc, loop.getRegionIterArgs()[0],
        magnitudes(load(row, loop.getInductionVar(), lanes)));
    scf::YieldOp::create(b, loc, further);
    largest = loop.getResult(0);
  }
  if (rest > 0)
    largest = arith::MaximumFOp::create(
        b, loc, largest, magnitudes(load(row, memory.constant(whole), rest)));
  return memory.reduceLanes(largest, /*max=*/true);
}

void RowWriter::chooseScale(Value largest) {
  Value zero = memory.constantF32(0), one = memory.constantF32(1),
        infinity = memory.constantF32(std::numeric_limits<float>::infinity());
  auto isBelowInfinity = [&](Value x) -> Value {
    return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLT, x,
                                 infinity);
  };
  finite = isBelowInfinity(largest);
  scale = arith::DivFOp::create(b, loc, largest, memory.constantF32(127));
  inverse = arith::DivFOp::create(b, loc, one, scale);
  Value large = isBelowInfinity(inverse);
  scale = arith::SelectOp::create(b, loc, large, scale, zero);
  inverse = arith::SelectOp::create(b, loc, large, inverse, zero);
  scale = arith::SelectOp::create(
      b, loc, finite, scale,
      memory.constantF32(std::numeric_limits<float>::quiet_NaN()));
}

void RowWriter::storeBytes(Value row, Value column, Value block,
                           int64_t valid) {
  Value numbers = load(row, column, valid);
  // What is not finite has no integer: all bytes of such a row are 129.
  Value one = memory.broadcast(memory.constantF32(1), lanes);
  numbers =
      arith::MulFOp::create(b, loc, numbers, memory.broadcast(inverse, lanes));
  numbers = math::RoundEvenOp::create(b, loc, numbers);
  numbers = arith::SelectOp::create(b, loc, finite, numbers, one);
  Type words = memory.vectorType(lanes, b.getI32Type());
  Value codes = arith::FPToSIOp::create(b, loc, words, numbers);
  codes = arith::AddIOp::create(
      b, loc, codes,
      memory.broadcast(
          arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(128)), lanes));
  Value bytes = arith::TruncIOp::create(
      b, loc, memory.vectorType(lanes, b.getI8Type()), codes);
  Value to = at(block, memory.add(column, kScaleBytes));
  if (valid == lanes) {
    LLVM::StoreOp::create(b, loc, bytes, to, /*alignment=*/1);
    return;
  }
  for (int64_t i = 0; i < valid; ++i)
    LLVM::StoreOp::create(
        b, loc, vector::ExtractOp::create(b, loc, bytes, ArrayRef<int64_t>{i}),
        at(to, memory.constant(i)), /*alignment=*/1);
}

void RowWriter::write(Value row) {
  chooseScale(findLargest(row));
  Value block = stored::blockAddress(
      b, loc, memory.at(target, row, memory.constant(0)), target.element);
  LLVM::StoreOp::create(b, loc, scale, block, /*alignment=*/1);
  if (whole > 0) {
    auto loop =
        scf::ForOp::create(b, loc, memory.constant(0), memory.constant(whole),
                           memory.constant(lanes));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    storeBytes(row, loop.getInductionVar(), block, lanes);
  }
  if (rest > 0)
    storeBytes(row, memory.constant(whole), block, rest);
}

void storeRows(StoreOp store, const Place &target, KernelState &s) {
  TileType tile = store.getTile().getType();
  Place source = s.placeOf(store.getTile());
  Value end = s.memory.constant(tile.rows());
  if (target.validRows)
    end = arith::MinSIOp::create(s.b, s.loc(), end, target.validRows);
  Place open = target;
  open.validRows = {};
  auto loop = scf::ForOp::create(s.b, s.loc(), s.memory.constant(0), end,
                                 s.memory.constant(1));
  OpBuilder::InsertionGuard guard(s.b);
  s.b.setInsertionPointToStart(loop.getBody());
  RowWriter(s, source, open, tile.columns()).write(loop.getInductionVar());
}

} // namespace effc::host
