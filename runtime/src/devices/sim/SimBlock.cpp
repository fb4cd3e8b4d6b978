#include "runtime/src/devices/sim/SimBlock.h"
#include "runtime/src/devices/sim/WarpOps.h"

#include <bit>
#include <cstring>
#include <utility>

using namespace effc;
using namespace effc::rt;

/// What the simulator's own functions take of a thread's stack.
static constexpr size_t kOwnStackBytes = size_t(64) << 10;
static constexpr uint32_t kAllLanes = UINT32_MAX;
/// So many reads, with nothing else happening in the block, are one thread
/// waiting for another: a block that only reads has read gigabytes by then.
static constexpr uint32_t kReadsInTurn = 1u << 16;
static constexpr uint64_t kMostIdleReads = uint64_t(1) << 26;

/// The number of the lowest bit.
static uint32_t lowest(uint32_t bits) {
  return static_cast<uint32_t>(std::countr_zero(bits));
}

Result<std::unique_ptr<SimBlock>>
SimBlock::create(uint32_t threads, uint32_t sharedBytes, uint64_t stackBytes) {
  std::unique_ptr<SimBlock> block(new SimBlock);
  Result<FiberStacks> stacks =
      FiberStacks::create(threads, stackBytes + kOwnStackBytes);
  if (!stacks)
    return stacks.error();
  Result<SharedMemory> shared = SharedMemory::create(sharedBytes);
  if (!shared)
    return shared.error();
  block->stacks = std::move(*stacks);
  block->shared = std::move(*shared);
  block->threads.resize(threads);
  block->warps.resize(threads / kWarpThreads);
  block->mbarriers.reserve(SharedMemory::kMostArrivals);
  for (uint32_t i = 0; i < threads; ++i) {
    block->threads[i].block = block.get();
    block->threads[i].index = i;
  }
  return block;
}

// A kernel is no C++ function: what the sanitizer of function types reads in
// front of its entry may lie before the mapped code.
#if defined(__clang__)
__attribute__((no_sanitize("function")))
#endif
void SimBlock::threadMain(void *given) {
  auto *thread = static_cast<SimThread *>(given);
  SimBlock &block = *thread->block;
  block.launch->kernel(&kSimCalls, thread, block.launch->operands,
                       block.launch->counts);
  block.finish(*thread);
  while (true)
    thread->fiber.switchBack();
}

std::optional<SimReport> SimBlock::run(const SimLaunch &given,
                                       uint32_t number) {
  launch = &given;
  index = number;
  running = given.threads;
  arrivals = 0;
  idleAccesses = 0;
  stopped = false;
  mbarriers.clear();
  shared.beginBlock(given.sharedBytes);
  global.beginBlock();
  for (uint32_t i = 0; i < given.threads; ++i) {
    SimThread &thread = threads[i];
    thread.copies.clear();
    thread.groups = 0;
    thread.products.clear();
    thread.productGroups = 0;
    thread.awaited = !given.overlaps;
    thread.accesses = 0;
    thread.placesPassed = false;
    thread.waitsAt = nullptr;
    thread.fiber.start(stacks.top(i), stacks.bytes() - pageBytes(), threadMain,
                       &thread);
  }
  for (uint32_t i = 0; i < given.threads / kWarpThreads; ++i) {
    Warp &warp = warps[i];
    warp.ready = kAllLanes;
    warp.later = warp.arrived = warp.atBarrier = warp.done = 0;
  }
  schedule();
  for (const SimArrivals &arrivals : mbarriers)
    if (!stopped && !arrivals.boxes.empty())
      note(threads[arrivals.boxes[0].thread], arrivals.boxes[0].site,
           "the block has ended and nobody has waited for this box");
  if (stopped)
    return std::move(report);
  Fault meeting = given.watch ? given.watch->add(global, number) : Fault();
  if (!meeting.empty())
    return SimReport{0, "the end of the block", std::move(meeting)};
  return std::nullopt;
}

/// Lanes of a warp run after one another up to the next op of all; so they find
/// each other's data in the caches.
void SimBlock::schedule() {
  uint32_t count = launch->threads / kWarpThreads;
  while (running > 0) {
    bool moved = false;
    for (uint32_t w = 0; w < count; ++w) {
      Warp &warp = warps[w];
      warp.ready |= std::exchange(warp.later, 0);
      while (warp.ready) {
        uint32_t lane = lowest(warp.ready);
        warp.ready &= warp.ready - 1;
        moved = true;
        ++switchCount;
        threads[w * kWarpThreads + lane].fiber.resume();
        if (stopped)
          return;
      }
    }
    if (!moved)
      return reportDeadlock();
  }
}

void SimBlock::reportDeadlock() {
  for (const SimThread &thread : std::span(threads).first(launch->threads))
    if (thread.waitsAt)
      return note(thread, thread.waitSite, explainWait(thread));
  for (uint32_t w = 0; w < launch->threads / kWarpThreads; ++w) {
    const Warp &warp = warps[w];
    if (!(warp.arrived | warp.atBarrier))
      continue;
    bool op = warp.arrived != 0;
    uint32_t lanes = op ? warp.arrived : warp.atBarrier;
    return note(threads[w * kWarpThreads + lowest(lanes)],
                op ? warp.site : barrierSite,
                say("deadlock: no thread can go on, and ", running, " wait"));
  }
}

