// What effc compiles for: chips as data. Passes see a target only as the
// `#tile.target` attribute that is made from its row here; of the host the
// levels of its instruction set stand in runtime/abi/HostIsas.cpp.
#ifndef EFFC_COMPILER_TARGET_H
#define EFFC_COMPILER_TARGET_H

#include "dialects/tile/units/Units.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"

#include <optional>
#include <vector>

namespace effc {

/// What a core of a GPU has for its blocks: 32-bit registers, and cycles that a block
/// waits for memory, at a barrier and for a product of tensor cores, and that a
/// further launch takes, schedulers that issue for warps, and the most blocks at once
/// (#tile.core).
struct GpuCore {
  int64_t registers = 0, memory = 0, barrier = 0, product = 0, launch = 0,
          schedulers = 0, blocks = 32;
};

/// The same of compute capabilities 8.0 to 12.0: registers, schedulers and blocks by the
/// CUDA C++ Programming Guide; cycles are assumed, not measured.
inline constexpr GpuCore kUsualCore = {.registers = 65536,
                                       .memory = 500,
                                       .barrier = 50,
                                       .product = 33,
                                       .launch = 2500,
                                       .schedulers = 4};

/// Elements of the longest bundle: whole sectors of 32 bytes for most kinds of blocks. Steps
/// of the products that are as long, or twice, compute no places of their own.
inline constexpr int64_t kUsualBundle = 512;

struct Target {
  llvm::StringRef name;          // as --target spells it
  llvm::StringRef code;          // what the artifact calls its code
  llvm::StringRef cpu;           // what LLVM compiles for
  llvm::StringRef features = ""; // and what is there besides
  llvm::StringRef ptx = "";      // what it calls the text of a GPU's code
  llvm::StringRef triple = "";   // of the host, where that is not x86-64
  tile::Device device;
  int64_t vectorLanes; // f32 lanes of a vector register, or of a warp
  int64_t registers;   // vector registers, or registers of a thread
  // FLOPs per cycle and core that effc's own kernels sustain on L1-resident
  // tiles (compiler/README.md says how they were measured, or for GPUs where
  // they come from).
  int64_t stepRate, dotRate;
  int64_t stateBytes = 0; // of the host: state that stays close to a core
  // GPUs: the same rate of products whose operands are rounded, what a block
  // may have, how many cores there are, and in a cycle of theirs the bytes that
  // memory moves, and the terms of products for which items read a row and its norm
  // again from the second cache.
  int64_t roundedDotRate = 0, mostThreads = 0, mostSharedBytes = 0, cores = 0,
          bandwidth = 0, rereads = 0;
  /// GPUs: the most elements of a bundle of blocks (dialects/storage/Bundles.h).
  int64_t bundle = 0;
  GpuCore core = {};
  /// A GPU that the host simulates: `cpu` is the chip whose code it runs.
  bool simulated = false;
  /// Its product units, the preferred one first.
  llvm::ArrayRef<tile::UnitGetter> units = {};
  /// Whether a launch can begin while the one before it ends.
  bool overlapsLaunches = false;
  /// Whether a GPU's code asks for its architecture's own instructions ("a"), which
  /// no other chip has.
  bool isForOwnChips = false;
  /// What a level of the host multiplies bytes by, and whether it has products of bf16.
  tile::ByteProducts byteProducts = tile::ByteProducts::Pairs;
  bool multipliesBf16 = false;

