// Products on tensor cores.
//
// A warp multiplies pieces of 16 x 8 by 8 x 8 (mma.sync m16n8k8, tf32). tf32
// has 10 bits of mantissa; an f32 is the sum of its leading bits and the rest,
// and three of the four products of such sums, the small ones first, give the
// f32 product but for 2^-21 of it (3xTF32). bf16 and f16 are exact in tf32 and
// have no rest. Rows, columns and depths past the shape are zeros in shared
// memory.
//
// Fragments, by the PTX ISA: with g = lane / 4 and t = lane mod 4, A has (g,
// t), (g + 8, t), (g, t + 4), (g + 8, t + 4), B has (t, g), (t + 4, g), and the
// accumulator is #tile.mma.
#include "codegen/nvptx/StoredElements.h"
#include "codegen/nvptx/ThreadLowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace effc;
using namespace effc::nvptx;
using namespace effc::tile;

static constexpr int64_t kPieceRows = 16, kPieceColumns = 8, kPieceDepth = 8;

namespace {

/// A number in two tf32; small is null where large is all of it.
struct Split {
  Value large, small; // i32: the bits
};

/// An operand of a product in shared memory: element (outer, depth), where
/// outer is a row of A or a column of B.
struct Operand {
  int64_t offset, outerStride, depthStride, outerSize;
  Type element;
  Value slot; // bytes; null: none
};

Operand operandOf(Value tile, bool depthIsRow, Value slot) {
  auto type = cast<TileType>(tile.getType());
  auto layout = cast<SharedAttr>(type.getLayout());
  if (depthIsRow)
    return {layout.getOffset(),
            1,
            layout.getStride(),
            int64_t(llvm::alignTo(type.columns(), kSharedTile)),
            type.getElementType(),
            slot};
  return {layout.getOffset(),
          layout.getStride(),
          1,
          int64_t(llvm::alignTo(type.rows(), kSharedTile)),
          type.getElementType(),
          slot};
}

} // namespace

static Split splitTf32(OpBuilder &b, Location loc, Value stored, Type element) {
  Type bits = b.getI32Type();
  Value value = widen(b, loc, stored, element);
  if (!element.isF32())
    return {arith::BitcastOp::create(b, loc, bits, value), {}};
  Value whole = arith::BitcastOp::create(b, loc, bits, value);
  Value mask = arith::ConstantOp::create(
      b, loc, b.getI32IntegerAttr(static_cast<int32_t>(0xffffe000)));
  Value large = arith::AndIOp::create(b, loc, whole, mask);
  Value rest = arith::SubFOp::create(
      b, loc, value, arith::BitcastOp::create(b, loc, b.getF32Type(), large));
  return {large, arith::BitcastOp::create(b, loc, bits, rest)};
}

void ThreadLowering::lowerDot(DotOp dot) {
  TileType accType = dot.getAcc().getType();
  Held held = heldOf(accType);
  Operand a =
      operandOf(dot.getA(), dot.getTransposeA(), slotBytes.lookup(dot.getA()));
  Operand w =
      operandOf(dot.getB(), !dot.getTransposeB(), slotBytes.lookup(dot.getB()));
  TileType aType = dot.getA().getType();
  int64_t depth = llvm::alignTo(
      dot.getTransposeA() ? aType.rows() : aType.columns(), kPieceDepth);
  // A lane's place in a fragment: g comes with the accumulator's first row, t
  // is half its first column's even number.
  Value t = bitsOfThread(0b11), g = bitsOfThread(0b11100);
  Value warpRow = arith::SubIOp::create(b, loc, held.firstRow, g);
  Value warpColumn = arith::SubIOp::create(b, loc, held.firstColumn, mul(t, 2));
  size_t rowPieces = held.rows() / 2, columnPieces = held.columns() / 2;
  const auto &[rows, columns] = held.distribution;

  auto read = [&](const Operand &operand, Value outer, Value at) -> Split {
    Value element =
        add(mul(outer, operand.outerStride), mul(at, operand.depthStride));
    Value value = LLVM::LoadOp::create(
        b, loc, storedType(operand.element, 1),
        sharedAddress(operand.offset, element, operand.element, operand.slot));
    return splitTf32(b, loc, value, operand.element);
  };
  // A warp past the tile works on its first pieces, to no effect.
  auto clamp = [&](Value outer, const Axis &axis, int64_t size) {
    if (axis.exact() || size == 0)
      return outer;
    return select(less(outer, constant(size)), outer, constant(0));
  };

  auto loop = scf::ForOp::create(b, loc, constant(0), constant(depth),
                                 constant(kPieceDepth), tiles[dot.getAcc()]);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value at = add(loop.getInductionVar(), t), later = add(at, constant(4));
    SmallVector<std::array<Split, 2>> ofColumns;
    for (size_t j = 0; j < columnPieces; ++j) {
      Value column = add(add(warpColumn, constant(columns.offsets[2 * j])), g);
      column = clamp(column, columns, w.outerSize);
      ofColumns.push_back({read(w, column, at), read(w, column, later)});
    }
    SmallVector<Value> sums(loop.getRegionIterArgs());
    for (size_t i = 0; i < rowPieces; ++i) {
      Value row = add(add(warpRow, constant(rows.offsets[2 * i])), g);
      Value low = clamp(row, rows, a.outerSize),
            high = clamp(add(row, constant(8)), rows, a.outerSize);
      std::array<Split, 4> ofRow = {read(a, low, at), read(a, high, at),
                                    read(a, low, later), read(a, high, later)};
      for (size_t j = 0; j < columnPieces; ++j) {
        std::array<size_t, 4> places;
        for (size_t e = 0; e < 4; ++e)
          places[e] = (2 * i + e / 2) * held.columns() + 2 * j + e % 2;
        auto multiply = [&](bool smallA, bool smallB) {
          SmallVector<Value> left, right, acc;
          for (const Split &part : ofRow)
            left.push_back(smallA ? part.small : part.large);
          for (const Split &part : ofColumns[j])
            right.push_back(smallB ? part.small : part.large);
          for (size_t place : places)
            acc.push_back(sums[place]);
          Type f32Type = b.getF32Type();
          auto result = LLVM::LLVMStructType::getLiteral(
              b.getContext(), {f32Type, f32Type, f32Type, f32Type});
          Value product = NVVM::MmaOp::create(
              b, loc, result, left, right, acc,
              ArrayRef<int64_t>{kPieceRows, kPieceColumns, kPieceDepth},
              /*b1Op=*/std::nullopt, /*intOverflow=*/std::nullopt,
              std::array<NVVM::MMATypes, 2>{NVVM::MMATypes::tf32,
                                            NVVM::MMATypes::tf32},
              std::array<NVVM::MMALayout, 2>{NVVM::MMALayout::row,
                                             NVVM::MMALayout::col});
          for (size_t e = 0; e < 4; ++e)
            sums[places[e]] = LLVM::ExtractValueOp::create(b, loc, product, e);
        };
        if (ofRow[0].small)
          multiply(true, false);
        if (ofColumns[j][0].small)
          multiply(false, true);
        multiply(false, false);
      }
    }
    scf::YieldOp::create(b, loc, sums);
  }
  tiles[dot.getResult()] = Elements(loop.getResults());
}
