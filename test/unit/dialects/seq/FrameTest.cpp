// What a frame holds stays where it is, however many values follow.
#include "test/unit/dialects/seq/Program.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace effc::seq;
using namespace effc::seq::test;

// A thousand values, each bound to the one before: the table grows several
// times, each time while an entry is being read.
TEST(Frame, BindSurvivesTheGrowthOfItsTable) {
  Program program(R"(
func.func @f(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  return %x : tensor<2x3xf32>
}
)");
  Block block;
  Type type = program.getFunction().getArgument(0).getType();
  for (int i = 0; i < 1000; ++i)
    block.addArgument(type, program.getModule().getLoc());
  reference::Frame<double> frame(reference::noWeights<double>());
  Tensor<double> given({2, 3}, {1, 2, 3, 4, 5, 6});
  frame.set(block.getArgument(0), given);
  for (unsigned i = 1; i < block.getNumArguments(); ++i)
    frame.bind(block.getArgument(i), block.getArgument(i - 1));
  for (Value argument : block.getArguments())
    expectNear(frame[argument], given, 0);
}
