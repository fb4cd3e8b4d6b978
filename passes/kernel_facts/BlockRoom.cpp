#include "passes/kernel_facts/BlockRoom.h"

#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace effc;

// 163 KiB is the most that a block of compute capability 8.0 may have (CUDA C++
// Programming Guide, technical specifications).
static constexpr BlockRoom kA100 = {
    .threads = 256, .sharedBytes = 166912, .registers = 255};

BlockRoom BlockRoom::of(tile::TargetAttr target) {
  tile::BlockLimitsAttr block =
      target ? target.getBlock() : tile::BlockLimitsAttr();
  if (!block)
    return kA100;
  return {block.getThreads(), block.getSharedBytes(), target.getRegisters()};
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
