// Which launches of a plan may change places or become one: what they read and write.
#ifndef EFFC_PASSES_SEQ_TO_TILE_LAUNCHORDER_H
#define EFFC_PASSES_SEQ_TO_TILE_LAUNCHORDER_H

#include "dialects/plan/Plan.h"
#include "dialects/tile/Tile.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseSet.h"

#include <string>

namespace effc {

/// What launches read and write.
struct LaunchAccesses {
  LaunchAccesses() = default;
  LaunchAccesses(plan::LaunchOp launch, tile::KernelOp kernel) {
    add(launch, kernel);
  }

  llvm::DenseSet<mlir::Value> read, written;

  void add(plan::LaunchOp launch, tile::KernelOp kernel);
  /// Whether these and `other` may be done in either order, or at once.
  bool areIndependentOf(const LaunchAccesses &other) const;
};

/// Whether a call always has a launch, by a kernel of the plan.
bool isAlwaysLaunched(plan::LaunchOp launch);

/// Moves what gives a launch's operands in front of `place`.
void moveOperands(plan::LaunchOp launch, mlir::Operation *place);

/// Erases those of the kernels `names` that no launch of the module has.
void eraseUnlaunched(mlir::ModuleOp module, mlir::SymbolTable &symbols,
                     llvm::ArrayRef<std::string> names);

/// "layers.0.q" and "layers.0.gk.low" -> "layers.0.q+gk.low".
std::string joinNotes(llvm::ArrayRef<plan::LaunchOp> launches);

} // namespace effc

#endif // EFFC_PASSES_SEQ_TO_TILE_LAUNCHORDER_H
