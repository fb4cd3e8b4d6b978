#include "dialects/seq/ShapeFormula.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace effc::seq {

std::string printExtent(int64_t extent) {
  return ShapedType::isDynamic(extent) ? "?" : std::to_string(extent);
}

std::string printExtents(ArrayRef<int64_t> extents) {
  return llvm::join(llvm::map_range(extents, printExtent), ", ");
}

LogicalResult ShapeFormula::check(StringRef name, Value value,
                                  ArrayRef<StringRef> letters) {
  ArrayRef<int64_t> found = cast<RankedTensorType>(value.getType()).getShape();
  bool agrees = found.size() == letters.size();
  // A letter may occur twice in one formula.
  llvm::StringMap<int64_t> bound = extents;
  for (auto [letter, extent] : llvm::zip(letters, found))
    agrees &= bound.try_emplace(letter, extent).first->second == extent;
  if (agrees) {
    extents = std::move(bound);
    return success();
  }

  // An unknown letter stands for itself among the expected extents.
  SmallVector<std::string> expected;
  SmallVector<int64_t> expectedExtents;
  for (StringRef letter : letters) {
    auto known = extents.find(letter);
    if (known == extents.end()) {
      expected.push_back(letter.str());
      continue;
    }
    expected.push_back(printExtent(known->second));
    expectedExtents.push_back(known->second);
  }
  InFlightDiagnostic diagnostic = op->emitOpError()
                                  << "expects '" << name << "' of shape "
                                  << llvm::join(letters, ",");
  if (!expectedExtents.empty())
    diagnostic << " = " << llvm::join(expected, ", ");
  diagnostic << ", but got "
             << (found.empty() ? "a scalar" : printExtents(found));
  if (expectedExtents.size() == letters.size() &&
      std::is_permutation(found.begin(), found.end(), expectedExtents.begin(),
                          expectedExtents.end()))
    diagnostic.attachNote() << "'" << name
                            << "' looks transposed: its dimensions are those "
                               "expected in another order";
  return diagnostic;
}

} // namespace effc::seq
