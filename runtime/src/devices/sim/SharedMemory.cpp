#include "runtime/src/devices/sim/SharedMemory.h"

#include <algorithm>
#include <cstring>

using namespace effc;
using namespace effc::rt;

/// Before epochs run out, everything starts over.
static constexpr uint32_t kLastEpoch = UINT32_MAX / 2;

Result<SharedMemory> SharedMemory::create(uint32_t bytes) {
  SharedMemory memory;
  Result<GuardedPages> pages = GuardedPages::reserve(kWindow, kWindow);
  if (!pages)
    return pages.error();
  size_t usable = (bytes + pageBytes() - 1) / pageBytes() * pageBytes();
  if (Check error = pages->open(0, usable))
    return *error;
  Result<Mapping> cells = Mapping::anonymous(bytes * sizeof(Cell),
                                             "what is known of shared memory");
  if (!cells)
    return cells.error();
  memory.pages = std::move(*pages);
  memory.cellBytes = std::move(*cells);
  memory.cells = reinterpret_cast<Cell *>(memory.cellBytes.data());
  memory.sources.resize((bytes + kPieceBytes - 1) / kPieceBytes);
  memory.room = bytes;
  return memory;
}

void SharedMemory::beginBlock(uint32_t bytes) {
  if (epoch >= kLastEpoch) {
    std::memset(static_cast<void *>(cells), 0, room * sizeof(Cell));
    epoch = 0;
  }
  size = bytes;
  firstEpoch = ++epoch;
  std::memset(data(), 0xFF, bytes);
  std::ranges::fill(sources, nullptr);
}

Fault SharedMemory::outside(const void *address, uint32_t bytes,
                            const char *verb) const {
  return say(verb, " ", bytes, " bytes at byte ",
             static_cast<const uint8_t *>(address) - data(),
             " of shared memory, but the block has ", size);
}

/// Calls `note` for each byte's cell, which returns whether the access is
/// sound; where it is not, `explain` says what follows "reads 4 bytes at byte
/// 12 of shared memory, ".
template <typename Note, typename Explain>
Fault SharedMemory::each(const void *address, uint32_t bytes, const char *verb,
                         Note note, Explain explain) {
  auto offset =
      static_cast<size_t>(static_cast<const uint8_t *>(address) - data());
  if (bytes > size || offset > size - bytes) [[unlikely]]
    return outside(address, bytes, verb);
  for (Cell *cell = cells + offset, *end = cell + bytes; cell != end; ++cell)
    if (!note(*cell)) [[unlikely]]
      return say(verb, " ", bytes, " bytes at byte ", offset,
                 " of shared memory, ", explain(*cell));
  return {};
}

bool SharedMemory::knows(const Cell &cell, uint32_t thread) const {
  if (!isFromUnit(cell))
    return cell.writer == thread;
  const Seen &last = seen[(cell.writer - kMostThreads) * kMostThreads + thread];
  return last.epoch >= firstEpoch &&
         static_cast<int16_t>(last.phase - cell.fences) >= 0;
}

Fault SharedMemory::explainWriter(const Cell &cell) const {
  if (cell.copier == kUnit)
    return "into which a box is copied: nobody has waited for it";
  if (!cell.copier && isFromUnit(cell))
    return "where a box has come for which the thread has not waited, and no "
           "barrier lies between";
  if (cell.copier)
    return say("into which thread ", cell.copier - 1,
               " copies: it has not waited for its copy");
  return say("a race: thread ", cell.writer,
             " has written there since the last barrier");
}

Fault SharedMemory::read(const void *address, uint32_t bytes, uint32_t thread) {
  return each(
      address, bytes, "reads",
      [&](Cell &cell) {
        if (cell.wroteAt < firstEpoch || cell.copier ||
            (cell.wroteAt == epoch && !knows(cell, thread))) [[unlikely]]
          return false;
        if (cell.readAt != epoch) {
          cell.readAt = epoch;
          cell.reader = static_cast<uint16_t>(thread);
        } else if (cell.reader != thread) {
          cell.reader = kSeveral;
        }
        return true;
      },
      [&](const Cell &cell) {
        return cell.wroteAt < firstEpoch ? Fault("which was never written")
                                         : explainWriter(cell);
      });
}

