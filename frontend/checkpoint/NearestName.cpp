#include "frontend/checkpoint/NearestName.h"

using namespace effc::frontend;

void NearestName::consider(llvm::StringRef known,
                           llvm::function_ref<bool()> mayBeMeant) {
  // What is longer is no slip, and costs its square.
  constexpr size_t kLongestName = 256;
  if (name.size() > kLongestName || known.size() > kLongestName)
    return;
  unsigned changes = name.edit_distance(known, /*AllowReplacements=*/true,
                                        /*MaxEditDistance=*/fewest);
  bool isNearer = changes < fewest ||
                  (changes == fewest && !nearest.empty() && known < nearest);
  if (!isNearer || !mayBeMeant())
    return;
  fewest = changes;
  nearest = known;
}
