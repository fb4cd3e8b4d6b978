// What every kernel builder has at hand: the seq.kernel it translates, the tile
// kernel it fills, and the way from a tensor of the former to a view of the
// latter.
//
// A tensor inside a seq.kernel is read where it lies: a chain of slices and
// reshapes from a block argument is an offset and strides. The first request
// for a place makes an operand of the kernel; what the launch must pass for it
// is recorded beside it.
#ifndef EFFC_PASSES_SEQTOTILE_KERNELBUILDER_H
#define EFFC_PASSES_SEQTOTILE_KERNELBUILDER_H

#include "dialects/plan/Plan.h"
#include "dialects/seq/OpKinds.h"
#include "dialects/seq/Seq.h"
#include "dialects/tile/Tile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/seq_to_tile/KernelContext.h"

namespace effc {

/// One operand of a launch: an operand or a result of the seq.kernel, so many
/// bytes further on, the call's segment table, or what the launches of one
/// seq.kernel hand on to one another.
struct LaunchOperand {
  enum Source { Input, Result, Segments, Scratch } source;
  unsigned index = 0;
  int64_t offsetBytes = 0;

  bool operator==(const LaunchOperand &) const = default;
};

struct BuiltKernel {
  tile::KernelOp kernel;
  llvm::SmallVector<LaunchOperand> operands;
  /// What lies in the scratch memory; null: the kernel has none.
  mlir::RankedTensorType scratch = {};
};

class KernelBuilder {
public:
  KernelBuilder(seq::KernelOp source, const KernelContext &context,
                mlir::OpBuilder &builder, llvm::StringRef name);

  /// The op that decides how the kernel is built, as the seq.kernel names it;
  /// null for a kernel of elementwise ops alone.
  mlir::Operation *getRoot() const { return root; }
  mlir::Block &getSourceBody() { return source.getBody().front(); }
  const KernelContext &getContext() const { return context; }
  bool isDecode() const { return context.kind == seq::EntryKind::Decode; }
  bool isGpu() const { return context.isGpu(); }

  /// The view through which `tensor` is read: an argument of the seq.kernel or
  /// slices and reshapes of one. A state's view has a leading dimension of
  /// slots.
  mlir::Value read(mlir::Value tensor);
  /// The view of a result, to be written.
  mlir::Value write(unsigned result);
  /// The same views with the last dimension split into pairs of neighbours; an
  /// odd element at its end is out of reach.
  mlir::Value readPairs(mlir::Value tensor);
  mlir::Value writePairs(unsigned result);
  /// The view of a state operand, which is read and written.
  mlir::Value readWriteState(mlir::Value state);
  /// The view of `count` channels of a state, its last dimension, from `first`
  /// on.
  mlir::Value stateChannels(mlir::Value state, int64_t first, int64_t count,
                            bool written);
  mlir::Value segmentTable();
  /// The view of f32 memory that all launches of the seq.kernel see, of one
  /// shape in all of them; a dynamic first dimension is the call's rows.
  mlir::Value scratch(llvm::ArrayRef<int64_t> shape, bool written);
  void setItems(tile::Count count, int64_t tile, int64_t times);

