//===- SharedMemory.h - A block's shared memory, watched ------------------===//
//
// The bytes, and for each of them who wrote and read it since which barrier. A
// barrier starts a new epoch; within one, what a thread writes no other may
// touch. A copy of cp.async counts as a write from when it is issued until its
// thread has waited for it, one of a box from when it is begun until somebody
// has waited for its mbarrier. Asynchronous units see what a thread has written
// only past its fence between the proxies. Of pieces that were copied
// asynchronously it is known from where, too.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_RUNTIME_SRC_DEVICES_SIM_SHAREDMEMORY_H
#define EFFC_RUNTIME_SRC_DEVICES_SIM_SHAREDMEMORY_H

#include "runtime/src/MappedFile.h"
#include "runtime/src/devices/sim/Fault.h"
#include "runtime/src/devices/sim/Fiber.h"

#include <array>
#include <utility>
#include <vector>

namespace effc::rt {

/// Where byte `at` of 128-byte swizzled rows lies, and the other way round: bits
/// 4 to 6 of its place are exchanged by bits 7 to 9.
inline uint64_t swizzled(uint64_t at) { return at ^ (at >> 7 & 7) << 4; }

class SharedMemory {
public:
  /// Room for blocks of up to `bytes`.
  static Result<SharedMemory> create(uint32_t bytes);

  uint8_t *data() const { return pages.data(); }
  bool contains(const void *address) const {
    auto at = reinterpret_cast<uintptr_t>(address);
    auto start = reinterpret_cast<uintptr_t>(pages.data());
    return at >= start && at < start + kWindow;
  }

  /// A new block of `bytes`: everything is poison, NaN as floats.
  void beginBlock(uint32_t bytes);
  /// All threads have met.
  void beginEpoch() {
    ++epoch;
    if (std::exchange(fenced, false))
      settledFences = fences;
  }

  // Each looks at `bytes` at `address`, inside the block's, and notes the
  // access.
  Fault read(const void *address, uint32_t bytes, uint32_t thread);
  /// Threads from `first` on.
  struct Threads {
    uint32_t first, count;
  };
  /// Of all these threads at once: none of them may have written it.
  Fault readTogether(const void *address, uint32_t bytes, Threads readers);
  /// Of an asynchronous unit, for these threads: who has written it must have
  /// fenced it too, before the last barrier.
  Fault readByUnit(const void *address, uint32_t bytes, Threads readers);
  Fault write(const void *address, uint32_t bytes, uint32_t thread);
  Fault beginCopy(const void *address, uint32_t bytes, uint32_t thread);
  void endCopy(const void *address, uint32_t bytes, uint32_t thread);

  /// A copy by an asynchronous unit is under way, then done: `arrival` is the
  /// number of its mbarrier, `phase` that which the copy ends with.
  Fault beginBox(const void *address, uint32_t bytes, uint32_t thread);
  void endBox(const void *address, uint32_t bytes, uint32_t arrival,
              uint16_t phase);
  /// The 16 bytes that begin at `piece` are a copy of those at `from`; null: of
  /// nothing that is known. A write by a thread forgets it.
  void noteSource(const void *piece, const void *from) {
    sources[pieceOf(piece)] = static_cast<const uint8_t *>(from);
  }
  /// Of the piece at `offset` bytes, in this block; null: not known.
  const uint8_t *sourceAt(uint64_t offset) const {
    return offset < size ? sources[offset / kPieceBytes] : nullptr;
  }
  /// What swizzling moves together, and the longest copy of a thread.
  static constexpr uint32_t kPieceBytes = 16;

  /// `thread` has seen that a phase of an mbarrier is over: what came with it
  /// is there for it, and behind the next barrier for all.
  void observe(uint32_t thread, uint32_t arrival, uint16_t phase);
  /// The most mbarriers of a block.
  static constexpr uint32_t kMostArrivals = 32;

  /// What `thread` has written is there for asynchronous units behind the next
  /// barrier.
  void fence(uint32_t thread) {
    ++fences[thread];
    fenced = true;
  }

  /// Pointers are this far apart from the start at most: the low 18 bits are
  /// the offset.
  static constexpr size_t kWindow = size_t(256) << 10;

private:
  static constexpr uint16_t kSeveral = UINT16_MAX;
  static constexpr uint16_t kUnit = UINT16_MAX; // in place of a copier
  static constexpr uint32_t kMostThreads = 1024;
  /// Of one byte. An epoch before the block's first says never.
  struct Cell {
    uint32_t wroteAt = 0;
    uint32_t readAt = 0;
    uint16_t writer;     // or kMostThreads + the number of an mbarrier
    uint16_t reader = 0; // or kSeveral
    uint16_t copier; // the thread + 1 that copies into it, or kUnit; 0: none
    uint16_t fences; // of the writer, when it wrote; or the mbarrier's phase
  };
  static bool isFromUnit(const Cell &cell) {
    return cell.writer >= kMostThreads;
  }
  /// Whether `thread` knows of what was written since the last barrier.
  bool knows(const Cell &cell, uint32_t thread) const;

  size_t pieceOf(const void *address) const {
    return static_cast<size_t>(static_cast<const uint8_t *>(address) - data()) /
           kPieceBytes;
  }
  Fault outside(const void *address, uint32_t bytes, const char *verb) const;
  Fault explainWriter(const Cell &cell) const;
  Fault noteWrite(const void *address, uint32_t bytes, uint32_t thread,
                  const Cell &written);
  template <typename Note, typename Explain>
  Fault each(const void *address, uint32_t bytes, const char *verb, Note note,
             Explain explain);

  GuardedPages pages;
  Mapping cellBytes;
  Cell *cells = nullptr;
  std::vector<const uint8_t *> sources; // of each piece
  uint32_t room = 0;
  uint32_t size = 0; // of the current block's
  uint32_t epoch = 0;
  uint32_t firstEpoch = 1; // of the current block
  /// Of each thread; that they wrap around hides a missing one in 65,536.
  std::array<uint16_t, kMostThreads> fences = {}, settledFences = {};
  /// Of each mbarrier and thread: the phase that was seen, and in which epoch.
  struct Seen {
    uint32_t epoch = 0;
    uint16_t phase = 0;
  };
  std::vector<Seen> seen = std::vector<Seen>(kMostArrivals * kMostThreads);
  bool fenced = false; // since the last barrier
};

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_DEVICES_SIM_SHAREDMEMORY_H
