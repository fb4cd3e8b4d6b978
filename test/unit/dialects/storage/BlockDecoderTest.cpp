// Many blocks at once stand for what each element stands for by itself, to the bit.
#include "dialects/storage/Formats.h"
#include "dialects/storage/Storage.h"
#include "test/unit/dialects/storage/PublishedBlocks.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

using namespace effc;
using namespace effc::test;
using storage::Storage;

namespace {

void compare(Storage storage, const std::vector<uint8_t> &bytes, size_t count) {
  std::vector<float> numbers(count);
  storage.readNumbers(bytes, numbers);
  for (size_t i = 0; i < count; ++i) {
    float expected = storage.number(bytes, i);
    if (std::isnan(expected))
      ASSERT_TRUE(std::isnan(numbers[i])) << i;
    else
      ASSERT_EQ(std::bit_cast<uint32_t>(numbers[i]),
                std::bit_cast<uint32_t>(expected))
          << i;
  }
}

class BlockDecoderTest : public testing::TestWithParam<PublishedBlock> {};

TEST_P(BlockDecoderTest, GivesTheNumbersOfEachElement) {
  mlir::MLIRContext context;
  storage::BlockType type = typeOf(GetParam(), context);
  std::mt19937_64 random(41);
  constexpr size_t kBlocks = 70;
  auto bytes = randomBlocks(GetParam(), type.getBytes(), kBlocks, random, 0.8f);
  // A block of zeros, whose negative codes are -0, and one of any bits, which may be
  // no numbers.
  std::fill_n(bytes.begin(), type.getBytes(), uint8_t(0));
  for (int64_t i = 0; i < type.getBytes(); ++i)
    bytes[size_t(3 * type.getBytes() + i)] = uint8_t(random());
  compare(Storage::get(type), bytes, kBlocks * type.getElements());
}

INSTANTIATE_TEST_SUITE_P(Published, BlockDecoderTest,
                         testing::ValuesIn(publishedBlocks()), testName);
INSTANTIATE_TEST_SUITE_P(Grouped, BlockDecoderTest,
                         testing::ValuesIn(groupedBlocks()), testName);

// Codes of whole bytes and of several pieces, a scale of f32, two factors that are
// added.
TEST(BlockDecoder, ReadsWhatIsOnlyDescribed) {
  mlir::MLIRContext context;
  context.loadDialect<storage::StorageDialect>();
  auto type = llvm::cast<storage::BlockType>(storage::formatOf(
      "!storage.block<\"own\", elements = 12, bytes = 34, digits = [3, 4], "
      "code = uint [8 at 0 [32, 8], 2 at 96 [8, 2]] bias -300, "
      "scale = [bf16 [16 at 120 [16, 0]]], "
      "plus = [f16 [16 at 168 [0, 0]], uint [8 at 184 [8, 0]]], "
      "minus = [f32 [32 at 208 [0, 0]]]>",
      &context));
  ASSERT_TRUE(type);
  std::mt19937_64 random(43);
  std::vector<uint8_t> bytes(size_t(type.getBytes()) * 9);
  for (uint8_t &byte : bytes)
    byte = uint8_t(random() & 0x3f);
  compare(Storage::get(type), bytes, 12 * 9);
}

} // namespace
