// Lifetimes of bytes -> where the bytes are.
#ifndef EFFC_PASSES_TILE_SHAREDPLACES_H
#define EFFC_PASSES_TILE_SHAREDPLACES_H

#include "dialects/tile/Distribution.h"

namespace effc {

/// Bytes that are in use from moment `first` to moment `last`, both included,
/// and begin at a multiple of `alignment`.
struct Lifetime {
  int64_t first, last, bytes;
  int64_t alignment = tile::kSharedAlignment;
};

/// Places of bytes, first fit: each begins as low as it can without those in
/// use at the same time that were placed before.
class SharedPlaces {
public:
  /// Where the bytes begin, from 0 on.
  int64_t place(Lifetime life);
  /// How many bytes all that is placed takes.
  int64_t getBytes() const { return bytes; }

private:
  struct Placed {
    Lifetime life;
    int64_t offset;
  };
  llvm::SmallVector<Placed> placed;
  int64_t bytes = 0;
};

} // namespace effc

#endif // EFFC_PASSES_TILE_SHAREDPLACES_H