void SimBlock::note(const SimThread &thread, const char *site, Fault what) {
  report = {thread.index, site ? site : "", std::move(what)};
  stopped = true;
}

/// Leaves the thread where it is, for good. Nothing on its stack may own
/// anything.
void SimBlock::halt(SimThread &thread) {
  while (true)
    thread.fiber.switchBack();
}

void SimBlock::require(SimThread &thread, const char *site, Fault fault) {
  if (fault.empty()) [[likely]]
    return;
  note(thread, site, std::move(fault));
  Fault().swap(fault);
  halt(thread);
}

void SimBlock::requireAligned(SimThread &thread, const void *address,
                              uint32_t to, const char *site) {
  auto at = reinterpret_cast<uintptr_t>(address);
  if (to != 0 && at % to != 0) [[unlikely]]
    require(thread, site,
            say("misaligned: address ", address, " is no multiple of ", to));
}

void SimBlock::finish(SimThread &thread) {
  Warp &warp = warpOf(thread);
  --running;
  idleAccesses = 0;
  warp.done |= 1u << thread.index % kWarpThreads;
  if (warp.arrived)
    return note(thread, warp.site,
                say("divergent: the thread has returned while lane ",
                    lowest(warp.arrived), " of its warp waits there"));
  if (!thread.products.empty())
    return note(thread, thread.products[0].site,
                "the thread has returned without waiting for this product");
  if (!thread.awaited)
    return note(thread, "the end of the thread",
                "the thread has returned without awaiting the launches before");
  if (arrivals > 0)
    return note(thread, barrierSite,
                say("deadlock: the thread has returned while thread ",
                    firstArrival, " waits at a barrier for it"));
}

void SimBlock::access(SimThread &thread, const void *address, uint32_t bytes,
                      uint32_t alignment, uint32_t flags, const char *site) {
  requireAligned(thread, address, alignment, site);
  bool write = flags & kSimWrite;
  if (flags & kSimShared) {
    if (!shared.contains(address)) [[unlikely]]
      require(thread, site,
              say(write ? "writes " : "reads ", bytes, " bytes at ", address,
                  ", which is not shared memory"));
    require(thread, site,
            write ? shared.write(address, bytes, thread.index)
                  : shared.read(address, bytes, thread.index));
  } else {
    accessGlobal(thread, address, bytes, write, site);
  }
  if (write)
    idleAccesses = 0;
  else if (++thread.accesses == kReadsInTurn) [[unlikely]]
    spin(thread, site);
}

/// One after the other. Nothing is left in `fault`: the thread that owns it may
/// be left where it is.
static Fault joined(Fault before, Fault &fault) {
  before += ", ";
  before += fault;
  Fault().swap(fault);
  return before;
}

void SimBlock::accessGlobal(SimThread &thread, const void *address,
                            uint32_t bytes, bool write, const char *site) {
  const OperandRange *range = findRange(launch->ranges, address, bytes, write);
  if (!range) [[unlikely]]
    require(thread, site, explainAccess(launch->ranges, address, bytes, write));
  // What nobody may write, all may read.
  if (!range->writable)
    return;
  if (!thread.awaited) [[unlikely]]
    require(thread, site,
            describeAccess(launch->ranges, *range, address, bytes, write) +
                ", for which it has not awaited the launches before");
  Fault fault = global.touch(reinterpret_cast<uintptr_t>(address), bytes,
                             thread.index, write);
  if (!fault.empty()) [[unlikely]]
    require(
        thread, site,
        joined(describeAccess(launch->ranges, *range, address, bytes, write),
               fault));
}

/// Lets the others go on, in case the thread waits for one of them.
void SimBlock::spin(SimThread &thread, const char *site) {
  thread.accesses = 0;
  idleAccesses += kReadsInTurn;
  if (idleAccesses >= kMostIdleReads)
    require(thread, site,
            say("deadlock: nothing but reads has happened ", idleAccesses,
                " times"));
  warpOf(thread).later |= 1u << thread.index % kWarpThreads;
  thread.fiber.switchBack();
}

void SimBlock::barrier(SimThread &thread, const char *site) {
  Warp &warp = warpOf(thread);
  if (warp.arrived)
    require(thread, site,
            say("divergent: the thread is at a barrier while lane ",
                lowest(warp.arrived), " of its warp waits at '", warp.site,
                "'"));
  if (running < launch->threads)
    require(thread, site,
            say("deadlock: the thread waits at a barrier, but ",
                launch->threads - running, " threads have returned"));
  if (arrivals > 0 && std::strcmp(site, barrierSite) != 0)
    require(thread, site,
            say("divergent: the thread is at this barrier while thread ",
                firstArrival, " waits at '", barrierSite, "'"));
  if (arrivals == 0) {
    firstArrival = thread.index;
    barrierSite = site;
  }
  warp.atBarrier |= 1u << thread.index % kWarpThreads;
  if (++arrivals < launch->threads) {
    thread.fiber.switchBack();
    return;
  }
  arrivals = 0;
  idleAccesses = 0;
  shared.beginEpoch();
  global.beginEpoch();
  for (Warp &other : std::span(warps).first(launch->threads / kWarpThreads))
    other.ready |= std::exchange(other.atBarrier, 0);
  warp.ready &= ~(1u << thread.index % kWarpThreads);
}

