// Checks shapes against formulas in the project's dimension letters.
//
// A verifier states what each value looks like, in an order in which letters
// become known:
//
//   ShapeFormula shapes(op);
//   if (failed(shapes.check("x", op.getX(), {"T", "H", "V"})) ||
//       failed(shapes.check("state", op.getState(), {"H", "K", "V"})))
//     return failure();
//
// The first value that mentions a letter gives it its extent; later ones must
// agree. What disagrees is reported with the formula, what was expected and
// what was found:
//
//   expects 'state' of shape H,K,V = 6, 3, 5, but got 6, 5, 3
//
// followed by a note on what probably led to it: two dimensions exchanged,
// heads and channels not split, the extent of another letter, a state or a
// weight of another layer.
#ifndef EFFC_DIALECTS_SEQ_SHAPEFORMULA_H
#define EFFC_DIALECTS_SEQ_SHAPEFORMULA_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"

namespace effc::seq {

/// An extent for a reader: a number, or "?" where it is dynamic.
std::string printExtent(int64_t extent);
/// Extents for a reader: "6, ?, 3".
std::string printExtents(llvm::ArrayRef<int64_t> extents);

class ShapeFormula {
public:
  explicit ShapeFormula(mlir::Operation *op) : op(op) {}

  /// Gives `letter` its extent.
  void bind(llvm::StringRef letter, int64_t extent) {
    extents[letter] = extent;
  }
  /// The extent of a letter that is known.
  int64_t operator[](llvm::StringRef letter) const {
    return extents.at(letter);
  }

  /// Checks a value, named `name` in the message, and binds the letters that
  /// were not known. Emits a diagnostic where it fails.
  mlir::LogicalResult check(llvm::StringRef name, mlir::Value value,
                            llvm::ArrayRef<llvm::StringRef> letters);

private:
  mlir::Operation *op;
  llvm::StringMap<int64_t> extents;
};

} // namespace effc::seq

#endif // EFFC_DIALECTS_SEQ_SHAPEFORMULA_H
