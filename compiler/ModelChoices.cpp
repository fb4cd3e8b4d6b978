#include "compiler/ModelChoices.h"
#include "compiler/StoredForward.h"
#include "dialects/seq/Seq.h"

using namespace mlir;
using namespace effc;

static bool choosesRows(Operation *op) {
  auto mixer = dyn_cast<seq::MixerOpInterface>(op);
  return isa<seq::ChooseRowsOp, seq::TopKOp>(op) ||
         (mixer &&
          mixer.getStructure().getMixerClass() == seq::MixerClass::Retrieval);
}

llvm::Expected<bool> effc::choosesRows(const StoredModel &model) {
  StoredForward forward;
  if (llvm::Error error = forward.read(model))
    return error;
  return forward.getFunction()
      .walk([](Operation *op) {
        return ::choosesRows(op) ? WalkResult::interrupt()
                                 : WalkResult::advance();
      })
      .wasInterrupted();
}
