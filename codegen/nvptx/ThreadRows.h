// Results that are computed a row at a time, where they are stored.
//
// Of the largest accumulators a thread holds half of its registers. What is
// computed of them and of other tiles would not fit beside them, if all of it was
// loaded and computed before the first element is stored.
#ifndef EFFC_CODEGEN_NVPTX_THREADROWS_H
#define EFFC_CODEGEN_NVPTX_THREADROWS_H

#include "codegen/nvptx/ThreadState.h"

#include <functional>

namespace effc::nvptx {

/// Elements of a tile that a thread holds beside as many of another, and what it
/// needs to address them.
inline constexpr size_t kMostBeside = 96;

/// Gives the elements of the i-th of the rows that the thread holds.
using Rows = std::function<Elements(size_t i)>;

/// Whether a tile is computed where it is stored, a row at a time: the results of
/// loads and maps of which a thread holds too many elements, and which nothing
/// reads but a store or such a map behind them.
bool isMadeByRows(mlir::Value tile);

/// The rows of a tile in registers. What they need besides is emitted at once,
/// each row where it is asked for.
Rows rowsOf(ThreadState &t, mlir::Value tile);

// ThreadMemory.cpp and ThreadMath.cpp
Rows rowsOf(ThreadState &t, tile::LoadOp load);
Rows rowsOf(ThreadState &t, tile::MapOp map);

} // namespace effc::nvptx

#endif // EFFC_CODEGEN_NVPTX_THREADROWS_H
