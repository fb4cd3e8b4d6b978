#include "runtime/src/devices/cuda/CublasLt.h"

#include <vector>

using namespace effc;
using namespace effc::rt;

static constexpr const char *kRemedy =
    "; the file's products are to go to cuBLASLt: install it, set "
    "EFFC_CUBLASLT=none to have the file's own kernels multiply, or compile "
    "without --dense library";

Check CublasLt::check(cublas::Status status) const {
  if (status == cublas::kSuccess)
    return {};
  const char *text = statusText(status);
  return fail(EFFC_DEVICE_ERROR, "cuBLASLt: ", text ? text : "an unknown error",
              " (", status, ")");
}

Check CublasLt::resolve(const std::string &path) {
#define EFFC_CUBLASLT_FIND(name, symbol, parameters) library.find(name, symbol);
  EFFC_CUBLASLT_FUNCTIONS(EFFC_CUBLASLT_FIND)
#undef EFFC_CUBLASLT_FIND
  library.find(statusText, "cublasLtGetStatusString");
  if (!library.firstMissing().empty())
    return fail(EFFC_UNSUPPORTED, "cuda: '", path, "' has no function '",
                library.firstMissing(), "'", kRemedy);
  return {};
}

Result<std::shared_ptr<const CublasLt>> CublasLt::open(const char *path) {
  std::vector<std::string> names = {"libcublasLt.so.13", "libcublasLt.so.12"};
  if (path)
    names = {path};
  std::string reasons;
  for (const std::string &name : names) {
    std::shared_ptr<CublasLt> opened(new CublasLt);
    std::string reason = opened->library.open(name);
    if (reason.empty()) {
      if (Check error = opened->resolve(name))
        return *error;
      return std::shared_ptr<const CublasLt>(std::move(opened));
    }
    reasons += (reasons.empty() ? "" : "; ") + reason;
  }
  return fail(EFFC_UNSUPPORTED, "cuda: cuBLASLt cannot be opened (", reasons,
              ")", kRemedy);
}

Result<std::shared_ptr<const CublasLt>>
CublasLtOnDemand::get(const char *path) {
  std::lock_guard lock(mutex);
  std::string wanted = path ? path : "";
  if (!library || openedPath != wanted) {
    Result<std::shared_ptr<const CublasLt>> opened = CublasLt::open(path);
    if (!opened)
      return opened.error();
    library = std::move(*opened);
    openedPath = wanted;
  }
  return library;
}
