#include "passes/kernel_facts/PanelProducts.h"

#include "dialects/seq/Seq.h"
#include "dialects/storage/Panels.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace effc;

Value effc::rowsOfPanelProduct(Operation *op) {
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case<seq::LinearOp, seq::LmHeadOp>(
          [](Operation *product) { return product->getOperand(0); })
      .Case([](seq::ExpertHiddenOp experts) { return experts.getX(); })
      .Case([](seq::ExpertOutputOp experts) { return experts.getHidden(); })
      .Default([](Operation *) { return Value(); });
}

Value effc::matrixOfPanelProduct(Operation *op) {
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case<seq::LinearOp, seq::LmHeadOp>(
          [](Operation *product) { return product->getOperand(1); })
      .Case([](seq::ExpertHiddenOp experts) { return experts.getTable(); })
      .Case([](seq::ExpertOutputOp experts) { return experts.getTable(); })
      .Default([](Operation *) { return Value(); });
}

// Whether runs of rows that begin at multiples of `rows` begin at panels.
static bool arePanels(int64_t rows) { return rows % storage::kPanelRows == 0; }

bool effc::multipliesPanels(Operation *op, Value matrix) {
  if (matrixOfPanelProduct(op) != matrix)
    return false;
  auto sizeOf = [](Value tensor, int64_t axis) {
    return cast<RankedTensorType>(tensor.getType()).getDimSize(axis);
  };
  // An expert's gates and its units are runs of their own.
  if (auto hidden = dyn_cast<seq::ExpertHiddenOp>(op))
    return arePanels(hidden.getRowsPerExpert()) &&
           arePanels(sizeOf(hidden.getHidden(), 2));
  if (auto output = dyn_cast<seq::ExpertOutputOp>(op))
    return arePanels(sizeOf(output.getY(), 1));
  return true;
}
