// Faults as they are made: each is seeded into a kernel that is sound without
// it, and each is reported with its thread and site.

#include "test/unit/runtime/sim/SimTrial.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace effc;
using namespace effc::test;
using namespace effc::rt;

#define KERNEL                                                                 \
  [](const SimCalls *calls, SimThread *self, const void *const *operands,      \
     const int64_t *counts)
#define UNUSED (void)operands, (void)counts

static void expectReport(const std::string &found, const std::string &thread,
                         const std::string &part) {
  EXPECT_EQ(found.substr(0, thread.size()), thread) << found;
  EXPECT_NE(found.find(part), std::string::npos) << found;
}

/// Every thread writes a number and reads its neighbour's, 64 threads.
template <bool kBarrier, bool kSecond>
static void neighbours(const SimCalls *calls, SimThread *self,
                       const void *const *operands, const int64_t *counts) {
  UNUSED;
  Thread t(calls, self);
  auto *cells = t.shared<float>();
  for (int round = 0; round < 2; ++round) {
    t.writeShared(cells + t.index, float(t.index), "store");
    if (kBarrier)
      t.barrier("between");
    t.readShared(cells + (t.index + 1) % 64, "load");
    if (kSecond)
      t.barrier("behind");
  }
}

TEST(SimFaults, NoneInASoundKernel) {
  EXPECT_EQ(SimTrial().run(neighbours<true, true>), "");
}

TEST(SimFaults, BarrierRemoved) {
  // Thread 0 runs first, up to the end of its first round: nobody has written
  // cell 1 yet. With one in place of two, it overwrites what thread 63 reads.
  expectReport(SimTrial().run(neighbours<false, true>), "thread 0 at 'load': ",
               "reads 4 bytes at byte 4 of shared memory, which was never");
  expectReport(SimTrial().run(neighbours<true, false>), "thread ",
               "a race: thread ");
}

TEST(SimFaults, RaceOfTwoWriters) {
  SimTrial trial;
  expectReport(
      trial.run(KERNEL {
        UNUSED;
        Thread t(calls, self);
        t.writeShared(t.shared<float>(t.index / 2 * 4), 1.0f, "store");
      }),
      "thread 1 at 'store': ",
      "writes 4 bytes at byte 0 of shared memory, a race: thread 0 has "
      "written");
}

TEST(SimFaults, RaceWithAReader) {
  SimTrial trial;
  expectReport(trial.run(KERNEL {
    UNUSED;
    Thread t(calls, self);
    auto *cells = t.shared<uint16_t>();
    t.writeShared(cells + t.index, uint16_t(t.index), "store");
    t.barrier("between");
    t.readShared(cells + (t.index ^ 1), "load");
    t.writeShared(cells + t.index, uint16_t(0), "again");
  }),
               // Who comes last to the barrier goes on first, with its warp.
               "thread 33 at 'load': ", "a race: thread 32 has written");
}

TEST(SimFaults, NeighbouringHalvesAreNoRace) {
  SimTrial trial;
  EXPECT_EQ(trial.run(KERNEL {
    UNUSED;
    Thread t(calls, self);
    t.writeShared(t.shared<uint16_t>() + t.index, uint16_t(1), "store");
    t.readShared(t.shared<uint16_t>() + t.index, "load");
  }),
            "");
}

TEST(SimFaults, NeverWritten) {
  SimTrial trial;
  SimKernel writes = KERNEL {
    UNUSED;
    Thread t(calls, self);
    t.writeShared(t.shared<float>() + t.index, 1.0f, "store");
  };
  EXPECT_EQ(trial.run(writes), "");
  // What another block has written does not count, and is not there.
  expectReport(trial.run(KERNEL {
    UNUSED;
    Thread t(calls, self);
    if (!std::isnan(*t.shared<float>()))
      t.barrier("poison is gone");
    t.readShared(t.shared<float>() + t.index, "load");
  }),
               "thread 0 at 'load': ", "which was never written");
}

