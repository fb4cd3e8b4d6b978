// Lowers the body of one tile.kernel to loops, vectors and pointers.
//
// Ops are taken in program order. Maps, stores and reductions over one shape
// are gathered into a group and become a single loop nest, so that a chain such
// as "decay the state, add the outer product, store it, read it out" touches
// each element once (ElementGroups.cpp). Loads emit nothing: their tile is a
// window, read where it is used. Products have their own loops (Dots.cpp), as
// do sums along a column (Columns.cpp). Nothing is decided here that the kernel
// does not say: the order of all additions follows from the tiles' shapes
// alone.
#ifndef EFFC_CODEGEN_HOST_KERNELLOWERING_H
#define EFFC_CODEGEN_HOST_KERNELLOWERING_H

#include "codegen/host/Place.h"
#include "dialects/tile/Tile.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

namespace effc::host {

class KernelLowering {
public:
  /// Emits at the end of `entry`, a block whose arguments are those of a host
  /// kernel: operands and counts (pointers), first and last item (i64).
  KernelLowering(tile::KernelOp kernel, mlir::Block *entry);

  /// Fails, with a diagnostic on the op, for what the host cannot run.
  mlir::LogicalResult run();

  /// Bytes of the stack buffers that the kernel uses.
  int64_t stackBytes() const { return stackUsed; }

private:
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
  /// One point of a group's loop nest: a row and a run of its columns.
  struct Point {
    mlir::Value row, column;
    int64_t lanes, valid;
  };
  using Lanes = llvm::DenseMap<mlir::Value, mlir::Value>;

  mlir::LogicalResult lowerBlock(mlir::Block &block);
  mlir::LogicalResult lowerOp(mlir::Operation *op);
  mlir::LogicalResult lowerFor(mlir::scf::ForOp loop);
  mlir::LogicalResult lowerPipeline(tile::PipelineOp pipeline);
  void lowerRead(tile::ReadOp read);
  void lowerSegment(tile::SegmentOp segment);
  void lowerLoad(tile::LoadOp load);
  void lowerGather(tile::GatherRowsOp gather);
  void lowerShift(tile::ShiftOp shift);
  void lowerScatter(tile::StoreOp store);
  mlir::Value lookup(mlir::Value scalar) {
    return scalars.lookupOrDefault(scalar);
  }

  // ElementGroups.cpp
  static bool isElementwise(mlir::Operation *op);
  static Group shapeOf(mlir::Operation *op);
  bool canJoinPass(mlir::Operation *op) const;
  bool canFollow(mlir::Operation *op) const;
  void join(mlir::Operation *op);
  void flush();
  bool wouldOverwrite(mlir::Operation *op) const;
  void keepWindow(mlir::Operation *reader);
  void keepWindowsBefore(tile::StoreOp store);
  void keepWindowsBeforeLoop(mlir::Operation *loop);
  void emitByColumns(const ColumnBlocks &blocks);
  void emitPass(const Pass &pass, const Point &first, Lanes &shared);
  void emitByRows(const ColumnBlocks &blocks);
  void loadRows(const Pass &pass, const Point &point, Lanes &lanes);
  int64_t sumsOverRows() const;
  bool sumsInTwoChains(const Pass &pass) const;
  void emitPoint(const Pass &pass, const Point &point, Lanes &lanes,
                 llvm::function_ref<void(tile::ReduceOp, mlir::Value)> reduced);
  mlir::Value elementsOf(mlir::Value tile, const Point &point, Lanes &lanes);
  mlir::Value emitMap(tile::MapOp map, const Point &point, Lanes &lanes);
  bool escapes(mlir::Value tile, const Pass &pass) const;

  // Dots.cpp
  void emitDot(tile::DotOp dot);

  // DigitDots.cpp
  mlir::LogicalResult lowerPanelDot(tile::DotOp dot);
  Place asDigits(const Place &rows, storage::DigitsType type, int64_t count,
                 int64_t columns);

  // Splices.cpp
  void emitSplice(tile::SpliceOp splice);

  // Columns.cpp
  void emitScan(tile::ScanOp scan);
  void emitSegmentDecay(tile::SegmentDecayOp decay);

  // TopK.cpp
  void emitTopK(tile::TopKOp op);
  void emitTake(tile::TakeOp op);

  // Places
  mlir::Value allocateBytes(int64_t bytes);
  Place allocate(tile::TileType type);
  stored::ElementPlace elementAt(mlir::Value view, mlir::ValueRange indices,
                                 mlir::Type element);
  Place placeOf(mlir::Value tile);
  Place windowOf(mlir::Value view, mlir::ValueRange indices,
                 llvm::ArrayRef<int64_t> sizes, tile::TileType tile,
                 mlir::Value rows, mlir::Value columns);
  void copy(mlir::Value from, tile::TileType type, const Place &to);
  void fill(const Place &to, tile::TileType type, mlir::Value scalar);
  void bindInPlaceResults(mlir::Block &body, mlir::ValueRange yielded,
                          mlir::ValueRange carried);
  void assignCarried(mlir::ValueRange yielded, mlir::ValueRange carried);

  tile::KernelOp kernel;
  mlir::OpBuilder b;
  mlir::Location loc;
  mlir::Block *entry;
  Memory memory;
  mlir::IRMapping scalars;                         // index, f32, i1 values
  llvm::DenseMap<mlir::Value, Place> places;       // tiles in memory
  llvm::DenseMap<mlir::Value, mlir::Value> splats; // tiles of one scalar
  llvm::DenseMap<mlir::Value, mlir::Value> bases; // views and tables: !llvm.ptr
  Group group;
  int64_t stackUsed = 0;
};

} // namespace effc::host

#endif // EFFC_CODEGEN_HOST_KERNELLOWERING_H
