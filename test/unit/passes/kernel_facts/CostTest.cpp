// Cycles by the rates of records.
#include "passes/kernel_facts/Cost.h"
#include "test/unit/passes/kernel_facts/Targets.h"

using namespace effc;
using namespace effc::test;

namespace {

using CostTest = TargetsTest;

TEST_F(CostTest, FollowsTheRatesOfTheRecord) {
  EXPECT_DOUBLE_EQ(CoreCycles(target("host")).ofSteps(22), 1);
  EXPECT_DOUBLE_EQ(CoreCycles(target("host")).ofProducts(18), 1);
  EXPECT_DOUBLE_EQ(CoreCycles(target("sm_80")).ofSteps(60), 1);
  EXPECT_DOUBLE_EQ(CoreCycles(target("sm_80")).ofProducts(300), 1);
  EXPECT_DOUBLE_EQ(CoreCycles(target("sm_86")).ofProducts(150), 1);
  EXPECT_DOUBLE_EQ(CoreCycles(target("sm_90a")).ofProducts(600), 1);
}

TEST_F(CostTest, ExactProductsTakeTheSameWhateverOthersRoundTo) {
  for (llvm::StringRef name : {"sm_80", "sm_86", "sm_90a"}) {
    double exact = CoreCycles(target(name)).ofProducts(1e6);
    for (Products products :
         {Products::Exact, Products::TF32, Products::BF16, Products::F16}) {
      CoreCycles cycles(target(name, products));
      EXPECT_NEAR(cycles.ofExactProducts(1e6), exact, 1e-9 * exact)
          << name.str();
      EXPECT_LE(cycles.ofProducts(1e6), exact) << name.str();
    }
  }
}

// Six products of bf16 for an exact one of f32, two for one of tf32.
TEST_F(CostTest, OnlyItemsOfGpusWait) {
  EXPECT_EQ(CoreCycles(target("host")).ofWaits(/*barriers=*/10, /*terms=*/64),
            0);
  CoreCycles exact(target("sm_90a"));
  EXPECT_DOUBLE_EQ(exact.ofWaits(/*barriers=*/0), 500);
  EXPECT_DOUBLE_EQ(exact.ofWaits(/*barriers=*/2), 600);
  EXPECT_DOUBLE_EQ(exact.ofWaits(/*barriers=*/2, /*terms=*/32), 600 + 12 * 33);
  EXPECT_DOUBLE_EQ(CoreCycles(target("sm_90a", Products::TF32)).ofWaits(2, 32),
                   600 + 4 * 33);
  EXPECT_DOUBLE_EQ(CoreCycles(target("sm_90a", Products::BF16)).ofWaits(2, 32),
                   600 + 2 * 33);
}

TEST_F(CostTest, WaitsAndLaunchesAreThoseOfTheRecord) {
  Target chip = kSm80;
  chip.core.memory = 700;
  chip.core.barrier = 20;
  chip.core.product = 10;
  chip.core.launch = 1000;
  CoreCycles cycles(describe(chip, Products::BF16));
  EXPECT_DOUBLE_EQ(cycles.ofWaits(/*barriers=*/3, /*terms=*/32), 760 + 2 * 10);
  EXPECT_DOUBLE_EQ(cycles.ofLaunch(), 1000);
  EXPECT_DOUBLE_EQ(CoreCycles(target("sm_80")).ofLaunch(), 2500);
}

TEST_F(CostTest, TheCoreWithTheMostItemsEndsLast) {
  EXPECT_EQ(itemsOfCore(132, 132), 1);
  EXPECT_EQ(itemsOfCore(133, 132), 2);
  tile::DotTile tile = {/*rows=*/64, /*columns=*/128, /*stepCycles=*/800};
  EXPECT_EQ(tileCycles(tile, 132, 132), 800);
  EXPECT_EQ(tileCycles(tile, 265, 132), 2400);
  EXPECT_EQ(tileCycles(tile, 265, 264), 1600);
}

// Written and read: 2 x 1,446 bytes at 1,446 a cycle.
TEST_F(CostTest, WhatIsHandedOnIsWrittenAndRead) {
  EXPECT_DOUBLE_EQ(CoreCycles(target("sm_80")).ofHandingOn(1446 * 7), 14);
}

} // namespace
