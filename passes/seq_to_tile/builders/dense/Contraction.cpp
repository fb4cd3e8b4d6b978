#include "passes/seq_to_tile/builders/dense/Contraction.h"

#include "passes/kernel_facts/RoundedOperands.h"

using namespace mlir;
using namespace effc;

// Pieces of tensor cores, and how far loads are ahead.
static constexpr int64_t kPiece = 16, kStages = 3;
/// A contraction up to so many terms may be one step.
static constexpr int64_t kShort = 256;

// The longest step that divides the contraction, in whole pieces if there is
// one; a short contraction without is one step.
static int64_t stepOf(int64_t extent, int64_t longest) {
  int64_t best = 1;
  for (int64_t step = 1; step <= longest; ++step)
    if (extent % step == 0 && (step % kPiece == 0 || best % kPiece != 0))
      best = step;
  return best < kPiece && extent <= kShort ? extent : best;
}

Contraction Contraction::of(const KernelContext &context, int64_t extent,
                            int64_t longest) {
  if (!context.isGpu())
    return {extent, extent, 1};
  return {extent, stepOf(extent, longest), kStages};
}

Contraction Contraction::ofFewRows(const KernelContext &context,
                                   int64_t extent) {
  constexpr int64_t kRowBytes = 512;
  int64_t bytes = areOperandsNarrow(context.device, context.roundedTo) ? 2 : 4;
  Contraction usual = of(context, extent);
  // A row has the bits that it has among others as long as steps are whole pieces.
  if (usual.step % kPiece != 0)
    return usual;
  return of(context, extent, kRowBytes / bytes);
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
