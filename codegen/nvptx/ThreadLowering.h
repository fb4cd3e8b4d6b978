// Lowers the body of one scheduled kernel to the code of one thread.
//
// A tile in registers is the list of elements that the thread holds, as SSA
// values, row by row: which those are, its layout says (Distribution.h). A tile
// in shared memory is an address. Nothing is chosen here: places, exchanges and
// barriers are in the IR. What a thread holds past a tile's shape is computed
// like the rest and never leaves it: loads give zeros there, sums leave it out,
// stores skip it.
#ifndef EFFC_CODEGEN_NVPTX_THREADLOWERING_H
#define EFFC_CODEGEN_NVPTX_THREADLOWERING_H

#include "codegen/storage/StoredElements.h"
#include "dialects/tile/Distribution.h"
#include "dialects/tile/Tile.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

namespace effc::nvptx {

class ThreadLowering {
public:
  /// Two neighbours of an operand in registers: of two bf16 each, whose sums
  /// they are; of both as f16; or each as tf32.
  using Parts = llvm::SmallVector<mlir::Value, 3>;
  /// An operand of a product in shared memory: element (outer, depth), where
  /// outer is a row of A or a column of B. One in registers has no place.
  struct DotOperand {
    int64_t offset, outerStride, depthStride, outerSize;
    mlir::Type element;
    mlir::Value slot; // bytes; null: none
    /// What an element is rounded to when it is read; null: read as it is.
    mlir::Type roundedTo;
    /// How many bf16 are summed to an element that is not rounded.
    size_t parts() const;
    /// What tensor cores multiply.
    mlir::Type piece() const;
  };

  /// Emits into `entry`, whose arguments are the operands' addresses, the three
  /// counts and the addresses of the tensor maps. `shared` names the module's
  /// shared memory. With `overlapsLaunches` the kernel begins while the
  /// launches before it end, and waits for them.
  ThreadLowering(tile::KernelOp kernel, mlir::Block *entry,
                 llvm::StringRef shared, bool overlapsLaunches);

  /// The tensor maps that a kernel is passed behind its counts.
  static llvm::SmallVector<tile::BoxMapAttr> boxMapsOf(tile::KernelOp kernel);

  /// Fails, with a diagnostic on the op, for what has no lowering.
  mlir::LogicalResult run();

private:
  using Elements = llvm::SmallVector<mlir::Value>;

  /// A box of a view: the address of its first element, and how it goes on.
  struct Box {
    stored::ElementPlace origin;
    mlir::Type element; // as stored
    int64_t rowStride = 0, columnStride = 0;
    mlir::Value rowLimit, columnLimit; // null: none
    /// Elements that a run along the columns may be moved by together.
    int64_t vector = 1;
  };
  /// What a thread holds of a tile: elements, or their places.
  struct Held {
    tile::Distribution distribution;
    mlir::Value firstRow, firstColumn; // index
    size_t rows() const { return distribution.rows.offsets.size(); }
    size_t columns() const { return distribution.columns.offsets.size(); }
    size_t count() const { return rows() * columns(); }
  };

  mlir::LogicalResult lowerBlock(mlir::Block &block);
  void awaitLaunches();
  mlir::LogicalResult lower(mlir::Operation &op);
  mlir::LogicalResult lowerFor(mlir::scf::ForOp loop);
  mlir::LogicalResult lowerIf(mlir::scf::IfOp branch);
  mlir::LogicalResult lowerPipeline(tile::PipelineOp pipeline);
  mlir::LogicalResult
  lowerLoop(mlir::Value begin, mlir::Value end, mlir::Value step,
            mlir::ValueRange inits, mlir::ValueRange carried,
            mlir::ValueRange results,
            llvm::function_ref<mlir::LogicalResult(mlir::Value)> body,
            mlir::ValueRange yielded);
  void lowerSegment(tile::SegmentOp segment);

