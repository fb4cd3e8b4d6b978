#include "dialects/seq/AlikeValues.h"

#include "mlir/IR/OperationSupport.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace effc::seq {

bool areAlike(Value a, Value b) {
  llvm::SetVector<std::pair<Value, Value>> pairs;
  pairs.insert({a, b});
  for (size_t i = 0; i < pairs.size(); ++i) {
    auto [x, y] = pairs[i];
    if (x == y)
      continue;
    Operation *makerX = x.getDefiningOp(), *makerY = y.getDefiningOp();
    if (!makerX || !makerY ||
        !OperationEquivalence::isEquivalentTo(
            makerX, makerY,
            [&](Value left, Value right) {
              pairs.insert({left, right});
              return success();
            },
            /*markEquivalent=*/nullptr,
            OperationEquivalence::Flags::IgnoreLocations))
      return false;
  }
  return true;
}

} // namespace effc::seq
