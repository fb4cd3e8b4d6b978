// How many items machines take.
#include "passes/kernel_facts/Cores.h"
#include "test/unit/passes/kernel_facts/Targets.h"

using namespace effc;
using namespace effc::test;

namespace {

using CoresTest = TargetsTest;

TEST_F(CoresTest, GpusTakeTwoItemsACore) {
  EXPECT_EQ(itemsThatFill(target("sm_80")), 216);
  EXPECT_EQ(itemsThatFill(target("sim_80")), 216);
  EXPECT_EQ(itemsThatFill(target("sm_90a")), 264);
  EXPECT_EQ(itemsThatFill(target("sim_90a")), 264);
  EXPECT_EQ(itemsThatFill(madeUp()), 528);
}

TEST_F(CoresTest, HostsAreTakenForUsualOnes) {
  for (tile::TargetAttr host :
       {target("host"), target("x86-64-v4"), tile::TargetAttr()}) {
    EXPECT_EQ(coresOf(host), 8);
    EXPECT_EQ(itemsThatFill(host), 8);
    EXPECT_EQ(closeElements(host), 8192);
  }
}

TEST_F(CoresTest, RegistersBoundBlocksOfACore) {
  tile::TargetAttr gpu = target("sm_80");
  EXPECT_EQ(residentBlocks(gpu, /*threads=*/64, /*registers=*/150), 6);
  EXPECT_EQ(residentBlocks(gpu, /*threads=*/256, /*registers=*/128), 2);
  EXPECT_EQ(residentBlocks(gpu, /*threads=*/1024, /*registers=*/255), 1);
  EXPECT_EQ(residentBlocks(madeUp(), /*threads=*/64, /*registers=*/150), 3);
}

} // namespace
