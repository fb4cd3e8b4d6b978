#include "passes/tile/SharedPlaces.h"

#include "llvm/Support/MathExtras.h"

using namespace effc;

int64_t SharedPlaces::place(Lifetime life) {
  int64_t offset = 0;
  bool moved = true;
  while (moved) {
    moved = false;
    for (const Placed &other : placed)
      if (life.first <= other.life.last && other.life.first <= life.last &&
          offset < other.offset + other.life.bytes &&
          other.offset < offset + life.bytes) {
        offset = llvm::alignTo(other.offset + other.life.bytes, life.alignment);
        moved = true;
      }
  }
  placed.push_back({life, offset});
  bytes = std::max(bytes, offset + life.bytes);
  return offset;
}
