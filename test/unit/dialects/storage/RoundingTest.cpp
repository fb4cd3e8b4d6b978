// Numbers rounded to blocks that have a name: equal to the bit to what the public
// library recorded, and refused where no block stands for them.
#include "dialects/storage/Encoder.h"
#include "dialects/storage/Formats.h"
#include "test/unit/dialects/storage/PublishedBlocks.h"
#include "test/unit/dialects/storage/RoundedNumbers.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace effc;
using namespace effc::test;
using storage::BlockType;
using storage::Encoder;
using storage::Storage;

namespace {

struct Recorded {
  const char *kind, *distribution;
  uint64_t hash;          // FNV-1a
  uint64_t importantHash; // by the importance of columns
};
constexpr Recorded kRecorded[] = {
#include "test/unit/dialects/storage/rounded_blocks.inc"
};

uint64_t hashOf(llvm::ArrayRef<uint8_t> bytes) {
  uint64_t hash = 0xcbf29ce484222325;
  for (uint8_t byte : bytes)
    hash = (hash ^ byte) * 0x100000001b3;
  return hash;
}

class RoundingTest : public testing::TestWithParam<Recorded> {};

TEST_P(RoundingTest, GivesThePublicLibrarysBits) {
  mlir::MLIRContext context;
  context.loadDialect<storage::StorageDialect>();
  Storage storage = Storage::get(storage::formatOf(GetParam().kind, &context));
  std::vector<float> numbers = roundedNumbers(GetParam().distribution);
  ASSERT_EQ(numbers.size(), 4096u);
  std::vector<uint8_t> bytes(storage.bytes(4096));
  auto encoder = Encoder::of(storage);
  ASSERT_TRUE(encoder);
  ASSERT_FALSE(encoder->encode(numbers, bytes));
  EXPECT_EQ(hashOf(bytes), GetParam().hash);
  std::vector<float> importance = roundedImportance();
  size_t columns = importance.size(),
         rowBytes = storage.bytes(int64_t(columns));
  for (size_t row = 0; row * columns < numbers.size(); ++row)
    ASSERT_FALSE(encoder->encodeRow(
        llvm::ArrayRef(numbers).slice(row * columns, columns), importance,
        llvm::MutableArrayRef(bytes).slice(row * rowBytes, rowBytes)));
  EXPECT_EQ(hashOf(bytes), GetParam().importantHash);
  if (!storage::heedsImportance(storage.block())) {
    EXPECT_EQ(GetParam().importantHash, GetParam().hash);
  }
}

INSTANTIATE_TEST_SUITE_P(Recorded, RoundingTest, testing::ValuesIn(kRecorded),
                         [](const auto &info) {
                           return std::string(info.param.kind) + "_" +
                                  info.param.distribution;
                         });

/// What holds of each kind that has a name.
class RoundedKindTest : public testing::TestWithParam<PublishedBlock> {
protected:
  RoundedKindTest()
      : type(typeOf(GetParam(), context)), storage(Storage::get(type)),
        numbers(type.getElements()), bytes(type.getBytes()) {}

  std::optional<uint64_t> encode() {
    return Encoder::of(storage)->encode(numbers, bytes);
  }
  float worstError() {
    float worst = 0;
    for (auto [i, number] : llvm::enumerate(numbers))
      worst = std::max(worst, std::fabs(storage.number(bytes, i) - number));
    return worst;
  }

  mlir::MLIRContext context;
  BlockType type;
  Storage storage;
  std::vector<float> numbers;
  std::vector<uint8_t> bytes;
};

TEST_P(RoundedKindTest, KeepsZeros) {
  std::fill(bytes.begin(), bytes.end(), 0xaa);
  ASSERT_FALSE(encode());
  for (size_t i = 0; i < numbers.size(); ++i)
    EXPECT_EQ(storage.number(bytes, i), 0);
}

// One number among zeros: the error is a part of it that the codes allow for, and
// zeros are none the larger for it.
TEST_P(RoundedKindTest, KeepsASpike) {
  for (float spike : {3.0f, -3.0f}) {
    std::fill(numbers.begin(), numbers.end(), 0.0f);
    numbers[numbers.size() - 5] = spike;
    ASSERT_FALSE(encode());
    EXPECT_LE(worstError(), 0.35f) << spike;
    EXPECT_LE(std::fabs(storage.number(bytes, 0)), 0.03f) << spike;
  }
}

TEST_P(RoundedKindTest, KeepsEqualNumbers) {
  std::fill(numbers.begin(), numbers.end(), 0.75f);
  ASSERT_FALSE(encode());
  EXPECT_LE(worstError(), 0.05f);
}

// Below the least f16, down to the least f32: zeros, and never a NaN.
TEST_P(RoundedKindTest, TakesDenormals) {
  for (float scale : {0x1p-60f, 0x1p-120f, 0x1p-149f}) {
    for (auto [i, number] : llvm::enumerate(numbers))
      number = float(int(i % 5) - 2) * scale;
    ASSERT_FALSE(encode()) << scale;
    EXPECT_LE(worstError(), 4 * scale) << scale;
  }
}

TEST_P(RoundedKindTest, RefusesWhatIsNotFinite) {
  for (float wrong : {INFINITY, -INFINITY, NAN}) {
    std::fill(numbers.begin(), numbers.end(), 0.5f);
    numbers[7] = wrong;
    EXPECT_EQ(encode(), 0u) << wrong;
  }
}

// Scales and offsets are f16, or a power of two, which has room for all numbers.
TEST_P(RoundedKindTest, RefusesWhatNoScaleHolds) {
  for (float large : {1e9f, 1e13f, 3e38f}) {
    for (auto [i, number] : llvm::enumerate(numbers))
      number = i % 2 ? large : -large;
    if (std::string_view(GetParam().name) != "mxfp4")
      EXPECT_EQ(encode(), 0u) << large;
    else
      EXPECT_FALSE(encode()) << large;
  }
}

INSTANTIATE_TEST_SUITE_P(Published, RoundedKindTest,
                         testing::ValuesIn(publishedBlocks()),
                         [](const auto &info) {
                           return std::string(info.param.name);
                         });

// A description that only borrows a name has no rule of that name.
TEST(RoundingOf, WantsTheWholeDescription) {
  mlir::MLIRContext context;
  context.loadDialect<storage::StorageDialect>();
  auto own = llvm::cast<BlockType>(storage::formatOf(
      "!storage.block<\"q4_0\", elements = 8, bytes = 6, digits = [2, 4], code "
      "= uint [4 at 16 [4, 8]] bias -8, scale = [f16 [16 at 0 [0, 0]]]>",
      &context));
  EXPECT_FALSE(storage::roundingOf(own));
  EXPECT_TRUE(Encoder::of(Storage::get(own))); // by the largest number
  EXPECT_TRUE(storage::roundingOf(
      llvm::cast<BlockType>(storage::formatOf("q4_0", &context))));
}

} // namespace
