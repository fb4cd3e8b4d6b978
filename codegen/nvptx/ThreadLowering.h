// Lowers the body of one scheduled kernel to the code of one thread.
//
// A tile is the list of elements that the thread holds, as SSA values: for a
// block, row by row of those it holds, `vector` neighbours at a time; for a
// row, its columns; for a column, its rows. Layout: #tile.lin (TileBase.td).
#ifndef EFFC_CODEGEN_NVPTX_THREADLOWERING_H
#define EFFC_CODEGEN_NVPTX_THREADLOWERING_H

#include "dialects/tile/Tile.h"
#include "mlir/IR/IRMapping.h"

namespace effc::nvptx {

class ThreadLowering {
public:
  /// Emits into `entry`, whose arguments are the operands' addresses and the
  /// three counts. `shared` names the module's shared memory.
  ThreadLowering(tile::KernelOp kernel, mlir::Block *entry,
                 llvm::StringRef shared);

  /// Fails, with a diagnostic on the op, for what has no lowering.
  mlir::LogicalResult run();

private:
  using Elements = llvm::SmallVector<mlir::Value>;

  mlir::LogicalResult lower(mlir::Operation &op);
  void lowerLoad(tile::LoadOp load);
  void lowerStore(tile::StoreOp store);
  void lowerRead(tile::ReadOp read);
  void lowerSegment(tile::SegmentOp segment);
  void lowerMap(tile::MapOp map);
  void lowerReduce(tile::ReduceOp reduce);
  void lowerCombine(tile::CombineOp combine);

  // How many rows, and runs of `vector` columns, of a tile a thread holds.
  int64_t rowsHeld(tile::TileType type) const;
  int64_t runsHeld(tile::TileType type) const;
  /// Row number `i` of those this thread holds, and the first column of run
  /// `j`.
  mlir::Value rowAt(int64_t i);
  mlir::Value columnAt(int64_t j);
  mlir::Value addressOf(mlir::Value view, mlir::ValueRange indices,
                        llvm::ArrayRef<int64_t> sizes, tile::TileType type,
                        mlir::Value row, mlir::Value column);
  unsigned alignmentOf(mlir::Value view, llvm::ArrayRef<int64_t> sizes);
  mlir::Value emitScalar(mlir::Operation *op, mlir::IRMapping &mapping);
  mlir::Value combineTwo(tile::ReduceKind kind, mlir::Value x, mlir::Value y);
  mlir::Value constant(int64_t value);
  mlir::Value add(mlir::Value x, mlir::Value y);
  mlir::Value mul(mlir::Value x, int64_t y);
  mlir::Value lookup(mlir::Value value) {
    return scalars.lookupOrDefault(value);
  }

  tile::KernelOp kernel;
  mlir::OpBuilder b;
  mlir::Location loc;
  mlir::Block *entry;
  llvm::StringRef shared;
  tile::LayoutAttr layout;
  mlir::Value lane, rowGroup, warp, laneOfWarp; // index
  mlir::IRMapping scalars;
  llvm::DenseMap<mlir::Value, Elements> tiles;
  llvm::DenseMap<mlir::Value, mlir::Value> bases;
};

} // namespace effc::nvptx

#endif // EFFC_CODEGEN_NVPTX_THREADLOWERING_H
