// Sizes of warps, pieces of products and tiles in shared memory.
#ifndef EFFC_DIALECTS_TILE_DISTRIBUTION_H
#define EFFC_DIALECTS_TILE_DISTRIBUTION_H

#include "dialects/tile/Axis.h"
#include "dialects/tile/Tile.h"

namespace effc::tile {

/// Pieces of a product that warps share: rows and columns, and how deep one is
/// of elements of 16 bits.
inline constexpr int64_t kPieceRows = 16, kPieceColumns = 8, kPieceDepth = 16;
/// What places in shared memory are multiples of, in bytes.
inline constexpr int64_t kSharedAlignment = 16;
/// Of a block in shared memory whose rows are swizzled: what it starts at a
/// multiple of, in bytes, and the elements of a row, of 16 bits each.
inline constexpr int64_t kSwizzleAlignment = 1024, kSwizzledRow = 64;
/// Bytes of an mbarrier; what the rows of a view that boxes are copied from are
/// apart by a multiple of, in bytes; the most rows of a box, and bits of a row
/// of it (PTX ISA, tensor maps that swizzle 128 bytes).
inline constexpr int64_t kArrivalBytes = 8, kBoxPitch = 16, kMostBoxSize = 256,
                         kBoxRowBits = 1024;
/// What the rows and columns of a block in shared memory are rounded up to.
inline constexpr int64_t kSharedTile = 16;

/// Threads of the block that a layout is over.
int64_t getThreads(mlir::Attribute layout);

/// Neighbours of a row that a thread holds of what is not in blocks: one load of f32.
inline constexpr int64_t kUsualRun = 4;

/// The layout of a tile that no product decides: the widest vector that divides
/// the columns, up to `widest` elements; of the ways to lay lanes along a row
/// the one that leaves a thread the fewest places, and of those the one that
/// takes the most lanes of a warp; of all warps where `keepsRows`, so that a thread has
/// the same columns of many rows.
BlockedAttr blockedFor(mlir::MLIRContext *context, int64_t rows,
                       int64_t columns, int64_t threads,
                       int64_t widest = kUsualRun, bool keepsRows = false);

/// The neighbours of a row that a thread should hold of what is loaded from a view of
/// `element`: as many as lie in one load.
int64_t widestRun(mlir::Type element);

/// Whether a unit of a GPU can copy boxes of such a view, if it is aligned.
bool isBoxCopied(ViewType view);
/// Whether `argument` is an operand of a kernel that begins at a multiple of 16
/// bytes and that no launch writes, so that boxes of it may come at any time.
bool isBoxOperand(mlir::BlockArgument argument);

/// Bytes that a tile takes in a slot of its layout in shared memory.
int64_t sharedBytes(TileType type);
/// Elements of a block there from one panel of as many columns as its rows are
/// apart to the next.
int64_t panelElements(TileType type);
/// A stride at which the rows that a product reads at once start in different
/// banks: 16 bytes past a multiple of 16 elements, 32 bytes where `inPairs`
/// says that f32 are read two neighbours of a row at a time. 1 for rows and
/// columns.
int64_t sharedStride(TileType type, bool inPairs);

} // namespace effc::tile

#endif // EFFC_DIALECTS_TILE_DISTRIBUTION_H
