// Places in shared memory.
#ifndef EFFC_CODEGEN_NVPTX_THREADSHARED_H
#define EFFC_CODEGEN_NVPTX_THREADSHARED_H

#include "codegen/nvptx/ThreadPlaces.h"

namespace effc::nvptx {

/// Of swizzled rows: after how many the pattern repeats, and the neighbours
/// that stay together.
inline constexpr int64_t kSwizzleRows = 8, kSwizzlePiece = 8;

/// Element `element` of those from byte `byteOffset` on, and `slot` bytes
/// further (null: none).
mlir::Value sharedAddress(ThreadState &t, int64_t byteOffset,
                          mlir::Value element, mlir::Type type,
                          mlir::Value slot = {});
mlir::Value sharedPlace(ThreadState &t, tile::TileType type, mlir::Value row,
                        mlir::Value column, mlir::Value slot = {});
mlir::Value loadShared(ThreadState &t, tile::TileType type, mlir::Value row,
                       mlir::Value column);
/// Stores what threads hold to where the tile `to` lies.
void storeShared(ThreadState &t, llvm::ArrayRef<mlir::Value> elements,
                 const Held &held, mlir::Value to);
/// Zeros past the shape of a block, up to the next multiples of the products'
/// pieces; false where there is nothing.
bool clearPadding(ThreadState &t, tile::TileType type);
/// Lets what threads wrote to shared memory be read by what runs beside them.
void fenceForUnits(ThreadState &t);

} // namespace effc::nvptx

#endif // EFFC_CODEGEN_NVPTX_THREADSHARED_H
