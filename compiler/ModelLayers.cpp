#include "compiler/ModelLayers.h"

#include "compiler/Locations.h"

#include "mlir/IR/Location.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace effc;

llvm::StringRef effc::partOf(Operation *op) {
  auto named = dyn_cast<NameLoc>(op->getLoc());
  return named ? named.getName().getValue() : StringRef();
}

llvm::StringRef effc::layerOf(Operation *op) {
  StringRef name = partOf(op);
  for (size_t start = 0; start < name.size();) {
    size_t end = std::min(name.find('.', start), name.size());
    if (end > start && llvm::all_of(name.slice(start, end), llvm::isDigit))
      return name.take_front(end);
    start = end + 1;
  }
  return {};
}

std::string effc::describeOp(Operation *op) {
  return describeLocation(op->getLoc()) + " (" +
         op->getName().getStringRef().str() + ")";
}
