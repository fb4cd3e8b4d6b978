#include "codegen/artifact/NonFinite.h"

#include <cmath>
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

} // namespace
