// What wgmma says to those who choose and lay out products, and the rules of
// its ops.
#include "dialects/tile/Distribution.h"
#include "dialects/tile/units/Units.h"

using namespace mlir;
using namespace effc::tile;

/// Of a product of a warp group: its warps, which lie along the rows, and the
/// most columns.
static constexpr int64_t kGroupWarps = 4, kMostGroupColumns = 256;

ProductUnit effc::tile::getWgmma(MLIRContext *context) {
  return WgmmaAttr::get(context);
}

StringRef WgmmaAttr::getFormedBy() const { return "warp groups"; }
int64_t WgmmaAttr::getWarps() const { return kGroupWarps; }

// It adds in an order of its own, and only many rows are its.
bool WgmmaAttr::isBitStable() const { return false; }
bool WgmmaAttr::isAsynchronous() const { return true; }

// bf16, of which f32 are sums, or f16.
bool WgmmaAttr::multiplies(Type b, Type roundedTo) const {
  bool asF16 = roundedTo && roundedTo.isF16();
  return asF16 ? b.isF16() : b.isBF16();
}

// With a B of bf16, three exact products take no longer than two of tf32 of
// single warps.
bool WgmmaAttr::isExact(Type roundedTo) const {
  return !roundedTo || roundedTo.isTF32();
}

// Every piece is whole, and B is 16-bit in panels of rows of 128 bytes, which
// are its columns in depth, or have them all side by side.
bool WgmmaAttr::canForm(const DotShape &shape, int64_t warps,
                        int64_t rowWarps) const {
  int64_t groups = warps / rowWarps;
  int64_t rowOfB = shape.transposeB ? shape.depth : shape.columns;
  bool fits = shape.transposeB ? shape.columns % (kPieceColumns * groups) == 0
                               : groups == 1 && shape.depth % kPieceDepth == 0;
  return fits && rowWarps % kGroupWarps == 0 &&
         shape.rows % (kPieceRows * rowWarps) == 0 &&
         shape.columns / groups <= kMostGroupColumns &&
         rowOfB % kSwizzledRow == 0 &&
         (rowOfB == kSwizzledRow || !shape.copiesB) &&
         multiplies(shape.b, shape.roundedTo);
}

Attribute WgmmaAttr::getAccumulators(int64_t threads, int64_t rowWarps) const {
  return FragmentAttr::get(getContext(), threads, rowWarps);
}

std::optional<SharedRows> WgmmaAttr::getOwnRows(Type element) const {
  if (!element.isIntOrFloat() || element.getIntOrFloatBitWidth() != 16)
    return std::nullopt;
  return SharedRows{kSwizzledRow, /*swizzled=*/true};
}

// B, or rows whose turn they are in depth.
bool WgmmaAttr::readsOwnRows(DotOperand operand, bool transposed) const {
  return operand == DotOperand::B || transposed;
}

bool WgmmaAttr::takesB(Attribute layout) const {
  return cast<SharedAttr>(layout).getSwizzled();
}

// ldmatrix reads other rows, and turns its own.
bool WgmmaAttr::takesA(Attribute layout, bool transposed) const {
  return transposed || !cast<SharedAttr>(layout).getSwizzled();
}

// Each halves the bytes read of rows or of weights. Exact sums are put together
// from those of steps, which have no registers beside the largest. Cycles are of
// rounded products of 4,096 terms (tools/sass_model); they include the sums' way to
// memory.
ArrayRef<DotTile> WgmmaAttr::getTiles(bool isExact) const {
  static constexpr DotTile kTiles[] = {
      {256, 128, 1800}, {128, 128, 1100}, {64, 128, 800}, {64, 64, 600}};
  return ArrayRef(kTiles).drop_front(isExact ? 2 : 0);
}

LogicalResult WarpGroupFenceOp::verify() {
  if (getFencedA().size() != getA().size() ||
      getFencedAcc().size() != getAcc().size()) // wgfence1
    return emitOpError("expects as many results as operands, but got ")
           << getFencedA().size() << " and " << getFencedAcc().size() << " for "
           << getA().size() << " and " << getAcc().size();
  return success();
}

LogicalResult WarpGroupDotOp::verify() {
  if (!getElement().isBF16() && !getElement().isF16()) // wgdot2
    return emitOpError("expects a product of bf16 or f16, but got ")
           << getElement();
  constexpr size_t kRegisters = 4, kMost = 128;
  size_t count = getSums().size(), before = getAcc().size();
  if (getA().size() != kRegisters || (before != count && before != 0) ||
      count == 0 || count % 4 != 0 || count > kMost) // wgdot1
    return emitOpError("expects ")
           << kRegisters
           << " registers of A, and as many results as accumulators, unless "
              "there are none, a multiple of 4 up to "
           << kMost << ", but got " << getA().size() << ", " << count << " and "
           << before;
  return success();
}

LogicalResult WarpGroupWaitOp::verify() {
  if (getPending().size() != getSums().size()) // wgwait1
    return emitOpError("expects as many results as operands, but got ")
           << getSums().size() << " and " << getPending().size();
  return success();
}
