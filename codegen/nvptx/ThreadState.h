// What is known of one thread's code while a scheduled kernel is lowered.
//
// A tile in registers is the list of elements that the thread holds, as SSA
// values, row by row: which those are, its layout says (Distribution.h). A tile
// in shared memory is an address. Nothing is chosen here: places, exchanges and
// barriers are in the IR. What a thread holds past a tile's shape is computed
// like the rest and never leaves it: loads give zeros there, sums leave it out,
// stores skip it.
#ifndef EFFC_CODEGEN_NVPTX_THREADSTATE_H
#define EFFC_CODEGEN_NVPTX_THREADSTATE_H

#include "codegen/storage/StoredElements.h"
#include "dialects/tile/Tile.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

#include <functional>

namespace effc::nvptx {

using Elements = llvm::SmallVector<mlir::Value>;

struct ThreadState {
  /// Emits at the end of `entry`, whose arguments are the operands' addresses,
  /// the three counts and the addresses of the tensor maps. `shared` names the
  /// module's shared memory; empty: there is none. With `overlapsLaunches` the
  /// kernel begins while the launches before it end, and waits for them.
  ThreadState(tile::KernelOp kernel, mlir::Block *entry, llvm::StringRef shared,
              bool overlapsLaunches);

  mlir::Location loc() const { return b.getLoc(); }
  /// The value that stands for a scalar of the kernel.
  mlir::Value lookup(mlir::Value value) {
    return scalars.lookupOrDefault(value);
  }

  mlir::Value constant(int64_t value); // index
  mlir::Value i32(int64_t value);
  mlir::Value f32(float value);
  mlir::Value add(mlir::Value x, mlir::Value y);
  mlir::Value mul(mlir::Value x, int64_t y);
  mlir::Value less(mlir::Value x, mlir::Value y);
  /// `x` where there is no condition.
  mlir::Value select(mlir::Value condition, mlir::Value x, mlir::Value y);
  mlir::Value both(mlir::Value a, mlir::Value b); // of conditions or nulls
  void barrier();

  /// The address, or the place, of the element so many further.
  mlir::Value further(mlir::Value address, mlir::Type element, int64_t count);
  mlir::Value further(mlir::Value address, mlir::Type element,
                      mlir::Value count);
  stored::ElementPlace further(const stored::ElementPlace &place,
                               mlir::Type element, int64_t count);
  stored::ElementPlace further(const stored::ElementPlace &place,
                               mlir::Type element, mlir::Value count);
  /// The place `index` strides further. Of whole blocks the address moves, and the
  /// number stays that of an element in them.
  stored::ElementPlace further(const stored::ElementPlace &place,
                               mlir::Type element, mlir::Value index,
                               int64_t stride);

  /// Runs `body` where `condition` holds; always where it is null.
  void guarded(mlir::Value condition, llvm::function_ref<void()> body);
  /// `count` f32 that one of two pieces of code computes.
  Elements either(mlir::Value condition, size_t count,
                  llvm::function_ref<Elements()> yes,
                  llvm::function_ref<Elements()> no);
  /// A thread for each number below `count`, a round for as many as there are
  /// threads.
  void forEachOf(int64_t count, llvm::function_ref<void(mlir::Value)> body);

  tile::KernelOp kernel;
  /// Its location names the op that is being lowered.
  mlir::ImplicitLocOpBuilder b;
  mlir::Block *entry;
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

  /// A product that runs beside the threads: `finish` waits for it and leaves its
  /// sums in `tiles`. Null: none runs. It ends in the block that began it.
  struct {
    std::function<void()> finish;
    mlir::Block *block = nullptr;
  } underWay;
};

} // namespace effc::nvptx

#endif // EFFC_CODEGEN_NVPTX_THREADSTATE_H
