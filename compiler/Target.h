// What effc compiles for: chips as data. Passes see a target only as the
// `#tile.target` attribute that is made from its row here.
#ifndef EFFC_COMPILER_TARGET_H
#define EFFC_COMPILER_TARGET_H

#include "dialects/tile/Tile.h"

namespace effc {

struct Target {
  llvm::StringRef name; // as --target spells it
  llvm::StringRef cpu;  // what LLVM compiles for
  tile::Device device;
  int64_t vectorLanes; // f32 lanes of a vector register, or of a warp
  int64_t registers;   // vector registers, or registers of a thread
  // FLOPs per cycle and core that effc's own kernels sustain on L1-resident
  // tiles (compiler/README.md says how they were measured, or for GPUs where
  // they come from).
  int64_t stepRate, dotRate;
  int64_t stateBytes; // state that stays close to a core
  // GPUs: the same rate of products whose operands are rounded, what a block
  // may have, how many cores there are, and the PTX that is written.
  int64_t roundedDotRate = 0, mostThreads = 0, mostSharedBytes = 0, cores = 0;
  llvm::StringRef ptxFeatures = "";
  /// A GPU that the host simulates: `cpu` is the chip whose code it runs.
  bool simulated = false;
  /// Whether four warps may multiply together (wgmma).
  bool warpGroups = false;
  /// Whether a launch can begin while the one before it ends.
  bool overlapsLaunches = false;
};

inline constexpr Target kTargets[] = {
    {"host", "x86-64-v3", tile::Device::Host, 8, 16, 22, 18, 32768},
    {"sm_80", "sm_80", tile::Device::Nvptx, 32, 255, 60, 300, 131072, 900, 256,
     166912, 108, "+ptx80"},
    {"sm_90a", "sm_90a", tile::Device::Nvptx, 32, 255, 60, 600, 131072, 1800,
     256, 232448, 132, "+ptx80", false, true, true},
    {"sim_80", "sm_80", tile::Device::Nvptx, 32, 255, 60, 300, 131072, 900, 256,
     166912, 108, "+ptx80", true},
    {"sim_90a", "sm_90a", tile::Device::Nvptx, 32, 255, 60, 600, 131072, 1800,
     256, 232448, 132, "+ptx80", true, true, true},
};

/// Null where no target has that name.
inline const Target *findTarget(llvm::StringRef name) {
  for (const Target &target : kTargets)
    if (target.name == name)
      return &target;
  return nullptr;
}

/// What a product makes of its operands on a GPU; the host's are always exact.
enum class Products {
  F32,  ///< nothing
  BF16, ///< the nearest bf16
};

inline tile::TargetAttr getTargetAttr(const Target &target,
                                      mlir::MLIRContext *context,
                                      Products products = Products::F32) {
  bool rounds =
      products == Products::BF16 && target.device == tile::Device::Nvptx;
  return tile::TargetAttr::get(
      context, target.device, target.vectorLanes, target.registers,
      target.stepRate, rounds ? target.roundedDotRate : target.dotRate,
      target.stateBytes, target.cores, target.warpGroups, rounds);
}

} // namespace effc

#endif // EFFC_COMPILER_TARGET_H