TEST(SimFaults, PastTheEndOfSharedMemory) {
  SimTrial trial(64, 256);
  expectReport(trial.run(KERNEL {
    UNUSED;
    Thread t(calls, self);
    t.writeShared(t.shared<float>() + t.index + 1, 1.0f, "store");
  }),
               "thread 63 at 'store': ",
               "writes 4 bytes at byte 256 of shared memory, but the block has "
               "256");
}

TEST(SimFaults, NotSharedMemoryAtAll) {
  SimTrial trial;
  expectReport(trial.run(KERNEL {
    UNUSED;
    Thread t(calls, self);
    float local = 0;
    t.readShared(&local, "load");
  }),
               "thread 0 at 'load': ", "which is not shared memory");
}

/// Every thread writes a number to the arena and reads its neighbour's.
template <bool kBarrier>
static void neighboursInArena(const SimCalls *calls, SimThread *self,
                              const void *const *operands,
                              const int64_t *counts) {
  UNUSED;
  Thread t(calls, self);
  auto *cells = static_cast<float *>(const_cast<void *>(operands[0]));
  t.write(cells + t.index, float(t.index), "store");
  if (kBarrier)
    t.barrier("between");
  t.read(cells + (t.index + 1) % 64, "load");
}

TEST(SimFaults, RaceInGlobalMemory) {
  float cells[64] = {};
  SimTrial trial;
  trial.operand(cells, sizeof cells, true, "the arena");
  EXPECT_EQ(trial.run(neighboursInArena<true>), "");
  // Thread 0 reads before thread 1 writes.
  expectReport(trial.run(neighboursInArena<false>), "thread 1 at 'store': ",
               "writes 4 bytes at byte 4 of operand 0 (the arena), a race: "
               "thread 0 has read there since the last barrier");
}

TEST(SimFaults, NeighbouringHalvesOfGlobalMemoryAreNoRace) {
  uint16_t halves[64] = {};
  SimTrial trial;
  trial.operand(halves, sizeof halves, true, "the arena");
  EXPECT_EQ(trial.run(KERNEL {
    UNUSED;
    Thread t(calls, self);
    auto *cells = static_cast<uint16_t *>(const_cast<void *>(operands[0]));
    t.write(cells + t.index, uint16_t(1), "store");
    t.read(cells + t.index, "load");
  }),
            "");
}

/// Thread 0 of block 0 writes the first number, that of another block does what
/// `kWrites` says.
template <bool kWrites>
static void blocksMeet(const SimCalls *calls, SimThread *self,
                       const void *const *operands, const int64_t *counts) {
  UNUSED;
  Thread t(calls, self);
  if (t.index != 0)
    return;
  auto *cells = static_cast<float *>(const_cast<void *>(operands[0]));
  if (t.block == 0 || kWrites)
    t.write(cells, 1.0f, "store");
  else
    t.read(cells, "load");
}

TEST(SimFaults, BlocksOfALaunchMeet) {
  float cells[2] = {};
  for (bool writes : {false, true}) {
    SimTrial trial;
    trial.operand(cells, sizeof cells, true, "the arena");
    SimKernel kernel = writes ? blocksMeet<true> : blocksMeet<false>;
    EXPECT_EQ(trial.run(kernel, 0), "");
    expectReport(trial.run(kernel, 3), "thread 0 at 'the end of the block': ",
                 ", a race: block 0 of the launch has written there");
  }
  SimTrial trial;
  trial.operand(cells, sizeof cells, true, "the arena");
  EXPECT_EQ(trial.run(blocksMeet<false>, 3), "");
  expectReport(trial.run(blocksMeet<false>, 0),
               "thread 0 at 'the end of the block': ",
               ", a race: block 3 of the launch has read there");
}

TEST(SimFaults, Misaligned) {
  alignas(16) float data[80] = {};
  SimTrial trial;
  trial.operand(data, sizeof data, false, "weight 'w'");
  expectReport(trial.run(KERNEL {
    (void)counts;
    Thread t(calls, self);
    auto *row = static_cast<const float *>(operands[0]) + t.index;
    calls->access(self, row, 16, 16, kSimRead, "load");
  }),
               "thread 1 at 'load': ", "is no multiple of 16");
}

