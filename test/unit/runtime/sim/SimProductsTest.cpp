// Products of warp groups, against the tables of the PTX ISA ("Matrix Fragments
// for wgmma.mma_async.m64nNk16", "Matrix-descriptor format", 128-byte
// swizzling), and what goes wrong around them.

#include "test/unit/runtime/sim/SimTrial.h"

#include <array>
#include <cstring>
#include <gtest/gtest.h>

using namespace effc;
using namespace effc::test;
using namespace effc::rt;

namespace {

constexpr uint32_t kRows = 64, kDepth = 16, kColumns = 24, kThreads = 128;
constexpr uint32_t kSums = kColumns / 2;
/// Groups of eight columns lie every second 1024 bytes; the product reads the
/// second 16 of the 64 elements of a column's row.
constexpr uint32_t kApart = 2048, kShared = 3 * kApart, kSkipped = 32;

uint16_t toBf16(float value) { // one that bf16 has
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  return static_cast<uint16_t>(bits >> 16);
}

uint16_t toF16(float value) { // a normal one that f16 has
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  if (value == 0)
    return 0;
  uint32_t exponent = (bits >> 23 & 255) - 127 + 15;
  return static_cast<uint16_t>((bits >> 16 & 0x8000) | exponent << 10 |
                               (bits >> 13 & 1023));
}

float a(uint32_t row, uint32_t k) {
  return float(int(row * 5 + k * 3) % 23 - 11);
}
float b(uint32_t k, uint32_t column) {
  return float(int(column * 7 + k * 2) % 19 - 9);
}
float c(uint32_t row, uint32_t column) { return float(row) - float(column); }

/// Element i of A in the registers of `thread`.
uint32_t rowOfA(uint32_t thread, uint32_t i) {
  uint32_t warp = thread / 32, groupId = thread % 32 >> 2;
  bool upper = i < 2 || (4 <= i && i < 6);
  return warp * 16 + (upper ? groupId : groupId + 8);
}
uint32_t columnOfA(uint32_t thread, uint32_t i) {
  return thread % 4 * 2 + (i & 1) + (i < 4 ? 0 : 8);
}
/// A in the registers of `thread`.
std::array<uint32_t, 4> registersOfA(uint32_t thread,
                                     uint16_t (*stored)(float)) {
  std::array<uint32_t, 4> registers = {};
  for (uint32_t i = 0; i < 8; ++i)
    registers[i / 2] |=
        uint32_t(stored(a(rowOfA(thread, i), columnOfA(thread, i))))
        << (i % 2 * 16);
  return registers;
}
/// Element i of D in the registers of `thread`.
uint32_t rowOfD(uint32_t thread, uint32_t i) {
  uint32_t warp = thread / 32, groupId = thread % 32 >> 2;
  return warp * 16 + (i % 4 < 2 ? groupId : groupId + 8);
}
uint32_t columnOfD(uint32_t thread, uint32_t i) {
  return 8 * (i / 4) + thread % 4 * 2 + (i & 1);
}

/// What the kernel leaves out or does otherwise.
enum Fault : int64_t {
  kNone,
  kFence,
  kLateFence,
  kBarrier,
  kWait,
  kCommit,
  kOverwrite,
  kHalves // none, and products of f16
};

void kernel(const SimCalls *calls, SimThread *self, const void *const *operands,
            const int64_t *counts) {
  Thread t(calls, self);
  auto fault = Fault(counts[0]);
  auto stored = fault == kHalves ? toF16 : toBf16;
  // Row r of a group is 128 bytes, of which piece p of 16 lies at p xor r.
  for (uint32_t i = t.index; i < kColumns * kDepth; i += kThreads) {
    uint32_t column = i / kDepth, k = i % kDepth, r = column % 8;
    uint32_t byte = kSkipped + k * 2, piece = byte / 16 ^ r;
    t.writeShared(t.shared<uint16_t>(column / 8 * kApart + r * 128 +
                                     piece * 16 + byte % 16),
                  stored(b(k, column)), "store");
  }
  if (fault != kFence && fault != kLateFence)
    calls->fenceProxy(self, "fence");
  if (fault != kBarrier)
    t.barrier("between");
  if (fault == kLateFence)
    calls->fenceProxy(self, "fence");
  std::array<uint32_t, 4> registers = registersOfA(t.index, stored);
  float sums[kSums];
  for (uint32_t i = 0; i < kSums; ++i)
    sums[i] = c(rowOfD(t.index, i), columnOfD(t.index, i));
  uint64_t start = reinterpret_cast<uintptr_t>(t.shared<uint8_t>(kSkipped));
  uint64_t descriptor =
      (start & 0x3FFFF) >> 4 | uint64_t(kApart >> 4) << 32 | uint64_t(1) << 62;
  // Twice, the second upon the first.
  for (const char *site : {"first", "second"})
    calls->multiplyGroup(
        self,
        uint32_t(fault == kHalves ? SimMma::M16N8K16F16 : SimMma::M16N8K16Bf16),
        kSums, registers.data(), descriptor, sums, site);
  if (fault != kCommit)
    calls->commitProducts(self, "commit");
  if (fault == kOverwrite)
    t.writeShared(t.shared<uint16_t>(t.index * 2), uint16_t(0), "overwrite");
  if (fault != kWait)
    calls->waitProducts(self, "wait");
  auto *out = static_cast<float *>(const_cast<void *>(operands[0]));
  for (uint32_t i = 0; i < kSums; ++i)
    t.write(out + t.index * kSums + i, sums[i], "out");
}

std::string run(Fault fault, std::vector<float> &out) {
  out.assign(kThreads * kSums, 0);
  SimTrial trial(kThreads, kShared);
  trial.operand(out.data(), out.size() * 4, true, "the arena");
  trial.counts[0] = fault;
  return trial.run(kernel);
}

std::string run(Fault fault) {
  std::vector<float> out;
  return run(fault, out);
}

} // namespace

