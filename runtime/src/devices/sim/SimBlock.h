//===- SimBlock.h - Runs the threads of one block -------------------------===//
//
// One fiber per thread. A thread runs until it waits for others: at an op of
// its warp until all 32 lanes have come, at a barrier until all threads have.
// Who comes last does what the op does, for everybody. The first thing that is
// wrong stops the block and is its report.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_RUNTIME_SRC_DEVICES_SIM_SIMBLOCK_H
#define EFFC_RUNTIME_SRC_DEVICES_SIM_SIMBLOCK_H

#include "runtime/abi/SimAbi.h"
#include "runtime/src/Limits.h"
#include "runtime/src/devices/sim/GlobalMemory.h"
#include "runtime/src/devices/sim/GlobalWatch.h"
#include "runtime/src/devices/sim/units/FragmentPlaces.h"
#include "runtime/src/devices/sim/units/WarpGroupProduct.h"
#include "runtime/src/devices/sim/units/WarpProduct.h"

#include <memory>
#include <optional>

namespace effc::rt {

class SimBlock;

/// What a launch tells each of its blocks.
struct SimLaunch {
  SimKernel kernel;
  uint32_t threads;
  uint32_t sharedBytes;
  const void *const *operands;
  const int64_t *counts;
  std::span<const OperandRange> ranges;
  /// Of all blocks of the launch; null: they are not compared.
  LaunchWatch *watch = nullptr;
  /// Whether it may begin while the launch before it ends.
  bool overlaps = false;
};

/// What is wrong, and where.
struct SimReport {
  uint32_t thread;
  std::string site;
  std::string what;
};

/// A copy of cp.async that its thread has issued and not waited for.
struct SimCopy {
  uint8_t *shared;
  const uint8_t *global;
  uint32_t bytes;
  uint32_t taken;
  uint32_t group; // of the thread's, counted from 0
};

/// A product of a warp group that this thread has begun and not waited for.
struct SimProduct {
  uint32_t a[4];
  uint64_t b; // describes it
  float *d;
  uint32_t count;
  uint32_t group; // of the thread's, counted from 0
  SimMma type;    // of depth 16
  bool across;    // whether B's rows have columns side by side
  const char *site;
  std::optional<FragmentPlaces> places = {}; // of A
};

/// A copy of a box that has been begun and has not come.
struct SimBox {
  uint8_t *shared;
  const SimBoxMap *map;
  int32_t column, row; // of its first element
  const char *site;
  uint32_t thread = 0; // that has begun it
};

/// An mbarrier: what its current phase still waits for.
struct SimArrivals {
  const void *address;
  uint32_t threads; // of each phase
  uint32_t pending; // threads that have not arrived
  int64_t bytes;    // expected and not come
  uint32_t phase;   // counted from 0
  uint32_t starter; // the thread that started it
  bool fenced;      // by that thread, so that units see it
  std::vector<SimBox> boxes;
};

/// One thread of a block. The kernels' pointer to it is the ABI's.
struct SimThread {
  SimBlock *block = nullptr;
  uint32_t index = 0;
  Fiber fiber;
  std::vector<SimCopy> copies;      // oldest first
  uint32_t groups = 0;              // committed so far
  std::vector<SimProduct> products; // oldest first
  uint32_t productGroups = 0;       // committed so far
  bool awaited = false;             // the launches before this one
  uint32_t accesses = 0;            // since it last let others go on
  FragmentPlaces places;            // of its next product,
  bool placesPassed = false;        // where it has told them
  /// The mbarrier it waits at, and where; null: none.
  const SimArrivals *waitsAt = nullptr;
  const char *waitSite = nullptr;
};

class SimBlock {
public:
  /// Room for blocks of up to so many threads, bytes of shared memory and bytes
  /// of stack for each thread.
  static Result<std::unique_ptr<SimBlock>>
  create(uint32_t threads, uint32_t sharedBytes, uint64_t stackBytes);

  /// Runs block `index`; returns what is wrong with it, if anything is.
  std::optional<SimReport> run(const SimLaunch &launch, uint32_t index);

  /// How often a thread has been switched to, over all blocks.
  uint64_t switches() const { return switchCount; }

