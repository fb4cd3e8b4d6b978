// Copies of boxes, against the PTX ISA's text ("Tensor copies", 128-byte
// swizzling, mbarriers), and what goes wrong around them.

#include "test/unit/runtime/sim/SimTrial.h"

#include <gtest/gtest.h>

using namespace effc;
using namespace effc::test;
using namespace effc::rt;

namespace {

/// A tensor of 11 rows of 70 elements, 80 apart, and a box of 16 x 64.
constexpr uint32_t kRows = 11, kColumns = 70, kPitch = 80, kBoxRows = 16,
                   kBoxColumns = 64, kThreads = 64;
/// Who begins the copies: past a barrier the last thread goes on first.
constexpr uint32_t kCopier = kThreads - 1;
constexpr uint32_t kSlot = 1024, kBoxBytes = kBoxRows * kBoxColumns * 2;
constexpr uint32_t kShared = kSlot + 2 * kBoxBytes;

/// What the kernel leaves out or does otherwise.
enum Fault : int64_t {
  kNone,
  kFewBytes,
  kManyBytes,
  kFence,
  kBarrier,
  kWait,
  kEarly,
  kOtherParity,
  kTwice,
  kNeverRead,
  kMisplaced,
  kUnstarted
};

/// Copies the box at row counts[1] and column counts[2], then one turn later
/// the same to the same slot. Out: the box as it lies, twice.
void kernel(const SimCalls *calls, SimThread *self, const void *const *operands,
            const int64_t *counts) {
  Thread t(calls, self);
  auto fault = Fault(counts[0]);
  void *arrival = t.shared<uint8_t>(8);
  if (t.index == 0) {
    calls->startArrivals(self, arrival, 1, "start");
    if (fault != kFence)
      calls->fenceProxy(self, "fence");
  }
  if (fault != kBarrier)
    t.barrier("started");
  for (uint32_t turn = 0; turn < 2; ++turn) {
    if (t.index == kCopier) {
      uint32_t bytes = fault == kFewBytes    ? kBoxBytes - 128
                       : fault == kManyBytes ? kBoxBytes + 128
                                             : kBoxBytes;
      calls->expectBytes(self, arrival, bytes, "expect");
      if (fault == kTwice)
        calls->expectBytes(self, arrival, bytes, "expect again");
      calls->copyBox(
          self, t.shared<uint8_t>(kSlot + (fault == kMisplaced) * 64),
          operands[2], static_cast<uint32_t>(counts[2]),
          static_cast<uint32_t>(counts[1]),
          fault == kUnstarted ? t.shared<uint8_t>(16) : arrival, "copy");
    }
    if (fault == kNeverRead && turn == 1)
      return;
    if (fault == kEarly)
      t.readShared(t.shared<uint16_t>(kSlot + t.index * 2), "early");
    if (fault != kWait || t.index == kCopier)
      calls->waitArrivals(self, arrival, turn ^ (fault == kOtherParity),
                          "wait");
    auto *out = static_cast<uint16_t *>(const_cast<void *>(operands[1])) +
                turn * kBoxBytes / 2;
    for (uint32_t i = t.index; i < kBoxBytes / 2; i += kThreads)
      t.write(out + i, t.readShared(t.shared<uint16_t>(kSlot + i * 2), "read"),
              "out");
    t.barrier("used");
  }
}

uint16_t element(uint32_t row, uint32_t column) {
  return static_cast<uint16_t>(row * 251 + column * 3 + 1);
}

std::string run(Fault fault, std::vector<uint16_t> &out, int32_t row = 3,
                int32_t column = 2, bool ofArena = false) {
  std::vector<uint16_t> tensor(kRows * kPitch, 0xFFFF);
  for (uint32_t r = 0; r < kRows; ++r)
    for (uint32_t c = 0; c < kColumns; ++c)
      tensor[r * kPitch + c] = element(r, c);
  out.assign(kBoxBytes, 0);
  SimBoxMap map = {tensor.data(), kRows,       kColumns, kPitch * 2,
                   kBoxRows,      kBoxColumns, 2};
  SimTrial trial(kThreads, kShared);
  trial.operand(tensor.data(), tensor.size() * 2, ofArena,
                ofArena ? "the arena" : "weight 'w'");
  trial.overlaps = ofArena;
  trial.operand(out.data(), out.size() * 2, true, "the arena");
  trial.operand(&map, sizeof map, false, "a tensor map");
  trial.counts[0] = fault;
  trial.counts[1] = row;
  trial.counts[2] = column;
  return trial.run(kernel);
}

std::string run(Fault fault) {
  std::vector<uint16_t> out;
  return run(fault, out);
}

void expectBox(int32_t row, int32_t column) {
  std::vector<uint16_t> out;
  ASSERT_EQ(run(kNone, out, row, column), "");
  for (uint32_t turn = 0; turn < 2; ++turn)
    for (uint32_t r = 0; r < kBoxRows; ++r)
      for (uint32_t c = 0; c < kBoxColumns; ++c) {
        int64_t fromRow = int64_t(row) + r, fromColumn = int64_t(column) + c;
        bool inside = fromRow >= 0 && fromRow < kRows && fromColumn >= 0 &&
                      fromColumn < kColumns;
        // The pieces of 8 elements of row r change places by r mod 8.
        uint32_t at = r * kBoxColumns + ((c / 8) ^ (r % 8)) * 8 + c % 8;
        uint16_t expected =
            inside ? element(uint32_t(fromRow), uint32_t(fromColumn)) : 0;
        ASSERT_EQ(out[turn * kBoxBytes / 2 + at], expected)
            << "row " << r << ", column " << c << " of turn " << turn;
      }
}
} // namespace

