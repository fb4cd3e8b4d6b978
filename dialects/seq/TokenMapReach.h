// What of a mixer's canonical quantities depends on one of its operands.
#ifndef EFFC_DIALECTS_SEQ_TOKENMAPREACH_H
#define EFFC_DIALECTS_SEQ_TOKENMAPREACH_H

#include "dialects/seq/CanonicalQuantities.h"
#include "dialects/seq/SeqOps.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace effc::seq {

/// The token map of a mixer of class `linear`, built aside, and the values in it that
/// are computed from the operand of one number.
class TokenMapReach {
public:
  TokenMapReach(MixerOpInterface mixer, unsigned operand);

  const CanonicalQuantities &getQuantities() const { return quantities; }
  /// Whether one of `values` is computed from the operand, or is it; null is none.
  bool reaches(llvm::ArrayRef<mlir::Value> values) const;
  /// Whether a value of the map is the same for all tokens.
  bool isFixed(mlir::Value value) const { return fixed.contains(value); }
  /// Whether `passes` holds of every op of the map that reads such a value, and of the
  /// value.
  bool
  areAll(llvm::function_ref<bool(mlir::Operation *, mlir::Value)> passes) const;

private:
  mlir::Region region;
  CanonicalQuantities quantities;
  llvm::DenseSet<mlir::Value> reached, fixed;
};

} // namespace effc::seq

#endif // EFFC_DIALECTS_SEQ_TOKENMAPREACH_H