static void expectProducts(const std::vector<float> &out) {
  for (uint32_t thread = 0; thread < kThreads; ++thread)
    for (uint32_t i = 0; i < kSums; ++i) {
      uint32_t row = rowOfD(thread, i), column = columnOfD(thread, i);
      ASSERT_LT(row, kRows);
      double expected = c(row, column);
      for (uint32_t k = 0; k < kDepth; ++k)
        expected += 2 * double(a(row, k)) * b(k, column);
      EXPECT_EQ(out[thread * kSums + i], expected) << thread << ", " << i;
    }
}

TEST(SimProducts, MultipliesByFourWarps) {
  std::vector<float> out;
  ASSERT_EQ(run(kNone, out), "");
  expectProducts(out);
}

TEST(SimProducts, MultipliesF16) {
  std::vector<float> out;
  ASSERT_EQ(run(kHalves, out), "");
  expectProducts(out);
}

TEST(SimProducts, FenceBetweenTheProxiesRemoved) {
  EXPECT_NE(run(kFence).find("'first': reads 16 bytes at byte 32 of shared "
                             "memory, which thread"),
            std::string::npos)
      << run(kFence);
}

TEST(SimProducts, FenceBehindTheBarrier) {
  EXPECT_NE(run(kLateFence)
                .find("without a fence for asynchronous units "
                      "before the barrier"),
            std::string::npos)
      << run(kLateFence);
}

TEST(SimProducts, BarrierRemoved) {
  EXPECT_NE(run(kBarrier).find("'first': reads 16 bytes"), std::string::npos)
      << run(kBarrier);
}

// Sums change at the wait and not before.
TEST(SimProducts, NotWaitedFor) {
  EXPECT_NE(run(kWait).find("'first': the thread has returned without waiting"),
            std::string::npos)
      << run(kWait);
}

TEST(SimProducts, NeverCommitted) {
  EXPECT_NE(
      run(kCommit).find("'first': the thread has returned without waiting"),
      std::string::npos)
      << run(kCommit);
}

TEST(SimProducts, WhatIsReadIsOverwrittenBeforeTheWait) {
  EXPECT_NE(run(kOverwrite).find("a race: thread"), std::string::npos)
      << run(kOverwrite);
}

TEST(SimProducts, TakesWholeWarpGroups) {
  SimTrial trial(64, 1024);
  std::string fault = trial.run([](const SimCalls *calls, SimThread *self,
                                   const void *const *, const int64_t *) {
    uint32_t registers[4] = {};
    float sums[4] = {};
    calls->multiplyGroup(self, uint32_t(SimMma::M16N8K16Bf16), 4, registers,
                         uint64_t(1) << 62, sums, "dot");
    calls->waitProducts(self, "wait");
  });
  EXPECT_NE(fault.find("a product of a warp group in a block of 64 threads"),
            std::string::npos)
      << fault;
}

