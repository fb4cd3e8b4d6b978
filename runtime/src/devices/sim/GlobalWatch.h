//===- GlobalWatch.h - Who touched global memory, and since when ----------===//
//
// Of what a launch may write: for each pair of bytes that a block has touched,
// which of its threads wrote and read it since which barrier. Between two
// barriers what a thread writes no other may touch; within a launch what a
// block writes no other block may touch, as they run in any order.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_RUNTIME_SRC_DEVICES_SIM_GLOBALWATCH_H
#define EFFC_RUNTIME_SRC_DEVICES_SIM_GLOBALWATCH_H

#include "runtime/src/devices/sim/SharedMemory.h"

#include <array>
#include <cstdint>
#include <mutex>
#include <vector>

namespace effc::rt {

/// Entries by the number of four bytes of memory, forgotten all at once. Those of
/// a line of memory lie together, as blocks touch most of a line.
template <typename Entry> class WatchTable {
public:
  static constexpr uint32_t kWords = 16;
  using Line = std::array<Entry, kWords>;

  void clear() {
    used.clear();
    last = nullptr;
    if (++generation == 0) {
      cells.assign(cells.size(), {});
      generation = 1;
    }
  }
  /// The entry of `word`, a new one if it has none.
  Entry &at(uint64_t word) { return lineAt(word / kWords)[word % kWords]; }
  /// The entries from `number` kWords on.
  Line &lineAt(uint64_t number) {
    if (last && last->number == number)
      return last->line;
    if (used.size() * 2 >= cells.size())
      grow();
    Cell &cell = find(cells, number);
    if (cell.generation != generation) {
      cell = {number, generation, {}};
      used.push_back(number);
    }
    last = &cell;
    return cell.line;
  }
  /// visit(number, line) of each line in which an entry was asked for.
  template <typename Visit> void forEachLine(Visit visit) {
    for (uint64_t number : used)
      visit(number, find(cells, number).line);
  }

private:
  struct Cell {
    uint64_t number = 0;
    uint32_t generation = 0;
    Line line;
  };

  Cell &find(std::vector<Cell> &in, uint64_t number) {
    size_t mask = in.size() - 1;
    size_t place = (number * 0x9E3779B97F4A7C15u >> 20) & mask;
    while (in[place].generation == generation && in[place].number != number)
      place = (place + 1) & mask;
    return in[place];
  }
  void grow() {
    std::vector<Cell> larger(cells.empty() ? 64 : cells.size() * 4);
    for (uint64_t number : used)
      find(larger, number) = find(cells, number);
    cells = std::move(larger);
  }

  std::vector<Cell> cells; // a power of two of them
  std::vector<uint64_t> used;
  Cell *last = nullptr; // which was asked for
  uint32_t generation = 1;
};

class GlobalWatch {
public:
  void beginBlock();
  /// All threads have met.
  void beginEpoch() { ++epoch; }
  /// Notes an access to `bytes` at `address`. The fault says what follows
  /// "reads 4 bytes at byte 12 of operand 0 (the arena), ".
  Fault touch(uintptr_t address, uint32_t bytes, uint32_t thread, bool write);

private:
  friend class LaunchWatch;
  static constexpr uint16_t kSeveral = UINT16_MAX;
  /// Of two bytes. Epoch 0 says never.
  struct Pair {
    uint32_t wroteAt = 0, readAt = 0;
    uint16_t writer = 0, reader = 0;
  };
  struct Word {
    Pair pairs[2];
  };

  WatchTable<Word> words;
  uint32_t epoch = 1;
};

/// The blocks of one launch, which may end on several threads.
class LaunchWatch {
public:
  /// Launch `number` of a call begins, or goes on.
  void enter(uint32_t number);
  /// No launch has begun.
  void beginCall();
  /// What block `index` has touched, now that it has ended. The fault says
  /// which other block it meets, and where.
  Fault add(GlobalWatch &block, uint32_t index);

private:
  static constexpr uint32_t kNone = UINT32_MAX;
  struct Pair {
    uint32_t writer = kNone, reader = kNone; // the last
  };
  struct Word {
    Pair pairs[2];
  };

  std::mutex guard;
  WatchTable<Word> words;
  uint32_t launch = kNone;
};

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_DEVICES_SIM_GLOBALWATCH_H
