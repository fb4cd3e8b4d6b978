// seq-plan-state on states that no mixer of the dialect has yet: those that
// grow with the position.
#include "passes/seq/Passes.h"
#include "test/unit/dialects/seq/Program.h"
#include "test/unit/dialects/seq/TestMixer.h"

#include "mlir/Pass/PassManager.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace effc;
using namespace effc::seq;
using namespace effc::seq::test;

namespace {

// `attributes` are those of the module.
std::string programText(llvm::StringRef attributes) {
  return ("module attributes {" + attributes + R"mlir(} {
func.func @forward(%x: tensor<5x2x3xf32>,
                   %s: tensor<2x7x3xf32> {seq.state_name = "keys"})
    -> (tensor<5x2x3xf32>, tensor<2x7x3xf32>) {
  %y, %next = "test.mixer"(%x, %s) {growing, structure = #seq.structure<
      class = opaque>}
      : (tensor<5x2x3xf32>, tensor<2x7x3xf32>)
     -> (tensor<5x2x3xf32>, tensor<2x7x3xf32>)
  return %y, %next : tensor<5x2x3xf32>, tensor<2x7x3xf32>
}
})mlir")
      .str();
}
constexpr llvm::StringLiteral kModel =
    R"(seq.model = #seq.model<family = "test", vocabulary = 11, width = 6, max_context = 0>)";

struct Planned {
  bool done;
  int64_t maxContext; // -1 without seq.model
  std::string diagnostics;
};

Planned plan(llvm::StringRef attributes, int64_t maxContext) {
  Program program;
  program.getContext()->getOrLoadDialect<TestDialect>();
  program.parse(programText(attributes));
  PassManager passes(program.getContext());
  PlanStatePassOptions options;
  options.maxContext = maxContext;
  passes.addPass(createPlanStatePass(options));
  bool done = succeeded(passes.run(program.getModule()));
  auto model = program.getModule()->getAttrOfType<ModelAttr>("seq.model");
  return {done, model ? model.getMaxContext() : -1,
          program.getDiagnostics().str()};
}

TEST(PlanState, BoundsTheContextOfStatesThatGrow) {
  Planned planned = plan(kModel, 4099);
  EXPECT_TRUE(planned.done);
  EXPECT_EQ(planned.maxContext, 4099);
  EXPECT_EQ(planned.diagnostics, "");
}

TEST(PlanState, LeavesTheContextAloneWhereNobodyAsks) {
  EXPECT_EQ(plan(kModel, 0).maxContext, 0);
}

TEST(PlanState, RefusesABoundThatHasNoPlace) {
  Planned planned = plan("", 4099);
  EXPECT_FALSE(planned.done);
  EXPECT_NE(planned.diagnostics.find("expects 'seq.model' on the module"),
            std::string::npos)
      << planned.diagnostics;
}

TEST(PlanState, RefusesANegativeBound) {
  Planned planned = plan(kModel, -3);
  EXPECT_FALSE(planned.done);
  EXPECT_NE(planned.diagnostics.find(
                "expects 'max-context' of at least 0, but got -3"),
            std::string::npos)
      << planned.diagnostics;
}

} // namespace
