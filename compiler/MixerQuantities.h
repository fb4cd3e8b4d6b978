// What a mixer makes of its operands, as values of its function.
#ifndef EFFC_COMPILER_MIXERQUANTITIES_H
#define EFFC_COMPILER_MIXERQUANTITIES_H

#include "dialects/seq/SeqOps.h"

#include "llvm/ADT/SmallVector.h"

#include <utility>

namespace effc {

/// The canonical quantities of `mixer` (dialects/seq/CanonicalQuantities.h), [T, ...], with
/// their names, such as "log_decay", in the order in which they stand there. What is
/// no token operand as it stands is computed in front of the mixer, at its place in
/// the model with the quantity's name: "layers.0.ssd:log_decay".
///
/// None of a mixer of another class than `linear`, or whose number of tokens is
/// known.
llvm::SmallVector<std::pair<llvm::StringRef, mlir::Value>>
computeQuantities(seq::MixerOpInterface mixer);

} // namespace effc

#endif // EFFC_COMPILER_MIXERQUANTITIES_H
