#include "passes/tile/Threads.h"

#include "dialects/tile/Distribution.h"
#include "passes/tile/OperandReads.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace effc;
using namespace effc::tile;

/// Elements that a thread has of the largest block or row.
static constexpr int64_t kBlockElements = 32, kRowElements = 8;
/// Rows of a product's piece, which are a warp's. Where rows go from product to
/// product, the most elements that a thread holds beside a product, and the
/// fewest threads, which load what all of them multiply by.
static constexpr int64_t kPieceRows = 16, kMostHeld = 128, kFewestThreads = 128;

/// The most elements of blocks that are in registers while one of a block's
/// products is formed: what stands before it and is used by it or behind it,
/// but for what is read from shared memory.
static int64_t heldBesideProducts(Block *block) {
  DenseMap<Operation *, int64_t> numbers;
  for (Operation &op : *block)
    numbers[&op] = numbers.size();
  struct Held {
    int64_t from, last, elements;
  };
  SmallVector<Held> all;
  auto add = [&](Value tile, int64_t from) {
    auto type = dyn_cast<TileType>(tile.getType());
    if (!type || !type.isBlock())
      return;
    int64_t last = from;
    for (OpOperand &use : tile.getUses())
      if (Operation *user = block->findAncestorOpInBlock(*use.getOwner());
          user && (!readsShared(use) || readsHeldSums(use)))
        last = std::max(last, numbers.lookup(user));
    all.push_back({from, last, type.rows() * type.columns()});
  };
  for (BlockArgument argument : block->getArguments())
    add(argument, -1);
  for (Operation &op : *block)
    for (Value result : op.getResults())
      add(result, numbers.lookup(&op));
  int64_t most = 0;
  for (DotOp dot : block->getOps<DotOp>()) {
    int64_t number = numbers.lookup(dot), held = 0;
    for (const Held &tile : all)
      if (tile.from < number && number <= tile.last)
        held += tile.elements;
    most = std::max(most, held);
  }
  return most;
}

int64_t effc::chooseThreads(KernelOp kernel, int64_t most) {
  int64_t threads = kWarp;
  kernel.getBody().walk([&](Operation *op) {
    for (Type type : op->getResultTypes())
      if (auto tile = dyn_cast<TileType>(type)) {
        int64_t elements = tile.rows() * tile.columns();
        int64_t each = tile.isBlock() ? kBlockElements : kRowElements;
        while (threads < most && elements > threads * each)
          threads *= 2;
      }
  });
  // That rows go from one product to another is worth more sums in a thread.
  kernel.getBody().walk([&](DotOp dot) {
    int64_t rows = dot.getA().getType().rows();
    int64_t fewer = rows / kPieceRows * kWarp;
    if (rows % kPieceRows == 0 && llvm::isPowerOf2_64(fewer) &&
        fewer >= kFewestThreads && keepsHeldRows(dot) &&
        isMadeOfSums(dot.getA()) &&
        heldBesideProducts(dot->getBlock()) <= kMostHeld * fewer)
      threads = std::min(threads, fewer);
  });
  return threads;
}