TEST(SimFaults, OffByOneBound) {
  float data[63] = {};
  SimTrial trial;
  trial.operand(data, sizeof data, false, "weight 'w'");
  expectReport(trial.run(KERNEL {
    (void)counts;
    Thread t(calls, self);
    t.read(static_cast<const float *>(operands[0]) + t.index, "load");
  }),
               "thread 63 at 'load': ",
               "reads 4 bytes at byte 252 of operand 0 (weight 'w'), which has "
               "252");
}

TEST(SimFaults, BeforeAllOperands) {
  float data[2] = {};
  SimTrial trial;
  trial.operand(data + 1, 4, false, "weight 'w'");
  expectReport(trial.run(KERNEL {
    (void)counts;
    Thread t(calls, self);
    t.read(static_cast<const float *>(operands[0]) - 1, "load");
  }),
               "thread 0 at 'load': ", "before all operands of the launch");
}

/// 50 rows in blocks of 64: the guard is what keeps the last 14 threads away.
template <bool kGuard>
static void rowOfEach(const SimCalls *calls, SimThread *self,
                      const void *const *operands, const int64_t *counts) {
  Thread t(calls, self);
  if (kGuard && t.index >= counts[0])
    return;
  auto *row = static_cast<const int32_t *>(operands[0]) + t.index;
  t.read(row, "tokens");
}

TEST(SimFaults, UnguardedTail) {
  int32_t tokens[50] = {};
  SimTrial trial;
  trial.operand(tokens, sizeof tokens, false, "the tokens");
  trial.counts[0] = 50;
  EXPECT_EQ(trial.run(rowOfEach<true>), "");
  expectReport(trial.run(rowOfEach<false>), "thread 50 at 'tokens': ",
               "byte 200 of operand 0 (the tokens), which has 200");
}

TEST(SimFaults, WritesWhatIsRead) {
  float data[64] = {};
  SimTrial trial;
  trial.operand(data, sizeof data, false, "weight 'w'");
  expectReport(trial.run(KERNEL {
    (void)counts;
    Thread t(calls, self);
    auto *cell =
        const_cast<float *>(static_cast<const float *>(operands[0]) + t.index);
    t.write(cell, 1.0f, "store");
  }),
               "thread 0 at 'store': ",
               "byte 0 of operand 0 (weight 'w'), which is only read");
}

TEST(SimFaults, DivergentShuffle) {
  SimTrial trial;
  expectReport(trial.run(KERNEL {
    UNUSED;
    Thread t(calls, self);
    bool upper = t.index % 32 >= 16;
    t.shuffle(SimShuffle::Butterfly, t.index, 1, 31, upper ? "one" : "other");
  }),
               "thread 16 at 'one': ",
               "divergent: lane 0 of the warp waits at 'other'");
  expectReport(trial.run(KERNEL {
    UNUSED;
    Thread t(calls, self);
    if (t.index != 37)
      t.shuffle(SimShuffle::Butterfly, t.index, 1, 31, "sum");
  }),
               "thread 37 at 'sum': ",
               "divergent: the thread has returned while lane 0");
  expectReport(trial.run(KERNEL {
    UNUSED;
    Thread t(calls, self);
    if (t.index != 0)
      t.shuffle(SimShuffle::Butterfly, t.index, 1, 31, "sum");
  }),
               "thread 1 at 'sum': ",
               "divergent: lane 0 of the warp has "
               "returned");
}

TEST(SimFaults, ShuffleOfSomeLanes) {
  SimTrial trial;
  expectReport(trial.run(KERNEL {
    UNUSED;
    calls->shuffle(self, 0, 0xFFFF, 0, 1, 31, "half");
  }),
               "thread 0 at 'half': ", "all 32 lanes are expected");
}

