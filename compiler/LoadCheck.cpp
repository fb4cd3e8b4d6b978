#include "compiler/LoadCheck.h"

#include "runtime/include/effc/effc.h"

using namespace effc;

llvm::Error effc::checkLoads(llvm::StringRef written, llvm::StringRef name) {
  effc_model_t *model = nullptr;
  effc_status_t *status = effc_model_load(written.str().c_str(), &model);
  effc_model_free(model);
  if (!status)
    return llvm::Error::success();
  // It begins with a name that no user knows.
  llvm::StringRef reason = effc_status_message(status);
  reason.consume_front(("'" + written + "': ").str());
  llvm::Error error = llvm::createStringError(
      "'" + name +
      "' is not written, since no runtime would load it: " + reason);
  effc_status_free(status);
  return error;
}
