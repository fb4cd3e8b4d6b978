// The published FLOPs of a stored model.
#include "compiler/StoredForward.h"

#include "dialects/seq/Work.h"

using namespace effc;

llvm::Expected<seq::PublishedWork>
effc::countPublishedWork(const StoredModel &model,
                         const seq::PublishedSettings &settings) {
  StoredForward forward;
  if (llvm::Error error = forward.read(model))
    return error;
  return seq::countPublishedWork(forward.getFunction(), settings);
}