  // Places (ThreadPlaces.cpp)
  Held heldOf(tile::TileType type);
  mlir::Value firstPlace(const tile::Axis &axis);
  mlir::Value rowAt(const Held &held, size_t i);
  mlir::Value columnAt(const Held &held, size_t j);
  /// Whether what a thread holds in a row and in a column counts; null where it
  /// does for all threads.
  struct Counted {
    Elements rows, columns;
  };
  /// Inside the tile and, where they are given, before the limits.
  Counted countedOf(const Held &held, mlir::Value rowLimit = {},
                    mlir::Value columnLimit = {});
  /// Whether this thread, of all that hold the same elements, is the first;
  /// null where no others do.
  mlir::Value isFirstHolder(const tile::Distribution &distribution);
  mlir::Value both(mlir::Value a, mlir::Value b); // of conditions or nulls
  /// The address, or the place, of the element so many further.
  mlir::Value further(mlir::Value address, mlir::Type element, int64_t count);
  mlir::Value further(mlir::Value address, mlir::Type element,
                      mlir::Value count);
  stored::ElementPlace further(const stored::ElementPlace &place,
                               mlir::Type element, int64_t count);
  stored::ElementPlace further(const stored::ElementPlace &place,
                               mlir::Type element, mlir::Value count);
  mlir::Value bitsOfThread(unsigned mask);
  /// Runs `body` where `condition` holds; always where it is null.
  void guarded(mlir::Value condition, llvm::function_ref<void()> body);

  /// `count` f32 that one of two pieces of code computes.
  Elements either(mlir::Value condition, size_t count,
                  llvm::function_ref<Elements()> yes,
                  llvm::function_ref<Elements()> no);

  // Views (ThreadMemory.cpp)
  Box boxOf(mlir::Value view, mlir::ValueRange indices,
            llvm::ArrayRef<int64_t> sizes, tile::TileType type,
            mlir::Value rowLimit, mlir::Value columnLimit);
  Elements loadBox(const Box &box, const Held &held);
  /// The place of the first element of a box that the thread holds.
  stored::ElementPlace heldPlace(const Box &box, const Held &held);
  /// `lanes` neighbours along the columns as f32, the first at a multiple of
  /// `lanes`; zeros where `valid` says no.
  mlir::Value loadRun(mlir::Value address, mlir::Type element, int64_t lanes);
  mlir::Value loadRun(const stored::ElementPlace &place, mlir::Type element,
                      int64_t lanes);
  mlir::Value loadRun(const Box &box, const stored::ElementPlace &place,
                      mlir::Value valid, int64_t lanes);
  void finishLoad(mlir::Value result,
                  llvm::function_ref<Elements(const Held &)> load);
  void lowerLoad(tile::LoadOp load);
  void lowerGather(tile::GatherRowsOp gather);
  void lowerSplice(tile::SpliceOp splice);
  void lowerStore(tile::StoreOp store);
  void lowerRead(tile::ReadOp read);
  mlir::Value offsetOf(mlir::ValueRange indices,
                       llvm::ArrayRef<int64_t> strides);
  int64_t alignmentOf(mlir::Value view, mlir::ValueRange indices,
                      llvm::ArrayRef<int64_t> sizes, int64_t columnDim);

  mlir::Value runOf(const mlir::Value *elements, int64_t lanes);
  Elements elementsOf(mlir::Value run);

  /// Neighbours along the columns that a thread may move together, to registers
  /// or, `copied`, past them.
  static int64_t lanesOf(const tile::Distribution &d, int64_t vector,
                         bool copied = false);

