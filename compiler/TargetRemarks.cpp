#include "compiler/TargetRemarks.h"

#include "dialects/seq/Remarks.h"
#include "dialects/seq/Seq.h"
#include "dialects/storage/Panels.h"

using namespace mlir;
using namespace effc;

// Code that asks for an architecture's own instructions runs on no other.
static void remarkOnNewerChips(const CompileOptions &options, ModuleOp module) {
  const Target *own = nullptr;
  for (const Target *target : options.targets) {
    if (target->isForGpus() && !target->isForOwnChips())
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

/// Where the host cannot multiply integers, though the weights are such.
static void remarkOnRows(const CompileOptions &options, ModuleOp module) {
  bool hasBlocks =
      llvm::any_of(module.getOps<seq::WeightOp>(), [](seq::WeightOp weight) {
        auto blocks = dyn_cast<storage::BlockType>(
            cast<RankedTensorType>(weight.getType()).getElementType());
        return blocks && storage::hasPanels(blocks);
      });
  bool hasHost = llvm::any_of(options.targets, [](const Target *target) {
    return target->device == tile::Device::Host;
  });
  if (hasBlocks && hasHost && !options.canPackWeights() &&
      digitsOf(options.pipeline.products) > 0)
    emitRemark(module->getLoc())
        << seq::kFallbackRemark
        << "the host unpacks weights in blocks to f32, for three to "
           "six times as long as products of integers take: these need "
           "panels, and code for a GPU, or the checkpoint's own files "
           "(--weights reference), have rows; a file for the host alone with "
           "its weights has panels";
}

static void remarkOnProducts(const CompileOptions &options, ModuleOp module) {
  remarkOnRows(options, module);
  for (const Target *target : options.targets) {
    Products products = productsOf(target->device, options.pipeline.products);
    bool isGpu = target->device == tile::Device::Nvptx;
    if (!isGpu && !(target->multipliesBf16 && products == Products::BF16))
      continue;
    InFlightDiagnostic remark = emitRemark(module->getLoc());
    remark << "products for " << target->name;
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

void effc::remarkOnTargets(const CompileOptions &options, ModuleOp module) {
  remarkOnNewerChips(options, module);
  remarkOnProducts(options, module);
}
