#include "codegen/artifact/NonFinite.h"

#include "dialects/storage/Formats.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

using namespace effc::codegen;

namespace {

mlir::MLIRContext &context() {
  static mlir::MLIRContext context;
  return context;
}
mlir::Type f32() { return mlir::Float32Type::get(&context()); }
mlir::Type bf16() { return mlir::BFloat16Type::get(&context()); }
mlir::Type f16() { return mlir::Float16Type::get(&context()); }

template <typename Element>
std::optional<NonFinite> find(mlir::Type type,
                              const std::vector<uint64_t> &shape,
                              const std::vector<Element> &elements) {
  return findNonFinite({effc::storage::Storage::get(type),
                        shape,
                        {reinterpret_cast<const uint8_t *>(elements.data()),
                         elements.size() * sizeof(Element)}});
}

TEST(NonFinite, NamesTheFirstElement) {
  std::vector<float> elements(3 * 5000, -3.4e38f);
  auto look = [&] { return find(f32(), {3, 5000}, elements); };
  EXPECT_FALSE(look());
  elements[2 * 5000 + 7] = INFINITY;
  elements[1 * 5000 + 4999] = -INFINITY;
  EXPECT_EQ(look()->place, "[1, 4999]");
  EXPECT_EQ(look()->text, "-inf");
  EXPECT_FALSE(look()->isNaN);
  // A NaN counts before infinities, wherever it lies.
  elements[2 * 5000 + 9] = NAN;
  EXPECT_EQ(look()->place, "[2, 9]");
  EXPECT_TRUE(look()->isNaN);
}

// 0x7f80 is bf16's infinity and an f16's NaN, 0x7c00 f16's infinity and a
// number of bf16.
TEST(NonFinite, KnowsTheTypes) {
  std::vector<uint16_t> elements = {0, 0x8000, 0x7bff, 0xff80};
  EXPECT_EQ(find(bf16(), {2, 2}, elements)->text, "-inf");
  EXPECT_EQ(find(f16(), {2, 2}, elements)->text, "NaN");
  elements.back() = 0x7c00;
  EXPECT_FALSE(find(bf16(), {4}, elements));
  EXPECT_EQ(find(f16(), {4}, elements)->text, "inf");
  EXPECT_EQ(find(f16(), {4}, elements)->place, "[3]");
}

// 0x7f800000 is f32's infinity and an integer among others.
TEST(NonFinite, FindsNoneAmongIntegers) {
  std::vector<int32_t> words = {0, 0x7f800000, -1};
  EXPECT_FALSE(find(mlir::IntegerType::get(&context(), 32), {3}, words));
}

// Scales of blocks make numbers infinite or none; large codes and large scales that
// stay finite do not.
TEST(NonFinite, LooksAtTheScalesOfBlocks) {
  context().loadDialect<effc::storage::StorageDialect>();
  mlir::Type q4_1 = effc::storage::formatOf("q4_1", &context());
  std::vector<uint8_t> blocks(7 * 20, 0xff);
  auto halves = [&](size_t block, uint16_t scale, uint16_t least) {
    std::memcpy(blocks.data() + block * 20, &scale, 2);
    std::memcpy(blocks.data() + block * 20 + 2, &least, 2);
  };
  for (size_t block = 0; block < 7; ++block)
    halves(block, 0x7bff, 0xfbff); // the largest f16, and its negative
  auto look = [&] { return find(q4_1, {7, 32}, blocks); };
  EXPECT_FALSE(look());
  halves(5, 0x7bff, 0xfc00);
  EXPECT_EQ(look()->place, "[5, 0]");
  EXPECT_EQ(look()->text, "-inf");
  halves(6, 0x7e00, 0);
  EXPECT_EQ(look()->place, "[6, 0]");
  EXPECT_EQ(look()->text, "NaN");
}

// 2^127 times 1.5 is finite as a pair of a power and a code, 2^127 times 12 is not.
TEST(NonFinite, LooksAtPowersOfTwo) {
  context().loadDialect<effc::storage::StorageDialect>();
  mlir::Type mxfp4 = effc::storage::formatOf("mxfp4", &context());
  std::vector<uint8_t> blocks(3 * 17, 0x11); // codes of a half
  blocks[0] = 127, blocks[17] = 200, blocks[34] = 254;
  auto look = [&] { return find(mxfp4, {3, 32}, blocks); };
  EXPECT_FALSE(look());
  blocks[34 + 1 + 4] = 0x17; // 6 in place of a half
  EXPECT_EQ(look()->place, "[2, 4]");
  EXPECT_EQ(look()->text, "inf");
  blocks[17] = 255;
  EXPECT_EQ(look()->place, "[1, 0]");
  EXPECT_TRUE(look()->isNaN);
}

} // namespace
