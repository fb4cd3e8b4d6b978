// Bundles hold the blocks' bits: what they describe are the same numbers, and the way
// back gives the same bytes.
#include "dialects/storage/Bundles.h"
#include "dialects/storage/BlockNumbers.h"
#include "dialects/storage/Storage.h"
#include "mlir/IR/Diagnostics.h"
#include "test/unit/dialects/storage/PublishedBlocks.h"

#include <bit>
#include <gtest/gtest.h>

using namespace effc;
using namespace effc::test;

namespace {

constexpr int64_t kMost = 1024;

class BundlesTest : public testing::TestWithParam<PublishedBlock> {
protected:
  BundlesTest() : block(typeOf(GetParam(), context)) {}
  mlir::MLIRContext context;
  storage::BlockType block;
  std::mt19937_64 random{37};
};

// Rows of 3 bundles, as long ones and as short ones as there are.
TEST_P(BundlesTest, StandForTheSameNumbers) {
  constexpr int64_t kRows = 5, kBundles = 3;
  int64_t longest = storage::blocksOfBundle(
      block, kBundles * kMost * block.getElements(), kMost);
  ASSERT_GT(longest, 0);
  for (int64_t blocks = longest; blocks > 0; blocks /= 2) {
    int64_t columns = kBundles * blocks * block.getElements();
    if (storage::blocksOfBundle(block, columns, blocks * block.getElements()) !=
        blocks)
      break; // too short for whole words
    auto bytes = randomBlocks(GetParam(), block.getBytes(),
                              kRows * kBundles * blocks, random, 0.7f);
    storage::BundleOrder order(block, blocks);
    auto packed = order.pack(bytes);
    EXPECT_EQ(order.unpack(packed), bytes);
    storage::BlockType bundle = storage::bundleOf(block, blocks);
    auto stored = storage::Storage::get(bundle);
    ASSERT_EQ(int64_t(packed.size()), kRows * stored.bytes(columns));
    auto original = storage::Storage::get(block);
    for (int64_t i = 0; i < kRows * columns; ++i)
      ASSERT_EQ(std::bit_cast<uint32_t>(stored.number(packed, i)),
                std::bit_cast<uint32_t>(original.number(bytes, i)))
          << blocks << " blocks, element " << i;
  }
}

TEST_P(BundlesTest, AreDescribedSoundlyAndAligned) {
  int64_t blocks =
      storage::blocksOfBundle(block, kMost * block.getElements(), kMost);
  ASSERT_GT(blocks, 0);
  storage::BlockType bundle = storage::bundleOf(block, blocks);
  EXPECT_TRUE(mlir::succeeded(storage::BlockType::verify(
      [&] { return mlir::emitError(mlir::UnknownLoc::get(&context)); },
      bundle.getName(), bundle.getElements(), bundle.getBytes(),
      bundle.getDigits(), bundle.getCode(), bundle.getZero(), bundle.getScale(),
      bundle.getPlus(), bundle.getMinus())));
  EXPECT_EQ(bundle.getBytes() % storage::kBundleAlignment, 0);
  for (int64_t start : bundle.getCode().getStarts())
    EXPECT_EQ(start % (8 * storage::kBundleAlignment), 0);
  EXPECT_EQ(storage::liesInRuns(bundle),
            block.getElements() % storage::kBundleRun == 0);
  for (llvm::ArrayRef<storage::FieldAttr> part :
       {bundle.getZero(), bundle.getScale(), bundle.getPlus(),
        bundle.getMinus()})
    for (storage::FieldAttr factor : part) {
      int64_t bytes = llvm::alignTo(factor.bits(), 8);
      EXPECT_EQ(factor.getStarts().front() % bytes, 0);
      for (int64_t stride : factor.stridesOf(0))
        EXPECT_EQ(stride % bytes, 0);
    }
}

INSTANTIATE_TEST_SUITE_P(Published, BundlesTest,
                         testing::ValuesIn(publishedBlocks()), testName);
INSTANTIATE_TEST_SUITE_P(Grouped, BundlesTest,
                         testing::ValuesIn(groupedBlocks()), testName);

TEST(Bundles, TakeNoMoreThanTheBlocksButForScalesInBytes) {
  mlir::MLIRContext context;
  auto bytesOf = [&](const char *name, int64_t blocks) {
    return storage::bundleOf(typeOf({name, nullptr, {}}, context), blocks)
        .getBytes();
  };
  EXPECT_EQ(bytesOf("q4_0", 32), 32 * 18);
  EXPECT_EQ(bytesOf("q4_1", 8), 8 * 20);
  EXPECT_EQ(bytesOf("q5_0", 16), 16 * 22);
  EXPECT_EQ(bytesOf("q8_0", 32), 32 * 34);
  EXPECT_EQ(bytesOf("q6_k", 4), 4 * 210 + 8); // 8 bytes of padding
  EXPECT_EQ(bytesOf("q4_k", 4), 4 * 148); // eight scales and minima in bytes
  // The longest that chips have, of 512 elements, and the shortest.
  EXPECT_EQ(bytesOf("q4_0", 16), 16 * 18);
  EXPECT_EQ(bytesOf("q4_k", 2), 2 * 152);
  EXPECT_EQ(bytesOf("q4_k", 1), 160);
  EXPECT_EQ(bytesOf("q6_k", 1), 224);
  // A scale and a zero of 128 elements, beside one another in four bytes.
  EXPECT_EQ(bytesOf("int4z_128_f16", 4), 4 * 64 + 4 * 4);
}

// Codes of two bits and one bit in planes, then what each block has, then what each 16
// elements have.
TEST(Bundles, HaveCodesFirstThenScales) {
  mlir::MLIRContext context;
  storage::BlockType bundle =
      storage::bundleOf(typeOf({"q3_k", nullptr, {}}, context), 4);
  EXPECT_EQ(bundle.getElements(), 1024);
  EXPECT_EQ(llvm::ArrayRef<int64_t>({4, 16, 16}), bundle.getDigits());
  storage::FieldAttr code = bundle.getCode();
  EXPECT_EQ(llvm::ArrayRef<int64_t>({2, 1}), code.getWidths());
  EXPECT_EQ(llvm::ArrayRef<int64_t>({0, 2048}), code.getStarts());
  EXPECT_EQ(llvm::ArrayRef<int64_t>({512, 32, 2, 256, 16, 1}),
            code.getStrides());
  EXPECT_EQ(llvm::ArrayRef<int64_t>({3072}), bundle.getScale()[0].getStarts());
  EXPECT_EQ(llvm::ArrayRef<int64_t>({16, 0, 0}),
            bundle.getScale()[0].getStrides());
  EXPECT_EQ(llvm::ArrayRef<int64_t>({3136}), bundle.getScale()[1].getStarts());
  EXPECT_EQ(llvm::ArrayRef<int64_t>({128, 8, 0}),
            bundle.getScale()[1].getStrides());
}

TEST(Bundles, AreOfWholeRowsAlone) {
  mlir::MLIRContext context;
  storage::BlockType q4 = typeOf({"q4_0", nullptr, {}}, context);
  EXPECT_EQ(storage::blocksOfBundle(q4, 4096, kMost), 32);
  EXPECT_EQ(storage::blocksOfBundle(q4, 11008, kMost), 8);
  EXPECT_EQ(storage::blocksOfBundle(q4, 384, kMost), 4);
  EXPECT_EQ(storage::blocksOfBundle(q4, 96, kMost), 0);
  EXPECT_EQ(storage::blocksOfBundle(q4, 4096, 256), 8);
}

} // namespace
