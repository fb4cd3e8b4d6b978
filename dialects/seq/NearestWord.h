// The word that a misspelt one was probably meant to be.
#ifndef EFFC_DIALECTS_SEQ_NEARESTWORD_H
#define EFFC_DIALECTS_SEQ_NEARESTWORD_H

#include "llvm/ADT/StringRef.h"

namespace effc::seq {

/// Of the words that are considered, the first that fewest insertions, deletions
/// and replacements of letters make of `word`.
class NearestWord {
public:
  /// With more than `mostChanges` it is another word. `word` and what is
  /// considered outlive this.
  NearestWord(llvm::StringRef word, unsigned mostChanges)
      : word(word), fewest(mostChanges + 1) {}

  void consider(llvm::StringRef known) {
    // 0 would ask for any distance.
    if (fewest <= 1)
      return;
    unsigned changes = word.edit_distance(known, /*AllowReplacements=*/true,
                                          /*MaxEditDistance=*/fewest - 1);
    if (changes >= fewest)
      return;
    fewest = changes;
    nearest = known;
  }

  /// Empty where none is near.
  llvm::StringRef get() const { return nearest; }

private:
  llvm::StringRef word, nearest;
  unsigned fewest; // changes to `nearest`
};

} // namespace effc::seq

#endif // EFFC_DIALECTS_SEQ_NEARESTWORD_H
