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

  static Contraction of(const KernelContext &context, int64_t extent);
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
