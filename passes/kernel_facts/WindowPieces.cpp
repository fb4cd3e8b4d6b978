#include "passes/kernel_facts/WindowPieces.h"

#include "passes/kernel_facts/Cores.h"

#include "llvm/Support/MathExtras.h"

using namespace effc;

// Positions of the smallest piece, which takes some times as long as the launch that
// merges it; and the most pieces of a window, of which all give a row of values.
static constexpr int64_t kFewestPositions = 64, kMostPieces = 128;

int64_t effc::windowPieceOf(tile::TargetAttr gpu, int64_t keys,
                            int64_t groups) {
  int64_t most = llvm::divideCeilSigned(keys, kMostPieces);
  int64_t piece =
      std::max<int64_t>(kFewestPositions, int64_t(llvm::PowerOf2Ceil(most)));
  return gpu && keys > piece && groups < gpu.getCores() ? piece : 0;
}

int64_t effc::windowItemsThatFill(tile::TargetAttr gpu) {
  return 4 * itemsThatFill(gpu);
}
