#include "passes/kernel_facts/BlockRoom.h"

#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace effc;

BlockRoom BlockRoom::of(tile::TargetAttr gpu) {
  assert(gpu && gpu.getBlock() && "a host has no blocks");
  tile::BlockLimitsAttr block = gpu.getBlock();
  return {block.getThreads(), block.getSharedBytes(), gpu.getRegisters(),
          gpu.getVector(), gpu.getCore().getSchedulers()};
}

mlir::FailureOr<BlockRoom> BlockRoom::find(tile::KernelOp kernel) {
  tile::TargetAttr target = tile::getTarget(kernel);
  if (target && target.getBlock())
    return of(target);
  return kernel.emitError("needs the 'tile.target' of a GPU, which says what a "
                          "block may have, but its module has ")
         << (target ? "that of a host" : "none");
}

// An instruction names 256 registers, of which one is always 0 and not counted.
static int64_t shareOf(int64_t registers, int64_t part, int64_t of) {
  return llvm::divideCeil(registers * part, of);
}

int64_t BlockRoom::heldElements() const {
  return threads * shareOf(registers, 1, 4);
}

int64_t BlockRoom::heldBesideProduct(bool isNarrow) const {
  return isNarrow ? shareOf(registers, 1, 2) : shareOf(registers, 3, 8);
}

int64_t BlockRoom::matrixElements() const {
  return llvm::bit_floor<uint64_t>(sharedBytes / 4);
}

int64_t BlockRoom::halvingBytes() const {
  return llvm::bit_floor<uint64_t>(sharedBytes / 5);
}

int64_t BlockRoom::stages(int64_t stepBytes) const {
  constexpr int64_t kFewest = 2, kMost = 3;
  return std::clamp(sharedBytes / stepBytes, kFewest, kMost);
}