  // Building inside the kernel
  mlir::OpBuilder &ops() { return b; }
  mlir::Location loc() const { return location; }
  mlir::Value item() { return kernel.getItem(); }
  mlir::Value index(int64_t value);
  mlir::Value scalar(double value);
  mlir::Value add(mlir::Value lhs, mlir::Value rhs);
  mlir::Value sub(mlir::Value lhs, mlir::Value rhs);
  mlir::Value mul(mlir::Value lhs, int64_t rhs);
  mlir::Value min(mlir::Value lhs, mlir::Value rhs);
  mlir::Value max(mlir::Value lhs, mlir::Value rhs);
  mlir::Value compare(mlir::arith::CmpIPredicate predicate, mlir::Value lhs,
                      mlir::Value rhs);
  /// `yes` where an i1 holds, else `no`.
  mlir::Value either(mlir::Value condition, mlir::Value yes, mlir::Value no);
  /// Runs `body` where `condition` holds, which is the same for all of an item.
  void when(mlir::Value condition, llvm::function_ref<void()> body);
  /// What `body` computes where `condition` holds, which is the same for all of
  /// an item and without which `body` reads nothing; else `otherwise`.
  mlir::Value where(mlir::Value condition, mlir::Value otherwise,
                    llvm::function_ref<mlir::Value()> body);
  /// The same of several values.
  mlir::ValueRange
  where(mlir::Value condition, llvm::ArrayRef<mlir::Value> otherwise,
        llvm::function_ref<llvm::SmallVector<mlir::Value>()> body);
  /// item = quotient * divisor + remainder.
  std::pair<mlir::Value, mlir::Value> divide(mlir::Value value,
                                             int64_t divisor);
  tile::TileType blockType(int64_t rows, int64_t columns, tile::Role role);
  tile::TileType rowType(int64_t columns);
  tile::TileType columnType(int64_t rows);
  /// A map whose region `body` fills from the inputs' elements.
  mlir::Value
  map(tile::TileType type, mlir::ValueRange inputs,
      llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::ValueRange)>
          body);
  /// acc + op(lhs) op(rhs), where `op` transposes what is marked; of rounded
  /// operands where the target rounds them.
  mlir::Value dot(mlir::Value acc, mlir::Value lhs, mlir::Value rhs,
                  bool transposeA = false, bool transposeB = false);
  /// acc + a b^T of the host, with a rounded to `digits` and b in panels.
  mlir::Value digitDot(mlir::Value acc, mlir::Value lhs, mlir::Value rhs,
                       storage::DigitsType digits);
  /// The same of operands as they are: sums of what becomes an exponent, copies
  /// to other places.
  mlir::Value exactDot(mlir::Value acc, mlir::Value lhs, mlir::Value rhs,
                       bool transposeA = false, bool transposeB = false);
  /// A tile of a view; where the view repeats one number along its columns,
  /// that number for a single row (an f32), a column for several.
  mlir::Value load(mlir::Value view, mlir::ValueRange indices,
                   llvm::ArrayRef<int64_t> sizes, tile::TileType type,
                   mlir::Value rows = {}, mlir::Value columns = {});
  /// Says of a loaded tile that what follows it in memory is wanted next.
  void fetchNext(mlir::Value tile);
  void store(mlir::Value tile, mlir::Value view, mlir::ValueRange indices,
             llvm::ArrayRef<int64_t> sizes, mlir::Value rows = {},
             mlir::Value columns = {});

  /// Applies the elementwise ops that follow the root, given the root's result
  /// as a tile; `loadLike` reads the box of another tensor. `storeResult` gets
  /// each token result of the seq.kernel that is not a state, for a `seq.best`
  /// the tile that it chooses from. Without a root `type` is what the ops
  /// compute.
  mlir::LogicalResult finish(
      mlir::Value rootResult, mlir::Value tile,
      llvm::function_ref<mlir::Value(mlir::Value tensor)> loadLike,
      llvm::function_ref<void(unsigned result, mlir::Value tile)> storeResult,
      tile::TileType type = {});

  /// Whether a tensor could not be read; a diagnostic says which.
  bool isBroken() const { return broken; }

  BuiltKernel take();
  /// Removes what was built so far; the builder is of no further use.
  void discard() { kernel.erase(); }

private:
  struct Access {
    LaunchOperand operand;
    llvm::SmallVector<int64_t> shape, strides;
    mlir::Type element;
  };
  Access resolve(mlir::Value tensor);
  Access resultAccess(unsigned result);
  mlir::Value readAs(const Access &access);
  mlir::Value argumentFor(const Access &access, bool written, bool streamed);

  seq::KernelOp source;
  const KernelContext &context;
  tile::KernelOp kernel;
  mlir::OpBuilder b;
  mlir::Location location;
  mlir::Operation *root = nullptr;
  bool broken = false;
  llvm::SmallVector<LaunchOperand> operands;
  llvm::SmallVector<int64_t> writes, streamed;
  mlir::RankedTensorType scratchType = {};
};

} // namespace effc

#endif // EFFC_PASSES_SEQTOTILE_KERNELBUILDER_H