TEST(SimBoxes, AreSwizzledAndZeroOutside) {
  expectBox(3, 2);
  expectBox(-2, -5);
  expectBox(0, 64);
  expectBox(20, 0);
}

TEST(SimBoxes, FewerBytesThanComeAreReported) {
  EXPECT_EQ(run(kFewBytes), "thread 63 at 'wait': waits for an mbarrier to "
                            "which 128 more bytes have come than were "
                            "expected");
}

TEST(SimBoxes, MoreBytesThanComeAreADeadlock) {
  EXPECT_EQ(run(kManyBytes),
            "thread 0 at 'wait': deadlock: phase 0 of the mbarrier waits for 0 "
            "threads and 128 bytes, and no thread can go on");
}

TEST(SimBoxes, UnfencedMbarrier) {
  EXPECT_EQ(run(kFence),
            "thread 63 at 'copy': copies for an mbarrier that thread 0 has "
            "started without a fence for asynchronous units");
}

TEST(SimBoxes, OthersKnowOfAnMbarrierBehindABarrier) {
  EXPECT_EQ(run(kBarrier),
            "thread 1 at 'wait': reads 8 bytes at byte 8 of shared memory, a "
            "race: thread 0 has written there since the last barrier");
}

TEST(SimBoxes, WhoHasNotWaitedDoesNotKnow) {
  EXPECT_EQ(run(kWait),
            "thread 32 at 'read': reads 2 bytes at byte 1088 of shared memory, "
            "where a box has come for which the thread has not waited, and no "
            "barrier lies between");
}

TEST(SimBoxes, NobodyReadsWhatIsUnderWay) {
  EXPECT_EQ(
      run(kEarly),
      "thread 63 at 'early': reads 2 bytes at byte 1150 of shared memory, "
      "into which a box is copied: nobody has waited for it");
}

// The phase before the first counts as over.
TEST(SimBoxes, OtherParityDoesNotWait) {
  EXPECT_EQ(run(kOtherParity),
            "thread 63 at 'read': reads 2 bytes at byte 1150 of shared memory, "
            "into which a box is copied: nobody has waited for it");
}

TEST(SimBoxes, OneThreadTooMany) {
  EXPECT_EQ(
      run(kTwice),
      "thread 63 at 'expect again': arrives at an mbarrier at which all 1 "
      "threads of phase 0 have arrived");
}

TEST(SimBoxes, NobodyWaitsForTheLast) {
  EXPECT_EQ(run(kNeverRead), "thread 63 at 'copy': the block has ended and "
                             "nobody has waited for this box");
}

TEST(SimBoxes, SlotsAreAligned) {
  EXPECT_NE(run(kMisplaced).find("thread 63 at 'copy': misaligned: address"),
            std::string::npos);
}

TEST(SimBoxes, WhatLaunchesWriteIsAwaited) {
  std::vector<uint16_t> out;
  EXPECT_EQ(run(kNone, out, 3, 2, /*ofArena=*/true),
            "thread 63 at 'copy': copies a box of the arena, for which it has "
            "not awaited the launches before");
}

TEST(SimBoxes, MbarriersAreStarted) {
  EXPECT_NE(run(kUnstarted).find(", where none was started"),
            std::string::npos);
}