TEST(SimFaults, BarrierInABranch) {
  SimTrial trial;
  expectReport(trial.run(KERNEL {
    UNUSED;
    Thread t(calls, self);
    if (t.index % 32 < 16)
      t.barrier("inside");
    t.shuffle(SimShuffle::Index, 0, 0, 31, "behind");
  }),
               "thread 16 at 'behind': ",
               "divergent: lane 0 of the warp is at a barrier");
  // Warps may part, but not around a barrier.
  expectReport(trial.run(KERNEL {
    UNUSED;
    Thread t(calls, self);
    t.barrier(t.index < 32 ? "then" : "else");
  }),
               "thread 32 at 'else': ",
               "divergent: the thread is at this barrier while thread 0 waits "
               "at 'then'");
}

TEST(SimFaults, Deadlock) {
  SimTrial trial;
  expectReport(trial.run(KERNEL {
    UNUSED;
    Thread t(calls, self);
    if (t.index < 40)
      t.barrier("first forty");
  }),
               "thread 40 at 'first forty': ",
               "deadlock: the thread has returned while thread 0 waits");
  expectReport(trial.run(KERNEL {
    UNUSED;
    Thread t(calls, self);
    if (t.index >= 40)
      t.barrier("last");
  }),
               "thread 40 at 'last': ",
               "deadlock: the thread waits at a barrier, but 40 threads have "
               "returned");
}

// Threads wait in a loop for what another one writes: with no barrier between,
// that is a race; if nobody writes, they wait forever.
TEST(SimFaults, WaitingForNobody) {
  int32_t flag = 0, raises = 1;
  SimTrial trial(32, 0);
  trial.operand(&flag, sizeof flag, true, "the arena")
      .operand(&raises, sizeof raises, false, "weight 'raises'");
  SimKernel waits = KERNEL {
    (void)counts;
    Thread t(calls, self);
    auto *flag = static_cast<int32_t *>(const_cast<void *>(operands[0]));
    if (t.index == 31) {
      if (t.read(static_cast<const int32_t *>(operands[1]), "whether"))
        t.write(flag, 1, "raise");
      return;
    }
    while (t.read(flag, "wait") != 1)
      ;
  };
  // Whoever waits lets the others go on.
  expectReport(trial.run(waits), "thread 31 at 'raise': ",
               "a race: several threads have read there");
  flag = raises = 0;
  expectReport(trial.run(waits), "thread ",
               "deadlock: nothing but reads has happened");
}

/// A copy of 64 numbers, 4 bytes a thread; each reads its neighbour's.
template <bool kCommit, bool kWait, bool kBarrier>
static void copied(const SimCalls *calls, SimThread *self,
                   const void *const *operands, const int64_t *counts) {
  (void)counts;
  Thread t(calls, self);
  auto *cells = t.shared<float>();
  calls->copyAsync(self, cells + t.index,
                   static_cast<const float *>(operands[0]) + t.index, 4, 4,
                   "copy");
  if (kCommit)
    calls->commitGroup(self, "commit");
  if (kWait)
    calls->waitGroup(self, 0, "wait");
  if (kBarrier)
    t.barrier("behind");
  t.readShared(cells + (t.index ^ 1), "load");
}

TEST(SimFaults, CopiesWithoutWaitsOrBarriers) {
  float data[64] = {};
  SimTrial trial;
  trial.operand(data, sizeof data, false, "weight 'w'");
  EXPECT_EQ(trial.run(copied<true, true, true>), "");
  expectReport(trial.run(copied<true, false, true>), "thread ",
               "into which thread 62 copies: it has not waited for its copy");
  expectReport(trial.run(copied<false, true, true>), "thread ",
               "it has not waited for its copy");
  expectReport(trial.run(copied<true, true, false>),
               "thread 0 at 'load': ", "which was never written");
}

// The buffer is filled again while others may still read what was there.
TEST(SimFaults, CopyOverWhatIsRead) {
  float data[64] = {};
  SimTrial trial;
  trial.operand(data, sizeof data, false, "weight 'w'");
  expectReport(trial.run(KERNEL {
    copied<true, true, true>(calls, self, operands, counts);
    calls->copyAsync(
        self, Thread(calls, self).shared<float>() + Thread(calls, self).index,
        operands[0], 4, 4, "next");
  }),
               "thread 33 at 'load': ",
               "into which thread 32 copies: it has not waited for its copy");
}

