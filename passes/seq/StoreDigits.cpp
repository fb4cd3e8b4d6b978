// Results that products with panels read -> digits in memory.
//
//   %n = seq.kernel "layers.0.norm" (...) -> (tensor<?x96xf32>) { ... seq.yield %y }
//   %q = seq.kernel "layers.0.q" (%a = %n, %b = %panels) -> ... { seq.linear %a, %b }
//   %s = seq.kernel "layers.0.router" (%a = %n, ...) -> ...
// becomes
//   %n:2 = seq.kernel "layers.0.norm" (...) -> (tensor<?x96xf32>, tensor<?x96xf32>)
//       attributes {narrow = array<i64: 1>, narrow_to = !storage.digits<3>} {
//     ... seq.yield %y, %y }
//   %q = seq.kernel "layers.0.q" (%a = %n#1, %b = %panels) -> ...
//   %s = seq.kernel "layers.0.router" (%a = %n#0, ...) -> ...
//
// Digits of digits are themselves, so that products compute the same without.
#include "passes/seq/Passes.h"

#include "dialects/plan/MemoryLayout.h"
#include "dialects/seq/Seq.h"
#include "dialects/storage/Digits.h"
#include "dialects/tile/Tile.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/kernel_facts/KernelWeights.h"
#include "passes/kernel_facts/PanelProducts.h"

using namespace mlir;

namespace effc {
#define GEN_PASS_DEF_STOREDIGITSPASS
#include "passes/seq/Passes.h.inc"

namespace {

constexpr int64_t kBlock = storage::DigitsLayout::kNumbers;

bool isWhole(int64_t elements) { return elements % kBlock == 0; }

/// Whether a tensor of a kernel's body is a weight in panels.
bool isInPanels(Value tensor) {
  seq::WeightOp weight = weightInKernel(tensor);
  return weight && weight.getPanels();
}

/// The product of an op whose matrix lies in panels.
std::optional<PanelProduct> panelProductOf(Operation *op) {
  std::optional<PanelProduct> product = PanelProduct::of(op);
  return product && isInPanels(product->matrix) ? product : std::nullopt;
}

/// Whether all reads of `tensor`, whose elements lie `strides` apart from `first` on,
/// are rows of products with panels, from whole blocks on.
bool isReadAsDigits(Value tensor, ArrayRef<int64_t> strides, int64_t first) {
  return llvm::all_of(tensor.getUses(), [&](OpOperand &use) {
    Operation *op = use.getOwner();
    if (auto slice = dyn_cast<seq::SliceOp>(op))
      return isReadAsDigits(slice.getResult(), strides,
                            first +
                                slice.getOffset() * strides[slice.getAxis()]);
    if (auto reshape = dyn_cast<seq::ReshapeOp>(op))
      return isReadAsDigits(reshape.getResult(),
                            plan::denseStrides(cast<RankedTensorType>(
                                reshape.getResult().getType())),
                            first);
    std::optional<PanelProduct> product = panelProductOf(op);
    return product && product->rows == tensor && product->matrix != tensor &&
           isWhole(first);
  });
}

bool isReadAsDigits(OpOperand &use) {
  auto reader = dyn_cast<seq::KernelOp>(use.getOwner());
  if (!reader)
    return false;
  BlockArgument tensor = reader.getBody().getArgument(use.getOperandNumber());
  return !tensor.use_empty() &&
         isReadAsDigits(
             tensor,
             plan::arenaStrides(cast<RankedTensorType>(tensor.getType())), 0);
}

/// Whether a kernel writes a result of `type` in whole blocks: its tiles are runs of
/// the last dimension, which is whole blocks, and of these whole ones.
bool writesBlocks(seq::KernelOp kernel, RankedTensorType type) {
  int64_t columns = type.getShape().back();
  Operation *root = kernel.getRootOp();
  if (!isWhole(columns))
    return false;
  if (!root || isa<seq::PermuteChannelsOp>(root))
    return true;
  if (auto norm = dyn_cast<seq::RowNormOpInterface>(root))
    return isWhole(columns / norm.getGroups());
  if (auto mixer = dyn_cast<seq::MixerOpInterface>(root))
    return mixer.getStructure().getMixerClass() == seq::MixerClass::Window;
  return panelProductOf(root).has_value();
}

struct StoreDigitsPass : impl::StoreDigitsPassBase<StoreDigitsPass> {
  using StoreDigitsPassBase::StoreDigitsPassBase;

  void runOnOperation() override {
    tile::TargetAttr target = tile::getTarget(getOperation());
    if (!target || target.getDigits() == 0)
      return;
    stored = storage::DigitsType::get(&getContext(), target.getDigits());
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (function->hasAttr("seq.entry"))
        for (auto kernel :
             llvm::make_early_inc_range(function.getOps<seq::KernelOp>()))
          storeDigits(kernel);
  }

private:
  /// What becomes of a result that products read.
  struct Choice {
    unsigned number;
    SmallVector<OpOperand *> products;
    bool isShared; ///< others read it as well
  };

  void storeDigits(seq::KernelOp kernel) {
    if (kernel.getNarrow())
      return;
    SmallVector<Choice> choices;
    for (OpResult result : kernel.getResults()) {
      auto type = dyn_cast<RankedTensorType>(result.getType());
      if (!type || !type.getElementType().isF32())
        continue;
      Choice choice{result.getResultNumber(), {}, false};
      for (OpOperand &use : result.getUses())
        if (isReadAsDigits(use))
          choice.products.push_back(&use);
        else
          choice.isShared = true;
      if (choice.products.empty())
        continue;
      bool isStored = writesBlocks(kernel, type);
      emitRemark(kernel.getLoc())
          << "kernel '" << kernel.getName() << "' hands on result "
          << choice.number
          << (!isStored ? " as it is: it writes no whole blocks of 32, so each "
                          "product that reads it makes it digits"
              : choice.isShared
                  ? " twice, as digits for the products that read it"
                  : " as digits: only products read it");
      if (isStored)
        choices.push_back(choice);
    }
    if (!choices.empty())
      apply(kernel, choices);
  }

  /// Appends a result for each that is shared, and lists those that are digits.
  void apply(seq::KernelOp kernel, ArrayRef<Choice> choices) {
    SmallVector<Type> types(kernel.getResultTypes());
    SmallVector<int64_t> narrow;
    Operation *end = kernel.getBody().front().getTerminator();
    SmallVector<Value> yielded(end->getOperands());
    for (const Choice &choice : choices) {
      narrow.push_back(choice.isShared ? int64_t(types.size()) : choice.number);
      if (!choice.isShared)
        continue;
      types.push_back(types[choice.number]);
      yielded.push_back(yielded[choice.number]);
    }
    OpBuilder b(kernel);
    auto twice = seq::KernelOp::create(
        b, kernel.getLoc(), types, kernel->getOperands(), kernel->getAttrs());
    twice.getBody().takeBody(kernel.getBody());
    end->setOperands(yielded);
    for (auto [choice, number] : llvm::zip_equal(choices, narrow))
      for (OpOperand *use : choice.products)
        use->set(twice.getResult(unsigned(number)));
    kernel.replaceAllUsesWith(
        twice.getResults().take_front(kernel.getNumResults()));
    kernel.erase();
    llvm::sort(narrow);
    twice.setNarrow(narrow);
    twice.setNarrowTo(stored);
  }

  storage::DigitsType stored;
};
} // namespace
} // namespace effc
