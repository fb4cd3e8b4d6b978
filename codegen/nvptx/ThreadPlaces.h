// Which places of a tile this thread holds.
#ifndef EFFC_CODEGEN_NVPTX_THREADPLACES_H
#define EFFC_CODEGEN_NVPTX_THREADPLACES_H

#include "codegen/nvptx/ThreadState.h"
#include "dialects/tile/Distribution.h"

namespace effc::nvptx {

/// What a thread holds of a tile: elements, or their places.
struct Held {
  tile::Distribution distribution;
  mlir::Value firstRow, firstColumn; // index
  size_t rows() const { return distribution.rows.offsets.size(); }
  size_t columns() const { return distribution.columns.offsets.size(); }
  size_t count() const { return rows() * columns(); }
};

Held heldOf(ThreadState &t, tile::TileType type);
mlir::Value firstPlace(ThreadState &t, const tile::Axis &axis);
mlir::Value rowAt(ThreadState &t, const Held &held, size_t i);
mlir::Value columnAt(ThreadState &t, const Held &held, size_t j);

/// Whether what a thread holds in a row and in a column counts; null where it
/// does for all threads.
struct Counted {
  Elements rows, columns;
};
/// Inside the tile and, where they are given, before the limits.
Counted countedOf(ThreadState &t, const Held &held, mlir::Value rowLimit = {},
                  mlir::Value columnLimit = {});

/// Whether this thread, of all that hold the same elements, is the first; null
/// where no others do.
mlir::Value isFirstHolder(ThreadState &t,
                          const tile::Distribution &distribution);
/// The bits of the thread's number in `mask`, packed.
mlir::Value bitsOfThread(ThreadState &t, unsigned mask);

} // namespace effc::nvptx

#endif // EFFC_CODEGEN_NVPTX_THREADPLACES_H
