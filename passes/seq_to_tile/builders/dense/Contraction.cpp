#include "passes/seq_to_tile/builders/dense/Contraction.h"

#include "passes/kernel_facts/RoundedOperands.h"

using namespace mlir;
using namespace effc;

// Pieces of tensor cores, and the longest step: three stages of 64 x 64 f32 of
// both operands are 96 KiB.
static constexpr int64_t kPiece = 16, kLongestStep = 64, kStages = 3;

// The longest step that divides the contraction, in whole pieces if there is
// one; a short contraction without is one step.
static int64_t stepOf(int64_t extent) {
  int64_t best = 1;
  for (int64_t step = 1; step <= kLongestStep; ++step)
    if (extent % step == 0 && (step % kPiece == 0 || best % kPiece != 0))
      best = step;
  return best < kPiece && extent <= 4 * kLongestStep ? extent : best;
}

Contraction Contraction::of(const KernelContext &context, int64_t extent) {
  if (!context.isGpu())
    return {extent, extent, 1};
  return {extent, stepOf(extent), kStages};
}

Value effc::contract(KernelBuilder &k, const Contraction &contraction,
                     Value acc,
                     function_ref<std::pair<Value, Value>(Value at)> load,
                     storage::DigitsType digits) {
  OpBuilder &b = k.ops();
  auto accType = cast<tile::TileType>(acc.getType());
  auto pipeline =
      tile::PipelineOp::create(b, k.loc(), accType, contraction.stages,
                               contraction.extent, contraction.step, acc);
  OpBuilder::InsertionGuard guard(b);
  Block *loading = b.createBlock(&pipeline.getLoad());
  auto [left, right] = load(loading->addArgument(b.getIndexType(), k.loc()));
  tile::YieldOp::create(b, k.loc(), ValueRange{left, right});
  Block *compute = b.createBlock(&pipeline.getCompute());
  compute->addArguments({left.getType(), right.getType(), accType},
                        {k.loc(), k.loc(), k.loc()});
  auto [lhs, rhs, before] =
      std::array<Value, 3>{compute->getArgument(0), compute->getArgument(1),
                           compute->getArgument(2)};
  Value sum = digits ? k.digitDot(before, lhs, rhs, digits)
              : contraction.extent < kLeastRoundedTerms
                  ? k.exactDot(before, lhs, rhs, /*transposeA=*/false,
                               /*transposeB=*/true)
                  : k.dot(before, lhs, rhs, /*transposeA=*/false,
                          /*transposeB=*/true);
  tile::YieldOp::create(b, k.loc(), sum);
  return pipeline.getResult(0);
}
