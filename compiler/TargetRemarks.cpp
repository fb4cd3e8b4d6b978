#include "compiler/TargetRemarks.h"

#include "dialects/seq/Remarks.h"
#include "dialects/seq/Seq.h"
#include "dialects/storage/Panels.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace effc;

// Code that asks for an architecture's own instructions runs on no other.
static void remarkOnNewerChips(const CompileOptions &options, ModuleOp module) {
  const Target *own = nullptr;
  for (const Target *target : options.targets) {
    if (target->isForGpus() && !target->isForOwnChips)
      return;
    if (target->isForGpus())
      own = target;
  }
  if (!own)
    return;
  emitRemark(module->getLoc())
      << "code of " << own->name
      << " runs on no newer GPUs: with a target such as sm_80 besides, the "
         "file has text that their drivers compile";
}

namespace {
/// What products multiply by: matrices that something reads which is no look-up.
struct Multiplied {
  bool inBF16 = false, inBlocksOfPanels = false;
  llvm::SetVector<StringRef> withoutPanels; ///< names of the other blocks

  static Multiplied of(ModuleOp module);
};
} // namespace

Multiplied Multiplied::of(ModuleOp module) {
  Multiplied found;
  module.walk([&](seq::ParameterOp parameter) {
    auto type = cast<RankedTensorType>(parameter.getResult().getType());
    bool isRead =
        llvm::any_of(parameter.getResult().getUsers(), [](Operation *user) {
          return !isa<seq::EmbeddingOp>(user);
        });
    if (!isRead || type.getRank() < 2)
      return;
    found.inBF16 |= type.getElementType().isBF16();
    if (auto blocks = dyn_cast<storage::BlockType>(type.getElementType())) {
      if (storage::hasPanels(blocks))
        found.inBlocksOfPanels = true;
      else
        found.withoutPanels.insert(blocks.getName());
    }
  });
  return found;
}

/// Where the host cannot multiply integers, though the weights are such, or is asked to
/// round where they are not.
static void remarkOnRows(const CompileOptions &options, ModuleOp module,
                         const Multiplied &weights) {
  Products products = options.pipeline.products;
  bool hasHost = llvm::any_of(options.targets, [](const Target *target) {
    return target->device == tile::Device::Host;
  });
  if (!hasHost || digitsOf(products) == 0)
    return;
  if (weights.inBlocksOfPanels && !options.canPackWeights())
    emitRemark(module->getLoc())
        << seq::kFallbackRemark
        << "the host unpacks weights in blocks to f32, for three to "
           "six times as long as products of integers take: these need "
           "panels, and code for a GPU, or the checkpoint's own files "
           "(--weights reference), have rows; a file for the host alone with "
           "its weights has panels";
  for (StringRef storage : weights.withoutPanels)
    emitRemark(module->getLoc())
        << seq::kFallbackRemark << "the host unpacks weights in " << storage
        << " to f32, which takes longer than products of integers: only "
           "blocks of a multiple of 32 codes of small integers have panels";
  if ((products == Products::Int16 || products == Products::Int8) &&
      !weights.inBlocksOfPanels)
    emitRemark(module->getLoc())
        << seq::kFallbackRemark << "--products " << nameOf(products)
        << " rounds nothing: it is for rows that weights in panels multiply, "
           "and no weight has any (--weights-type q8_0, for one)";
}

static void remarkOnProducts(const CompileOptions &options, ModuleOp module) {
  Multiplied weights = Multiplied::of(module);
  remarkOnRows(options, module, weights);
  for (const Target *target : options.targets) {
    Products products = productsOf(target->device, options.pipeline.products);
    bool isGpu = target->device == tile::Device::Nvptx;
    if (!isGpu && !(target->multipliesBf16 && products == Products::BF16))
      continue;
    InFlightDiagnostic remark = emitRemark(module->getLoc());
    bool isIdle = !isGpu && !weights.inBF16;
    remark << (isIdle ? StringRef(seq::kFallbackRemark) : StringRef())
           << "products for " << target->name;
    if (isIdle) {
      remark << " round nothing: --products bf16 is for rows that weights in "
                "bf16 multiply, and there are none (--weights-type bf16)";
      continue;
    }
    if (!isGpu) {
      remark << " round the rows that weights in bf16 multiply to bf16";
      continue;
    }
    if (!roundsOnGpus(products)) {
      remark << " are as exact as f32: operands are split in up to three bf16";
      continue;
    }
    remark << " round what they multiply to " << nameOf(products);
    if (options.pipeline.products == Products::Usual)
      remark
          << ", as public kernels do: --products f32 rounds nothing, for three "
             "to six times the instructions";
    MLIRContext *context = module->getContext();
    Type roundedTo = roundedTypeOf(products, context);
    for (tile::UnitGetter getUnit : target->units)
      if (tile::ProductUnit unit = getUnit(context); unit.isExact(roundedTo))
        remark << ", but those of " << unit.getFormedBy()
               << " are exact, which takes them no longer";
  }
}

// Code for GPUs that reads blocks as they lie in a file.
static void remarkOnBlocks(const CompileOptions &options, ModuleOp module) {
  auto bundled = llvm::find_if(
      options.targets, [](const Target *target) { return target->bundle > 0; });
  bool hasBlocks =
      llvm::any_of(module.getOps<seq::WeightOp>(), [](seq::WeightOp weight) {
        return isa<storage::BlockType>(
            cast<RankedTensorType>(weight.getType()).getElementType());
      });
  if (bundled == options.targets.end() || !hasBlocks ||
      options.canBundleWeights())
    return;
  emitRemark(module->getLoc())
      << seq::kFallbackRemark << "code for " << (*bundled)->name
      << " reads weights in blocks by narrow loads, for up to twice as long in "
         "a step: wide ones need bundles, and code for the host, or the "
         "checkpoint's own files (--weights reference), have blocks; a file "
         "for "
         "GPUs alone with its weights has bundles";
}

void effc::remarkOnTargets(const CompileOptions &options, ModuleOp module) {
  remarkOnNewerChips(options, module);
  remarkOnProducts(options, module);
  remarkOnBlocks(options, module);
}
