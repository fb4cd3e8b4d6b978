#include "passes/kernel_facts/PanelProducts.h"

#include "dialects/seq/OpKinds.h"
#include "dialects/seq/Seq.h"
#include "dialects/storage/Panels.h"

using namespace mlir;
using namespace effc;

// Whether runs of rows that begin at multiples of `rows` begin at panels.
static bool arePanels(int64_t rows) { return rows % storage::kPanelRows == 0; }

static int64_t sizeOf(Value tensor, int64_t axis) {
  return cast<RankedTensorType>(tensor.getType()).getDimSize(axis);
}

/// An expert's rows, which are a run of their own: gates and units are one each. Absent
/// for other ops.
static std::optional<int64_t> expertRun(Operation *op) {
  if (auto hidden = dyn_cast<seq::ExpertHiddenOp>(op))
    return sizeOf(hidden.getHidden(), 2);
  if (auto output = dyn_cast<seq::ExpertOutputOp>(op))
    return sizeOf(output.getY(), 1);
  return std::nullopt;
}

std::optional<int64_t> PanelProduct::partOfPanels(Operation *op) {
  std::optional<int64_t> run = expertRun(op);
  return run && !arePanels(*run) ? run : std::nullopt;
}

std::optional<PanelProduct> PanelProduct::of(Operation *op) {
  if (seq::isProductOfRows(op))
    return PanelProduct{op->getOperand(0), op->getOperand(1)};
  if (partOfPanels(op))
    return std::nullopt;
  if (auto hidden = dyn_cast<seq::ExpertHiddenOp>(op))
    return PanelProduct{hidden.getX(), hidden.getTable()};
  if (auto output = dyn_cast<seq::ExpertOutputOp>(op))
    return PanelProduct{output.getHidden(), output.getTable()};
  return std::nullopt;
}
