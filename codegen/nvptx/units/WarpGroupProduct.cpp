// Products of warp groups (wgmma).
//
// Four warps, which hold 16 rows of 64 each, multiply by up to 256 columns that
// they all read from shared memory. A comes in registers, as for mma.sync, so
// that f32 are split in three bf16 on the way; B is bf16 and swizzled, or f16
// where the product is rounded to that. It lies in panels of rows of 128 bytes,
// which are its columns in depth or, across, have its columns side by side. The
// accumulator is #tile.mma with the warps along the rows. Panels of which rows
// are the depth serve as A, too: what ldmatrix turns on its way.
#include "codegen/nvptx/ThreadShared.h"
#include "codegen/nvptx/units/Fragments.h"
#include "codegen/nvptx/units/Units.h"
#include "codegen/storage/StoredElements.h"

#include "dialects/tile/Distribution.h"
#include "dialects/tile/units/Units.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace effc;
using namespace effc::stored;
using namespace effc::tile;

namespace effc::nvptx {

/// Bytes of a swizzled row.
static constexpr int64_t kRowBytes = 128;
/// Of a descriptor (PTX ISA, matrix descriptor format): it counts in 16 bytes;
/// the bits where the distances of panels, across, and of groups of 8 rows
/// start; the mode of swizzling in 128 bytes.
static constexpr int64_t kUnit = 16, kPanelBit = 16, kGroupBit = 32,
                         kSwizzle128 = int64_t(1) << 62;
static constexpr int64_t kAddressMask = 0x3FFFF;

// Of the rows of a panel from `row` on, of which each eight lie `groupStride`
// bytes behind those before; panels lie `panelStride` bytes apart.
static Value descriptorOf(ThreadState &t, const FragmentOperand &operand,
                          Value row, int64_t groupStride, int64_t panelStride) {
  auto i64 = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(t.b, t.b.getI64IntegerAttr(value));
  };
  Value address = LLVM::PtrToIntOp::create(
      t.b, t.b.getI64Type(),
      sharedAddress(t, operand.offset, t.mul(row, kSwizzledRow),
                    operand.element, operand.slot));
  address = arith::AndIOp::create(t.b, address, i64(kAddressMask));
  address = arith::ShRUIOp::create(t.b, address, i64(4)); // in kUnit bytes
  return arith::OrIOp::create(t.b, address,
                              i64(kSwizzle128 |
                                  (groupStride / kUnit) << kGroupBit |
                                  (panelStride / kUnit) << kPanelBit));
}

// What products read from registers is in them, and stays where it is.
static void fenceRegisters(ThreadState &t,
                           MutableArrayRef<SmallVector<Parts>> pieces,
                           MutableArrayRef<Value> sums) {
  SmallVector<Value *> ofA, ofSums;
  for (SmallVector<Parts> &piece : pieces)
    for (Parts &parts : piece)
      for (Value &part : parts)
        ofA.push_back(&part);
  for (Value &sum : sums)
    if (sum)
      ofSums.push_back(&sum);
  auto valuesOf = [](ArrayRef<Value *> places) {
    return llvm::map_to_vector(places, [](Value *place) { return *place; });
  };
  SmallVector<Type> integers(ofA.size(), t.b.getI32Type()),
      floats(ofSums.size(), t.b.getF32Type());
  auto fence = WarpGroupFenceOp::create(t.b, integers, floats, valuesOf(ofA),
                                        valuesOf(ofSums));
  for (auto [place, fenced] : llvm::zip_equal(ofA, fence.getFencedA()))
    *place = fenced;
  for (auto [place, fenced] : llvm::zip_equal(ofSums, fence.getFencedAcc()))
    *place = fenced;
}

namespace {
/// The rows of a product, in registers or in shared memory.
struct GroupRows {
  FragmentOperand operand;
  TileType type;
  tile::Axis axis;
  Elements held;   // empty: they are in shared memory,
  bool isInPanels; // of which the rows are the depth, or as they are
  Lane lane;
  Value warp;
};
} // namespace

static GroupRows groupRowsOf(ThreadState &t, DotOp dot, const Held &sums,
                             Type roundedTo) {
  GroupRows rows;
  rows.operand =
      FragmentOperand::of(t, dot.getA(), dot.getTransposeA(), roundedTo);
  rows.type = dot.getA().getType();
  rows.axis = sums.distribution.rows;
  rows.warp = firstOfWarp(t, sums).first;
  SharedAttr layout = rows.type.getSharedLayout();
  rows.isInPanels = layout && layout.getSwizzled();
  if (!layout) {
    rows.held = t.tiles.lookup(dot.getA());
  } else if (rows.isInPanels) {
    // Rows of a panel, and its depth, are whole turns of the pattern away.
    auto [outer, depth] = lanePlace(t, rows.operand, /*outerFirst=*/true);
    rows.lane.atWarp = sharedPlace(t, rows.type, depth, t.add(rows.warp, outer),
                                   rows.operand.slot);
  } else {
    rows.lane = laneOf(t, rows.operand, rows.warp, /*outerFirst=*/true);
  }
  return rows;
}

// The thread's registers of 16 rows, from `depth` on, 16 deep.
static SmallVector<Parts> loadGroupRows(ThreadState &t, const GroupRows &rows,
                                        size_t piece, int64_t depth) {
  const FragmentOperand &operand = rows.operand;
  if (!rows.held.empty())
    return heldMatrices(t, operand, rows.held,
                        rows.held.size() / rows.axis.offsets.size(), piece,
                        depth);
  int64_t row = rows.axis.offsets[2 * piece];
  Value address =
      rows.isInPanels
          ? t.further(rows.lane.atWarp, storedType(operand.element, 1),
                      row / kSwizzledRow * panelElements(rows.type) +
                          depth * kSwizzledRow)
          : pieceAt(t, operand, rows.lane, rows.axis, rows.warp, row,
                    t.constant(depth));
  return loadMatrices(t, operand, address, 4, /*outerFirst=*/true);
}

