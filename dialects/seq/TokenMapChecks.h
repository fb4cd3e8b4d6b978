// A mixer's token map, with the shapes of what it gives checked.
#ifndef EFFC_DIALECTS_SEQ_TOKENMAPCHECKS_H
#define EFFC_DIALECTS_SEQ_TOKENMAPCHECKS_H

#include "dialects/seq/CanonicalQuantities.h"
#include "dialects/seq/SeqOps.h"

namespace effc::seq {

/// Fails on `mixer` where one of its canonical quantities is absent or has another
/// shape than CanonicalQuantities.h says, and names it.
mlir::LogicalResult checkQuantities(MixerOpInterface mixer,
                                    const CanonicalQuantities &quantities);

/// What `mixer`, of class `linear`, makes of tokens and parameters. Fails as
/// `checkQuantities`: what reads the quantities takes their shapes for granted.
/// `tokens` and `parameters` are values of the block where `builder` stands.
mlir::FailureOr<CanonicalQuantities>
buildCheckedTokenMap(MixerOpInterface mixer, mlir::OpBuilder &builder,
                     mlir::Location loc, mlir::ValueRange tokens,
                     mlir::ValueRange parameters);

/// The same, built for the check alone.
mlir::LogicalResult checkTokenMap(MixerOpInterface mixer);

} // namespace effc::seq

#endif // EFFC_DIALECTS_SEQ_TOKENMAPCHECKS_H