TEST(SimProducts, RefusesPatternsThatBeginElsewhere) {
  SimTrial trial(kThreads, 1024);
  std::string fault = trial.run([](const SimCalls *calls, SimThread *self,
                                   const void *const *, const int64_t *) {
    uint32_t registers[4] = {};
    float sums[4] = {};
    calls->multiplyGroup(self, uint32_t(SimMma::M16N8K16Bf16), 4, registers,
                         uint64_t(1) << 62 | uint64_t(3) << 49, sums, "dot");
  });
  EXPECT_NE(fault.find("at a multiple of 1024 bytes"), std::string::npos)
      << fault;
}

TEST(SimProducts, RefusesOtherDescriptors) {
  SimTrial trial(kThreads, 1024);
  std::string fault = trial.run([](const SimCalls *calls, SimThread *self,
                                   const void *const *, const int64_t *) {
    uint32_t registers[4] = {};
    float sums[4] = {};
    calls->multiplyGroup(self, uint32_t(SimMma::M16N8K16Bf16), 4, registers, 0,
                         sums, "dot");
  });
  EXPECT_NE(fault.find("swizzling in 128 bytes is expected"), std::string::npos)
      << fault;
}

//===----------------------------------------------------------------------===//
// Rows of columns side by side (the ISA's tnspB)
//===----------------------------------------------------------------------===//

namespace {

/// Two panels of 64 columns; the rows of a panel in two groups of eight.
constexpr uint32_t kWide = 128, kWideSums = kWide / 2, kPanels = 8192,
                   kGroups = 2048;

void acrossKernel(const SimCalls *calls, SimThread *self,
                  const void *const *operands, const int64_t *) {
  Thread t(calls, self);
  // Row k of a panel is 128 bytes, of which piece p lies at p xor (k mod 8).
  for (uint32_t i = t.index; i < kWide * kDepth; i += kThreads) {
    uint32_t k = i / kWide, column = i % kWide, piece = column % 64 / 8;
    t.writeShared(t.shared<uint16_t>(column / 64 * kPanels + k / 8 * kGroups +
                                     k % 8 * 128 + (piece ^ k % 8) * 16 +
                                     column % 8 * 2),
                  toBf16(b(k, column)), "store");
  }
  calls->fenceProxy(self, "fence");
  t.barrier("between");
  std::array<uint32_t, 4> registers = registersOfA(t.index, toBf16);
  float sums[kWideSums];
  for (uint32_t i = 0; i < kWideSums; ++i)
    sums[i] = c(rowOfD(t.index, i), columnOfD(t.index, i));
  uint64_t start = reinterpret_cast<uintptr_t>(t.shared<uint8_t>(0));
  uint64_t descriptor = (start & 0x3FFFF) >> 4 | uint64_t(kPanels >> 4) << 16 |
                        uint64_t(kGroups >> 4) << 32 | uint64_t(1) << 62;
  calls->multiplyGroup(self, uint32_t(SimMma::M16N8K16Bf16) | kSimAcross,
                       kWideSums, registers.data(), descriptor, sums,
                       "product");
  calls->commitProducts(self, "commit");
  calls->waitProducts(self, "wait");
  auto *out = static_cast<float *>(const_cast<void *>(operands[0]));
  for (uint32_t i = 0; i < kWideSums; ++i)
    t.write(out + t.index * kWideSums + i, sums[i], "out");
}

} // namespace

TEST(SimProducts, MultipliesColumnsThatLieSideBySide) {
  std::vector<float> out(kThreads * kWideSums);
  SimTrial trial(kThreads, 2 * kPanels);
  trial.operand(out.data(), out.size() * 4, true, "the arena");
  ASSERT_EQ(trial.run(acrossKernel), "");
  for (uint32_t thread = 0; thread < kThreads; ++thread)
    for (uint32_t i = 0; i < kWideSums; ++i) {
      uint32_t row = rowOfD(thread, i), column = columnOfD(thread, i);
      double expected = c(row, column);
      for (uint32_t k = 0; k < kDepth; ++k)
        expected += double(a(row, k)) * b(k, column);
      EXPECT_EQ(out[thread * kWideSums + i], expected) << thread << ", " << i;
    }
}
