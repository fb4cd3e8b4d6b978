// f32 to the nearest bf16 as code of integers, for targets without an instruction.
// runtime/abi/NarrowFloats.h has the same for numbers of C++.
#ifndef EFFC_DIALECTS_STORAGE_NEARESTBF16_H
#define EFFC_DIALECTS_STORAGE_NEARESTBF16_H

#include "mlir/IR/Builders.h"

namespace effc::storage {

/// Words whose upper halves are the bf16 nearest to the f32 that are `bits`, ties to
/// even. Lower halves are left over. A NaN may become an infinity: the caller, who
/// knows whether it stays or becomes a quiet one, chooses another value for it.
/// `Add`, `And` and `Shift` (logical, to the right) are ops of a dialect on values of
/// i32 or vectors of them; `word` makes a constant of their type.
template <typename Add, typename And, typename Shift>
mlir::Value nearestBF16(mlir::OpBuilder &b, mlir::Location loc,
                        mlir::Value bits,
                        llvm::function_ref<mlir::Value(uint32_t)> word) {
  mlir::Value upper = Shift::create(b, loc, bits, word(16));
  mlir::Value odd = And::create(b, loc, upper, word(1));
  mlir::Value raised = Add::create(b, loc, bits, word(0x7fff));
  return Add::create(b, loc, raised, odd);
}

} // namespace effc::storage

#endif // EFFC_DIALECTS_STORAGE_NEARESTBF16_H
