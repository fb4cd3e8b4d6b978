// No kernel of a linear mixer needs more registers than a thread of a GPU has, of heads
// that are cut unevenly: of 20 x 33 elements, for one chip or the other in turn. For both,
// and of all shapes, where EFFC_CHECK_LONG is set.
#include "compiler/Pipelines.h"
#include "test/LongCheck.h"
#include "test/unit/contract/LinearModel.h"
#include "test/unit/contract/LinearTrials.h"

using namespace mlir;
using namespace effc;
using namespace effc::test;

namespace {

class KernelSpills : public testing::TestWithParam<size_t> {};

/// The code of a model for a chip; null where it has none.
plan::BinaryOp codeFor(const Target &chip, TestModel &model) {
  PipelineOptions options = optionsFor();
  options.target = &chip;
  options.products = Products::Exact; // operands take the most registers
  tile::TargetAttr target = describeTarget(options, model.getContext());
  model.get()->setAttr(tile::kTargetAttr, target);
  PassManager passes(model.getContext());
  for (Phase phase : {Phase::Seq, Phase::Tile, Phase::Plan, Phase::Binary})
    addPhase(passes, phase, options, PhaseTarget::of(target));
  EXPECT_TRUE(succeeded(passes.run(model.get()))) << model.getErrors().str();
  for (auto binary : model.get().getOps<plan::BinaryOp>())
    if (binary.getIsa() == chip.code)
      return binary;
  return {};
}

TEST_P(KernelSpills, AreNone) {
  const LinearCase &mixer = allCases()[GetParam()];
  constexpr size_t kUneven = 4;
  const char *chips[] = {"sm_90a", "sm_80"};
  for (auto [shape, drawn] : llvm::enumerate(kExtents))
    for (auto [number, chip] : llvm::enumerate(chips)) {
      if (!isLongCheck() &&
          (shape != kUneven || number != GetParam() % std::size(chips)))
        continue;
      Extents extents = extentsFor(mixer, drawn);
      SCOPED_TRACE(extents.text() + ", " + chip);
      TestModel model(linearModelText(mixer, extents, /*tableRows=*/97, "f32"));
      plan::BinaryOp code = codeFor(*findTarget(chip), model);
      if (!code || !code.getSpillBytes())
        GTEST_SKIP() << "ptxas, which says it, is not installed";
      ASSERT_FALSE(code.getKernels().empty());
      for (auto [name, bytes] :
           llvm::zip_equal(code.getKernels().getAsRange<StringAttr>(),
                           *code.getSpillBytes()))
        EXPECT_EQ(bytes, 0) << name.str();
    }
}

INSTANTIATE_TEST_SUITE_P(Mixers, KernelSpills,
                         testing::Range<size_t>(0, allCases().size()), titleOf);

} // namespace
