// The measure of a verification: what is worst shows, wherever it stands.
#include "tools/effc-verify/Check.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace effc::verify;
using Rows = std::vector<float>;

// Rows of 3. In the second row the largest magnitude is 4, the largest
// difference 0.5; in the first 0.25 of 10.
TEST(LargestError, IsRelativeToEachRowsLargest) {
  Rows expected = {1, -10, 2, 4, 0, 1}, found = {1.25, -10, 2, 4, -0.5, 1};
  EXPECT_DOUBLE_EQ(largestError(found, expected, 3), 0.125);
}

TEST(LargestError, IsZeroForTheSameNumbersAlone) {
  EXPECT_EQ(largestError(Rows{0, 0, 1, 2}, Rows{0, 0, 1, 2}, 2), 0);
  EXPECT_GT(largestError(Rows{0, 0, 1, 2.0000002f}, Rows{0, 0, 1, 2}, 2), 0);
}

TEST(LargestError, IsInfiniteForWhatIsNoNumber) {
  float nan = std::nanf("");
  EXPECT_EQ(largestError(Rows{1, nan}, Rows{1, 2}, 2), INFINITY);
  EXPECT_EQ(largestError(Rows{1, 2}, Rows{1, nan}, 2), INFINITY);
  EXPECT_EQ(largestError(Rows{1, INFINITY}, Rows{1, 2}, 2), INFINITY);
  EXPECT_EQ(largestError(Rows{1}, Rows{1, 2}, 1), INFINITY); // a row is missing
  EXPECT_EQ(largestError(Rows{1, 0}, Rows{0, 0}, 2), INFINITY);
}

TEST(BitError, IsZeroForTheSameBitsAlone) {
  float nan = std::nanf(""), other = std::nanf("1");
  EXPECT_EQ(bitError(Rows{1, nan}, Rows{1, nan}, 2), 0);
  EXPECT_EQ(bitError(Rows{1, nan}, Rows{1, other}, 2), INFINITY);
  EXPECT_EQ(bitError(Rows{1, -0.0f}, Rows{1, 0}, 2), INFINITY);
  EXPECT_EQ(bitError(Rows{1, 2}, Rows{1, 4}, 2), 0.5);
  EXPECT_EQ(bitError(Rows{1}, Rows{1, 2}, 1), INFINITY);
}

TEST(Check, PassesUpToItsTolerance) {
  EXPECT_TRUE((Check{"a", "b", 0, 0}.passed()));
  EXPECT_TRUE((Check{"a", "b", 1e-3, 1e-3}.passed()));
  EXPECT_FALSE((Check{"a", "b", 1.1e-3, 1e-3}.passed()));
  EXPECT_FALSE((Check{"a", "b", INFINITY, 1}.passed()));
  EXPECT_FALSE((Check{"a", "b", INFINITY, INFINITY}.passed()));
  EXPECT_FALSE((Check{"a", "b", std::nan(""), 1}.passed()));
}

TEST(Report, NamesWhatWasSkippedForOneReasonInOneLine) {
  Report report;
  report.skip("form step", "no loop");
  report.skip("form quadratic", "no mask");
  report.skip("form scan", "no loop");
  EXPECT_EQ(report.skippedLines(),
            (std::vector<std::string>{"form step, form scan: no loop",
                                      "form quadratic: no mask"}));
}

// Rows of two: the second is off by a quarter of its largest magnitude.
TEST(Check, NamesTheFirstTokenThatDiffers) {
  std::vector<float> found = {1, 2, 3, 4, 5, 7};
  std::vector<double> expected = {1, 2, 2, 4, 5, 7};
  EXPECT_EQ(firstBeyond(found, expected, 2, 0.2), 1u);
  EXPECT_EQ(firstBeyond(found, expected, 2, 0.25), std::nullopt);
  found[5] = NAN;
  EXPECT_EQ(firstBeyond(found, expected, 2, 0.3), 2u);
  EXPECT_EQ(
      firstBeyond(std::vector<float>{1, 2}, std::vector<float>{1, 2}, 2, 0),
      std::nullopt);
  EXPECT_EQ(firstBeyond(std::vector<float>{1, 2, 3, 4},
                        std::vector<float>{1, 2, 3, 5}, 2, 0),
            1u);
}
