#include "passes/seq_to_tile/builders/dense/Contraction.h"

#include "dialects/storage/Storage.h"
#include "dialects/tile/Distribution.h"
#include "passes/kernel_facts/BlockRoom.h"
#include "passes/kernel_facts/MethodSizes.h"
#include "passes/kernel_facts/RoundedOperands.h"

using namespace mlir;
using namespace effc;

// The longest step that divides the contraction, in whole pieces if there is
// one; a short contraction without is one step.
static int64_t stepOf(int64_t extent, int64_t longest) {
  int64_t best = 1;
  for (int64_t step = 1; step <= longest; ++step)
    if (extent % step == 0 &&
        (step % tile::kPieceDepth == 0 || best % tile::kPieceDepth != 0))
      best = step;
  return best < tile::kPieceDepth && extent <= kShortContraction ? extent
                                                                 : best;
}

// What lies in blocks is unpacked to f32 there.
static int64_t bytesOf(Type stored) {
  if (!stored)
    return sizeof(float);
  return storage::Storage::get(storage::Storage::get(stored).denseType())
      .blockBytes();
}

int64_t StoredOperands::bytes(int64_t aRows, int64_t bRows) const {
  return aRows * bytesOf(a) + bRows * bytesOf(b);
}

// As many stages as a block has room for, of steps with so many bytes for each
// term. Rows are padded against bank conflicts.
static Contraction inStages(const KernelContext &context, int64_t extent,
                            int64_t longest, int64_t termBytes) {
  int64_t bytes = (longest + kStepPadding) * termBytes;
  return {extent, stepOf(extent, longest),
          BlockRoom::of(context.target).stages(bytes)};
}

Contraction Contraction::of(const KernelContext &context, int64_t extent,
                            const StoredOperands &stored) {
  if (!context.isGpu())
    return {extent, extent, 1};
  int64_t rows = BlockRoom::of(context.target).tileRows();
  return inStages(context, extent, kStep, stored.bytes(rows, rows));
}

Contraction Contraction::ofFewRows(const KernelContext &context, int64_t extent,
                                   const StoredOperands &stored) {
  Contraction usual = of(context, extent, stored);
  // A row has the bits that it has among others as long as steps are whole pieces.
  if (!context.isGpu() || usual.step % tile::kPieceDepth != 0)
    return usual;
  BlockRoom room = BlockRoom::of(context.target);
  int64_t operand = operandBytes(context.device(), context.roundedTo());
  return inStages(context, extent, room.warpCopyBytes() / operand,
                  stored.bytes(tile::kPieceRows, room.tileRows() / 2));
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
