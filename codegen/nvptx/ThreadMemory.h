// Boxes of views, and how a thread moves elements.
#ifndef EFFC_CODEGEN_NVPTX_THREADMEMORY_H
#define EFFC_CODEGEN_NVPTX_THREADMEMORY_H

#include "codegen/nvptx/ThreadPlaces.h"

namespace effc::nvptx {

/// A box of a view: the address of its first element, and how it goes on.
struct Box {
  stored::ElementPlace origin;
  mlir::Type element; // as stored
  int64_t rowStride = 0, columnStride = 0;
  mlir::Value rowLimit, columnLimit; // null: none
  /// Elements that a run along the columns may be moved by together.
  int64_t vector = 1;
  /// Whether nothing but sums of runs multiply by it (`tile.dot_runs`): its bf16 are
  /// widened by pairs then. Some other kernels take longer so
  /// (tools/sass_model/block_products.md).
  bool meetsRuns = false;
};

Box boxOf(ThreadState &t, mlir::Value view, mlir::ValueRange indices,
          llvm::ArrayRef<int64_t> sizes, tile::TileType type,
          mlir::Value rowLimit, mlir::Value columnLimit);
/// The place of the first element of a box that the thread holds.
stored::ElementPlace heldPlace(ThreadState &t, const Box &box,
                               const Held &held);
/// `lanes` neighbours along the columns as f32, the first at a multiple of
/// `lanes`.
mlir::Value loadRun(ThreadState &t, mlir::Value address, mlir::Type element,
                    int64_t lanes);

/// Neighbours as they are moved, and one by one.
mlir::Value runOf(ThreadState &t, const mlir::Value *elements, int64_t lanes);
Elements elementsOf(ThreadState &t, mlir::Value run);

/// Neighbours along the columns that a thread may move together, to registers
/// or, `copied`, past them.
int64_t lanesOf(const tile::Distribution &d, int64_t vector,
                bool copied = false);

} // namespace effc::nvptx

#endif // EFFC_CODEGEN_NVPTX_THREADMEMORY_H
