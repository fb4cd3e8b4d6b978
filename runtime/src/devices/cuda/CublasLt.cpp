#include "runtime/src/devices/cuda/CublasLt.h"

#include <dlfcn.h>
#include <vector>

using namespace effc;
using namespace effc::rt;

static constexpr const char *kRemedy =
    "; the file's products are to go to cuBLASLt: install it, set "
    "EFFC_CUBLASLT=none to have the file's own kernels multiply, or compile "
    "without --dense library";

CublasLt::~CublasLt() {
  if (library)
    dlclose(library);
}

Check CublasLt::check(const std::string &what, cublas::Status status) const {
  if (status == cublas::kSuccess)
    return {};
  const char *text = statusText(status);
  return fail(EFFC_DEVICE_ERROR, "cuda: ", what, ": ",
              text ? text : "an unknown error", " (", status, ")");
}

Check CublasLt::resolve(const std::string &path) {
  std::string missing;
  auto find = [&](const char *symbol) {
    void *address = dlsym(library, symbol);
    if (!address && missing.empty())
      missing = symbol;
    return address;
  };
#define EFFC_CUBLASLT_FIND(name, symbol, parameters)                           \
  name = reinterpret_cast<decltype(name)>(find(symbol));
  EFFC_CUBLASLT_FUNCTIONS(EFFC_CUBLASLT_FIND)
#undef EFFC_CUBLASLT_FIND
  statusText =
      reinterpret_cast<decltype(statusText)>(find("cublasLtGetStatusString"));
  if (!missing.empty())
    return fail(EFFC_UNSUPPORTED, "cuda: '", path, "' has no function '",
                missing, "'", kRemedy);
  return {};
}

Result<std::shared_ptr<const CublasLt>> CublasLt::open(const char *path) {
  std::vector<std::string> names = {"libcublasLt.so.13", "libcublasLt.so.12"};
  if (path)
    names = {path};
  std::shared_ptr<CublasLt> opened(new CublasLt);
  std::string reasons;
  for (const std::string &name : names) {
    opened->library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (opened->library) {
      if (Check error = opened->resolve(name))
        return *error;
      return std::shared_ptr<const CublasLt>(std::move(opened));
    }
    const char *reason = dlerror();
    reasons +=
        (reasons.empty() ? "" : "; ") + std::string(reason ? reason : name);
  }
  return fail(EFFC_UNSUPPORTED, "cuda: cuBLASLt cannot be opened (", reasons,
              ")", kRemedy);
}
