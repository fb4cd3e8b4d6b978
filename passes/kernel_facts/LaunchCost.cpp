#include "passes/kernel_facts/LaunchCost.h"

#include "passes/kernel_facts/BlockRoom.h"

#include "llvm/Support/MathExtras.h"

using namespace effc;

// A rate of the second cache: terms of products whose items read the norm's operands
// again, in a cycle of the 132 cores of an H100, where that was predicted. A gate is
// read, and a sigmoid taken, besides.
static constexpr int64_t kNormedTerms = 1600, kGatedTerms = kNormedTerms / 2,
                         kNormedCores = 132;

// Bytes that a product of usual width, 1,024 outputs, moves less for a row: each is
// written and read with two bytes in place of four.
static constexpr int64_t kUsualOutputs = 1024,
                         kSavedBytes = 2 * 2 * kUsualOutputs;

// Weights that a core unpacks into tiles of a product in a cycle, with what the product
// itself takes: predicted for q4_0, for others fewer. It has that rate from so many
// tiles of rows on; with fewer, items are too few to hide what each waits for.
static constexpr int64_t kUnpackedWeights = 3, kUnpackedTiles = 3;

int64_t effc::mostNormedTerms(tile::TargetAttr gpu, bool isGated) {
  return gpu.getCore().getLaunch() * gpu.getCores() *
         (isGated ? kGatedTerms : kNormedTerms) / kNormedCores;
}

int64_t effc::fewestSplitRows(tile::TargetAttr gpu) {
  return gpu.getCore().getLaunch() * gpu.getBandwidth() / kSavedBytes;
}

bool effc::paysToUnpack(tile::TargetAttr gpu, int64_t rows, int64_t weights,
                        int64_t bytes) {
  constexpr int64_t kNarrowBytes = 2;
  int64_t tiles = std::max<int64_t>(
      llvm::divideCeil(rows, BlockRoom::of(gpu).tileRows()), kUnpackedTiles);
  int64_t inTiles = tiles * weights / (kUnpackedWeights * gpu.getCores());
  // Written, and read again by the product.
  int64_t ahead = gpu.getCore().getLaunch() +
                  (bytes + 2 * kNarrowBytes * weights) / gpu.getBandwidth();
  return ahead < inTiles;
}
