// Tensors by the names under which the public library holds them in memory, where
// released files have others: `save_pretrained(..., save_original_format=False)`.
#ifndef EFFC_FRONTEND_CHECKPOINT_HELDNAMES_H
#define EFFC_FRONTEND_CHECKPOINT_HELDNAMES_H

#include "frontend/checkpoint/Checkpoint.h"

namespace effc::frontend {

/// A part of a tensor's name in released files, and what the library has in its
/// place.
struct HeldName {
  llvm::StringRef released, held;
};

/// How a family's tensors are called in one checkpoint.
class HeldNames {
public:
  /// As in released files.
  HeldNames() = default;
  /// By `rules`, each in turn, where the name of one of the checkpoint's tensors
  /// has one of `signs` in it; else as in released files.
  HeldNames(const Checkpoint &checkpoint, llvm::ArrayRef<HeldName> rules,
            llvm::ArrayRef<llvm::StringRef> signs);

  bool areHeld() const { return !rules.empty(); }
  /// The tensor whose name shows it.
  llvm::StringRef shownBy() const { return sign; }
  std::string nameOf(llvm::StringRef released) const;

private:
  std::vector<HeldName> rules;
  std::string sign;
};

} // namespace effc::frontend

#endif // EFFC_FRONTEND_CHECKPOINT_HELDNAMES_H
