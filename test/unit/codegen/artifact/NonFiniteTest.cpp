#include "codegen/artifact/NonFinite.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace effc::codegen;

namespace {

template <typename Element>
std::optional<NonFinite> find(SourceTensor::Type type,
                              const std::vector<uint64_t> &shape,
                              const std::vector<Element> &elements) {
  return findNonFinite({type,
                        shape,
                        {reinterpret_cast<const uint8_t *>(elements.data()),
                         elements.size() * sizeof(Element)}});
}

TEST(NonFinite, NamesTheFirstElement) {
  std::vector<float> elements(3 * 5000, -3.4e38f);
  auto look = [&] {
    return find(SourceTensor::Type::F32, {3, 5000}, elements);
  };
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
  EXPECT_EQ(find(SourceTensor::Type::BF16, {2, 2}, elements)->text, "-inf");
  EXPECT_EQ(find(SourceTensor::Type::F16, {2, 2}, elements)->text, "NaN");
  elements.back() = 0x7c00;
  EXPECT_FALSE(find(SourceTensor::Type::BF16, {4}, elements));
  EXPECT_EQ(find(SourceTensor::Type::F16, {4}, elements)->text, "inf");
  EXPECT_EQ(find(SourceTensor::Type::F16, {4}, elements)->place, "[3]");
}

} // namespace
