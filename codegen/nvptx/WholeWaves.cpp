#include "codegen/nvptx/WholeWaves.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace mlir;
using namespace effc;

// What a thread needs beside the rows that it multiplies by: addresses, words of the
// weight, and sums. Counted (tools/sass_model/waves.md).
static constexpr int64_t kBesideRows = 24;
// Registers are given in eights.
static constexpr int64_t kRegisterUnit = 8;

static bool isWeight(tile::KernelOp kernel, Value view) {
  auto argument = dyn_cast<BlockArgument>(view);
  std::optional<ArrayRef<int64_t>> streamed = kernel.getStreamed();
  return argument && streamed && argument.getOwner()->getParentOp() == kernel &&
         argument.getArgNumber() > 0 &&
         llvm::is_contained(*streamed, argument.getArgNumber() - 1);
}

// Elements of rows that a thread holds in a step of a loop over a weight, the most of all
// such loops; 0 where there is none.
static int64_t rowElementsOfStep(tile::KernelOp kernel, int64_t threads) {
  int64_t most = 0;
  kernel.getBody().walk([&](scf::ForOp loop) {
    bool readsWeight = false;
    int64_t elements = 0;
    for (auto load : loop.getBody()->getOps<tile::LoadOp>()) {
      tile::TileType type = load.getResult().getType();
      if (!type.isBlock())
        elements += type.rows() * type.columns() / threads;
      else if (!type.getSharedLayout())
        readsWeight |= isWeight(kernel, load.getView());
    }
    if (readsWeight)
      most = std::max(most, elements);
  });
  return most;
}

int64_t nvptx::registersOfWholeWaves(tile::KernelOp kernel) {
  tile::TargetAttr target = tile::getTarget(kernel);
  if (!target || !target.getCore())
    return 0;
  int64_t threads = kernel.getSchedule()->getThreads();
  int64_t elements = rowElementsOfStep(kernel, threads);
  // Of few rows, which are one tile.
  int64_t blocks = kernel.getItems().getTimes();
  if (elements == 0 || blocks < target.getCores())
    return 0;
  int64_t registers = target.getCore().getRegisters() / threads;
  int64_t most = std::clamp<int64_t>(registers / (kBesideRows + elements), 1,
                                     target.getCore().getBlocks());
  int64_t ofCore = llvm::divideCeil(blocks, target.getCores());
  int64_t waves = llvm::divideCeil(ofCore, most);
  int64_t ofWave = llvm::divideCeil(ofCore, waves);
  return std::min<int64_t>(
      llvm::alignDown(registers / ofWave, kRegisterUnit),
      llvm::alignDown(target.getRegisters(), kRegisterUnit));
}
