// Fragments that ldmatrix loads, and where their elements lie: what products of
// any unit have in registers.
#ifndef EFFC_CODEGEN_SIM_UNITS_FRAGMENTS_H
#define EFFC_CODEGEN_SIM_UNITS_FRAGMENTS_H

#include "codegen/sim/Rewrites.h"
#include "codegen/sim/units/FragmentOrigins.h"

#include <memory>

namespace effc::sim {

class Fragments {
public:
  /// Of the products of `function`.
  explicit Fragments(mlir::LLVM::LLVMFuncOp function);

  /// Puts the simulator's load in place of an ldmatrix, whose op stays until
  /// all products have asked where its elements lie.
  mlir::LogicalResult load(mlir::NVVM::LdMatrixOp op, RewriteState &s);
  /// Tells where the elements of A and B lie, before the product that `product`
  /// is. The array is read by the time that the product's call returns.
  void passOrigins(mlir::Operation *product, RewriteState &s);
  void eraseLoads();

private:
  FragmentOrigins origins;
  /// Where an ldmatrix leaves where its elements lie.
  llvm::DenseMap<mlir::Operation *, mlir::Value> matrixOrigins;
  llvm::SmallVector<mlir::Operation *> matrices;
  mlir::Value passedOrigins; // the array, where the kernel has one
};

/// What loads of fragments become.
void addFragments(Rewrites &rewrites, std::shared_ptr<Fragments> fragments);

} // namespace effc::sim

#endif // EFFC_CODEGEN_SIM_UNITS_FRAGMENTS_H
