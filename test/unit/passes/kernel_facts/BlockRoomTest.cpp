// What blocks hold, of chips that are there and of one that is not.
#include "passes/kernel_facts/BlockRoom.h"
#include "test/unit/passes/kernel_facts/Targets.h"

using namespace effc;
using namespace effc::test;

namespace {

using BlockRoomTest = TargetsTest;

/// A step of 64 of two tiles of 64 rows of f32, padded.
constexpr int64_t kStepBytes = 128 * 72 * 4;

TEST_F(BlockRoomTest, SizesKernelsOfKnownGpus) {
  for (llvm::StringRef name : kSizedGpus) {
    BlockRoom room = BlockRoom::of(target(name));
    EXPECT_EQ(room.heldElements(), 16384) << name.str();
    EXPECT_EQ(room.heldBesideProduct(/*isNarrow=*/true), 128) << name.str();
    EXPECT_EQ(room.heldBesideProduct(/*isNarrow=*/false), 96) << name.str();
    EXPECT_EQ(room.rowElements(), 2048) << name.str();
    EXPECT_EQ(room.matrixElements(), 32768) << name.str();
    EXPECT_EQ(room.halvingBytes(), 32768) << name.str();
    EXPECT_EQ(room.stages(kStepBytes), 3) << name.str();
  }
}

// 80 KiB of keys and values and 64 KiB of queries fit, twice as much does not.
TEST_F(BlockRoomTest, SharesMemoryBetweenKeysAndQueries) {
  BlockRoom room = BlockRoom::of(target("sm_80"));
  EXPECT_EQ(room.windowKeyBytes(), 83456);
  EXPECT_EQ(room.windowQueryBytes(), 66764);
  room = BlockRoom::of(target("sm_90a"));
  EXPECT_EQ(room.windowKeyBytes(), 116224);
  EXPECT_EQ(room.windowQueryBytes(), 92979);
}

// The block of an A100 has 163 KiB, that of a GA102 99.
TEST_F(BlockRoomTest, SmallerBlocksHoldLess) {
  for (llvm::StringRef name : {"sm_86", "sm_89", "sm_120"}) {
    BlockRoom room = BlockRoom::of(target(name));
    EXPECT_EQ(room.heldElements(), 16384) << name.str();
    EXPECT_EQ(room.matrixElements(), 16384) << name.str();
    EXPECT_EQ(room.halvingBytes(), 16384) << name.str();
    EXPECT_EQ(room.stages(kStepBytes), 2) << name.str();
    EXPECT_LE(room.windowKeyBytes() + room.windowQueryBytes(), 101376);
  }
}

TEST_F(BlockRoomTest, FollowsARecordThatNoTableHas) {
  BlockRoom hopper = BlockRoom::of(target("sm_90a")),
            half = BlockRoom::of(madeUp());
  EXPECT_EQ(half.heldElements(), hopper.heldElements());
  EXPECT_EQ(half.matrixElements(), hopper.matrixElements() / 2);
  EXPECT_EQ(half.stateElements(), hopper.stateElements() / 2);
  EXPECT_EQ(half.windowKeyBytes(), hopper.windowKeyBytes() / 2);
  EXPECT_LT(half.windowQueryBytes(), hopper.windowQueryBytes());
  EXPECT_LT(half.halvingBytes(), hopper.halvingBytes());
  EXPECT_EQ(half.stages(2 * kStepBytes), 2);
  EXPECT_EQ(hopper.stages(2 * kStepBytes), 3);
}

} // namespace