// What describes the columns of a product, by its depth in pieces.
static SmallVector<Value> groupColumnsOf(ThreadState &t, DotOp dot,
                                         const Held &sums, Type roundedTo) {
  FragmentOperand operand =
      FragmentOperand::of(t, dot.getB(), !dot.getTransposeB(), roundedTo);
  assert(operand.element == operand.piece() &&
         "columns are multiplied as they lie");
  TileType type = dot.getB().getType();
  const tile::Axis &columns = sums.distribution.columns;
  bool across = !dot.getTransposeB();
  int64_t apart = columns.offsets.size() > 2
                      ? columns.offsets[2] - columns.offsets[0]
                      : kSwizzleRows;
  // Columns in depth lie in a panel, whose distance to others nothing reads.
  int64_t panelBytes = 2 * panelElements(type);
  Value descriptor = across
                         ? descriptorOf(t, operand, t.constant(0),
                                        kSwizzleRows * kRowBytes, panelBytes)
                         : descriptorOf(t, operand, firstOfWarp(t, sums).second,
                                        apart * kRowBytes, 0);
  SmallVector<Value> pieces;
  int64_t depth = across ? type.rows() : type.columns();
  for (int64_t at = 0; at < depth; at += kPieceDepth) {
    int64_t bytes =
        across ? at * kRowBytes
               : at / kSwizzledRow * panelBytes + at % kSwizzledRow * 2;
    Value further =
        arith::ConstantOp::create(t.b, t.b.getI64IntegerAttr(bytes / kUnit));
    pieces.push_back(arith::AddIOp::create(t.b, descriptor, further));
  }
  return pieces;
}

// sums += A B for 16 rows and a piece of the depth, part by part of what A's
// elements are split in, the smallest first; `places` are the sums'.
static void multiplyGroup(ThreadState &t, ArrayRef<Parts> rows, Value columns,
                          Type element, bool across, ArrayRef<size_t> places,
                          MutableArrayRef<Value> sums) {
  for (size_t part = rows[0].size(); part-- > 0;) {
    SmallVector<Value> ofPart, acc;
    for (const Parts &parts : rows)
      ofPart.push_back(parts[part]);
    for (size_t place : places)
      if (sums[place])
        acc.push_back(sums[place]);
    auto product = WarpGroupDotOp::create(
        t.b, SmallVector<Type>(places.size(), t.b.getF32Type()), element,
        ofPart, columns, acc, across);
    for (auto [place, sum] : llvm::zip_equal(places, product.getSums()))
      sums[place] = sum;
  }
}

// The elements of one product are those of two rows, in the order of pieces.
static SmallVector<size_t> placesOf(size_t piece, size_t columns) {
  SmallVector<size_t> places;
  for (size_t j = 0; j < columns; j += 2)
    for (size_t e = 0; e < 4; ++e)
      places.push_back((2 * piece + e / 2) * columns + j + e % 2);
  return places;
}

void lowerWarpGroupProduct(DotOp dot, ThreadState &t) {
  Held held = heldOf(t, dot.getAcc().getType());
  Type roundedTo = dot.getRoundedTo().value_or(Type());
  if (getWgmma(t.b.getContext()).isExact(roundedTo))
    roundedTo = {};
  GroupRows rows = groupRowsOf(t, dot, held, roundedTo);
  SmallVector<Value> columns = groupColumnsOf(t, dot, held, roundedTo);
  Type element =
      FragmentOperand::of(t, dot.getB(), !dot.getTransposeB(), roundedTo)
          .piece();
  // Exact sums of this depth are formed by themselves (WarpProduct.cpp says why)
  // and added to those before.
  bool isExact = !roundedTo;
  Elements before = t.tiles.lookup(dot.getAcc()), sums = before, none;
  if (isExact || llvm::all_of(before, [](Value sum) {
        return matchPattern(sum, m_AnyZeroFloat());
      }))
    sums.assign(before.size(), Value());
  for (auto [number, ofDepth] : llvm::enumerate(columns)) {
    SmallVector<SmallVector<Parts>> pieces;
    for (size_t i = 0; i < held.rows() / 2; ++i)
      pieces.push_back(loadGroupRows(
          t, rows, i, static_cast<int64_t>(number) * kPieceDepth));
    // The sums are the products' own from the first one on.
    fenceRegisters(t, pieces, number == 0 ? sums : none);
    for (auto [i, piece] : llvm::enumerate(pieces))
      multiplyGroup(t, piece, ofDepth, element, !dot.getTransposeB(),
                    placesOf(i, held.columns()), sums);
  }
  NVVM::WgmmaGroupSyncAlignedOp::create(t.b);
  t.underWay.block = dot->getBlock();
  t.underWay.finish = [&t, dot, sums, before, isExact]() mutable {
    auto wait = WarpGroupWaitOp::create(
        t.b, SmallVector<Type>(sums.size(), t.b.getF32Type()), sums);
    Elements done(wait.getSums());
    if (isExact)
      for (auto [sum, earlier] : llvm::zip_equal(done, before))
        sum = arith::AddFOp::create(t.b, earlier, sum);
    t.tiles[dot.getResult()] = done;
  };
}

} // namespace effc::nvptx
