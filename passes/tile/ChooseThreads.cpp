// Sizes of tiles -> threads.
//
// Enough threads that the largest tile leaves each at most 32 elements of a
// block, 8 of a row or column, and all that a loop holds 64, but no more than a
// block may have; fewer where rows then go from product to product in registers.
#include "passes/kernel_facts/BlockRoom.h"
#include "passes/tile/OperandReads.h"
#include "passes/tile/Passes.h"
#include "passes/tile/Progress.h"

#include "dialects/tile/Distribution.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace effc::tile;

namespace effc {
#define GEN_PASS_DEF_CHOOSETHREADSPASS
#include "passes/tile/Passes.h.inc"
} // namespace effc

using namespace effc;

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

/// Whether so many threads have room for what is held beside a block's products.
static bool canHold(Block *block, const BlockRoom &room, int64_t threads) {
  bool isNarrow = llvm::any_of(block->getOps<DotOp>(), [](DotOp dot) {
    return dot.getRoundedTo() && !dot.getRoundedTo()->isTF32();
  });
  return heldBesideProducts(block) <=
         threads * room.heldBesideProduct(isNarrow);
}

/// Places of a block of registers that each of so many threads has.
static int64_t placesOf(Value tile, int64_t threads) {
  auto type = dyn_cast<TileType>(tile.getType());
  if (!type || !type.isBlock())
    return 0;
  Distribution held = blockedFor(tile.getContext(), type.rows(), type.columns(),
                                 threads, kUsualRun, /*keepsRows=*/false)
                          .distribute(type.rows(), type.columns());
  return held.rows.offsets.size() * held.columns.offsets.size();
}

/// What a thread may have of blocks while it computes more of them: a quarter of its
/// registers. What is computed takes two to three times as many.
static constexpr int64_t kMostTaken = 2 * kThreadElements;

/// Places of a thread that are taken however ops are ordered: in a loop, those of blocks
/// that it carries or uses from outside; elsewhere of blocks that are loaded.
static int64_t takenPlaces(Block *block, int64_t threads) {
  llvm::SmallPtrSet<Value, 16> taken;
  auto loop = dyn_cast<scf::ForOp>(block->getParentOp());
  if (loop) {
    taken.insert(loop.getRegionIterArgs().begin(),
                 loop.getRegionIterArgs().end());
    loop.getBody()->walk([&](Operation *op) {
      for (OpOperand &use : op->getOpOperands())
        if (!loop->isAncestor(use.get().getParentBlock()->getParentOp()) &&
            !readsShared(use))
          taken.insert(use.get());
    });
  } else {
    for (auto load : block->getOps<LoadOp>())
      if (llvm::none_of(load.getResult().getUses(), readsShared))
        taken.insert(load.getResult());
  }
  int64_t places = 0;
  for (Value tile : taken)
    places += placesOf(tile, threads);
  return places;
}

static int64_t chooseThreads(KernelOp kernel, const BlockRoom &room) {
  int64_t threads = kWarp, most = room.threads;
  kernel.getBody().walk([&](Operation *op) {
    for (Type type : op->getResultTypes())
      if (auto tile = dyn_cast<TileType>(type)) {
        int64_t elements = tile.rows() * tile.columns();
        int64_t each = tile.isBlock() ? kThreadElements : kThreadRowElements;
        while (threads < most && elements > threads * each)
          threads *= 2;
      }
  });
  kernel.getBody().walk([&](Block *block) {
    while (threads < most && !canHold(block, room, threads))
      threads *= 2;
  });
  kernel.getBody().walk([&](Block *block) {
    // Beside products there is room for more.
    if (isa<MapOp>(block->getParentOp()) ||
        block->walk([](DotOp) { return WalkResult::interrupt(); })
            .wasInterrupted())
      return;
    while (threads < most && takenPlaces(block, threads) > kMostTaken)
      threads *= 2;
  });
  // That rows go from one product to another is worth more sums in a thread, as long
  // as there are some threads to load what all of them multiply by.
  kernel.getBody().walk([&](DotOp dot) {
    int64_t rows = dot.getA().getType().rows();
    int64_t fewer = rows / kPieceRows * kWarp;
    if (rows % kPieceRows == 0 && llvm::isPowerOf2_64(fewer) &&
        fewer >= room.fewThreads() && keepsHeldRows(dot) &&
        isMadeOfSums(dot.getA()) && canHold(dot->getBlock(), room, fewer))
      threads = std::min(threads, fewer);
  });
  return threads;
}

namespace {
struct ChooseThreadsPass
    : effc::impl::ChooseThreadsPassBase<ChooseThreadsPass> {
  void runOnOperation() override {
    KernelOp kernel = getOperation();
    FailureOr<bool> due = isDue(kernel, getArgument(), Decided::Threads);
    if (failed(due))
      return signalPassFailure();
    if (!*due)
      return;
    FailureOr<BlockRoom> room = BlockRoom::find(kernel);
    if (failed(room))
      return signalPassFailure();
    int64_t threads = chooseThreads(kernel, *room);
    kernel.setScheduleAttr(ScheduleAttr::get(&getContext(), threads,
                                             /*sharedBytes=*/std::nullopt,
                                             Decided::Threads));
  }
};
} // namespace
