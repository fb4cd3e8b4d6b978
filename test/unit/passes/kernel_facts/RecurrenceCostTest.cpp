// Cycles of recurrences, against counts of their FLOPs.
#include "passes/kernel_facts/RecurrenceCost.h"
#include "test/unit/passes/kernel_facts/Targets.h"

using namespace effc;
using namespace effc::test;
using seq::DecayAxis;
using seq::LowRankPair;

namespace {

using RecurrenceCostTest = TargetsTest;

TEST_F(RecurrenceCostTest, CountsTheTimeLoop) {
  HeadCost host = {linear(DecayAxis::Head), target("host"), 64, 128};
  EXPECT_DOUBLE_EQ(host.ofSteps(), 5.0 * 64 * 128 / 22);
  host.linear = linear(DecayAxis::Head, LowRankPair::DecayedState);
  EXPECT_DOUBLE_EQ(host.ofSteps(), 7.0 * 64 * 128 / 22);
  HeadCost gpu = {linear(DecayAxis::Head), target("sm_90a"), 64, 128};
  EXPECT_DOUBLE_EQ(gpu.ofSteps(), 5.0 * 64 * 128 / 60 + 600);
}

// 4 K V for the state, C (K + V) for pairs of tokens, 40 C for their decays.
TEST_F(RecurrenceCostTest, CountsChunks) {
  HeadCost host = {linear(DecayAxis::Head), target("host"), 64, 128};
  EXPECT_DOUBLE_EQ(host.ofChunks(16),
                   (4.0 * 64 * 128 + 16 * (64 + 128) + 40 * 16) / 18);
  // Two items of 64 values, each with the keys of all tokens.
  HeadCost gpu = {linear(DecayAxis::Head), target("sm_90a", Products::BF16), 64,
                  128};
  double flops = 4.0 * 64 * 128 + 32 * (2 * 64 + 128) + 2 * 40 * 32;
  double waits = 500 + 10 * 50 + 2 * (64 + 32) / 16.0 * 33;
  EXPECT_DOUBLE_EQ(gpu.ofChunks(32), flops / 1800 + waits / 32);
}

// Three corrections a token: 2 K V to read, K V to decay and 4 K V for each, whose probe
// all threads wait for. A chunk of 4 tokens has 12 rows, which are made of tokens of each
// write, and tokens of them.
TEST_F(RecurrenceCostTest, CountsSeveralWrites) {
  HeadCost gpu = {linear(DecayAxis::Head, LowRankPair::DecayedState, 3),
                  target("sm_80"), 64, 48};
  EXPECT_DOUBLE_EQ(gpu.ofSteps(), 15.0 * 64 * 48 / 60 + 500 + 3 * 2 * 50);
  double flops = 6.0 * 64 * 48 + 2 * 12 * (64 + 48) + 3 * 4 * 144 + 12 * 40 +
                 24 * (64 + 48 + (64 + 48) / 3.0);
  double terms = 3 * (64 + 12) + 16 * (2 * 3 + 2);
  double waits = 500 + 16 * 50 + 6 * terms / 16.0 * 33;
  EXPECT_NEAR(gpu.ofChunks(4), (12 * flops / 300 + waits) / 4, 1e-9);
}

// log2 C products of whole blocks, and as many sums of log-decays and one more.
TEST_F(RecurrenceCostTest, CountsDecaysPerKey) {
  HeadCost gpu = {linear(DecayAxis::Key), target("sm_80"), 64, 64};
  double flops =
      4.0 * 64 * 64 + 16 * 64 + 4 * 2 * 16 * 64 + 5 * 2 * 16 * 64 + 6 * 64 * 40;
  double waits = 500 + 10 * 50 + 6 * 2 * (64 + 16) / 16.0 * 33;
  EXPECT_DOUBLE_EQ(gpu.ofChunks(16), flops / 300 + waits / 16);
}

TEST_F(RecurrenceCostTest, PiecesOfAScanWaitBesideOneAnother) {
  HeadCost gpu = {linear(DecayAxis::Key), target("sm_90a"), 16, 16};
  double work = 2 * 5.0 * 16 * 16 / 60;
  EXPECT_DOUBLE_EQ(gpu.ofScan(1), work + 600);
  EXPECT_DOUBLE_EQ(gpu.ofScan(16), work + 300);
  EXPECT_DOUBLE_EQ(gpu.ofScan(4096), work + 75);
}

// A second launch is worth its time where chunks are many, and where more cores are
// idle. A correction's state reads the tokens, and matrices of pieces are multiplied.
TEST_F(RecurrenceCostTest, PiecesOfChunksFillIdleCores) {
  ChunkPiecesCost cost = {
      linear(DecayAxis::Head), target("sm_90a"), /*heads=*/4,
      /*itemsOfHead=*/4,       /*keys=*/128,
      /*values=*/64,           /*chunk=*/16};
  EXPECT_GT(cost.of(/*chunks=*/1, /*pieces=*/8, 0), cost.of(1, 1, 0));
  EXPECT_LT(cost.of(256, 8, 0), cost.of(256, 1, 0));
  // 15 pieces of 16 items are more than 132 cores take at once.
  ChunkPiecesCost more = cost;
  more.target = madeUp();
  EXPECT_LT(more.of(256, 16, 0), cost.of(256, 16, 0));
  EXPECT_DOUBLE_EQ(more.of(256, 8, 0), cost.of(256, 8, 0));
  ChunkPiecesCost corrects = cost;
  corrects.linear = linear(DecayAxis::Head, LowRankPair::DecayedState);
  EXPECT_GT(corrects.of(256, 8, 2), cost.of(256, 8, 0));
}

TEST_F(RecurrenceCostTest, PiecesOfTokensFillIdleCores) {
  TokenPiecesCost cost = {target("sm_90a"), /*tokens=*/4096, /*items=*/16,
                          /*elements=*/1024, /*blocks=*/1};
  EXPECT_EQ(cost.residentItems(), 16);
  EXPECT_DOUBLE_EQ(cost.of(1), 4096 * 600.0);
  EXPECT_DOUBLE_EQ(cost.of(8), 2 * 512 * 600.0 + 2500 + 8 * 600);
  cost.elements = 16384;
  EXPECT_EQ(cost.residentItems(), 1);
  cost.elements = 64;
  EXPECT_EQ(cost.residentItems(), 16);
}

} // namespace
