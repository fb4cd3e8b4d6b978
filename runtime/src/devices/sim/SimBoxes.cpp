// Copies of boxes and the mbarriers that count their bytes. A box comes when a
// thread first waits for its mbarrier, not before.
#include "runtime/src/devices/sim/SimBlock.h"

#include <algorithm>
#include <cstring>
#include <utility>

using namespace effc;
using namespace effc::rt;

static constexpr uint32_t kArrivalBytes = 8, kRowBytes = kBoxRowBytes;
/// What swizzling moves together.
static constexpr uint32_t kPieceBytes = SharedMemory::kPieceBytes;
/// Where a box may begin.
static constexpr uint32_t kSlotAlignment = 128;

void SimBlock::startArrivals(SimThread &thread, void *address, uint32_t count,
                             const char *site) {
  requireAligned(thread, address, kArrivalBytes, site);
  if (!shared.contains(address))
    require(
        thread, site,
        say("starts an mbarrier at ", address, ", which is not shared memory"));
  require(thread, site, shared.write(address, kArrivalBytes, thread.index));
  auto isThere = [&](const SimArrivals &one) { return one.address == address; };
  if (std::ranges::any_of(mbarriers, isThere))
    require(thread, site, "starts an mbarrier where there is one");
  if (mbarriers.size() == SharedMemory::kMostArrivals)
    require(thread, site,
            say("starts more than ", SharedMemory::kMostArrivals,
                " mbarriers, of which the simulator has no more"));
  mbarriers.push_back({.address = address,
                       .threads = count,
                       .pending = count,
                       .bytes = 0,
                       .phase = 0,
                       .starter = thread.index,
                       .fenced = false,
                       .boxes = {}});
}

void SimBlock::fenceProxy(SimThread &thread) {
  shared.fence(thread.index);
  for (SimArrivals &arrivals : mbarriers)
    arrivals.fenced |= arrivals.starter == thread.index;
}

SimArrivals &SimBlock::arrivalsAt(SimThread &thread, const void *address,
                                  const char *site) {
  for (SimArrivals &arrivals : mbarriers)
    if (arrivals.address == address) {
      // Only behind a barrier do others know that it has been started.
      require(thread, site, shared.read(address, kArrivalBytes, thread.index));
      return arrivals;
    }
  require(thread, site,
          say("uses an mbarrier at ", address, ", where none was started"));
  __builtin_unreachable(); // the thread is left where it is
}

void SimBlock::expectBytes(SimThread &thread, void *address, uint32_t bytes,
                           const char *site) {
  SimArrivals &arrivals = arrivalsAt(thread, address, site);
  if (arrivals.pending == 0)
    require(thread, site,
            say("arrives at an mbarrier at which all ", arrivals.threads,
                " threads of phase ", arrivals.phase, " have arrived"));
  arrivals.bytes += bytes;
  --arrivals.pending;
  idleAccesses = 0;
  endPhase(arrivals);
}

/// The next phase begins, if this one has all that it waits for, and who waits
/// for its end goes on.
void SimBlock::endPhase(SimArrivals &arrivals) {
  if (arrivals.pending > 0 || arrivals.bytes != 0)
    return;
  ++arrivals.phase;
  arrivals.pending = arrivals.threads;
  for (SimThread &thread : std::span(threads).first(launch->threads))
    if (thread.waitsAt == &arrivals) {
      thread.waitsAt = nullptr;
      warpOf(thread).ready |= 1u << thread.index % kWarpThreads;
    }
}

/// Of a thread that waits and will not go on.
Fault SimBlock::explainWait(const SimThread &thread) const {
  const SimArrivals &arrivals = *thread.waitsAt;
  return say("deadlock: phase ", arrivals.phase, " of the mbarrier waits for ",
             arrivals.pending, " threads and ", arrivals.bytes,
             " bytes, and no thread can go on");
}

