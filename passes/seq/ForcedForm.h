// The form that a user asks of every mixer in prefill, and its one spelling:
// `step`, `quadratic`, `scan`, `chunkwise` or `chunkwise:C`.
#ifndef EFFC_PASSES_SEQ_FORCEDFORM_H
#define EFFC_PASSES_SEQ_FORCEDFORM_H

#include "dialects/seq/Seq.h"

#include <cstdint>
#include <optional>
#include <string>

namespace effc {

struct ForcedForm {
  /// What `C` may be at most.
  static constexpr int64_t kMostTokens = 1024;

  seq::FormKind kind;
  /// Tokens of a chunk, 1 to kMostTokens; only `chunkwise` may have a number.
  std::optional<int64_t> chunk = std::nullopt;

  bool isStep() const { return kind == seq::FormKind::Step; }
  bool operator==(const ForcedForm &) const = default;
};

/// None for a text that spells no form.
std::optional<ForcedForm> parseForcedForm(llvm::StringRef text);

/// What parseForcedForm() reads.
std::string spell(const ForcedForm &form);

/// What parseForcedForm() reads, for messages.
std::string listForcedForms();

} // namespace effc

#endif // EFFC_PASSES_SEQ_FORCEDFORM_H
