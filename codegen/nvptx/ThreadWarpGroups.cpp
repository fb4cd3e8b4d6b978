// Products of warp groups (wgmma).
//
// Four warps, which hold 16 rows of 64 each, multiply by up to 256 columns that
// they all read from shared memory. A comes in registers, as for mma.sync, so
// that f32 are split in three bf16 on the way; B is bf16 and swizzled, or f16
// where the product is rounded to that. It lies in panels of rows of 128 bytes,
// which are its columns in depth or, across, have its columns side by side. The
// accumulator is #tile.mma with the warps along the rows. Panels of which rows
// are the depth serve as A, too: what ldmatrix turns on its way.
#include "codegen/nvptx/StoredElements.h"
#include "codegen/nvptx/ThreadLowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace effc;
using namespace effc::nvptx;
using namespace effc::tile;

/// Bytes of a swizzled row.
static constexpr int64_t kRowBytes = 128;
/// Of a descriptor (PTX ISA, matrix descriptor format): it counts in 16 bytes;
/// the bits where the distances of panels, across, and of groups of 8 rows
/// start; the mode of swizzling in 128 bytes.
static constexpr int64_t kUnit = 16, kPanelBit = 16, kGroupBit = 32,
                         kSwizzle128 = int64_t(1) << 62;
static constexpr int64_t kAddressMask = 0x3FFFF;

void ThreadLowering::fenceForUnits(TileType type) {
  if (cast<SharedAttr>(type.getLayout()).getSwizzled())
    NVVM::FenceProxyOp::create(
        b, loc,
        NVVM::ProxyKindAttr::get(b.getContext(), NVVM::ProxyKind::async_shared),
        NVVM::SharedSpaceAttr::get(b.getContext(),
                                   NVVM::SharedSpace::shared_cta));
}

// Of the rows of a panel from `row` on, of which each eight lie `groupStride`
// bytes behind those before; panels lie `panelStride` bytes apart.
Value ThreadLowering::descriptorOf(const DotOperand &operand, Value row,
                                   int64_t groupStride, int64_t panelStride) {
  auto i64 = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(value));
  };
  Value address = LLVM::PtrToIntOp::create(
      b, loc, b.getI64Type(),
      sharedAddress(operand.offset, mul(row, kSwizzledRow), operand.element,
                    operand.slot));
  address = arith::AndIOp::create(b, loc, address, i64(kAddressMask));
  address = arith::ShRUIOp::create(b, loc, address, i64(4)); // in kUnit bytes
  return arith::OrIOp::create(b, loc, address,
                              i64(kSwizzle128 |
                                  (groupStride / kUnit) << kGroupBit |
                                  (panelStride / kUnit) << kPanelBit));
}

// What products read from registers is in them, and stays where it is.
void ThreadLowering::fenceRegisters(MutableArrayRef<SmallVector<Parts>> pieces,
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
  SmallVector<Type> integers(ofA.size(), b.getI32Type()),
      floats(ofSums.size(), b.getF32Type());
  auto fence = WarpGroupFenceOp::create(b, loc, integers, floats, valuesOf(ofA),
                                        valuesOf(ofSums));
  for (auto [place, fenced] : llvm::zip_equal(ofA, fence.getFencedA()))
    *place = fenced;
  for (auto [place, fenced] : llvm::zip_equal(ofSums, fence.getFencedAcc()))
    *place = fenced;
}