/// Waits until all lanes are at the op; what they bring is in their LaneWork.
/// When this returns the op has been done.
void SimBlock::joinOp(SimThread &thread, Op op, uint32_t detail,
                      const char *site) {
  Warp &warp = warpOf(thread);
  if (warp.done | warp.atBarrier) {
    uint32_t other = lowest(warp.done | warp.atBarrier);
    require(thread, site,
            say("divergent: lane ", other, " of the warp ",
                warp.done >> other & 1 ? "has returned" : "is at a barrier"));
  }
  if (!warp.arrived) {
    warp.op = op;
    warp.detail = detail;
    warp.site = site;
  } else if (warp.op != op || warp.detail != detail ||
             (warp.site != site && std::strcmp(warp.site, site) != 0)) {
    require(thread, site,
            say("divergent: lane ", lowest(warp.arrived),
                " of the warp waits at '", warp.site, "'"));
  }
  warp.arrived |= 1u << thread.index % kWarpThreads;
  if (warp.arrived != kAllLanes) {
    thread.fiber.switchBack();
    return;
  }
  idleAccesses = 0;
  if (!complete(warp, thread)) {
    thread.fiber.switchBack();
    return;
  }
  warp.arrived = 0;
  warp.ready = kAllLanes & ~(1u << thread.index % kWarpThreads);
}

bool SimBlock::complete(Warp &warp, SimThread &last) {
  switch (warp.op) {
  case Op::Shuffle:
    for (uint32_t lane = 0; lane < kWarpThreads; ++lane) {
      LaneWork &work = warp.lanes[lane];
      work.result = warp.lanes[shuffleSource(SimShuffle(warp.detail), lane,
                                             work.lane, work.clamp)]
                        .value;
    }
    return true;
  case Op::Mma:
    multiplyWarp(warp, last);
    return true;
  case Op::LoadMatrix:
    loadMatrices(warp, last);
    return true;
  case Op::WaitProducts:
    return completeGroup(last);
  }
  return true;
}

uint32_t SimBlock::shuffle(SimThread &thread, uint32_t kind, uint32_t mask,
                           uint32_t value, uint32_t lane, uint32_t clamp,
                           const char *site) {
  if (mask != kAllLanes)
    require(thread, site,
            say("shuffles the lanes of the mask ", mask,
                ", but all 32 lanes are expected"));
  LaneWork &work = workOf(thread);
  work.value = value;
  work.lane = lane;
  work.clamp = clamp;
  joinOp(thread, Op::Shuffle, kind, site);
  return work.result;
}

void SimBlock::copyAsync(SimThread &thread, const SimCopy &copy,
                         const char *site) {
  if ((copy.bytes != 4 && copy.bytes != 8 && copy.bytes != 16) ||
      copy.taken > copy.bytes)
    require(thread, site,
            say("copies ", copy.taken, " of ", copy.bytes,
                " bytes, but up to 4, 8 or 16 are expected"));
  requireAligned(thread, copy.shared, copy.bytes, site);
  if (!shared.contains(copy.shared))
    require(thread, site,
            say("copies to ", static_cast<void *>(copy.shared),
                ", which is not shared memory"));
  if (copy.taken > 0) {
    requireAligned(thread, copy.global, copy.bytes, site);
    accessGlobal(thread, copy.global, copy.taken, /*write=*/false, site);
  }
  require(thread, site,
          shared.beginCopy(copy.shared, copy.bytes, thread.index));
  thread.copies.push_back(copy);
  thread.copies.back().group = thread.groups;
}

void SimBlock::commitGroup(SimThread &thread) { ++thread.groups; }

void SimBlock::waitGroup(SimThread &thread, uint32_t pending) {
  if (pending > thread.groups)
    return;
  uint32_t done = thread.groups - pending; // groups before this one
  size_t count = 0;
  for (const SimCopy &copy : thread.copies) {
    if (copy.group >= done)
      break;
    finishCopy(thread, copy);
    ++count;
  }
  thread.copies.erase(thread.copies.begin(),
                      thread.copies.begin() + static_cast<ptrdiff_t>(count));
}

void SimBlock::finishCopy(SimThread &thread, const SimCopy &copy) {
  std::memcpy(copy.shared, copy.global, copy.taken);
  std::memset(copy.shared + copy.taken, 0, copy.bytes - copy.taken);
  shared.endCopy(copy.shared, copy.bytes, thread.index);
  bool isPiece = copy.taken == SharedMemory::kPieceBytes;
  shared.noteSource(copy.shared, isPiece ? copy.global : nullptr);
}
