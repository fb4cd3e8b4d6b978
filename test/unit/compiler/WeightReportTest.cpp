// The table of what weights lost.
#include "compiler/WeightReport.h"

#include <gtest/gtest.h>

using namespace effc;

namespace {

TEST(WeightReport, HasALineForEachMatrixAndOneForAll) {
  WeightReport report;
  EXPECT_EQ(report.table(), "");
  // 4 bits an element; errors of a tenth and of none.
  report.add("layers.0.mlp.up", "bf16", "q4_k", {1000, 500, 400.0, 4.0, 0.25});
  report.add("lm_head", "f32", "f32", {24, 96, 12.0, 0.0, 0.0});
  EXPECT_EQ(report.table(),
            "matrix           from  as        elements   bits  rel. L2   "
            "max/rms   share\n"
            "layers.0.mlp.up  bf16  q4_k          1000   4.00  1.0e-01   "
            "4.0e-01  100.0%\n"
            "lm_head          f32   f32             24  32.00  0.0e+00   "
            "0.0e+00    0.0%\n"
            "all matrices                         1024   4.66  9.9e-02   "
            "3.9e-01  100.0%\n");
}

// With importance of some columns, a matrix without it has none.
TEST(WeightReport, HasErrorsByImportance) {
  WeightReport report;
  report.add("up", "f32", "q4_k", {100, 50, 400.0, 4.0, 0.25, 100.0, 0.25});
  report.add("out", "f32", "q6_k", {100, 80, 100.0, 1.0, 0.5});
  EXPECT_EQ(
      report.table(),
      "matrix        from  as        elements   bits  rel. L2  by "
      "importance   max/rms   share\n"
      "up            f32   q4_k           100   4.00  1.0e-01        "
      "5.0e-02   1.2e-01   80.0%\n"
      "out           f32   q6_k           100   6.40  1.0e-01              "
      "-   5.0e-01   20.0%\n"
      "all matrices                       200   5.20  1.0e-01        "
      "5.0e-02   3.2e-01  100.0%\n");
}

} // namespace
