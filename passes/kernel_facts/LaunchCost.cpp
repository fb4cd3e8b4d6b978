#include "passes/kernel_facts/LaunchCost.h"

#include "dialects/storage/DenseKind.h"
#include "passes/kernel_facts/BlockRoom.h"

#include "llvm/Support/MathExtras.h"

using namespace effc;
using storage::DenseKind;

// A term of a gated norm takes as long as two: its gate is read, and a sigmoid taken,
// besides.
static constexpr int64_t kGatedTerms = 2;

// A product of usual width, which models have and no chip.
static constexpr int64_t kUsualOutputs = 1024;

// Weights that are unpacked into tiles of a product, with what the product itself takes,
// in so many instructions of single lanes: predicted for q4_0, for others fewer. They
// are counts of the code, of which a core issues as many in a cycle as its schedulers
// have lanes. That many are unpacked from so many tiles of rows on; with fewer, items are
// too few to hide what each waits for.
static constexpr int64_t kUnpackedWeights = 3, kUnpackingLanes = 128,
                         kUnpackedTiles = 3;

bool effc::takesLaunches(tile::TargetAttr target) {
  return target && target.getCore() && target.getCore().getLaunch() > 0;
}

int64_t effc::bytesOfLaunch(tile::TargetAttr gpu) {
  return gpu.getCore().getLaunch() * gpu.getBandwidth();
}

int64_t effc::mostNormedTerms(tile::TargetAttr gpu, bool isGated) {
  return gpu.getCore().getLaunch() * gpu.getRereads() /
         (isGated ? kGatedTerms : 1);
}

int64_t effc::fewestSplitRows(tile::TargetAttr gpu) {
  // What a product moves less for a row: each output is written, and read.
  int64_t saved =
      2 * kUsualOutputs * (bytesOf(DenseKind::F32) - bytesOf(DenseKind::BF16));
  return gpu.getCore().getLaunch() * gpu.getBandwidth() / saved;
}

bool effc::paysToUnpack(tile::TargetAttr gpu, int64_t rows, int64_t weights,
                        int64_t bytes) {
  BlockRoom room = BlockRoom::of(gpu);
  int64_t tiles = std::max<int64_t>(llvm::divideCeil(rows, room.tileRows()),
                                    kUnpackedTiles);
  int64_t inTiles = tiles * weights * kUnpackingLanes /
                    (kUnpackedWeights * room.fewThreads() * gpu.getCores());
  // Written, and read again by the product.
  int64_t narrowBytes =
      2 * bytesOf(storage::getDenseKind(gpu.getRoundedTo())) * weights;
  int64_t ahead =
      gpu.getCore().getLaunch() + (bytes + narrowBytes) / gpu.getBandwidth();
  return ahead < inTiles;
}
