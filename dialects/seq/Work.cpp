#include "dialects/seq/Work.h"

#include "dialects/seq/Seq.h"

#include <algorithm>

using namespace mlir;

namespace effc::seq {

// Shorter chunks count fewer FLOPs, but a product with so few rows keeps no
// machine busy.
static constexpr uint64_t kShortestChunk = 16;

static uint64_t linearWork(MixerOpInterface mixer) {
  auto stateful = cast<StatefulOpInterface>(mixer.getOperation());
  RankedTensorType state = stateful.getStates().front().type;
  uint64_t heads = state.getDimSize(0), keys = state.getDimSize(1),
           values = state.getDimSize(2);
  return heads * std::min(5 * keys * values,
                          4 * keys * values + kShortestChunk * (keys + values));
}

Work countWork(Operation *root) {
  Work work;
  auto elements = [](Value weight) {
    return uint64_t(cast<RankedTensorType>(weight.getType()).getNumElements());
  };
  root->walk([&](Operation *op) {
    if (auto linear = dyn_cast<LinearOp>(op))
      work.perToken += 2 * elements(linear.getWeight());
    else if (auto head = dyn_cast<LmHeadOp>(op))
      work.perOutputRow += 2 * elements(head.getWeight());
    else if (auto mixer = dyn_cast<MixerOpInterface>(op);
             mixer &&
             mixer.getStructure().getMixerClass() == MixerClass::Linear)
      work.perToken += linearWork(mixer);
  });
  return work;
}

} // namespace effc::seq
