// Sizes of chunkwise kernels, by the memory and the threads of a block.
#include "passes/kernel_facts/ChunkKernels.h"
#include "test/unit/passes/kernel_facts/Targets.h"

using namespace effc;
using namespace effc::test;
using seq::DecayAxis;
using seq::LowRankPair;

namespace {

using ChunkKernelsTest = TargetsTest;

TEST_F(ChunkKernelsTest, ChunksAreShorterWhereHeadsHaveMoreKeys) {
  seq::LinearAttr plain = linear(DecayAxis::Head);
  for (llvm::StringRef name : kSizedGpus)
    for (auto [keys, tokens] : {std::pair(16, 64),
                                {64, 64},
                                {128, 64},
                                {192, 32},
                                {256, 32},
                                {264, 16},
                                {1024, 16}})
      EXPECT_EQ(mostChosenTokens(plain, target(name), keys), tokens)
          << name.str() << " " << keys;
  for (seq::LinearAttr other :
       {linear(DecayAxis::Key),
        linear(DecayAxis::Head, LowRankPair::DecayedState)})
    EXPECT_EQ(mostChosenTokens(other, target("sm_90a"), 64), 16);
}

TEST_F(ChunkKernelsTest, FewerThreadsTakeShorterChunks) {
  Target chip = kSm90a;
  chip.mostThreads = 128;
  seq::LinearAttr plain = linear(DecayAxis::Head);
  EXPECT_EQ(mostChosenTokens(plain, describe(chip), 64), 64);
  EXPECT_EQ(mostChosenTokens(plain, describe(chip), 128), 32);
  EXPECT_EQ(mostChosenTokens(plain, describe(chip), 256), 16);
}

TEST_F(ChunkKernelsTest, StatesTakeHalfABlock) {
  seq::LinearAttr plain = linear(DecayAxis::Head),
                  keyed = linear(DecayAxis::Key);
  for (llvm::StringRef name : kSizedGpus) {
    EXPECT_EQ(mostChunkValues(plain, target(name), 512, 16), 64);
    EXPECT_EQ(mostChunkValues(keyed, target(name), 64, 16), 128);
    EXPECT_EQ(mostChunkValues(keyed, target(name), 64, 32), 64);
    EXPECT_EQ(mostChunkValues(keyed, target(name), 256, 16), 64);
  }
  EXPECT_EQ(mostChunkValues(keyed, target("sm_86"), 128, 16), 64);
  EXPECT_EQ(mostChunkValues(keyed, target("sm_86"), 256, 16), 32);
  EXPECT_EQ(mostChunkValues(keyed, madeUp(), 256, 16), 32);
}

// 16 rows of a chunk are 8 tokens of two writes. What has no rows of writes: the host,
// decays of channels, and more writes than leave a chunk two tokens.
TEST_F(ChunkKernelsTest, WritesOfTokensShareTheRowsOfAChunk) {
  auto corrects = [&](int64_t writes, DecayAxis decay = DecayAxis::Head) {
    return linear(decay, LowRankPair::DecayedState, writes);
  };
  for (auto [writes, tokens] :
       {std::pair(2, 8), {3, 4}, {4, 4}, {5, 2}, {8, 2}}) {
    EXPECT_EQ(mostChunkTokens(corrects(writes)), tokens) << writes;
    EXPECT_EQ(chunkObstacle(corrects(writes), target("sm_80"), 64, 96), "");
  }
  EXPECT_EQ(chunkObstacle(corrects(9), target("sm_90a"), 64, 96), "writes = 9");
  EXPECT_EQ(
      chunkObstacle(corrects(2, DecayAxis::Key), target("sm_90a"), 64, 96),
      "writes = 2");
  EXPECT_EQ(chunkObstacle(linear(DecayAxis::Head, LowRankPair::None, 2),
                          target("host"), 64, 96),
            "writes = 2");
}

// Keys and probes of 16 tokens are two blocks, for which 256 threads have 8,192 elements.
TEST_F(ChunkKernelsTest, FewerThreadsTakeHeadsOfFewerKeys) {
  Target chip = kSm90a;
  chip.mostThreads = 128;
  seq::LinearAttr plain = linear(DecayAxis::Head),
                  keyed = linear(DecayAxis::Key);
  for (llvm::StringRef name : kSizedGpus) {
    EXPECT_EQ(chunkObstacle(keyed, target(name), 256, 64), "");
    EXPECT_EQ(chunkObstacle(keyed, target(name), 264, 64),
              "key channels = 264");
    EXPECT_EQ(chunkObstacle(plain, target(name), 264, 64), "");
  }
  EXPECT_EQ(chunkObstacle(keyed, describe(chip), 128, 64), "");
  EXPECT_EQ(chunkObstacle(keyed, describe(chip), 136, 64),
            "key channels = 136");
}

// Half the schedulers have half the rows of a tile, and items half the values. Half the
// threads hold a state of half the keys.
TEST_F(ChunkKernelsTest, ValuesFollowARecordThatNoTableHas) {
  Target fewer = kSm90a, smaller = kSm90a;
  fewer.core.schedulers = 2;
  smaller.mostThreads = 128;
  seq::LinearAttr plain = linear(DecayAxis::Head),
                  keyed = linear(DecayAxis::Key);
  EXPECT_EQ(mostChunkValues(plain, describe(fewer), 64, 16), 32);
  EXPECT_EQ(mostChunkValues(keyed, describe(fewer), 64, 16), 64);
  EXPECT_EQ(mostChunkValues(keyed, describe(smaller), 64, 16), 64);
  EXPECT_EQ(mostChunkValues(keyed, describe(smaller), 32, 16), 128);
}

TEST_F(ChunkKernelsTest, AnItemOfTheHostHasTheWholeHead) {
  seq::LinearAttr plain = linear(DecayAxis::Head);
  for (tile::TargetAttr host : {target("x86-64-v3"), tile::TargetAttr()})
    EXPECT_GE(mostChunkValues(plain, host, 64, 16), 1 << 20);
}

TEST_F(ChunkKernelsTest, MatricesBetweenPiecesNeedRoom) {
  seq::LinearAttr corrects = linear(DecayAxis::Head, LowRankPair::DecayedState);
  for (llvm::StringRef name : kSizedGpus) {
    EXPECT_GT(mostPieces(corrects, target(name), 128, 128), 2) << name.str();
    EXPECT_EQ(mostPieces(corrects, target(name), 128, 136), 2) << name.str();
  }
  EXPECT_EQ(mostPieces(corrects, madeUp(), 128, 64), 2);
  EXPECT_GT(mostPieces(corrects, madeUp(), 64, 64), 2);
  EXPECT_GT(mostPieces(linear(DecayAxis::Head), madeUp(), 256, 256), 2);
}

} // namespace
