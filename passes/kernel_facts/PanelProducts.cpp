#include "passes/kernel_facts/PanelProducts.h"

#include "dialects/seq/Seq.h"
#include "dialects/storage/Panels.h"

using namespace mlir;
using namespace effc;

// Whether runs of rows that begin at multiples of `rows` begin at panels.
static bool arePanels(int64_t rows) { return rows % storage::kPanelRows == 0; }

static int64_t sizeOf(Value tensor, int64_t axis) {
  return cast<RankedTensorType>(tensor.getType()).getDimSize(axis);
}

std::optional<PanelProduct> PanelProduct::of(Operation *op) {
  if (isa<seq::LinearOp, seq::LmHeadOp>(op))
    return PanelProduct{op->getOperand(0), op->getOperand(1)};
  // An expert's gates and its units are runs of their own.
  if (auto hidden = dyn_cast<seq::ExpertHiddenOp>(op);
      hidden && arePanels(hidden.getRowsPerExpert()) &&
      arePanels(sizeOf(hidden.getHidden(), 2)))
    return PanelProduct{hidden.getX(), hidden.getTable()};
  if (auto output = dyn_cast<seq::ExpertOutputOp>(op);
      output && arePanels(sizeOf(output.getY(), 1)))
    return PanelProduct{output.getHidden(), output.getTable()};
  return std::nullopt;
}
