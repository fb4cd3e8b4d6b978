// Buffers -> offsets, by first fit over lifetimes.
//
//   a: launches 0..1, 4096 bytes      a at 0
//   b: launches 1..2, 8192 bytes  ->  b at 4096
//   c: launches 2..3, 4096 bytes      c at 0, where a was
#include "passes/plan/Passes.h"

#include "dialects/plan/MemoryLayout.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace effc {
#define GEN_PASS_DEF_ASSIGNARENAPASS
#include "passes/plan/Passes.h.inc"

namespace {

struct Buffer {
  plan::ArenaOp op;
  int64_t bytes;
  int64_t first, last; // launches
  int64_t offset = 0;

  int64_t end() const { return offset + bytes; }
  bool livesWith(const Buffer &other) const {
    return first <= other.last && other.first <= last;
  }
};

struct AssignArenaPass : impl::AssignArenaPassBase<AssignArenaPass> {
  using AssignArenaPassBase::AssignArenaPassBase;

  void runOnOperation() override {
    plan::EntryOp entry = getOperation();
    std::vector<Buffer> buffers = lifetimes(entry);
    llvm::stable_sort(buffers, [](const Buffer &a, const Buffer &b) {
      return a.first < b.first;
    });
    int64_t arena = 0;
    for (size_t i = 0; i < buffers.size(); ++i) {
      place(buffers[i], ArrayRef(buffers).take_front(i));
      buffers[i].op.setOffset(buffers[i].offset);
      arena = std::max(arena, buffers[i].end());
    }
    entry.setArenaBytes(llvm::alignTo(arena, plan::kRowAlignment));
  }

  static std::vector<Buffer> lifetimes(plan::EntryOp entry) {
    std::vector<Buffer> buffers;
    DenseMap<Value, size_t> indexOf;
    int64_t launchIndex = 0;
    auto touch = [&](Value value) {
      while (auto offset = value.getDefiningOp<plan::OffsetOp>())
        value = offset.getBase();
      auto arena = value.getDefiningOp<plan::ArenaOp>();
      if (!arena)
        return;
      auto [known, isNew] = indexOf.try_emplace(value, buffers.size());
      if (isNew)
        buffers.push_back({arena, static_cast<int64_t>(arena.getBytes()),
                           launchIndex, launchIndex});
      buffers[known->second].last = launchIndex;
    };
    for (auto launch : entry.getOps<plan::LaunchOp>()) {
      for (Value operand : launch.getOperands())
        touch(operand);
      ++launchIndex;
    }
    return buffers;
  }

  // Moves the buffer up past each living neighbour it would overlap, lowest
  // first.
  static void place(Buffer &buffer, ArrayRef<Buffer> placed) {
    SmallVector<const Buffer *> neighbours;
    for (const Buffer &other : placed)
      if (buffer.livesWith(other))
        neighbours.push_back(&other);
    llvm::sort(neighbours, [](const Buffer *a, const Buffer *b) {
      return a->offset < b->offset;
    });
    for (const Buffer *other : neighbours)
      if (buffer.offset < other->end() && other->offset < buffer.end())
        buffer.offset = llvm::alignTo(other->end(), plan::kRowAlignment);
  }
};
} // namespace
} // namespace effc
