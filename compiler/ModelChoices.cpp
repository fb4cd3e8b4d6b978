#include "compiler/ModelChoices.h"
#include "compiler/StoredForward.h"
#include "dialects/seq/Seq.h"

using namespace mlir;
using namespace effc;

static bool choosesRows(Operation *op) {
  if (isa<seq::ChooseRowsOp, seq::TopKOp>(op))
    return true;
  auto mixer = dyn_cast<seq::MixerOpInterface>(op);
  if (!mixer)
    return false;
  seq::StructureAttr structure = mixer.getStructure();
  return structure.getMixerClass() == seq::MixerClass::Retrieval ||
         (structure.getMixerClass() == seq::MixerClass::Window &&
          structure.getWindow().getKeep() > 0);
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
