// From where in shared memory the operands of products have come.
//
// A fragment is a claim about places: register i of lane l holds this row and
// this depth of A. The simulator can check it where an element has come from
// shared memory without being computed with, which is read from the code: what
// narrows, splits or packs an element leaves it the element of its place.
#ifndef EFFC_CODEGEN_SIM_UNITS_FRAGMENTORIGINS_H
#define EFFC_CODEGEN_SIM_UNITS_FRAGMENTORIGINS_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

#include <optional>

namespace effc::sim {

/// An element of what `from` loads: an llvm.load of shared memory, or an
/// nvvm.ldmatrix, of which a lane has two elements of each matrix. Null: it is
/// not known.
struct ElementOrigin {
  mlir::Operation *from = nullptr;
  unsigned element = 0;

  bool operator==(const ElementOrigin &) const = default;
};

/// The registers of a product: those of A, then those of B, which units that
/// read B from shared memory do not have. A register has two elements, or one.
struct ProductRegisters {
  mlir::ValueRange a, b;
  bool inPairs;
};

class FragmentOrigins {
public:
  /// Of the products of `function`: ops of which `registersOf` knows the
  /// registers.
  void
  collect(mlir::LLVM::LLVMFuncOp function,
          llvm::function_ref<std::optional<ProductRegisters>(mlir::Operation *)>
              registersOf);

  /// Of the elements of `product`'s registers, two for each (where one has one,
  /// the second is none): those of A, then those of B. Empty: nothing is known, or products before it in the
  /// block have the same A and the same B; then what is right of those is right
  /// of it.
  llvm::ArrayRef<ElementOrigin> of(mlir::Operation *product) const {
    auto found = products.find(product);
    return found == products.end() ? llvm::ArrayRef<ElementOrigin>()
                                   : llvm::ArrayRef(found->second);
  }
  /// Whether one of those is an element of this ldmatrix.
  bool contains(mlir::Operation *matrices) const {
    return loads.contains(matrices);
  }

private:
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<ElementOrigin>> products;
  llvm::DenseSet<mlir::Operation *> loads;
};

} // namespace effc::sim

#endif // EFFC_CODEGEN_SIM_UNITS_FRAGMENTORIGINS_H
