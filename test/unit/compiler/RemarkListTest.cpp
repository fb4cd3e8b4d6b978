// Remarks by hand: which are one, what names a target, what shares a line.
#include "compiler/RemarkList.h"

#include "gtest/gtest.h"

using namespace effc;

namespace {

using Lines = std::vector<std::string>;

TEST(RemarkList, NumbersAreRanges) {
  EXPECT_EQ(describeNumbers({}), "");
  EXPECT_EQ(describeNumbers({7}), "7");
  EXPECT_EQ(describeNumbers({0, 1, 2, 5, 8, 9}), "0-2,5,8-9");
}

// What all targets say is said once; what some of them say names them, unless
// there is no other.
TEST(RemarkList, TargetsThatDifferAreNamed) {
  RemarkList list({"host", "sm_80", "sm_90a"});
  list.add("import", "a tensor");
  for (const char *target : {"host", "sm_80", "sm_90a"}) {
    list.setTarget(target);
    list.add("norm", "the same");
    list.add("norm", "the same"); // of another entry
    list.add("mix", target == std::string("host") ? "step" : "chunks");
  }
  list.setTarget("sm_80");
  list.add("", "no place");
  EXPECT_EQ(list.lines(),
            (Lines{"import: a tensor", "norm: the same", "mix (host): step",
                   "mix (sm_80, sm_90a): chunks", "(sm_80): no place"}));
  RemarkList one({"host"});
  one.setTarget("host");
  one.add("mix", "step");
  EXPECT_EQ(one.lines(), Lines{"mix: step"});
}

TEST(RemarkList, LayersAlikeShareALine) {
  RemarkList list({"host"});
  EXPECT_EQ(list.groupedLines(), Lines{});
  list.add("import", "tensor 'm.layers.0.w' (7) is @layers.0.w");
  for (const char *layer : {"0", "1", "3", "10"}) {
    std::string name = std::string("layers.") + layer;
    list.add(name + ".mix", "form in prefill_16: step");
    // The last one's sum is another.
    list.add(name + ".norm", "fused into kernel '" + name + ".out'" +
                                 (layer[0] == '3' ? " alone" : ""));
  }
  // Another number of the same size is none of a layer.
  list.add("layers.1.part.1.x", "fallback: 1.5 of layers.1.part.1.y");
  list.add("layers.2.part.1.x", "fallback: 1.5 of layers.2.part.1.y");
  list.add("layers.2.part.1.x", "fallback: 1.5 of layers.3.part.1.y");
  list.add("a.mlir:2:7", "layers.");
  list.add("import", "warning: 'num_beams' is not followed");
  EXPECT_EQ(list.lines().size(), 14u);
  EXPECT_EQ(
      list.groupedLines(),
      (Lines{"import: tensor 'm.layers.0.w' (7) is @layers.0.w",
             "layers.0-1,3,10.mix: form in prefill_16: step",
             "layers.0-1,10.norm: fused into kernel 'layers.0-1,10.out'",
             "layers.3.norm: fused into kernel 'layers.3.out' alone",
             "layers.1-2.part.1.x: fallback: 1.5 of layers.1-2.part.1.y",
             "layers.2.part.1.x: fallback: 1.5 of layers.3.part.1.y",
             "a.mlir:2:7: layers.",
             "import: warning: 'num_beams' is not followed",
             "in all 14: 3 fallbacks, 1 warning, 4 forms, 4 fusions, 1 tensor, "
             "1 other"}));
}

} // namespace
