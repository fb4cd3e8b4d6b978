// A mixer of class `linear`, replaced by a form of its recurrence.
#ifndef EFFC_PASSES_SEQ_LINEAREXPANSION_H
#define EFFC_PASSES_SEQ_LINEAREXPANSION_H

#include "dialects/seq/SeqOps.h"

namespace effc::seq {

/// Whether `form` covers the mixer's structure record; `report`s the field that
/// it does not.
mlir::LogicalResult
checkLinearForm(MixerOpInterface op, FormAttr form,
                llvm::function_ref<mlir::InFlightDiagnostic()> report);

/// Replaces the mixer, whose T must be static and whose record must be covered,
/// by its token map, the form and its read-out.
void expandLinear(MixerOpInterface op, FormAttr form);

} // namespace effc::seq

#endif // EFFC_PASSES_SEQ_LINEAREXPANSION_H