  // Shared memory (ThreadShared.cpp)
  /// Element `element` of those from byte `byteOffset` on, and `slot` bytes
  /// further (null: none).
  mlir::Value sharedAddress(int64_t byteOffset, mlir::Value element,
                            mlir::Type type, mlir::Value slot = {});
  /// Of swizzled rows: after how many the pattern repeats, and the neighbours
  /// that stay together.
  static constexpr int64_t kSwizzleRows = 8, kSwizzlePiece = 8;
  /// Where a column of a swizzled row lies.
  mlir::Value swizzled(mlir::Value row, mlir::Value column);
  mlir::Value sharedPlace(tile::TileType type, mlir::Value row,
                          mlir::Value column, mlir::Value slot = {});
  mlir::Value loadShared(tile::TileType type, mlir::Value row,
                         mlir::Value column);
  /// Neighbours along the columns that move together to or from a tile there.
  static int64_t sharedLanes(const Held &held, tile::TileType type);
  void storeShared(llvm::ArrayRef<mlir::Value> elements, const Held &held,
                   tile::TileType to);
  bool clearPadding(tile::TileType type);
  void lowerConvert(tile::ConvertOp convert);
  void lowerShift(tile::ShiftOp shift);

  // Running sums (ThreadSums.cpp)
  void lowerScan(tile::ScanOp scan);

  // Decays between tokens (ThreadDecays.cpp)
  class DecayTables;
  void forEachOf(int64_t count, llvm::function_ref<void(mlir::Value)> body);
  void lowerSegmentDecay(tile::SegmentDecayOp decay);

  // Arithmetic (ThreadMath.cpp)
  mlir::Value exponential(mlir::Value x);
  mlir::Value emitScalar(mlir::Operation *op, mlir::IRMapping &mapping);
  void lowerMap(tile::MapOp map);
  void lowerReduce(tile::ReduceOp reduce);
  mlir::Value combineTwo(tile::ReduceKind kind, mlir::Value x, mlir::Value y);
  /// Combines what threads that differ in `bits` of their number hold.
  void exchange(Elements &partial, tile::ReduceKind kind, unsigned bits,
                const tile::Axis &kept, int64_t scratch);
  mlir::Value shuffle(mlir::Value value, int64_t distance);

  // Copies (ThreadCopies.cpp)
  void lowerRing(tile::RingOp ring);
  void lowerFetch(tile::FetchOp fetch);
  void lowerAwait(tile::AwaitOp await);
  void lowerCommit();

  // Copies of boxes (ThreadBoxes.cpp)
  static tile::BoxMapAttr boxMapOf(tile::FetchBoxOp fetch);
  mlir::Value isFirstThread();
  mlir::Value arrivalAt(tile::RingOp ring, mlir::Value slot);
  mlir::Value slotOfTurn(tile::RingOp ring, mlir::Value turn);
  void startArrivals(tile::RingOp ring);
  void lowerFetchBox(tile::FetchBoxOp fetch);
  void lowerAwaitBox(tile::AwaitBoxOp await);

  // Products (ThreadDots.cpp)
  static constexpr int64_t kPieceDepth = 16;
  /// Where a lane begins to read an operand for its warp's pieces, at depth 0;
  /// a warp past the tile works on the tile's first piece, to no effect.
  struct Lane {
    mlir::Value atWarp, atStart;
  };
  DotOperand operandOf(mlir::Value tile, bool depthIsRow, mlir::Type roundedTo);
  /// Two neighbours that are f32.
  Parts partsOf(const DotOperand &operand, std::array<mlir::Value, 2> pair);
  /// The first row and column of what a fragment gives to the thread's warp.
  std::pair<mlir::Value, mlir::Value> firstOfWarp(const Held &held);
  Lane laneOf(const DotOperand &operand, mlir::Value warp, bool outerFirst);
  mlir::Value pieceAt(const DotOperand &operand, const Lane &lane,
                      const tile::Axis &axis, mlir::Value warp, int64_t offset,
                      mlir::Value depth);
  /// Where a lane begins to read, along the outer axis and in depth.
  std::pair<mlir::Value, mlir::Value> lanePlace(const DotOperand &operand,
                                                bool outerFirst);
  llvm::SmallVector<Parts> loadMatrices(const DotOperand &operand,
                                        mlir::Value address, unsigned matrices,
                                        bool outerFirst);
  /// Those of rows that are held as sums: piece `row`, from `depth` on, of
  /// `rows` with so many columns each.
  llvm::SmallVector<Parts> heldMatrices(const DotOperand &operand,
                                        llvm::ArrayRef<mlir::Value> rows,
                                        size_t columns, size_t row,
                                        size_t depth);
  void multiplyPiece(const DotOperand &operand, llvm::ArrayRef<Parts> a,
                     llvm::ArrayRef<Parts> w,
                     llvm::MutableArrayRef<mlir::Value> sums,
                     llvm::ArrayRef<size_t> places);
  void lowerDot(tile::DotOp dot);

