#include "passes/kernel_facts/RoundedOperands.h"

#include "dialects/storage/DenseKind.h"
#include "passes/kernel_facts/BlockRoom.h"
#include "passes/kernel_facts/Cores.h"
#include "passes/kernel_facts/HostSizes.h"
#include "passes/kernel_facts/SingleRows.h"

using namespace mlir;
using namespace effc;

bool effc::areOperandsNarrow(tile::Device device, mlir::Type roundedTo) {
  return device == tile::Device::Nvptx && roundedTo && !roundedTo.isTF32();
}

int64_t effc::operandBytes(tile::Device device, mlir::Type roundedTo) {
  return storage::bytesOf(areOperandsNarrow(device, roundedTo)
                              ? storage::getDenseKind(roundedTo)
                              : storage::DenseKind::F32);
}

bool effc::roundsRows(mlir::Operation *product, seq::EntryAttr entry,
                      tile::TargetAttr target, mlir::Type weight) {
  if (target.getDevice() == tile::Device::Host)
    return weight == target.getRoundedTo();
  int64_t inner = DenseShape::of(product).inner;
  return inner >= kLeastRoundedTerms &&
         !isSingleRow(entry, target.getBitStable(), inner);
}

bool effc::handsOnRounded(tile::TargetAttr target) {
  return isGpu(target) && target.getRoundedTo() &&
         target.getRoundedTo().isBF16() && !target.getBitStable();
}

int64_t effc::mostWindowKeys(tile::TargetAttr target) {
  if (!isGpu(target))
    return kHostWindowKeys;
  bool isNarrow = areOperandsNarrow(target.getDevice(), target.getRoundedTo());
  return BlockRoom::of(target).lanes * (isNarrow ? 2 : 1);
}