TEST(SimFaults, CopyOutOfBounds) {
  float data[63] = {};
  SimTrial trial;
  trial.operand(data, sizeof data, false, "weight 'w'");
  expectReport(trial.run(copied<true, true, true>), "thread 63 at 'copy': ",
               "byte 252 of operand 0 (weight 'w'), which has 252");
  SimTrial small(64, 255);
  float all[64] = {};
  small.operand(all, sizeof all, false, "weight 'w'");
  expectReport(small.run(copied<true, true, true>), "thread 63 at 'copy': ",
               "writes 4 bytes at byte 252 of shared memory, but the block has "
               "255");
}

/// Fills an 8 x 8 matrix of halves, then loads it from `offset` bytes too far.
template <int kOffset, bool kBarrier>
static void matrixLoad(const SimCalls *calls, SimThread *self,
                       const void *const *operands, const int64_t *counts) {
  UNUSED;
  Thread t(calls, self);
  t.writeShared(t.shared<uint16_t>() + t.index, uint16_t(t.index), "store");
  if (kBarrier)
    t.barrier("between");
  uint32_t out = 0;
  calls->loadMatrix(self, t.shared<uint8_t>(t.index % 8 * 16 + kOffset), 1, 0,
                    &out, "fragment");
}

TEST(SimFaults, WrongFragmentColumn) {
  SimTrial trial(64, 128);
  EXPECT_EQ(trial.run(matrixLoad<0, true>), "");
  expectReport(trial.run(matrixLoad<2, true>),
               "thread 32 at 'fragment': ", "misaligned: address");
  // A whole row too far, the last one lies outside.
  expectReport(trial.run(matrixLoad<16, true>), "thread 39 at 'fragment': ",
               "reads 16 bytes at byte 128 of shared memory");
  expectReport(trial.run(matrixLoad<0, false>), "thread 0 at 'fragment': ",
               "a race: thread 0 has written there");
}

TEST(SimFaults, TheSameBlockGoesOnAfterwards) {
  SimTrial trial;
  for (int i = 0; i < 3; ++i) {
    EXPECT_NE(trial.run(neighbours<false, true>), "");
    EXPECT_EQ(trial.run(neighbours<true, true>), "");
  }
}

/// A weight may be read at once, what launches write when they are over.
template <bool kWaits, bool kEarly>
static void readsAndAdds(const SimCalls *calls, SimThread *self,
                         const void *const *operands, const int64_t *counts) {
  UNUSED;
  Thread t(calls, self);
  auto *sums = static_cast<float *>(const_cast<void *>(operands[1]));
  float weight = t.read(static_cast<const float *>(operands[0]), "weight");
  float early = kEarly ? t.read(sums + t.index, "early") : 0;
  if (kWaits)
    calls->awaitLaunches(self, "wait");
  if (kWaits)
    t.write(sums + t.index, weight + early, "store");
}

TEST(SimFaults, LaunchesBeforeNotAwaited) {
  float weight = 2, sums[64] = {};
  auto run = [&](SimKernel kernel, bool overlaps) {
    SimTrial trial;
    trial.operand(&weight, sizeof weight, false, "weight 'w'");
    trial.operand(sums, sizeof sums, true, "the arena");
    trial.overlaps = overlaps;
    return trial.run(kernel);
  };
  EXPECT_EQ(run(readsAndAdds<true, false>, true), "");
  expectReport(run(readsAndAdds<true, true>, true), "thread 0 at 'early': ",
               "reads 4 bytes at byte 0 of operand 1 (the arena), for which it "
               "has not awaited the launches before");
  expectReport(run(readsAndAdds<false, false>, true), "thread 0 at ",
               "the thread has returned without awaiting the launches before");
  // A launch that begins when the one before is over has nothing to await.
  EXPECT_EQ(run(readsAndAdds<true, true>, false), "");
}
