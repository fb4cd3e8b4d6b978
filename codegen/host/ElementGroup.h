// Maps, stores and reductions over one shape, which share one loop nest, so that
// a chain such as "decay the state, add the outer product, store it, read it
// out" touches each element once.
#ifndef EFFC_CODEGEN_HOST_ELEMENTGROUP_H
#define EFFC_CODEGEN_HOST_ELEMENTGROUP_H

#include "dialects/tile/Tile.h"

namespace effc::host {

struct KernelState;

/// Ops that pass over the same rows together.
struct Pass {
  llvm::SmallVector<mlir::Operation *> ops;
  int64_t rows = 0;
  bool contains(mlir::Operation *op) const {
    return llvm::is_contained(ops, op);
  }
};

/// Passes that share one loop over columns, one after the other.
struct Group {
  llvm::SmallVector<Pass, 1> passes;
  int64_t columns = 0;
  bool isColumn = false; // the tiles are columns; `columns` is their length
  bool empty() const { return passes.empty(); }
  bool contains(mlir::Operation *op) const {
    return llvm::any_of(passes,
                        [&](const Pass &pass) { return pass.contains(op); });
  }
  llvm::SmallVector<mlir::Operation *> ops() const {
    llvm::SmallVector<mlir::Operation *> all;
    for (const Pass &pass : passes)
      llvm::append_range(all, pass.ops);
    return all;
  }
};

/// Whether an op can be one of a group.
bool isElementwise(mlir::Operation *op);
/// A reduction that must be finished row by row, before the next row begins.
bool alongColumns(tile::ReduceOp reduce);

/// Adds an elementwise op to the pending group, or to the next one.
void joinGroup(KernelState &s, mlir::Operation *op);
/// Emits the pending group; there is none then.
void flushGroup(KernelState &s);
/// Copies what was loaded from the view and is read behind the store, or in the
/// loop's next turns.
void keepWindowsBefore(KernelState &s, tile::StoreOp store);
void keepWindowsBeforeLoop(KernelState &s, mlir::Operation *loop);

} // namespace effc::host

#endif // EFFC_CODEGEN_HOST_ELEMENTGROUP_H
