// What blocks stand for: equal to the bit to what decoders say that are written from
// the public layouts alone; and blocks for given numbers.
#include "dialects/storage/BlockNumbers.h"
#include "dialects/storage/Formats.h"
#include "dialects/storage/Storage.h"
#include "test/unit/dialects/storage/PublishedBlocks.h"

#include <bit>
#include <cmath>
#include <gtest/gtest.h>

using namespace effc;
using namespace effc::test;
using storage::BlockType;
using storage::Storage;

namespace {

class BlockNumbersTest : public testing::TestWithParam<PublishedBlock> {
protected:
  BlockNumbersTest() : type(typeOf(GetParam(), context)) {}
  mlir::MLIRContext context;
  BlockType type;
  std::mt19937_64 random{23};
};

TEST_P(BlockNumbersTest, EqualTheLayoutsBitForBit) {
  ASSERT_TRUE(type);
  constexpr size_t kBlocks = 500;
  auto bytes =
      randomBlocks(GetParam(), type.getBytes(), kBlocks, random, 0.37f);
  Storage storage = Storage::get(type);
  std::vector<float> expected(type.getElements());
  for (size_t block = 0; block < kBlocks; ++block) {
    GetParam().decode(bytes.data() + block * type.getBytes(), expected.data());
    for (int64_t i = 0; i < type.getElements(); ++i)
      ASSERT_EQ(std::bit_cast<uint32_t>(
                    storage.number(bytes, block * type.getElements() + i)),
                std::bit_cast<uint32_t>(expected[i]))
          << "block " << block << ", element " << i;
  }
}

// Extreme codes: all bits set, and none.
TEST_P(BlockNumbersTest, EqualThemForExtremeCodes) {
  ASSERT_TRUE(type);
  for (uint8_t fill : {0x00, 0xff}) {
    auto bytes = randomBlocks(GetParam(), type.getBytes(), 1, random, 3.0f);
    std::vector<uint8_t> block(bytes.size(), fill);
    for (uint8_t &byte : block)
      byte &= GetParam().codeBits;
    bool hasPower = true;
    for (auto [places, size] : {std::pair{&GetParam().halves, 2},
                                {&GetParam().brains, 2},
                                {&GetParam().singles, 4}})
      for (int offset : *places) {
        std::copy_n(bytes.begin() + offset, size, block.begin() + offset);
        hasPower = false;
      }
    if (hasPower)
      block[0] = bytes[0];
    std::vector<float> expected(type.getElements());
    GetParam().decode(block.data(), expected.data());
    for (int64_t i = 0; i < type.getElements(); ++i)
      ASSERT_EQ(storage::blockNumber(type, block, i), expected[i]) << i;
  }
}

TEST_P(BlockNumbersTest, HaveADescriptionThatReadsBack) {
  ASSERT_TRUE(type);
  std::string text;
  llvm::raw_string_ostream(text) << type;
  EXPECT_EQ(storage::formatOf(text, &context), type);
  EXPECT_EQ(Storage::get(type).name(), GetParam().name);
  EXPECT_EQ(Storage::get(type).bytes(3 * type.getElements()),
            3 * type.getBytes());
}

INSTANTIATE_TEST_SUITE_P(Published, BlockNumbersTest,
                         testing::ValuesIn(publishedBlocks()), testName);
INSTANTIATE_TEST_SUITE_P(Grouped, BlockNumbersTest,
                         testing::ValuesIn(groupedBlocks()), testName);

// Exponents at either end: 2^-128 is a subnormal f32, 255 is no number.
TEST(BlockExponents, ReachTheEnds) {
  mlir::MLIRContext context;
  for (const PublishedBlock &block : publishedBlocks())
    if (std::string_view(block.name) == "mxfp4") {
      std::vector<uint8_t> bytes(17, 0x22); // codes of 1
      BlockType type = typeOf(block, context);
      bytes[0] = 0;
      EXPECT_EQ(storage::blockNumber(type, bytes, 5), 0x1p-127f);
      bytes[0] = 254;
      EXPECT_EQ(storage::blockNumber(type, bytes, 5), 0x1p127f);
      bytes[0] = 255;
      EXPECT_TRUE(std::isnan(storage::blockNumber(type, bytes, 5)));
      return;
    }
  FAIL();
}

// All numbers of 8 bits, by the tables of OCP 8-bit Floating Point 1.0.
TEST(BlockEighths, AreTheStandardsNumbers) {
  mlir::MLIRContext context;
  context.loadDialect<storage::StorageDialect>();
  for (auto [name, fraction, bias] :
       {std::tuple{"e4m3", 3, 7}, {"e5m2", 2, 15}}) {
    auto type = llvm::cast<BlockType>(
        storage::formatOf(std::string(name) + "_1_f32", &context));
    for (int code = 0; code < 256; ++code) {
      std::vector<uint8_t> block = {0, 0, 0x80, 0x3f, uint8_t(code)};
      float found = storage::blockNumber(type, block, 0);
      int exponent = (code & 127) >> fraction,
          rest = code & ((1 << fraction) - 1), last = 127 >> fraction;
      if (exponent == last && (fraction == 2 ? rest != 0 : rest == 7)) {
        EXPECT_TRUE(std::isnan(found)) << name << " " << code;
        continue;
      }
      double expected = exponent == 0 ? rest * std::exp2(1 - bias - fraction)
                                      : (1 + rest * std::exp2(-fraction)) *
                                            std::exp2(exponent - bias);
      if (exponent == last && fraction == 2)
        expected = INFINITY;
      EXPECT_EQ(found, float(code & 128 ? -expected : expected))
          << name << " " << code;
      EXPECT_EQ(std::signbit(found), code >= 128) << name << " " << code;
    }
  }
}

TEST(GroupedCodes, HaveOneSpellingEach) {
  mlir::MLIRContext context;
  context.loadDialect<storage::StorageDialect>();
  for (const char *name :
       {"int1_32_f16", "int9_32_f16", "int4_0_f16", "int4_2048_f16",
        "int4_032_f16", "int4_32_e8m0", "int4_32", "int04_32_f16", "nf4_63_f32",
        "nf4z_64_f32", "e4m3_f32", "_32_f16", "z_32_f16", "", "int4zz_32_f16"})
    EXPECT_FALSE(storage::formatOf(name, &context)) << name;
  // Codes of a row that nothing divides lie in bytes.
  EXPECT_EQ(Storage::get(storage::formatOf("int3_7_f16", &context)).bytes(7),
            9);
  EXPECT_EQ(Storage::get(storage::formatOf("int3_8_f16", &context)).bytes(8),
            5);
}

// The rule of quantize_row_q8_0_ref: d = max / 127, code = round(x / d).
TEST(BlockEncoding, RoundsAsThePublicOneDoes) {
  mlir::MLIRContext context;
  context.loadDialect<storage::StorageDialect>();
  Storage storage = Storage::get(storage::formatOf("q8_0", &context));
  ASSERT_TRUE(storage.isEncodable());
  std::mt19937_64 random(5);
  std::normal_distribution<float> normal(0, 0.02f);
  std::vector<float> numbers(32 * 7);
  for (float &number : numbers)
    number = normal(random);
  std::fill_n(numbers.begin() + 64, 32, 0.0f);
  std::vector<uint8_t> bytes(34 * 7);
  ASSERT_FALSE(storage.encode(numbers, bytes));
  for (size_t block = 0; block < 7; ++block) {
    float largest = 0;
    for (size_t i = 0; i < 32; ++i)
      largest = std::max(largest, std::fabs(numbers[block * 32 + i]));
    float d = largest / 127, inverse = d != 0 ? 1 / d : 0;
    auto rounded = _Float16(d);
    EXPECT_EQ(std::memcmp(&rounded, &bytes[block * 34], 2), 0);
    for (size_t i = 0; i < 32; ++i)
      EXPECT_EQ(int8_t(bytes[block * 34 + 2 + i]),
                int8_t(std::round(numbers[block * 32 + i] * inverse)));
  }
}

// Codes around 8 in nibbles, a scale of f32 behind them.
TEST(BlockEncoding, FollowsTheDescription) {
  mlir::MLIRContext context;
  context.loadDialect<storage::StorageDialect>();
  auto type = storage::formatOf(
      "!storage.block<\"own\", elements = 8, bytes = 8, digits = [2, 4], code "
      "= "
      "uint [4 at 0 [4, 8]] bias -8, scale = [f32 [32 at 32 [0, 0]]]>",
      &context);
  ASSERT_TRUE(type);
  Storage storage = Storage::get(type);
  ASSERT_TRUE(storage.isEncodable());
  std::vector<float> numbers = {7, -7, 3, 0, 1, -1, 6, -2};
  std::vector<uint8_t> bytes(8);
  ASSERT_FALSE(storage.encode(numbers, bytes));
  EXPECT_EQ(bytes, (std::vector<uint8_t>{15 | 9 << 4, 1 | 7 << 4, 11 | 14 << 4,
                                         8 | 6 << 4, 0, 0, 0x80, 0x3f}));
  for (size_t i = 0; i < 8; ++i)
    EXPECT_EQ(storage.number(bytes, i), numbers[i]);
  numbers[5] = INFINITY;
  EXPECT_EQ(storage.encode(numbers, bytes), 0u);
}

TEST(StorageOf, RefusesTypesThatNobodyKnows) {
  mlir::MLIRContext context;
  EXPECT_FALSE(Storage::of(mlir::Float64Type::get(&context)));
  EXPECT_FALSE(Storage::of(mlir::IntegerType::get(&context, 4)));
  EXPECT_FALSE(Storage::of(mlir::IntegerType::get(&context, 8)));
  EXPECT_FALSE(Storage::of({}));
  EXPECT_DEATH(Storage::get(mlir::IntegerType::get(&context, 4)),
               "no storage is known of type i4");
}

TEST(StorageOf, PadsRowsOfElementsAlone) {
  mlir::MLIRContext context;
  context.loadDialect<storage::StorageDialect>();
  auto of = [&](const char *name) {
    return Storage::get(storage::formatOf(name, &context));
  };
  EXPECT_EQ(of("f32").paddedElements(17, 64), 32);
  EXPECT_EQ(of("bf16").paddedElements(33, 64), 64);
  EXPECT_EQ(of("q8_0").paddedElements(96, 64), 96);
  EXPECT_TRUE(of("q8_0").divides(96));
  EXPECT_FALSE(of("q8_0").divides(40));
  EXPECT_EQ(of("q8_0").denseType(), of("f32").type());
}

} // namespace
