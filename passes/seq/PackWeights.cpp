// Matrices of blocks that the host's products read -> panels.
//
//   seq.weight @up source("up") : tensor<96x64x!q4_0>
// becomes
//   seq.weight @up source("up") panels : tensor<96x64x!q4_0>
#include "passes/seq/Passes.h"

#include "dialects/seq/Remarks.h"
#include "dialects/seq/Seq.h"
#include "dialects/storage/Panels.h"
#include "dialects/tile/Tile.h"
#include "passes/kernel_facts/PanelProducts.h"

using namespace mlir;

namespace effc {
#define GEN_PASS_DEF_PACKWEIGHTSPASS
#include "passes/seq/Passes.h.inc"

namespace {

struct PackWeightsPass : impl::PackWeightsPassBase<PackWeightsPass> {
  using PackWeightsPassBase::PackWeightsPassBase;

  void runOnOperation() override {
    tile::TargetAttr target = tile::getTarget(getOperation());
    if (!target || target.getDigits() == 0)
      return;
    llvm::DenseMap<StringAttr, SmallVector<seq::ParameterOp>> uses;
    getOperation().walk([&](seq::ParameterOp parameter) {
      uses[parameter.getWeightAttr().getAttr()].push_back(parameter);
    });
    for (auto weight : getOperation().getOps<seq::WeightOp>()) {
      auto type = cast<RankedTensorType>(weight.getType());
      auto rows = dyn_cast<storage::BlockType>(type.getElementType());
      if (!rows)
        continue;
      std::string parts,
          reason = whyNot(weight, rows, uses[weight.getSymNameAttr()], parts);
      InFlightDiagnostic remark = emitRemark(weight.getLoc());
      // Without a name, so that weights alike share a line.
      if (!parts.empty()) {
        remark << seq::kFallbackRemark
               << "a weight in blocks lies in rows and is unpacked to f32, "
                  "which takes longer than products of integers: "
               << parts;
        continue;
      }
      remark << "weight '" << weight.getSymName() << "' lies in ";
      if (!reason.empty()) {
        remark << "rows: " << reason;
        continue;
      }
      remark << "panels: products multiply its codes as integers";
      weight.setPanels(true);
    }
  }

private:
  /// Why an op that multiplies by parts of the weight cannot take panels.
  static std::string describeParts(Operation *op) {
    std::string text = ("'" + op->getName().getStringRef() + "' ").str();
    if (std::optional<int64_t> rows = PanelProduct::partOfPanels(op))
      return text + "takes runs of " + std::to_string(*rows) +
             " rows of it, which are no whole panels of " +
             std::to_string(storage::kPanelRows);
    return text + "reads parts of it that are no panels";
  }

  /// Empty where products alone, or look-ups beside them, read the weight. Where
  /// something multiplies by what has panels but is none, `parts` says it too.
  static std::string whyNot(seq::WeightOp weight, storage::BlockType rows,
                            ArrayRef<seq::ParameterOp> uses,
                            std::string &parts) {
    if (!storage::hasPanels(rows))
      return "there are no panels of " + rows.getName().str();
    if (cast<RankedTensorType>(weight.getType()).getRank() != 2)
      return parts = "it is several matrices";
    bool isMultiplied = false;
    for (seq::ParameterOp parameter : uses)
      for (OpOperand &use : parameter.getResult().getUses()) {
        auto kernel = dyn_cast<seq::KernelOp>(use.getOwner());
        if (!kernel)
          return "an op outside of kernels reads it";
        BlockArgument tensor =
            kernel.getBody().getArgument(use.getOperandNumber());
        for (OpOperand &read : tensor.getUses()) {
          Operation *op = read.getOwner();
          std::optional<PanelProduct> product = PanelProduct::of(op);
          bool isMatrix = product && product->matrix == tensor;
          if (isa<seq::GatherRowsOp, seq::SumRowsOp>(op))
            return ("'" + op->getName().getStringRef() +
                    "' reads single rows of it")
                .str();
          if (!isMatrix && !isa<seq::EmbeddingOp>(op))
            return parts = describeParts(op);
          isMultiplied |= isMatrix;
        }
      }
    return isMultiplied ? "" : "no product reads it";
  }
};
} // namespace
} // namespace effc
