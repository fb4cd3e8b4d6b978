// Weights of blocks that GPUs read -> bundles.
//
//   seq.weight @up source("up") : tensor<96x1024x!q4_0>
// becomes
//   seq.weight @up source("up") bundles(32) : tensor<96x1024x!q4_0>
//
// By itself a block is no multiple of what a thread loads at once, so that its codes
// take many narrow loads.
#include "passes/seq/Passes.h"

#include "dialects/seq/Remarks.h"
#include "dialects/seq/Seq.h"
#include "dialects/storage/Bundles.h"
#include "dialects/tile/Tile.h"

using namespace mlir;

namespace effc {
#define GEN_PASS_DEF_BUNDLEWEIGHTSPASS
#include "passes/seq/Passes.h.inc"

namespace {
struct BundleWeightsPass : impl::BundleWeightsPassBase<BundleWeightsPass> {
  using BundleWeightsPassBase::BundleWeightsPassBase;

  void runOnOperation() override {
    tile::TargetAttr target = tile::getTarget(getOperation());
    if (!target || target.getBundle() == 0)
      return;
    for (auto weight : getOperation().getOps<seq::WeightOp>()) {
      auto type = cast<RankedTensorType>(weight.getType());
      auto block = dyn_cast<storage::BlockType>(type.getElementType());
      if (!block)
        continue;
      int64_t columns = type.getShape().back();
      int64_t blocks =
          storage::blocksOfBundle(block, columns, target.getBundle());
      InFlightDiagnostic remark = emitRemark(weight.getLoc());
      if (blocks == 0) {
        // Without a name, so that weights alike share a line.
        remark << seq::kFallbackRemark << "rows of " << columns << " "
               << block.getName()
               << " lie block by block, which a GPU reads by narrow loads: ";
        if (storage::canBundle(block, target.getBundle()))
          remark << "there are bundles of " << storage::kBundleElements
                 << " elements and multiples";
        else
          remark << "there are no bundles of such blocks of "
                 << block.getElements() << " elements";
        continue;
      }
      remark << "weight '" << weight.getSymName() << "' lies in bundles of "
             << blocks << " blocks: first their codes, then their scales";
      weight.setBundles(blocks);
    }
  }
};
} // namespace
} // namespace effc