Fault SharedMemory::readTogether(const void *address, uint32_t bytes,
                                 Threads readers) {
  auto allKnow = [&](const Cell &cell) {
    for (uint32_t i = 0; i < readers.count; ++i)
      if (!knows(cell, readers.first + i))
        return false;
    return true;
  };
  return each(
      address, bytes, "reads",
      [&](Cell &cell) {
        if (cell.wroteAt < firstEpoch || cell.copier ||
            (cell.wroteAt == epoch && !allKnow(cell))) [[unlikely]]
          return false;
        cell.readAt = epoch;
        cell.reader = kSeveral;
        return true;
      },
      [&](const Cell &cell) {
        return cell.wroteAt < firstEpoch ? Fault("which was never written")
                                         : explainWriter(cell);
      });
}

Fault SharedMemory::readByUnit(const void *address, uint32_t bytes,
                               Threads readers) {
  if (Fault fault = readTogether(address, bytes, readers); !fault.empty())
    return fault;
  return each(
      address, bytes, "reads",
      [&](Cell &cell) {
        return isFromUnit(cell) || cell.fences != settledFences[cell.writer];
      },
      [&](const Cell &cell) {
        return say("which thread ", cell.writer,
                   " has written without a fence for asynchronous units "
                   "before the barrier");
      });
}

/// `thread` acts, and leaves of `written` the writer, copier and fences. A
/// copier of a block before this one is forgotten: it has written before.
Fault SharedMemory::noteWrite(const void *address, uint32_t bytes,
                              uint32_t thread, const Cell &written) {
  return each(
      address, bytes, "writes",
      [&](Cell &cell) {
        if ((cell.copier && cell.wroteAt >= firstEpoch) ||
            (cell.wroteAt == epoch && !knows(cell, thread)) ||
            (cell.readAt == epoch && cell.reader != thread)) [[unlikely]]
          return false;
        cell.wroteAt = epoch;
        cell.writer = written.writer;
        cell.copier = written.copier;
        cell.fences = written.fences;
        return true;
      },
      [&](const Cell &cell) {
        if (cell.wroteAt >= firstEpoch &&
            (cell.copier || (cell.wroteAt == epoch && !knows(cell, thread))))
          return explainWriter(cell);
        return cell.reader == kSeveral
                   ? Fault("a race: several threads have read there since the "
                           "last barrier")
                   : say("a race: thread ", cell.reader,
                         " has read there since the last barrier");
      });
}

Fault SharedMemory::write(const void *address, uint32_t bytes,
                          uint32_t thread) {
  Fault fault = noteWrite(address, bytes, thread,
                          {.writer = static_cast<uint16_t>(thread),
                           .copier = 0,
                           .fences = fences[thread]});
  if (!fault.empty() || bytes == 0)
    return fault;
  auto last = static_cast<const uint8_t *>(address) + (bytes - 1);
  std::fill(&sources[pieceOf(address)], &sources[pieceOf(last)] + 1, nullptr);
  return fault;
}

Fault SharedMemory::beginCopy(const void *address, uint32_t bytes,
                              uint32_t thread) {
  return noteWrite(address, bytes, thread,
                   {.writer = static_cast<uint16_t>(thread),
                    .copier = static_cast<uint16_t>(thread + 1),
                    .fences = fences[thread]});
}

Fault SharedMemory::beginBox(const void *address, uint32_t bytes,
                             uint32_t thread) {
  return noteWrite(address, bytes, thread,
                   {.writer = kMostThreads, .copier = kUnit, .fences = 0});
}

void SharedMemory::endBox(const void *address, uint32_t bytes, uint32_t arrival,
                          uint16_t phase) {
  Cell *cell = cells + (static_cast<const uint8_t *>(address) - data());
  for (Cell *end = cell + bytes; cell != end; ++cell) {
    cell->copier = 0;
    cell->wroteAt = epoch;
    cell->writer = static_cast<uint16_t>(kMostThreads + arrival);
    cell->fences = phase;
  }
}

void SharedMemory::observe(uint32_t thread, uint32_t arrival, uint16_t phase) {
  seen[arrival * kMostThreads + thread] = {epoch, phase};
}

void SharedMemory::endCopy(const void *address, uint32_t bytes,
                           uint32_t thread) {
  Cell *cell = cells + (static_cast<const uint8_t *>(address) - data());
  for (Cell *end = cell + bytes; cell != end; ++cell) {
    cell->copier = 0;
    cell->wroteAt = epoch;
    cell->writer = static_cast<uint16_t>(thread);
    cell->fences = fences[thread];
  }
}