void SimBlock::waitArrivals(SimThread &thread, void *address, uint32_t parity,
                            const char *site) {
  SimArrivals &arrivals = arrivalsAt(thread, address, site);
  auto number = static_cast<uint32_t>(&arrivals - mbarriers.data());
  // Over is a phase when the current one has the other parity.
  if (arrivals.phase % 2 == parity) {
    for (const SimBox &box : arrivals.boxes) {
      finishBox(thread, box, number, arrivals.phase);
      arrivals.bytes -= int64_t(kRowBytes) * box.map->boxRows;
    }
    arrivals.boxes.clear();
    if (arrivals.bytes < 0)
      require(thread, site,
              say("waits for an mbarrier to which ", -arrivals.bytes,
                  " more bytes have come than were expected"));
    endPhase(arrivals);
  }
  while (arrivals.phase % 2 == parity) {
    thread.waitsAt = &arrivals;
    thread.waitSite = site;
    thread.fiber.switchBack();
  }
  idleAccesses = 0;
  shared.observe(thread.index, number,
                 static_cast<uint16_t>(arrivals.phase - 1));
}

void SimBlock::copyBox(SimThread &thread, const SimBox &box, void *address) {
  const SimBoxMap &map = *box.map;
  SimArrivals &arrivals = arrivalsAt(thread, address, box.site);
  if (!arrivals.fenced)
    require(thread, box.site,
            say("copies for an mbarrier that thread ", arrivals.starter,
                " has started without a fence for asynchronous units"));
  requireAligned(thread, box.shared, kSlotAlignment, box.site);
  if (uint64_t bytes = uint64_t(map.boxColumns) * map.elementBytes;
      bytes != kRowBytes)
    require(thread, box.site,
            say("copies a box with rows of ", bytes, " bytes, but ", kRowBytes,
                " are expected"));
  if (!shared.contains(box.shared))
    require(thread, box.site,
            say("copies to ", static_cast<void *>(box.shared),
                ", which is not shared memory"));
  require(thread, box.site,
          shared.beginBox(box.shared, kRowBytes * map.boxRows, thread.index));
  if (!thread.awaited)
    for (const OperandRange &range : launch->ranges)
      if (range.writable &&
          range.start == reinterpret_cast<uintptr_t>(map.base))
        require(thread, box.site,
                say("copies a box of ", range.what,
                    ", for which it has not awaited the launches before"));
  idleAccesses = 0;
  arrivals.boxes.push_back(box);
  arrivals.boxes.back().thread = thread.index;
}

/// Pieces of 16 bytes lie where bits 7 to 9 of their address exchange them by
/// bits 4 to 6 (PTX ISA, 128B swizzling mode).
void SimBlock::finishBox(SimThread &thread, const SimBox &box, uint32_t arrival,
                         uint32_t phase) {
  const SimBoxMap &map = *box.map;
  for (uint32_t row = 0; row < map.boxRows; ++row) {
    uint8_t bytes[kRowBytes] = {};
    const uint8_t *source = nullptr;      // of the row, where it has one
    uint32_t sourceAt = 0, sourceEnd = 0; // which of its bytes are copies
    int64_t fromRow = int64_t(box.row) + row;
    int64_t first = std::max<int64_t>(box.column, 0),
            end = std::min<int64_t>(int64_t(box.column) + map.boxColumns,
                                    static_cast<int64_t>(map.columns));
    if (fromRow >= 0 && fromRow < static_cast<int64_t>(map.rows) &&
        first < end) {
      const uint8_t *from = static_cast<const uint8_t *>(map.base) +
                            static_cast<uint64_t>(fromRow) * map.pitch +
                            static_cast<uint64_t>(first) * map.elementBytes;
      auto count = static_cast<uint32_t>(end - first) * map.elementBytes;
      accessGlobal(thread, from, count, /*write=*/false, box.site);
      sourceAt = static_cast<uint32_t>(first - box.column) * map.elementBytes;
      sourceEnd = sourceAt + count;
      source = from;
      std::memcpy(bytes + sourceAt, from, count);
    }
    for (uint32_t at = 0; at < kRowBytes; at += kPieceBytes) {
      auto offset = static_cast<uint64_t>(box.shared - shared.data()) +
                    uint64_t(row) * kRowBytes + at;
      offset = swizzled(offset);
      std::memcpy(shared.data() + offset, bytes + at, kPieceBytes);
      bool isCopy = sourceAt <= at && at + kPieceBytes <= sourceEnd;
      shared.noteSource(shared.data() + offset,
                        isCopy ? source + (at - sourceAt) : nullptr);
    }
  }
  shared.endBox(box.shared, kRowBytes * map.boxRows, arrival,
                static_cast<uint16_t>(phase));
}