  // Products of warp groups (ThreadWarpGroups.cpp)
  /// Lets what threads wrote to shared memory be read by the asynchronous
  /// units, if `type` lies there for them.
  void fenceForUnits(tile::TileType type);
  mlir::Value descriptorOf(const DotOperand &operand, mlir::Value row,
                           int64_t groupStride, int64_t panelStride);
  void fenceRegisters(llvm::MutableArrayRef<llvm::SmallVector<Parts>> pieces,
                      llvm::MutableArrayRef<mlir::Value> sums);
  struct GroupRows;
  GroupRows groupRowsOf(tile::DotOp dot, const Held &sums,
                        mlir::Type roundedTo);
  llvm::SmallVector<Parts> loadGroupRows(const GroupRows &rows, size_t piece,
                                         int64_t depth);
  llvm::SmallVector<mlir::Value>
  groupColumnsOf(tile::DotOp dot, const Held &sums, mlir::Type roundedTo);
  void multiplyGroup(llvm::ArrayRef<Parts> rows, mlir::Value columns,
                     mlir::Type element, bool across,
                     llvm::ArrayRef<size_t> places,
                     llvm::MutableArrayRef<mlir::Value> sums);
  void lowerWarpGroupDot(tile::DotOp dot);

  // Selection (ThreadTopK.cpp)
  struct Entry;
  struct OrderedList;
  class Selection;
  Entry scoreAt(tile::TileType row, mlir::Value at);
  /// Brings the best of a row to shared memory.
  void keepBest(Selection &selection, tile::TileType row,
                const OrderedList &list);
  /// Candidate `at` of the sums of two rows of `width` elements, and whether it
  /// can be one of the `wanted` best.
  std::pair<Entry, mlir::Value> sumAt(const OrderedList &rows,
                                      const OrderedList &columns, int64_t width,
                                      int64_t wanted, mlir::Value at);
  void lowerTopK(tile::TopKOp op);
  void lowerTake(tile::TakeOp op);

  mlir::Value constant(int64_t value);
  mlir::Value i32(int64_t value);
  mlir::Value f32(float value);
  mlir::Value add(mlir::Value x, mlir::Value y);
  mlir::Value mul(mlir::Value x, int64_t y);
  mlir::Value less(mlir::Value x, mlir::Value y);
  mlir::Value select(mlir::Value condition, mlir::Value x, mlir::Value y);
  mlir::Value lookup(mlir::Value value) {
    return scalars.lookupOrDefault(value);
  }
  void barrier();

  tile::KernelOp kernel;
  mlir::OpBuilder b;
  /// The op that is being lowered, by name inside its location.
  mlir::Location loc;
  mlir::Block *entry;
  llvm::StringRef shared;
  int64_t threads;
  bool mustAwaitLaunches;   // it has not yet
  mlir::Value thread;       // index
  mlir::Value sharedMemory; // !llvm.ptr<3>; null: none
  mlir::IRMapping scalars;
  llvm::DenseMap<mlir::Value, Elements> tiles; // in registers
  llvm::DenseMap<mlir::Value, mlir::Value> bases;
  llvm::DenseMap<mlir::Attribute, mlir::Value> boxMaps; // addresses
  /// Of a tile that was awaited: bytes from its ring's first slot (index).
  llvm::DenseMap<mlir::Value, mlir::Value> slotBytes;
};

} // namespace effc::nvptx

#endif // EFFC_CODEGEN_NVPTX_THREADLOWERING_H
