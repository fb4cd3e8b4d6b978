// Where the elements of a tile are while a kernel runs on the host.
//
// A place is a base address with strides. A tile that was loaded is a window
// into the view's memory and is read in place, widened and bounded on the way;
// a tile that was computed lies in a buffer on the stack, f32 with rows padded
// to whole vectors. What reads a tile does not know the difference.
#ifndef EFFC_CODEGEN_HOST_PLACE_H
#define EFFC_CODEGEN_HOST_PLACE_H

#include "codegen/host/VectorShape.h"
#include "codegen/storage/Unpack.h"

#include "mlir/IR/Builders.h"

namespace effc::host {

struct Place {
  stored::ElementPlace first; // element (0, 0)
  mlir::Type element;         // as stored
  int64_t rowStride = 0;  // elements between rows; between elements of a column
  mlir::Value rowNumbers; // !llvm.ptr to i32: which row each row is; null: it
  mlir::Value validRows;  // index; null: all rows
  mlir::Value validColumns; // index; null: all columns
  int64_t firstColumn = 0;  // those before it do not exist
  bool padded = false;      // reading up to the next whole vector is allowed
  bool fetchNext = false;   // what follows in memory is wanted next
};

/// A run of columns that is handled with one vector of `lanes` lanes, of which
/// the first `valid` count.
struct ColumnBlock {
  int64_t start, lanes, valid;
};

/// Cuts `columns` into a main part of `mainCount` blocks of `mainLanes` lanes
/// (possibly none) and a rest of single blocks, the last of which may be
/// partial.
struct ColumnBlocks {
  int64_t mainLanes = 0, mainCount = 0;
  llvm::SmallVector<ColumnBlock> rest;
  /// `mainLanes` is the shape's, or a power of two times its lanes.
  static ColumnBlocks cut(int64_t columns, const VectorShape &shape,
                          int64_t mainLanes);
  static ColumnBlocks cut(int64_t columns, const VectorShape &shape) {
    return cut(columns, shape, shape.mainLanes());
  }
};

/// A cache line, and how far ahead memory that is read once is asked for: what
/// a core reads in some latencies of memory and walks of the page table.
inline constexpr int64_t kLineBytes = 64, kFetchAheadBytes = 8192;

/// Emits addresses, loads and stores of places. All indices are of type index;
/// loads give f32 vectors, stores take them.
class Memory {
public:
  Memory(mlir::OpBuilder &builder, mlir::Location loc, VectorShape shape,
         stored::LookUp lookUp)
      : shape(shape), b(builder), loc(loc), lookUp(std::move(lookUp)) {}

  const VectorShape shape;

  mlir::Value constant(int64_t value);
  mlir::Value constantF32(float value);
  mlir::Value add(mlir::Value lhs, int64_t rhs);
  mlir::Value broadcast(mlir::Value scalar, int64_t lanes);
  /// Emits body(start, size) for [0, total) in blocks of `block`, then the rest: a loop
  /// where there are several blocks.
  void tiled(int64_t total, int64_t block,
             llvm::function_ref<void(mlir::Value, int64_t)> body);
  /// 0, 1, 2, ... as index lanes.
  mlir::Value iota(int64_t lanes);
  mlir::VectorType vectorType(int64_t lanes, mlir::Type element = {});

  /// Where element (row, column) is; a row past the place's limit is replaced by
  /// the last one inside.
  stored::ElementPlace at(const Place &place, mlir::Value row,
                          mlir::Value column);
  /// Element `count` from a place on.
  stored::ElementPlace further(const stored::ElementPlace &place,
                               mlir::Type element, mlir::Value count);
  /// Loads columns [column, column + lanes) of a row; lanes past `valid` or
  /// past the place's limit read as 0.
  mlir::Value load(const Place &place, mlir::Value row, mlir::Value column,
                   int64_t lanes, int64_t valid);
  mlir::Value loadScalar(const Place &place, mlir::Value row,
                         mlir::Value column);
  /// Stores lanes that are valid and inside the place's limits.
  void store(const Place &place, mlir::Value row, mlir::Value column,
             mlir::Value vector, int64_t valid);
  void storeScalar(const Place &place, mlir::Value row, mlir::Value column,
                   mlir::Value scalar);
  /// Loads at a place without limits: `lanes` elements of type `element`, the
  /// first `valid` of them.
  mlir::Value loadAt(const stored::ElementPlace &place, mlir::Type element,
                     int64_t lanes, int64_t valid);

  /// The same as they are stored (stored::storedType), without those past `valid`,
  /// which are 0. Not of blocks.
  mlir::Value loadStored(const stored::ElementPlace &place, mlir::Type element,
                         int64_t lanes, int64_t valid);

  /// Asks for the cache line `bytes` past an element, which need not be there, to
  /// be brought into the second-level cache.
  void prefetch(const stored::ElementPlace &place, mlir::Type element,
                int64_t bytes);

  /// Combines all lanes in a fixed tree: halves onto halves.
  mlir::Value reduceLanes(mlir::Value vector, bool max);
  /// The sum of each of several vectors, in their order, as one vector: of as many as a
  /// power of two, and no more than a vector has lanes. Each has the additions of
  /// reduceLanes(), and so its bits; vectors share the instructions.
  mlir::Value sumLanes(llvm::ArrayRef<mlir::Value> vectors);

private:
  mlir::Value shuffle(mlir::Value a, mlir::Value b,
                      llvm::ArrayRef<int64_t> lanes);
  mlir::Value loadBlocks(const Place &place, mlir::Value row,
                         mlir::Value column, int64_t lanes, int64_t valid);
  void storeBlocks(const Place &place, mlir::Value row, mlir::Value column,
                   mlir::Value vector, int64_t digits);
  mlir::Value narrow(mlir::Value value, mlir::Type element);
  mlir::Value lanesBelow(int64_t lanes, mlir::Value limit, mlir::Value column);

  mlir::OpBuilder &b;
  mlir::Location loc;
  stored::LookUp lookUp;
};

} // namespace effc::host

#endif // EFFC_CODEGEN_HOST_PLACE_H
