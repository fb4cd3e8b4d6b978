// The rows of all targets, those of the host made from the table of its levels.
#include "compiler/Target.h"

#include "runtime/abi/HostIsas.h"

#include <vector>

using namespace effc;

static tile::ByteProducts byteProductsOf(const rt::HostIsa &isa) {
  switch (isa.byteProducts) {
  case rt::ByteProducts::Pairs:
    return tile::ByteProducts::Pairs;
  case rt::ByteProducts::Quads:
    return tile::ByteProducts::Quads;
  case rt::ByteProducts::SignedQuads:
    return tile::ByteProducts::SignedQuads;
  case rt::ByteProducts::SignedMatrices:
    return tile::ByteProducts::SignedMatrices;
  }
  llvm_unreachable("all products of bytes have a case");
}

// What a plan is chosen by is the host's, whatever the level: a file has one
// plan for all of them. The bytes of state are those of a first cache, which
// x86-64 and Arm have had or exceeded for ten years.
static Target hostOf(llvm::StringRef name, const rt::HostIsa &isa) {
  return {.name = name,
          .code = isa.name,
          .cpu = isa.cpu,
          .features = isa.features,
          .triple =
              llvm::StringRef(isa.triple) == rt::kX86Triple ? "" : isa.triple,
          .device = tile::Device::Host,
          .vectorLanes = isa.lanes,
          .registers = isa.registers,
          .stepRate = 22,
          .dotRate = 18,
          .stateBytes = 32768,
          .byteProducts = byteProductsOf(isa),
          .multipliesBf16 = isa.multipliesBf16};
}

/// The same chip, simulated by the host, which has no text for drivers.
static Target simulationOf(Target chip, llvm::StringRef name) {
  chip.name = chip.code = name;
  chip.ptx = "";
  chip.simulated = true;
  return chip;
}

llvm::ArrayRef<Target> effc::targets() {
  static const std::vector<Target> all = [] {
    std::vector<Target> rows = {hostOf("host", rt::baselineIsa())};
    for (const rt::HostIsa &isa : rt::hostIsas().subspan(1))
      rows.push_back(hostOf(isa.name, isa));
    rows.insert(rows.end(), {kSm80, kSm86, kSm89, kSm90a, kSm100, kSm120,
                             simulationOf(kSm80, "sim_80"),
                             simulationOf(kSm90a, "sim_90a")});
    return rows;
  }();
  return all;
}

Products effc::productsOf(tile::Device device, Products wish) {
  if (wish != Products::Usual)
    return wish;
  return device == tile::Device::Nvptx ? Products::BF16 : Products::Exact;
}

std::vector<const Target *> effc::defaultTargets(Products products) {
  std::vector<const Target *> found;
  for (const rt::HostIsa &isa : rt::hostIsas())
    if (isa.isUsual || (isa.multipliesBf16 && products == Products::BF16))
      found.push_back(findTarget(isa.name));
  return found;
}

std::vector<const Target *>
effc::targetsWithPlans(llvm::ArrayRef<const Target *> targets) {
  std::vector<const Target *> all;
  auto isOfHost = [](const Target *target) {
    return target->device == tile::Device::Host;
  };
  for (const Target *target : targets)
    if (!isOfHost(target) || llvm::none_of(all, isOfHost))
      all.push_back(target);
  return all;
}

const Target *effc::findTarget(llvm::StringRef name) {
  const Target *found = llvm::find_if(targets(), [&](const Target &target) {
    return target.name == name ||
           (target.device == tile::Device::Host && target.code == name);
  });
  return found == targets().end() ? nullptr : found;
}

static mlir::StringAttr textAttr(mlir::MLIRContext *context,
                                 llvm::StringRef string) {
  return string.empty() ? mlir::StringAttr()
                        : mlir::StringAttr::get(context, string);
}

tile::TargetAttr effc::getTargetAttr(const Target &target,
                                     mlir::MLIRContext *context,
                                     const CodeWishes &wishes,
                                     llvm::ArrayRef<const Target *> further) {
  Products products = productsOf(target.device, wishes.products);
  bool isGpu = target.device == tile::Device::Nvptx;
  // Only where some level gains by it.
  bool hasBf16 =
      target.multipliesBf16 || llvm::any_of(further, [](const Target *level) {
        return level->multipliesBf16;
      });
  mlir::Type rounded = isGpu || (products == Products::BF16 && hasBf16)
                           ? roundedTypeOf(products, context)
                           : mlir::Type();
  // Two products of tf32 take the place of six of bf16, and one of rounded
  // ones: with what stands around them, twice an exact product's rate.
  int64_t rate = !rounded || !isGpu ? target.dotRate
                 : rounded.isTF32() ? target.roundedDotRate * 2 / 3
                                    : target.roundedDotRate;
  tile::BlockLimitsAttr block;
  tile::CoreAttr core;
  if (isGpu) {
    block = tile::BlockLimitsAttr::get(context, target.mostThreads,
                                       target.mostSharedBytes);
    core = tile::CoreAttr::get(context, target.core.registers,
                               target.core.memory, target.core.barrier,
                               target.core.product, target.core.launch,
                               target.core.schedulers, target.core.blocks);
  }
  llvm::SmallVector<mlir::Attribute> units;
  for (tile::UnitGetter unit : target.units)
    units.push_back(unit(context));
  llvm::SmallVector<tile::IsaAttr> levels;
  for (const Target *level : further)
    levels.push_back(tile::IsaAttr::get(
        context, textAttr(context, level->code), textAttr(context, level->cpu),
        textAttr(context, level->features), textAttr(context, level->triple),
        level->byteProducts, level->multipliesBf16, level->vectorLanes,
        level->registers));
  return tile::TargetAttr::get(
      context, target.device, wishes.bitStable, target.simulated, units,
      target.overlapsLaunches, rounded, block, core,
      wishes.library && target.isForGpus(),
      wishes.panels && !isGpu ? digitsOf(products) : 0,
      wishes.bundles ? target.bundle : 0, textAttr(context, target.code),
      textAttr(context, target.cpu), textAttr(context, target.features),
      textAttr(context, target.ptx), target.isForOwnChips,
      textAttr(context, target.triple), target.byteProducts,
      target.multipliesBf16, wishes.optimised || isGpu, target.vectorLanes,
      target.registers, target.stepRate, rate,
      rounded && isGpu ? target.dotRate : 0, target.stateBytes, target.cores,
      target.bandwidth, target.rereads, levels);
}
