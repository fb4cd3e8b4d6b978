// Panels hold the blocks' bits: what they describe are the same numbers, and the way
// back gives the same bytes.
#include "dialects/storage/Panels.h"
#include "dialects/storage/BlockNumbers.h"
#include "dialects/storage/Storage.h"
#include "mlir/IR/Diagnostics.h"
#include "test/unit/dialects/storage/PublishedBlocks.h"

#include <bit>
#include <gtest/gtest.h>

using namespace effc;
using namespace effc::test;

namespace {

class PanelsTest : public testing::TestWithParam<PublishedBlock> {
protected:
  PanelsTest() : rows(typeOf(GetParam(), context)) {}
  mlir::MLIRContext context;
  storage::BlockType rows;
  std::mt19937_64 random{31};
};

// 37 rows: two whole panels and a rest of 5.
TEST_P(PanelsTest, StandForTheSameNumbers) {
  // Codes that are no integers of bytes, and blocks of 24, have none.
  bool isPublished = llvm::any_of(publishedBlocks(), [](const auto &block) {
    return GetParam().name == block.name;
  });
  std::string_view name = GetParam().name;
  ASSERT_EQ(storage::hasPanels(rows),
            isPublished || (name.starts_with("int") && name != "int4_24_bf16" &&
                            name != "int4_20_f16"));
  if (!storage::hasPanels(rows))
    return;
  constexpr int64_t kRows = 37, kBlocks = 3;
  int64_t columns = kBlocks * rows.getElements();
  auto bytes =
      randomBlocks(GetParam(), rows.getBytes(), kRows * kBlocks, random, 0.7f);
  storage::PanelOrder order(rows);
  auto packed = order.pack(kRows, columns, bytes);
  auto panel = storage::PanelType::get(&context, rows);
  auto stored = storage::Storage::get(panel);
  EXPECT_EQ(int64_t(packed.size()), stored.matrixBytes(kRows, columns));
  EXPECT_EQ(stored.blockRows(), 16);
  EXPECT_EQ(order.unpack(kRows, columns, packed), bytes);

  auto layout = storage::PanelLayout::of(rows);
  storage::BlockType described = layout.describe();
  auto original = storage::Storage::get(rows);
  for (int64_t row = 0; row < kRows; ++row)
    for (int64_t column = 0; column < columns; ++column) {
      int64_t block = row / 16 * kBlocks + column / rows.getElements();
      float number = storage::blockNumber(
          described,
          llvm::ArrayRef(packed).slice(block * layout.bytes, layout.bytes),
          row % 16 * rows.getElements() + column % rows.getElements());
      ASSERT_EQ(std::bit_cast<uint32_t>(number),
                std::bit_cast<uint32_t>(
                    original.number(bytes, row * columns + column)))
          << "row " << row << ", column " << column;
    }
}

INSTANTIATE_TEST_SUITE_P(Published, PanelsTest,
                         testing::ValuesIn(publishedBlocks()), testName);
INSTANTIATE_TEST_SUITE_P(Grouped, PanelsTest,
                         testing::ValuesIn(groupedBlocks()), testName);

TEST(PanelLayout, TakesNoMoreThanTheBlocksButForScalesInBytes) {
  mlir::MLIRContext context;
  auto bytesOf = [&](const char *name) {
    return storage::PanelLayout::of(typeOf({name, nullptr, {}}, context)).bytes;
  };
  EXPECT_EQ(bytesOf("q4_0"), 16 * 18);
  EXPECT_EQ(bytesOf("q4_1"), 16 * 20);
  EXPECT_EQ(bytesOf("q5_0"), 16 * 22);
  EXPECT_EQ(bytesOf("q8_0"), 16 * 34);
  EXPECT_EQ(bytesOf("mxfp4"), 16 * 17);
  EXPECT_EQ(bytesOf("q6_k"), 16 * 210);
  EXPECT_EQ(bytesOf("int4z_128_f16"), 16 * 67);
  EXPECT_EQ(bytesOf("q4_k"), 16 * 148); // eight scales and minima in bytes
  EXPECT_EQ(bytesOf("int8_256_bf16"), 16 * 258);
  EXPECT_EQ(bytesOf("int8z_1024_f32"), 16 * 1029); // the largest of all
}

// 16 rows of the largest blocks are a description like others. With assertions none that
// is not would be made.
TEST(PanelLayout, IsDescribedSoundly) {
  mlir::MLIRContext context;
  for (const char *name : {"q8_0", "q4_k", "q6_k", "int8z_1024_f32"}) {
    storage::BlockType type =
        storage::PanelLayout::of(typeOf({name, nullptr, {}}, context))
            .describe();
    EXPECT_TRUE(mlir::succeeded(storage::BlockType::verify(
        [&] { return mlir::emitError(mlir::UnknownLoc::get(&context)); },
        type.getName(), type.getElements(), type.getBytes(), type.getDigits(),
        type.getCode(), type.getZero(), type.getScale(), type.getPlus(),
        type.getMinus())))
        << name;
  }
}

} // namespace