  // What SimCalls (SimCalls.cpp) is made of.
  uint32_t blockIndex() const { return index; }
  SharedMemory &sharedMemory() { return shared; }
  void access(SimThread &thread, const void *address, uint32_t bytes,
              uint32_t alignment, uint32_t flags, const char *site);
  void barrier(SimThread &thread, const char *site);
  uint32_t shuffle(SimThread &thread, uint32_t kind, uint32_t mask,
                   uint32_t value, uint32_t lane, uint32_t clamp,
                   const char *site);
  void mma(SimThread &thread, uint32_t type, const MmaLane &lane,
           const char *site);
  void passOrigins(SimThread &thread, const void *const *origins,
                   uint32_t count);
  void loadMatrix(SimThread &thread, const void *address, uint32_t count,
                  bool transposed, uint32_t *out, const void **origins,
                  const char *site);
  void copyAsync(SimThread &thread, const SimCopy &copy, const char *site);
  void commitGroup(SimThread &thread);
  void waitGroup(SimThread &thread, uint32_t pending);
  void warpGroupDot(SimThread &thread, SimProduct product);
  void waitProducts(SimThread &thread, const char *site);
  void fenceProxy(SimThread &thread);
  void startArrivals(SimThread &thread, void *arrival, uint32_t count,
                     const char *site);
  void expectBytes(SimThread &thread, void *arrival, uint32_t bytes,
                   const char *site);
  void waitArrivals(SimThread &thread, void *arrival, uint32_t parity,
                    const char *site);
  void copyBox(SimThread &thread, const SimBox &box, void *arrival);

private:
  enum class Op : uint32_t { Shuffle, Mma, LoadMatrix, WaitProducts };
  /// What a lane brings to an op of its warp, and takes from it.
  struct LaneWork {
    uint32_t value, lane, clamp, result;
    MmaLane mma;
    const void *address;
    uint32_t *out;
    const void **origins; // null: nobody wants them
  };
  struct Warp {
    uint32_t ready = 0;     // lanes that can go on, as bits
    uint32_t later = 0;     // those that let the others go first
    uint32_t arrived = 0;   // at the op
    uint32_t atBarrier = 0; // at the block's barrier
    uint32_t done = 0;
    Op op = Op::Shuffle;
    uint32_t detail = 0; // what else all lanes must agree on
    const char *site = nullptr;
    LaneWork lanes[kWarpThreads];
  };

  SimBlock() = default;
  static void threadMain(void *thread);
  void finish(SimThread &thread);
  void schedule();
  void reportDeadlock();
  void note(const SimThread &thread, const char *site, Fault what);
  void halt(SimThread &thread);
  void require(SimThread &thread, const char *site, Fault fault);
  void accessGlobal(SimThread &thread, const void *address, uint32_t bytes,
                    bool write, const char *site);
  void requireAligned(SimThread &thread, const void *address, uint32_t to,
                      const char *site);
  void joinOp(SimThread &thread, Op op, uint32_t detail, const char *site);
  /// Does the op of a warp whose lanes have all come; false: the warp group's
  /// other warps are still missing.
  bool complete(Warp &warp, SimThread &last);
  bool completeGroup(SimThread &last);
  Fault readColumns(std::span<SimThread> group, const SimProduct &from,
                    WarpGroupProduct &product);
  Fault checkRow(uint64_t at) const;
  void multiplyGroup(std::span<SimThread> group, size_t number,
                     SimThread &last);
  void multiplyWarp(Warp &warp, SimThread &last);
  void loadMatrices(Warp &warp, SimThread &last);
  void spin(SimThread &thread, const char *site);
  void finishCopy(SimThread &thread, const SimCopy &copy);
  SimArrivals &arrivalsAt(SimThread &thread, const void *address,
                          const char *site);
  void finishBox(SimThread &thread, const SimBox &box, uint32_t arrival,
                 uint32_t phase);
  void endPhase(SimArrivals &arrivals);
  Fault explainWait(const SimThread &thread) const;
  Warp &warpOf(const SimThread &thread) {
    return warps[thread.index / kWarpThreads];
  }
  LaneWork &workOf(const SimThread &thread) {
    return warpOf(thread).lanes[thread.index % kWarpThreads];
  }

  std::vector<SimThread> threads;
  std::vector<Warp> warps;
  std::vector<SimArrivals> mbarriers; // room for all is there from the start
  FiberStacks stacks;
  SharedMemory shared;
  GlobalWatch global;

  const SimLaunch *launch = nullptr;
  uint32_t index = 0;
  uint32_t running = 0;  // threads that have not returned
  uint32_t arrivals = 0; // at the barrier
  uint32_t firstArrival = 0;
  const char *barrierSite = nullptr;
  uint64_t idleAccesses = 0; // reads since anything else happened
  uint64_t switchCount = 0;
  bool stopped = false;
  SimReport report;
};

/// The functions that simulated kernels call.
extern const SimCalls kSimCalls;

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_DEVICES_SIM_SIMBLOCK_H
