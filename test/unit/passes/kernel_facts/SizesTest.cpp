// Sizes of kernels as every target of the tables has them, and as a record would that no
// table has.
#include "dialects/tile/Distribution.h"
#include "passes/kernel_facts/BlockRoom.h"
#include "passes/kernel_facts/Cores.h"
#include "passes/kernel_facts/HostSizes.h"
#include "passes/kernel_facts/LaunchCost.h"
#include "passes/kernel_facts/MethodSizes.h"
#include "passes/kernel_facts/RoundedOperands.h"
#include "passes/kernel_facts/WindowPieces.h"
#include "test/unit/passes/kernel_facts/Targets.h"

using namespace effc;
using namespace effc::test;

namespace {

using SizesTest = TargetsTest;

/// What a GPU's kernels are sized by.
struct GpuSizes {
  llvm::StringRef name;
  int64_t fewThreads, fewElements; ///< of a small block
  int64_t tileRows;                ///< of products, and queries of a window
  int64_t warpCopyBytes;
  int64_t convolutionThreads, convolutionRows, convolutionsBeside;
  int64_t windowKeys, narrowWindowKeys;
  int64_t normedTerms, gatedTerms, splitRows;
  /// Thousands of weights from which 4 and 4,096 rows have them unpacked ahead.
  int64_t unpackedOfFew, unpackedOfMany;
};

/// Of q4_0, 18 bytes for 32 weights; 0: never.
int64_t unpackedFrom(tile::TargetAttr gpu, int64_t rows) {
  constexpr int64_t kMost = 20000;
  for (int64_t thousands = 1; thousands <= kMost; ++thousands)
    if (paysToUnpack(gpu, rows, thousands * 1000, thousands * 1000 * 18 / 32))
      return thousands;
  return 0;
}

// All chips here have warps of 32 threads, four schedulers and 64 Ki registers in a core,
// and launches of 2,500 cycles: 64 threads with 120 registers are there eight times. A
// norm is taken in up to 2,500 cycles of `rereads`, 1,600 for 132 cores, and rows are split from
// 2,500 cycles of memory by 4,096 bytes. A weight of q4_0 that is unpacked ahead moves
// 4 + 18 / 32 bytes; a core unpacks one in a cycle of few rows, and of 4,096, which are
// 64 tiles, 3 of each. Where memory is slow beside the cores few rows never pay.
constexpr GpuSizes kGpus[] = {{"sm_80", 128, 4096, 64, 512, 64, 64, 8, 32, 64,
                               3272500, 1636250, 882, 410, 13},
                              {"sm_86", 128, 4096, 64, 512, 64, 64, 8, 32, 64,
                               2545000, 1272500, 336, 688, 11},
                              {"sm_89", 128, 4096, 64, 512, 64, 64, 8, 32, 64,
                               3877500, 1938750, 244, 0, 17},
                              {"sm_90a", 128, 4096, 64, 512, 64, 64, 8, 32, 64,
                               4000000, 2000000, 1024, 515, 16},
                              {"sm_100", 128, 4096, 64, 512, 64, 64, 8, 32, 64,
                               4482500, 2241250, 2484, 444, 18},
                              {"sm_120", 128, 4096, 64, 512, 64, 64, 8, 32, 64,
                               5150000, 2575000, 454, 0, 21},
                              {"sim_80", 128, 4096, 64, 512, 64, 64, 8, 32, 64,
                               3272500, 1636250, 882, 410, 13},
                              {"sim_90a", 128, 4096, 64, 512, 64, 64, 8, 32, 64,
                               4000000, 2000000, 1024, 515, 16}};

int64_t convolutionsBeside(tile::TargetAttr gpu) {
  return residentBlocks(gpu, BlockRoom::of(gpu).convolutionThreads(),
                        kConvolutionRegisters);
}

TEST_F(SizesTest, OfEveryGpu) {
  for (const GpuSizes &sizes : kGpus) {
    std::string name = sizes.name.str();
    tile::TargetAttr gpu = target(sizes.name);
    BlockRoom room = BlockRoom::of(gpu);
    EXPECT_EQ(room.fewThreads(), sizes.fewThreads) << name;
    EXPECT_EQ(room.fewElements(), sizes.fewElements) << name;
    EXPECT_EQ(room.tileRows(), sizes.tileRows) << name;
    EXPECT_EQ(room.warpCopyBytes(), sizes.warpCopyBytes) << name;
    EXPECT_EQ(room.convolutionThreads(), sizes.convolutionThreads) << name;
    EXPECT_EQ(room.convolutionRows(), sizes.convolutionRows) << name;
    EXPECT_EQ(convolutionsBeside(gpu), sizes.convolutionsBeside) << name;
    for (Products products : {Products::Exact, Products::TF32})
      EXPECT_EQ(mostWindowKeys(target(sizes.name, products)), sizes.windowKeys)
          << name;
    for (Products products : {Products::BF16, Products::F16})
      EXPECT_EQ(mostWindowKeys(target(sizes.name, products)),
                sizes.narrowWindowKeys)
          << name;
    EXPECT_EQ(mostNormedTerms(gpu, /*isGated=*/false), sizes.normedTerms)
        << name;
    EXPECT_EQ(mostNormedTerms(gpu, /*isGated=*/true), sizes.gatedTerms) << name;
    EXPECT_EQ(fewestSplitRows(gpu), sizes.splitRows) << name;
    for (Products products : {Products::BF16, Products::F16}) {
      tile::TargetAttr rounding = target(sizes.name, products);
      EXPECT_EQ(unpackedFrom(rounding, 4), sizes.unpackedOfFew) << name;
      EXPECT_EQ(unpackedFrom(rounding, 4096), sizes.unpackedOfMany) << name;
    }
  }
}

// Of windows beyond 64 keys, and of at most 128 pieces, where groups of heads are fewer
// than cores: 132 of an H100, 108 of an A100. A host has none.
TEST_F(SizesTest, OfPiecesOfWindows) {
  tile::TargetAttr gpu = target("sm_90a");
  EXPECT_EQ(windowPieceOf(gpu, /*keys=*/64, /*groups=*/8), 0);
  EXPECT_EQ(windowPieceOf(gpu, 65, 8), 64);
  EXPECT_EQ(windowPieceOf(gpu, 8192, 8), 64);
  EXPECT_EQ(windowPieceOf(gpu, 8193, 8), 128);
  EXPECT_EQ(windowPieceOf(gpu, 131072, 8), 1024);
  EXPECT_EQ(windowPieceOf(gpu, 4096, 131), 64);
  EXPECT_EQ(windowPieceOf(gpu, 4096, 132), 0);
  EXPECT_EQ(windowPieceOf(target("sm_80"), 4096, 107), 64);
  EXPECT_EQ(windowPieceOf(target("sm_80"), 4096, 108), 0);
  EXPECT_EQ(windowPieceOf(target("x86-64-v3"), 4096, 1), 0);
  EXPECT_EQ(windowPieceOf({}, 4096, 1), 0);
  EXPECT_EQ(windowItemsThatFill(gpu), 8 * 132);
  EXPECT_EQ(windowItemsThatFill(target("sim_80")), 8 * 108);
}

TEST_F(SizesTest, NoGpuIsLeftOut) {
  for (const Target &row : targets())
    EXPECT_EQ(llvm::count_if(kGpus,
                             [&](const GpuSizes &sizes) {
                               return sizes.name == row.name;
                             }),
              row.device == tile::Device::Nvptx)
        << row.name.str();
}

// One plan serves all levels, so each level gives what the lowest does.
TEST_F(SizesTest, OfEveryLevelOfTheHost) {
  for (const Target &row : targets()) {
    if (row.device != tile::Device::Host)
      continue;
    tile::TargetAttr host = describe(row);
    EXPECT_EQ(coresOf(host), 8) << row.name.str();
    EXPECT_EQ(closeElements(host), 8192) << row.name.str();
    EXPECT_EQ(closeElements(host), closeElements({})) << row.name.str();
    EXPECT_EQ(hostScores(host), 2048) << row.name.str();
    EXPECT_EQ(mostWindowKeys(host), 32) << row.name.str();
  }
  EXPECT_EQ(mostWindowKeys({}), 32);
  EXPECT_EQ(kHostRows, 4);
  EXPECT_EQ(kHostPassedOutputs, 12);
  EXPECT_EQ(kHostOutputs, 24);
  EXPECT_EQ(kHostPanelOutputs, 32);
  EXPECT_EQ(kHostQueries, 16);
}

// Half the schedulers have half the warps, and half the rows of a tile. Launches that
// take twice as long are worth twice the work, and half the bandwidth halves it again. 4,096
// rows are 128 tiles then, of which each unpacks half as fast.
TEST_F(SizesTest, FollowARecordThatNoTableHas) {
  Target chip = kSm90a;
  chip.core.schedulers = 2;
  chip.core.launch *= 2;
  chip.core.registers /= 2;
  chip.bandwidth /= 2;
  chip.rereads /= 2;
  tile::TargetAttr gpu = describe(chip);
  BlockRoom room = BlockRoom::of(gpu);
  EXPECT_EQ(room.fewThreads(), 64);
  EXPECT_EQ(room.fewElements(), 2048);
  EXPECT_EQ(room.tileRows(), 32);
  EXPECT_EQ(convolutionsBeside(gpu), 4);
  EXPECT_EQ(mostNormedTerms(gpu, /*isGated=*/false), 4000000);
  EXPECT_EQ(fewestSplitRows(gpu), 1024);
  EXPECT_EQ(unpackedFrom(describe(chip, Products::BF16), 4096), 8);
}

} // namespace
