// What ops read and write, and where threads meet there.
#ifndef EFFC_PASSES_TILE_BARRIERS_H
#define EFFC_PASSES_TILE_BARRIERS_H

#include "dialects/tile/Tile.h"

namespace effc {

/// What an op of a kernel with places reads or writes.
struct MemoryAccess {
  /// Bytes of shared memory, or a whole view. What a ring's own loop does with
  /// its slots needs no further barriers (FetchAhead.cpp).
  struct Memory {
    mlir::Value view; // null: shared memory, from byte `begin` to before `end`
    int64_t begin = 0, end = 0;
    mlir::Value ring = {}; // null: none

    bool meets(const Memory &other) const;
  };
  Memory memory;
  bool writes;
  mlir::Operation *op;

  /// Whether a barrier must lie between this access and one before it.
  bool conflicts(const MemoryAccess &earlier) const;
};

/// What an op itself reads and writes, but for what ops inside of it do.
llvm::SmallVector<MemoryAccess> accessesOf(mlir::Operation *op);

/// What was read and written since the last barrier, along one way through a
/// kernel.
class AccessesSinceBarrier {
public:
  /// Takes what comes next. Says whether a barrier must stand before it, which
  /// then is the last.
  bool needsBarrierBefore(llvm::ArrayRef<MemoryAccess> next);
  /// A barrier.
  void clear() { accesses.clear(); }
  /// As well what was read and written along another way to here.
  void join(const AccessesSinceBarrier &other) {
    llvm::append_range(accesses, other.accesses);
  }

private:
  llvm::SmallVector<MemoryAccess> accesses;
};

} // namespace effc

#endif // EFFC_PASSES_TILE_BARRIERS_H
