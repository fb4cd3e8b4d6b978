//===- OpenedLibrary.h - A library that is opened at run time -------------===//
#ifndef EFFC_RUNTIME_SRC_DEVICES_CUDA_OPENEDLIBRARY_H
#define EFFC_RUNTIME_SRC_DEVICES_CUDA_OPENEDLIBRARY_H

#include <dlfcn.h>
#include <string>

namespace effc::rt {

/// A shared library, closed with its owner, and the first of its functions that
/// was asked for in vain.
class OpenedLibrary {
public:
  OpenedLibrary() = default;
  OpenedLibrary(const OpenedLibrary &) = delete;
  OpenedLibrary &operator=(const OpenedLibrary &) = delete;
  ~OpenedLibrary() {
    if (handle)
      dlclose(handle);
  }

  /// Opens what `path` names; returns why it cannot, or "". Once at most.
  std::string open(const std::string &path) {
    handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle)
      return "";
    const char *reason = dlerror();
    return reason ? reason : path;
  }

  /// Points `function` at the library's `symbol`, at null if it has none.
  template <typename F> void find(F &function, const char *symbol) {
    void *address = dlsym(handle, symbol);
    if (!address && missing.empty())
      missing = symbol;
    function = reinterpret_cast<F>(address);
  }
  /// The first symbol that was not found, or "".
  const std::string &firstMissing() const { return missing; }

private:
  void *handle = nullptr;
  std::string missing;
};

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_DEVICES_CUDA_OPENEDLIBRARY_H
