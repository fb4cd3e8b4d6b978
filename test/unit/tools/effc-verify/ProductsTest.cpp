// Files whose products are of integers: held to a bound by their digits, and to the same
// bits in any pieces. Blocks of 24 bytes are not padded, so that weights end anywhere.
#include "test/unit/tools/effc-verify/VerifyFixture.h"

using namespace effc;
using namespace effc::test;
using namespace effc::verify;

namespace {
class ProductsTest : public Verify {};
} // namespace

TEST_F(ProductsTest, LoseMoreWithFewerDigits) {
  double error = 0, tolerance = 0;
  for (std::string products : {"f32", "exact", "int16", "int8"}) {
    Report report =
        verify(compile("families/rwkv6/no_first_norm_bf16",
                       {"--weights-type", "*=q5_1", "--products", products}));
    EXPECT_EQ(failures(report), Arguments()) << products;
    EXPECT_EQ(find(report, "decode steps").tolerance, 0) << products;
    const verify::Check &file = find(report, "this file");
    if (products == "int16" || products == "int8") {
      EXPECT_GT(file.error, 8 * error) << products;
      EXPECT_GT(file.tolerance, 8 * tolerance) << products;
    } else {
      EXPECT_LT(file.tolerance, 1e-4) << products;
    }
    error = file.error;
    tolerance = file.tolerance;
  }
}

// Weights stay bf16; a level that has products of it is compiled for without a word.
TEST_F(ProductsTest, LoseWhatBf16Does) {
  Report report = verify(
      compile("families/rwkv6/no_first_norm_bf16",
              {"--target", "host,x86-64-v4-bf16", "--products", "bf16"}));
  EXPECT_EQ(failures(report), Arguments());
  EXPECT_EQ(find(report, "decode steps").tolerance, 0);
  const verify::Check &file = find(report, "this file");
  EXPECT_GT(file.error, 1e-4);
  EXPECT_GT(file.tolerance, 1e-3);
}
