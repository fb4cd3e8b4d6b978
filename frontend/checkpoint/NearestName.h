// The known name that a misspelt one was probably meant to be.
#ifndef EFFC_FRONTEND_CHECKPOINT_NEARESTNAME_H
#define EFFC_FRONTEND_CHECKPOINT_NEARESTNAME_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

namespace effc::frontend {

/// Of the names that are considered, the one that fewest insertions, deletions
/// and replacements of letters make of `name`; of several the first in the order
/// of the alphabet, whatever order they come in.
class NearestName {
public:
  /// With more than `mostChanges` it is another word. `name` and what is
  /// considered outlive this.
  NearestName(llvm::StringRef name, unsigned mostChanges)
      : name(name), fewest(mostChanges + 1) {}

  /// `mayBeMeant` is asked only of names that are near.
  void consider(
      llvm::StringRef known,
      llvm::function_ref<bool()> mayBeMeant = [] { return true; });

  /// Empty where none is near.
  llvm::StringRef get() const { return nearest; }

private:
  llvm::StringRef name, nearest;
  unsigned fewest; // changes to `nearest`
};

} // namespace effc::frontend

#endif // EFFC_FRONTEND_CHECKPOINT_NEARESTNAME_H
