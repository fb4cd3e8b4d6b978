// What mma.sync says to those who choose and lay out products.
#include "dialects/tile/Distribution.h"
#include "dialects/tile/units/Units.h"

using namespace mlir;
using namespace effc::tile;

ProductUnit effc::tile::getMmaSync(MLIRContext *context) {
  return MmaSyncAttr::get(context);
}

StringRef MmaSyncAttr::getFormedBy() const { return "warps"; }
int64_t MmaSyncAttr::getWarps() const { return 1; }
bool MmaSyncAttr::isBitStable() const { return true; }
bool MmaSyncAttr::isAsynchronous() const { return false; }
bool MmaSyncAttr::multiplies(Type, Type) const { return true; }
bool MmaSyncAttr::isExact(Type roundedTo) const { return !roundedTo; }

// Warps past the end work on the first piece, to no effect.
bool MmaSyncAttr::canForm(const DotShape &, int64_t, int64_t) const {
  return true;
}

Attribute MmaSyncAttr::getAccumulators(int64_t threads,
                                       int64_t rowWarps) const {
  return FragmentAttr::get(getContext(), threads, rowWarps);
}

std::optional<SharedRows> MmaSyncAttr::getOwnRows(Type) const {
  return std::nullopt;
}
bool MmaSyncAttr::readsOwnRows(DotOperand, bool) const { return true; }

bool MmaSyncAttr::takesB(Attribute layout) const {
  return !cast<SharedAttr>(layout).getSwizzled();
}
bool MmaSyncAttr::takesA(Attribute layout, bool) const {
  return !cast<SharedAttr>(layout).getSwizzled();
}

ArrayRef<DotTile> MmaSyncAttr::getTiles(bool) const { return {}; }