void ThreadLowering::lowerWarpGroupDot(DotOp dot) {
  Held held = heldOf(dot.getAcc().getType());
  // With a B of bf16, three exact products of a group take no longer than two
  // of tf32 of single warps.
  Type roundedTo = dot.getRoundedTo().value_or(Type());
  if (roundedTo && roundedTo.isTF32())
    roundedTo = {};
  DotOperand a = operandOf(dot.getA(), dot.getTransposeA(), roundedTo),
             w = operandOf(dot.getB(), !dot.getTransposeB(), roundedTo);
  assert(w.element == w.piece() && "columns are multiplied as they lie");
  const auto &[rows, columns] = held.distribution;
  auto [warpRow, warpColumn] = firstOfWarp(held);
  TileType aType = dot.getA().getType();
  auto aLayout = dyn_cast<SharedAttr>(aType.getLayout());
  Elements ofA = aLayout ? Elements() : tiles.lookup(dot.getA());
  bool isInPanels = aLayout && aLayout.getSwizzled();
  Lane lane;
  if (isInPanels) {
    // Rows of a panel, and its depth, are whole turns of the pattern away.
    auto [outer, depth] = lanePlace(a, /*outerFirst=*/true);
    lane.atWarp = sharedPlace(aType, depth, add(warpRow, outer), a.slot);
  } else if (aLayout) {
    lane = laneOf(a, warpRow, /*outerFirst=*/true);
  }
  // A's pieces `row` of 16 from `depth` on.
  auto rowsAt = [&](size_t piece, int64_t depth) {
    int64_t row = rows.offsets[2 * piece];
    if (!aLayout)
      return heldMatrices(a, ofA, ofA.size() / held.rows(), piece, depth);
    Value address = isInPanels
                        ? further(lane.atWarp, storedType(a.element, 1),
                                  row / kSwizzledRow * panelElements(aType) +
                                      depth * kSwizzledRow)
                        : pieceAt(a, lane, rows, warpRow, row, constant(depth));
    return loadMatrices(a, address, 4, /*outerFirst=*/true);
  };
  size_t rowPieces = held.rows() / 2, columnPieces = held.columns() / 2;
  int64_t apart =
      columnPieces > 1 ? columns.offsets[2] - columns.offsets[0] : kSwizzleRows;
  // Columns in depth lie in a panel, whose distance to others nothing reads.
  TileType type = dot.getB().getType();
  bool across = !dot.getTransposeB();
  int64_t panelBytes = 2 * panelElements(type);
  Value descriptor = across ? descriptorOf(w, constant(0),
                                           kSwizzleRows * kRowBytes, panelBytes)
                            : descriptorOf(w, warpColumn, apart * kRowBytes, 0);
  auto bytesTo = [&](int64_t depth) {
    return across
               ? depth * kRowBytes
               : depth / kSwizzledRow * panelBytes + depth % kSwizzledRow * 2;
  };

  // The elements of one product are those of two rows, in the order of pieces.
  auto placesOf = [&](size_t row) {
    SmallVector<size_t> places;
    for (size_t j = 0; j < columnPieces; ++j)
      for (size_t e = 0; e < 4; ++e)
        places.push_back((2 * row + e / 2) * held.columns() + 2 * j + e % 2);
    return places;
  };
  // Exact sums of this depth are formed by themselves (ThreadDots.cpp says why)
  // and added to those before.
  bool isExact = !roundedTo;
  Elements before = tiles.lookup(dot.getAcc()), sums = before, none;
  if (isExact || llvm::all_of(before, [](Value sum) {
        return matchPattern(sum, m_AnyZeroFloat());
      }))
    sums.assign(before.size(), Value());
  int64_t depth = across ? type.rows() : type.columns();
  for (int64_t at = 0; at < depth; at += kPieceDepth) {
    SmallVector<SmallVector<Parts>> pieces;
    for (size_t i = 0; i < rowPieces; ++i)
      pieces.push_back(rowsAt(i, at));
    Value ofDepth = arith::ConstantOp::create(
        b, loc, b.getI64IntegerAttr(bytesTo(at) / kUnit));
    Value deeper = arith::AddIOp::create(b, loc, descriptor, ofDepth);
    // The sums are the products' own from the first one on.
    fenceRegisters(pieces, at == 0 ? sums : none);
    for (size_t i = 0; i < rowPieces; ++i)
      for (size_t part = pieces[i][0].size(); part-- > 0;) {
        SmallVector<Value> ofPart, acc;
        for (const Parts &parts : pieces[i])
          ofPart.push_back(parts[part]);
        SmallVector<size_t> places = placesOf(i);
        for (size_t place : places)
          if (sums[place])
            acc.push_back(sums[place]);
        auto product = WarpGroupDotOp::create(
            b, loc, SmallVector<Type>(places.size(), b.getF32Type()), w.piece(),
            ofPart, deeper, acc, across);
        for (auto [place, sum] : llvm::zip_equal(places, product.getSums()))
          sums[place] = sum;
      }
  }
  NVVM::WgmmaGroupSyncAlignedOp::create(b, loc);
  auto wait = WarpGroupWaitOp::create(
      b, loc, SmallVector<Type>(sums.size(), b.getF32Type()), sums);
  Elements done(wait.getSums());
  if (isExact)
    for (auto [sum, earlier] : llvm::zip_equal(done, before))
      sum = arith::AddFOp::create(b, loc, earlier, sum);
  tiles[dot.getResult()] = done;
}
