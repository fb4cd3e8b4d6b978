// How a product passes over the dimension that it contracts.
#ifndef EFFC_PASSES_SEQTOTILE_BUILDERS_CONTRACTION_H
#define EFFC_PASSES_SEQTOTILE_BUILDERS_CONTRACTION_H

#include "dialects/tile/Distribution.h"
#include "passes/seq_to_tile/KernelBuilder.h"

namespace effc {

/// What the elements of both operands are stored as, and so lie in shared memory;
/// null: f32.
struct StoredOperands {
  mlir::Type a, b;

  /// Of a term, with so many rows of each operand.
  int64_t bytes(int64_t aRows, int64_t bRows) const;
};

/// On the host a contraction is one step, so that partial sums stay in
/// registers from the first element to the last. On a GPU it is cut into steps
/// whose operands pass through shared memory, fetched `stages` - 1 ahead.
struct Contraction {
  int64_t extent, step, stages;

  /// The longest step of a GPU: rows of 128 bytes of 16-bit operands, which memory
  /// gives at once and units swizzle.
  static constexpr int64_t kStep = tile::kSwizzledRow;

  static Contraction of(const KernelContext &context, int64_t extent,
                        const StoredOperands &stored = {});
  /// Of a piece's rows, whose item waits for each step, so that longer ones cost
  /// less: a row of a step is what a warp copies at once.
  static Contraction ofFewRows(const KernelContext &context, int64_t extent,
                               const StoredOperands &stored);
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
