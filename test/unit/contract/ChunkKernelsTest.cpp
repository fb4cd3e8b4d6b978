// Kernels that take chunks of tokens at once agree with the definitions.
#include "passes/kernel_facts/ChunkKernels.h"
#include "test/unit/contract/LinearTrials.h"

using namespace mlir;
using namespace effc;
using namespace effc::test;

namespace {

/// Whether kernels take chunks of a mixer's tokens.
bool hasChunks(const LinearCase &mixer) {
  return hasStructure(mixer, [](seq::LinearAttr linear) {
    PipelineOptions options;
    options.target = &testTarget();
    auto target = describeTarget(options, linear.getContext());
    return hasChunkKernel(linear, target, kExtents[0].K, kExtents[0].V);
  });
}

/// Mixers whose kernels take chunks.
class ChunkKernelsContract : public testing::TestWithParam<size_t> {};

// Chunks, or all tokens at once. Of forms that the host has for those alone who ask,
// the code is optimised in `tools/check --long`; the bits are the same.
TEST_P(ChunkKernelsContract, EveryFormAgrees) {
  PipelineOptions chunks = optionsFor("chunkwise:16");
  chunks.optimised = isLongCheck();
  tryShapes(allCases()[GetParam()],
            {{"chunkwise of 16", false, chunks,
              /*tolerance=*/1e-5, Shapes::Even},
             {"chunkwise of 48", true, optionsFor("chunkwise:48"),
              /*tolerance=*/1e-5, Shapes::Odd},
             {"quadratic", false, optionsFor("quadratic"), /*tolerance=*/1e-5,
              Shapes::Even}});
}

// Mild and adversarial gates in the same shape: fewer key channels and values
// than a tensor core's pieces have, and heads cut into blocks of values.
TEST_P(ChunkKernelsContract, BothGatesAgree) {
  const LinearCase &mixer = allCases()[GetParam()];
  size_t seed = std::hash<std::string>()(mixer.title());
  Random random(seed + 3);
  const Extents few = {0, 6, 3, 5, 12}, many = {0, 2, 1, 40, 80};
  SmallVector<Variant> variants = {
      {"chunkwise of 16", false, optionsFor("chunkwise:16")},
      {"chunkwise of 16, bf16", true,
       optionsFor("chunkwise:16", StateStorage::BF16),
       /*tolerance=*/2e-2}};
  // An operand loses 2^-9 or 2^-12, some ten in a row. Mixers take turns.
  PipelineOptions rounded = optionsFor("chunkwise:16");
  for (auto [products, name] : {std::pair(Products::BF16, "products of bf16"),
                                {Products::F16, "products of f16"},
                                {Products::TF32, "products of tf32"}}) {
    bool isNarrow = products == Products::BF16;
    rounded.products = products;
    if (isLongCheck() || CaseExport::isAsked() ||
        (testTarget().simulated &&
         (isNarrow || (seed % 2 == 0) == (products == Products::F16))))
      variants.push_back({name, true, rounded, isNarrow ? 2e-2 : 2e-2 / 8,
                          isNarrow ? Shapes::All : Shapes::Odd});
  }
  tryShapes(mixer, variants, {few, few, many, many}, random);
}

// A kernel of a forced form that no block holds is an error by name.
TEST(ChunkKernels, RefuseWhatNoBlockHolds) {
  const LinearCase &mixer = *llvm::find_if(
      linearCases(), [](auto &one) { return one.name == "written_mirrored"; });
  TestModel model(linearModelText(
      mixer, extentsFor(mixer, {0, /*H=*/2, /*G=*/1, /*K=*/264, /*V=*/264}),
      kTableRows, "f32"));
  PipelineOptions options = optionsFor("quadratic");
  options.target = findTarget("sim_90a");
  options.products = Products::F32;
  auto target = describeTarget(options, model.getContext());
  model.get()->setAttr(tile::kTargetAttr, target);
  PassManager passes(model.getContext());
  for (Phase phase : {Phase::Seq, Phase::Tile})
    addPhase(passes, phase, options, PhaseTarget::of(target));
  EXPECT_TRUE(failed(passes.run(model.get())));
  EXPECT_NE(model.getErrors().find("bytes of shared memory, but a block of the "
                                   "target has 232448"),
            StringRef::npos)
      << model.getErrors().str();
}

Variant chunksOf16() {
  return {"chunkwise of 16", false, optionsFor("chunkwise:16")};
}

// Reflections of the same key again and again: of (1 - A)^-1 all elements are
// at most 2, of powers of A up to 10^6.
TEST(ChunkKernels, ReflectEqualKeys) {
  LinearCase mixer =
      drawnAs("delta_rule", "k", [](Random &, Gates) { return 1.0; });
  for (LinearOperand &operand : mixer.tokens)
    if (operand.name == "beta")
      operand.draw = [](Random &, Gates) { return 2.0; };
  if (!hasChunks(mixer))
    GTEST_SKIP() << "the target takes one token after another";
  Random random(5);
  tryShapes(mixer, chunksOf16(), Extents{0, 2, 1, 9, 20}, random);
}

// Gates that are shut so far that f32 has no logarithm of them.
TEST(ChunkKernels, ForgetBehindShutGates) {
  LinearCase mixer = drawnAs("hgrn2", "forget", [](Random &random, Gates) {
    return pick(random, 0, 2) ? pickReal(random, -3, 3) : -200.0;
  });
  mixer.parameters[0].draw = [](Random &, Gates) { return 0.0; };
  if (!hasChunks(mixer))
    GTEST_SKIP() << "the target takes one token after another";
  Random random(6);
  tryShapes(mixer, chunksOf16(), Extents{0, 2, 2, 9, 20}, random);
}

INSTANTIATE_TEST_SUITE_P(Mixers, ChunkKernelsContract,
                         testing::ValuesIn(casesWith(hasChunks)), titleOf);

} // namespace
