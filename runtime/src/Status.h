//===- Status.h - The C border: errors out, exceptions stopped ------------===//
#ifndef EFFC_RUNTIME_SRC_STATUS_H
#define EFFC_RUNTIME_SRC_STATUS_H

#include "runtime/src/Error.h"

#include <exception>
#include <new>

namespace effc::rt {

effc_status_t *makeStatus(Error error);

/// A status that exists beforehand, since none can be allocated.
effc_status_t *outOfMemoryStatus();

/// Runs `body`, which returns a Check, as the whole of a C function.
template <typename Body> effc_status_t *atBorder(Body &&body) noexcept {
  try {
    if (Check error = body())
      return makeStatus(std::move(*error));
    return nullptr;
  } catch (const std::bad_alloc &) {
    return outOfMemoryStatus();
  } catch (const std::exception &error) {
    try {
      return makeStatus({EFFC_INTERNAL, error.what()});
    } catch (...) {
      return outOfMemoryStatus();
    }
  }
}

/// Copies the first `size` bytes of `filled` into a struct that a caller may
/// have compiled against an older or newer header, and keeps its size field.
template <typename Struct> void copySized(const Struct &filled, Struct *out) {
  size_t size = out->size;
  __builtin_memcpy(out, &filled, size < sizeof(Struct) ? size : sizeof(Struct));
  out->size = size;
}

/// The caller's options over the defaults, as far as the caller's struct goes.
template <typename Struct>
Struct readSized(const Struct *given, const Struct &defaults) {
  Struct options = defaults;
  if (given)
    __builtin_memcpy(&options, given,
                     given->size < sizeof(Struct) ? given->size
                                                  : sizeof(Struct));
  options.size = sizeof(Struct);
  return options;
}

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_STATUS_H
