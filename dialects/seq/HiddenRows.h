//===- HiddenRows.h - Modules that give hidden states ---------------------===//
#ifndef EFFC_DIALECTS_SEQ_HIDDENROWS_H
#define EFFC_DIALECTS_SEQ_HIDDENROWS_H

#include "llvm/ADT/StringRef.h"

namespace effc::seq {

/// A number from 1 on a module: its @forward gives, in place of logits, rows of so many
/// numbers: what the model's head would have multiplied, or inner values.
inline constexpr llvm::StringLiteral kHiddenWidthAttr = "seq.hidden_width";

/// An array of #seq.tap beside it: what the numbers of a row are, where they are inner
/// values one after another.
inline constexpr llvm::StringLiteral kTapsAttr = "seq.taps";

} // namespace effc::seq

#endif // EFFC_DIALECTS_SEQ_HIDDENROWS_H
