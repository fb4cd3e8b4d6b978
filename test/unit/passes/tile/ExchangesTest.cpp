// Bytes through which warps meet: what each of them leaves there.
#include "passes/tile/Exchanges.h"
#include "test/unit/passes/tile/KernelText.h"

using namespace effc;
using namespace effc::tile;
using namespace effc::tile::test;

namespace {

TEST(Exchanges, HoldASumOfEachWarpForEachResult) {
  KernelText kernel(128, R"(
    %a = tile.splat %f0 : !tile.tile<24x40xf32, accumulator, #tile.lin<threads = 128, lanes = 8, vector = 4>>
    %r = tile.reduce add %a over rows scratch 0
        : !tile.tile<24x40xf32, accumulator, #tile.lin<threads = 128, lanes = 8, vector = 4>>
          -> !tile.tile<40xf32, row, #tile.lin<threads = 128, lanes = 8, vector = 4>>
    %c = tile.reduce max %a over columns scratch 0
        : !tile.tile<24x40xf32, accumulator, #tile.lin<threads = 128, lanes = 8, vector = 4>>
          -> !tile.tile<24xf32, column, #tile.lin<threads = 128, lanes = 8, vector = 4>>
    %f = tile.reduce add %r over columns scratch 0
        : !tile.tile<40xf32, row, #tile.lin<threads = 128, lanes = 8, vector = 4>> -> f32
  )");
  EXPECT_EQ(exchangeBytes(kernel.op<ReduceOp>(0)), 4 * 40 * 4);
  EXPECT_EQ(exchangeBytes(kernel.op<ReduceOp>(1)), 4 * 24 * 4);
  EXPECT_EQ(exchangeBytes(kernel.op<ReduceOp>(2)), 4 * 4);
}

TEST(Exchanges, HoldTheBestOfEachWarpAndTwoOrderedRows) {
  KernelText kernel(64, R"(
    %a = tile.splat %f0 : !tile.tile<40xf32, row, #tile.lin<threads = 64, lanes = 16, vector = 4>>
    %h = tile.convert %a : !tile.tile<40xf32, row, #tile.lin<threads = 64, lanes = 16, vector = 4>>
        -> !tile.tile<40xf32, row, #tile.shared<threads = 64, offset = 0, stride = 1>>
    %v, %n = tile.top_k %h scratch 160
        : !tile.tile<40xf32, row, #tile.shared<threads = 64, offset = 0, stride = 1>>
          -> !tile.tile<6xf32, row, #tile.lin<threads = 64, lanes = 2, vector = 2>>,
             !tile.tile<6xi32, row, #tile.lin<threads = 64, lanes = 2, vector = 2>>
  )");
  // A value and a number of each of two warps; six of both for two rows.
  EXPECT_EQ(exchangeBytes(kernel.op<TopKOp>()), 2 * 8 + 2 * 6 * 8);
}

// SegmentTables.h: for 20 tokens, in three runs of up to 8, 20 x 8 decays inside
// of runs, 20 behind and 20 before a token, 3 sums and 3 x 3 between runs.
TEST(Exchanges, HoldTheDecaysOfParts) {
  KernelText kernel(32, R"(
    %a = tile.splat %f0 : !tile.tile<20xf32, column, #tile.lin<threads = 32, lanes = 1, vector = 1>>
    %h = tile.convert %a : !tile.tile<20xf32, column, #tile.lin<threads = 32, lanes = 1, vector = 1>>
        -> !tile.tile<20xf32, column, #tile.shared<threads = 32, offset = 0, stride = 1>>
    %d = tile.segment_decay %h scratch 80
        : !tile.tile<20xf32, column, #tile.shared<threads = 32, offset = 0, stride = 1>>
          -> !tile.tile<20x20xf32, operand, #tile.lin<threads = 32, lanes = 4, vector = 4>>
  )");
  int64_t floats = 20 * 8 + 20 + 20 + 3 + 3 * 3; // 212
  EXPECT_EQ(exchangeBytes(kernel.op<SegmentDecayOp>()), floats * 4);
}

} // namespace
