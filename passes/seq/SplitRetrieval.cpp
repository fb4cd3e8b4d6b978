// A retrieval -> its phases, each of which becomes a kernel.
//
//   %y = seq.<mixer> %x, %scores parameters(%down, %up)
//
// becomes
//
//   %w, %rows = seq.choose_rows %scores
//   %h = seq.expert_hidden %x, %w, %rows, %down
//   %y = seq.sum_rows %h, %rows, %up
//
// A phase has items of its own: heads of a row, groups of chosen experts, runs
// of channels. As one kernel a decode step would have one item, on one thread.
#include "passes/seq/Passes.h"
#include "passes/seq/RetrievalForms.h"

#include "dialects/seq/Seq.h"

using namespace mlir;

namespace effc {
#define GEN_PASS_DEF_SPLITRETRIEVALPASS
#include "passes/seq/Passes.h.inc"

namespace {
struct SplitRetrievalPass : impl::SplitRetrievalPassBase<SplitRetrievalPass> {
  using SplitRetrievalPassBase::SplitRetrievalPassBase;

  void runOnOperation() override {
    SmallVector<seq::MixerOpInterface> mixers;
    getOperation()->walk([&](seq::MixerOpInterface op) {
      if (op.getStructure().getMixerClass() == seq::MixerClass::Retrieval)
        mixers.push_back(op);
    });
    for (seq::MixerOpInterface op : mixers)
      seq::expandRetrieval(op, seq::FormKind::Step);
  }
};
} // namespace
} // namespace effc
