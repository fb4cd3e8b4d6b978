#include "codegen/nvptx/units/Fragments.h"

#include "codegen/math/Permutation.h"
#include "codegen/nvptx/ThreadMemory.h"
#include "codegen/nvptx/ThreadShared.h"
#include "codegen/storage/StoredElements.h"
#include "dialects/storage/DenseKind.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace effc;
using namespace effc::stored;
using namespace effc::tile;

namespace effc::nvptx {

// Rows and columns of ldmatrix's matrices.
static constexpr int64_t kMatrix = 8;

size_t FragmentOperand::parts() const {
  switch (storage::getDenseKind(element)) {
  case storage::DenseKind::BF16:
    return 1;
  case storage::DenseKind::F16:
    return 2;
  case storage::DenseKind::F32:
    return kMostParts;
  case storage::DenseKind::I32:
  case storage::DenseKind::I64:
    break;
  }
  llvm::report_fatal_error("no product of a warp takes integers");
}

Type FragmentOperand::piece() const {
  return roundedTo ? roundedTo : BFloat16Type::get(element.getContext());
}

FragmentOperand FragmentOperand::of(ThreadState &t, Value tile, bool depthIsRow,
                                    Type roundedTo) {
  auto type = cast<TileType>(tile.getType());
  SharedAttr layout = type.getSharedLayout();
  if (!layout)
    return {0, 0, 0, 0, type.getElementType(), {}, roundedTo};
  int64_t outer = depthIsRow ? type.columns() : type.rows();
  return {*layout.getOffset(),
          depthIsRow ? 1 : layout.getStride(),
          depthIsRow ? layout.getStride() : 1,
          static_cast<int64_t>(llvm::alignTo(outer, kSharedTile)),
          type.getElementType(),
          t.slotBytes.lookup(tile),
          roundedTo};
}

// The upper halves of two f32, which are bf16, in one register.
static Value packUpper(ThreadState &t, Value first, Value second) {
  Value selector =
      arith::ConstantOp::create(t.b, t.b.getI32IntegerAttr(f32::kUpperHalves));
  return LLVM::CallIntrinsicOp::create(t.b, t.b.getI32Type(),
                                       t.b.getStringAttr("llvm.nvvm.prmt"),
                                       ValueRange{first, second, selector})
      .getResult(0);
}

// Two neighbours as registers of bf16 whose sums they are, the largest first.
static Parts splitPair(ThreadState &t, Value first, Value second,
                       size_t count) {
  Value mask = arith::ConstantOp::create(
      t.b, t.b.getI32IntegerAttr(static_cast<int32_t>(0xffff0000)));
  auto bitsOf = [&](Value x) -> Value {
    return arith::BitcastOp::create(t.b, t.b.getI32Type(), x);
  };
  auto rest = [&](Value x, Value bits) -> Value {
    Value leading = arith::AndIOp::create(t.b, bits, mask);
    return arith::SubFOp::create(
        t.b, x, arith::BitcastOp::create(t.b, t.b.getF32Type(), leading));
  };
  Parts parts;
  while (true) {
    Value ofFirst = bitsOf(first), ofSecond = bitsOf(second);
    parts.push_back(packUpper(t, ofFirst, ofSecond));
    if (parts.size() == count)
      return parts;
    first = rest(first, ofFirst);
    second = rest(second, ofSecond);
  }
}

// Where this lane begins to read: of 8 x 8 matrices as they lie in memory lane
// 8 i + r brings row r of matrix i to `ldmatrix`; f32 it reads itself, (g, 2t).
// The second of several matrices lies 8 further along the outer axis where
// `outerFirst`, else along the depth, the third and fourth along the other.
std::pair<Value, Value>
lanePlace(ThreadState &t, const FragmentOperand &operand, bool outerFirst) {
  Value outer, depth;
  if (operand.element.isF32()) {
    outer = bitsOfThread(t, 0b11100);
    depth = t.mul(bitsOfThread(t, 0b11), 2);
  } else {
    Value low = t.mul(bitsOfThread(t, 0b01000), kMatrix),
          high = t.mul(bitsOfThread(t, 0b10000), kMatrix);
    outer = outerFirst ? low : high;
    depth = outerFirst ? high : low;
    Value &ofRow = operand.depthStride == 1 ? outer : depth;
    ofRow = t.add(ofRow, bitsOfThread(t, 0b111));
  }
  return {outer, depth};
}

/// Two neighbours that are f32.
static Parts partsOf(ThreadState &t, const FragmentOperand &operand,
                     std::array<Value, 2> pair) {
  if (!operand.roundedTo)
    return splitPair(t, pair[0], pair[1], operand.parts());
  if (!operand.roundedTo.isTF32())
    return {LLVM::BitcastOp::create(
        t.b, t.b.getI32Type(),
        narrow(t.b, t.loc(), runOf(t, pair.data(), 2), operand.roundedTo))};
  Parts parts;
  for (Value element : pair)
    // What is stored in 16 bits is a tf32 already.
    parts.push_back(
        operand.element.isF32()
            ? NVVM::ConvertFloatToTF32Op::create(t.b, t.b.getI32Type(), element,
                                                 NVVM::FPRoundingMode::RNA)
                  .getResult()
            : arith::BitcastOp::create(t.b, t.b.getI32Type(), element)
                  .getResult());
  return parts;
}

// The matrices of a piece, of which this lane begins at `address`.
SmallVector<Parts> loadMatrices(ThreadState &t, const FragmentOperand &operand,
                                Value address, unsigned matrices,
                                bool outerFirst) {
  SmallVector<Parts> registers;
  if (!operand.element.isF32()) {
    Type i32Type = t.b.getI32Type(), result = i32Type;
    if (matrices > 1)
      result = LLVM::LLVMStructType::getLiteral(
          t.b.getContext(), SmallVector<Type>(matrices, i32Type));
    Value loaded = NVVM::LdMatrixOp::create(
        t.b, result, address, matrices,
        operand.depthStride == 1 ? NVVM::MMALayout::row : NVVM::MMALayout::col,
        NVVM::LdStMatrixShapeAttr::get(t.b.getContext(), kMatrix, kMatrix),
        NVVM::LdStMatrixEltType::B16);
    for (unsigned i = 0; i < matrices; ++i) {
      Value pair =
          matrices > 1
              ? LLVM::ExtractValueOp::create(t.b, loaded, i).getResult()
              : loaded;
      if (operand.element == operand.piece()) {
        registers.push_back({pair});
        continue;
      }
      Value halves = LLVM::BitcastOp::create(
          t.b, VectorType::get({2}, t.b.getI16Type()), pair);
      auto half = [&](int64_t at) {
        return widen(t.b, t.loc(),
                     LLVM::ExtractElementOp::create(t.b, halves, t.i32(at)),
                     operand.element);
      };
      registers.push_back(partsOf(t, operand, {half(0), half(1)}));
    }
    return registers;
  }
  Type f32Type = t.b.getF32Type();
  for (unsigned i = 0; i < matrices; ++i) {
    bool furtherOut = outerFirst ? i & 1 : i & 2,
         deeper = outerFirst ? i & 2 : i & 1;
    int64_t place = (furtherOut ? kMatrix * operand.outerStride : 0) +
                    (deeper ? kMatrix * operand.depthStride : 0);
    std::array<Value, 2> pair;
    if (operand.depthStride == 1) {
      Value both = LLVM::LoadOp::create(t.b, VectorType::get({2}, f32Type),
                                        t.further(address, f32Type, place),
                                        /*alignment=*/8);
      for (int64_t e = 0; e < 2; ++e)
        pair[e] = LLVM::ExtractElementOp::create(t.b, both, t.i32(e));
    } else {
      for (int64_t e = 0; e < 2; ++e)
        pair[e] = LLVM::LoadOp::create(
            t.b, f32Type,
            t.further(address, f32Type, place + e * operand.depthStride));
    }
    registers.push_back(partsOf(t, operand, pair));
  }
  return registers;
}

// A piece of a fragment has what a lane holds of two pieces of sums that are
// neighbours in a row.
SmallVector<Parts> heldMatrices(ThreadState &t, const FragmentOperand &operand,
                                ArrayRef<Value> rows, size_t columns,
                                size_t row, size_t depth) {
  SmallVector<Parts> registers;
  for (size_t i = 0; i < 4; ++i) {
    const Value *pair =
        &rows[(2 * row + i % 2) * columns + depth / 4 + i / 2 * 2];
    registers.push_back(partsOf(t, operand, {pair[0], pair[1]}));
  }
  return registers;
}

// A lane's place in a fragment is g and 2t.
std::pair<Value, Value> firstOfWarp(ThreadState &t, const Held &held) {
  return {arith::SubIOp::create(t.b, held.firstRow, bitsOfThread(t, 0b11100)),
          arith::SubIOp::create(t.b, held.firstColumn,
                                t.mul(bitsOfThread(t, 0b11), 2))};
}

Lane laneOf(ThreadState &t, const FragmentOperand &operand, Value warp,
            bool outerFirst) {
  auto [outer, depth] = lanePlace(t, operand, outerFirst);
  Value element = t.add(t.mul(outer, operand.outerStride),
                        t.mul(depth, operand.depthStride));
  auto at = [&](Value place) {
    return sharedAddress(t, operand.offset, place,
                         storedType(operand.element, 1), operand.slot);
  };
  return {at(t.add(element, t.mul(warp, operand.outerStride))), at(element)};
}

Value pieceAt(ThreadState &t, const FragmentOperand &operand, const Lane &lane,
              const Axis &axis, Value warp, int64_t offset, Value depth) {
  Type type = storedType(operand.element, 1);
  Value address = t.further(lane.atWarp, type, offset * operand.outerStride);
  if (!axis.exact())
    address = t.select(
        t.less(t.add(warp, t.constant(offset)), t.constant(operand.outerSize)),
        address, lane.atStart);
  return t.further(address, type, t.mul(depth, operand.depthStride));
}

} // namespace effc::nvptx