  /// Whether GPUs run its code.
  bool isForGpus() const { return device == tile::Device::Nvptx && !simulated; }
  bool hasUnit(tile::UnitGetter unit) const {
    return llvm::is_contained(units, unit);
  }
};

inline constexpr tile::UnitGetter kAmpereUnits[] = {tile::getMmaSync};
inline constexpr tile::UnitGetter kHopperUnits[] = {tile::getWgmma,
                                                    tile::getMmaSync};

/// The second cache's rate by a chip's cores: 1,600 terms in a cycle of the 132 of an
/// H100, as predicted by tools/sass_model. No other chip's was predicted or measured: it
/// is taken to grow with the cores.
inline constexpr int64_t rereadsOf(int64_t cores) { return 1600 * cores / 132; }

// Bandwidths are data sheets' bytes in a second by their boost clocks: A100 of 80 GB,
// 2,039 GB/s at 1.41 GHz; H100 SXM, 3,350 at 1.98, of which sm_90a has 0.8 % less, with
// which its kernels were predicted.
inline constexpr Target kSm80 = {.name = "sm_80",
                                 .code = "sm_80",
                                 .cpu = "sm_80",
                                 .features = "+ptx80",
                                 .ptx = "compute_80",
                                 .device = tile::Device::Nvptx,
                                 .vectorLanes = 32,
                                 .registers = 255,
                                 .stepRate = 60,
                                 .dotRate = 300,
                                 .roundedDotRate = 900,
                                 .mostThreads = 256,
                                 .mostSharedBytes = 166912,
                                 .cores = 108,
                                 .bandwidth = 1446,
                                 .rereads = rereadsOf(108),
                                 .bundle = kUsualBundle,
                                 .core = kUsualCore,
                                 .units = kAmpereUnits};
inline constexpr Target kSm90a = {.name = "sm_90a",
                                  .code = "sm_90a",
                                  .cpu = "sm_90a",
                                  .features = "+ptx80",
                                  .ptx = "compute_90a",
                                  .device = tile::Device::Nvptx,
                                  .vectorLanes = 32,
                                  .registers = 255,
                                  .stepRate = 60,
                                  .dotRate = 600,
                                  .roundedDotRate = 1800,
                                  .mostThreads = 256,
                                  .mostSharedBytes = 232448,
                                  .cores = 132,
                                  .bandwidth = 1678,
                                  .rereads = rereadsOf(132),
                                  .bundle = kUsualBundle,
                                  .core = kUsualCore,
                                  .units = kHopperUnits,
                                  .overlapsLaunches = true,
                                  .isForOwnChips = true};

/// Chips of the same code with smaller blocks, half the tensor cores of a core, and
/// other cores: GA102 (RTX 3090: 936 GB/s at 1.695 GHz; A40), AD102 (RTX 4090: 1,008 at
/// 2.52; L40S).
inline constexpr Target smallBlocksOf(llvm::StringRef name, llvm::StringRef ptx,
                                      int64_t blocks, int64_t cores,
                                      int64_t bandwidth) {
  Target chip = kSm80;
  chip.name = chip.code = chip.cpu = name;
  chip.ptx = ptx;
  chip.dotRate /= 2;
  chip.roundedDotRate /= 2;
  chip.mostSharedBytes = 101376;
  chip.core.blocks = blocks;
  chip.cores = cores;
  chip.bandwidth = bandwidth;
  chip.rereads = rereadsOf(cores);
  return chip;
}
inline constexpr Target kSm86 = smallBlocksOf(
    "sm_86", "compute_86", /*blocks=*/16, /*cores=*/84, /*bandwidth=*/552);
inline constexpr Target kSm89 = smallBlocksOf(
    "sm_89", "compute_89", /*blocks=*/24, /*cores=*/128, /*bandwidth=*/400);

/// Chips after Hopper, by what they share with Ampere: products by mma.sync. GB202
/// (RTX 5090: 1,792 GB/s at 2.407 GHz) has the blocks of AD102, B200 (8,000 at 1.965) those
/// of Hopper.
inline constexpr Target blackwellOf(Target like, llvm::StringRef name,
                                    llvm::StringRef ptx,
                                    llvm::StringRef features, int64_t cores,
                                    int64_t bandwidth) {
  like.name = like.code = like.cpu = name;
  like.ptx = ptx;
  like.isForOwnChips = false;
  like.features = features;
  like.cores = cores;
  like.bandwidth = bandwidth;
  like.rereads = rereadsOf(cores);
  like.units = kAmpereUnits;
  like.overlapsLaunches = true;
  return like;
}
inline constexpr Target kSm100 =
    blackwellOf(kSm90a, "sm_100", "compute_100", "+ptx86", /*cores=*/148,
                /*bandwidth=*/4070);
inline constexpr Target kSm120 =
    blackwellOf(kSm89, "sm_120", "compute_120", "+ptx87", /*cores=*/170,
                /*bandwidth=*/744);

/// All targets: the host in the lowest level of its instruction set, its further
/// levels, GPUs, simulated ones.
llvm::ArrayRef<Target> targets();

inline const Target &hostTarget() { return targets().front(); }

/// Those that get a plan of their own: levels of the host share that of the first.
std::vector<const Target *>
targetsWithPlans(llvm::ArrayRef<const Target *> targets);

/// Null where no target has that name; the host's lowest level has two.
const Target *findTarget(llvm::StringRef name);

/// What a product makes of its operands.
enum class Products {
  Usual, ///< BF16 on GPUs, as public kernels multiply; Exact on the host
  Exact, ///< on a GPU nothing; rows on the host, by weights in blocks: 3 digits
  F32,   ///< nothing
  TF32,  ///< on a GPU the nearest tf32; the host's are exact
  BF16, ///< the nearest bf16; on the host by weights in bf16, on levels that can
  F16,  ///< as tf32, the nearest f16
  Int16, ///< of rows on the host, by weights in blocks: 2 digits; else nothing
  Int8,  ///< the same, 1 digit
};

/// As --products spells them, in the order of the enum.
inline constexpr llvm::StringLiteral kProducts[] = {
    "usual", "exact", "f32", "tf32", "bf16", "f16", "int16", "int8"};

inline llvm::StringRef nameOf(Products products) {
  return kProducts[static_cast<size_t>(products)];
}

/// What is meant by a wish on a device: its own kind where it is `Usual`.
Products productsOf(tile::Device device, Products wish);

/// What is compiled for without a wish: the usual levels of the host, and for products
/// that round to bf16 those that multiply it.
std::vector<const Target *> defaultTargets(Products products);

/// Nothing where no kind of products has that name.
inline std::optional<Products> findProducts(llvm::StringRef name) {
  const auto *found = llvm::find(kProducts, name);
  if (found == std::end(kProducts))
    return std::nullopt;
  return static_cast<Products>(found - kProducts);
}

/// The type that operands are rounded to on a GPU; null: none. Not of `Usual`.
inline mlir::Type roundedTypeOf(Products products, mlir::MLIRContext *context) {
  switch (products) {
  case Products::Usual:
    llvm_unreachable("what is usual depends on the target: productsOf");
  case Products::Exact:
  case Products::F32:
  case Products::Int16:
  case Products::Int8:
    return {};
  case Products::TF32:
    return mlir::FloatTF32Type::get(context);
  case Products::BF16:
    return mlir::BFloat16Type::get(context);
  case Products::F16:
    return mlir::Float16Type::get(context);
  }
  llvm_unreachable("all kinds of products have a case");
}

/// Whether GPUs are asked to round what they multiply. Not for `Usual`, which asks
/// for nothing.
inline bool roundsOnGpus(Products products) {
  return products == Products::TF32 || products == Products::BF16 ||
         products == Products::F16;
}

/// The digits of rows that the host multiplies by weights in panels; 0: none, and
/// weights are unpacked to f32.
inline int64_t digitsOf(Products products) {
  return products == Products::F32     ? 0
         : products == Products::Int16 ? 2
         : products == Products::Int8  ? 1
                                       : 3;
}

/// What is asked of code besides what it is for.
struct CodeWishes {
  Products products = Products::Usual;
  /// Whether the host's weights in blocks lie in panels.
  bool panels = true;
  /// Whether weights in blocks lie in bundles, where the target has them.
  bool bundles = true;
  /// The same bits wherever a prompt is cut.
  bool bitStable = false;
  /// Products by a library where the device has one.
  bool library = false;
  /// Whether the host's code is optimised; the bits are the same without.
  bool optimised = true;
};

/// `further` are levels of the host that get code besides `target`'s own.
tile::TargetAttr getTargetAttr(const Target &target, mlir::MLIRContext *context,
                               const CodeWishes &wishes,
                               llvm::ArrayRef<const Target *> further = {});

} // namespace effc

#endif // EFFC_COMPILER_TARGET_H
