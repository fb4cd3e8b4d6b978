// How a product passes over the dimension that it contracts.
#ifndef EFFC_PASSES_SEQTOTILE_BUILDERS_CONTRACTION_H
#define EFFC_PASSES_SEQTOTILE_BUILDERS_CONTRACTION_H

#include "passes/seq_to_tile/KernelBuilder.h"

namespace effc {

/// On the host a contraction is one step, so that partial sums stay in
/// registers from the first element to the last. On a GPU it is cut into steps
/// whose operands pass through shared memory, fetched `stages` - 1 ahead.
struct Contraction {
  int64_t extent, step, stages;

  /// The longest step of a GPU: three stages of 64 x 64 f32 of both operands are
  /// 96 KiB.
  static constexpr int64_t kStep = 64;

  static Contraction of(const KernelContext &context, int64_t extent,
                        int64_t longest = kStep);
  /// Of a piece's rows, whose item waits for each step, so that longer ones cost
  /// less: three stages of 16 rows and 32 outputs are 72 KiB.
  static Contraction ofFewRows(const KernelContext &context, int64_t extent);
};

/// acc + a b^T, with a rounded to `digits` where b lies in panels (else null). `load`
/// gives the parts of both operands from a place of the
/// contraction on, `step` long.
mlir::Value
contract(KernelBuilder &k, const Contraction &contraction, mlir::Value acc,
         llvm::function_ref<std::pair<mlir::Value, mlir::Value>(mlir::Value at)>
             load,
         storage::DigitsType digits = {});

} // namespace effc

#endif // EFFC_PASSES_SEQTOTILE_BUILDERS_CONTRACTION_H
