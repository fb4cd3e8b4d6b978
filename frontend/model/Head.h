// The head of a language model: the table of embeddings or a matrix of its own.
#ifndef EFFC_FRONTEND_MODEL_HEAD_H
#define EFFC_FRONTEND_MODEL_HEAD_H

#include "frontend/model/ModelInput.h"

namespace effc::frontend {

struct HeadConfig {
  std::string table = "model.embed_tokens.weight", head = "lm_head.weight";
  /// What config.json says, and the key that says it.
  bool tied = false;
  llvm::StringRef key = "tie_word_embeddings";
  /// Whether a head of its own may stand beside `tied`, and is then used: so do
  /// releases of the public library since 5.
  bool mayDiffer = true;
  /// The tensor of what is added to the logits; empty: nothing.
  llvm::StringRef bias = "";
};

/// Whether the head is the table of embeddings. A tied head that is stored too
/// is left aside where it is equal.
llvm::Expected<bool> isHeadTied(const HeadConfig &config, FamilyInput &input);

/// Leaves tensors aside that end in one of `endings` or begin with one of
/// `starts`: buffers, and parts of the model that have no text. Named in a
/// remark.
void leaveAside(FamilyInput &input, llvm::ArrayRef<llvm::StringRef> endings,
                llvm::ArrayRef<llvm::StringRef> starts = {});

/// The first of `prefixes` under which the checkpoint has one of `tensors`;
/// without weights, or where none has it, the first of all.
std::string findPrefix(FamilyInput &input,
                       llvm::ArrayRef<llvm::StringRef> prefixes,
                       llvm::ArrayRef<llvm::StringRef> tensors);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_MODEL_HEAD_H
