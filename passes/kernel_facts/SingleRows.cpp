#include "passes/kernel_facts/SingleRows.h"

#include <algorithm>

using namespace mlir;
using namespace effc;

int64_t effc::singleRowStep(int64_t inner) {
  int64_t step = std::min(inner, kLongestRun);
  while (inner % step != 0)
    --step;
  return step >= kShortestRun || step == inner ? step : 0;
}

bool effc::areSingleRows(seq::EntryAttr entry, bool bitStable, int64_t inner,
                         int64_t most) {
  return !bitStable && entry.getRows() <= most && singleRowStep(inner) > 0;
}

bool effc::ownsOutputs(seq::LinearOp product) {
  mlir::RankedTensorType weight = product.getWeight().getType();
  return weight.getRank() == 2 && singleRowStep(weight.getDimSize(1)) > 0;
}
