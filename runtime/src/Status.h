//===- Status.h - The C border: errors out, exceptions stopped ------------===//
#ifndef EFFC_RUNTIME_SRC_STATUS_H
#define EFFC_RUNTIME_SRC_STATUS_H

#include "runtime/src/Error.h"

#include <initializer_list>
#include <type_traits>

namespace effc::rt {

effc_status_t *makeStatus(Error error);

/// A status that exists beforehand, since none can be allocated.
effc_status_t *outOfMemoryStatus();

/// Calls `body` with `captured` as the whole of a C function.
effc_status_t *runAtBorder(Check (*body)(void *captured),
                           void *captured) noexcept;

/// Runs `body`, which returns a Check, as the whole of a C function. What catches is
/// there once, and not in each of them.
template <typename Body> effc_status_t *atBorder(Body &&body) noexcept {
  return runAtBorder(
      [](void *captured) -> Check {
        return (*static_cast<std::remove_reference_t<Body> *>(captured))();
      },
      &body);
}

/// An argument of a C function and its name in effc.h.
struct Argument {
  const char *name;
  const void *pointer;
};

/// Refuses the first of `arguments` that is null.
Check requireGiven(std::initializer_list<Argument> arguments);

/// Likewise `count` elements; of none there may be no array.
Check requireArray(const Argument &array, size_t count);

/// Copies the first `size` bytes of `filled` into a struct that a caller may
/// have compiled against an older or newer header, and keeps its size field.
template <typename Struct> void copySized(const Struct &filled, Struct *out) {
  size_t size = out->size;
  __builtin_memcpy(out, &filled, size < sizeof(Struct) ? size : sizeof(Struct));
  out->size = size;
}

/// No option struct will ever be larger: a greater size was never set.
inline constexpr size_t kMostOptionBytes = 4096;

/// Refuses a struct of `size` bytes, of another header, that asks for what is not
/// known here: what it has beyond must be zero, which stands for the default of
/// fields that are added later. `what` begins the message.
template <typename Struct>
Check checkBeyond(const Struct *given, size_t size, const char *what) {
  const auto *bytes = reinterpret_cast<const unsigned char *>(given);
  for (size_t at = sizeof(Struct); at < size; ++at)
    if (bytes[at] != 0)
      return invalidArgument(what, size, " bytes, and byte ", at,
                             " of them is set: this library knows the first ",
                             sizeof(Struct));
  return {};
}

/// The caller's options over the defaults, as far as the caller's struct goes.
template <typename Struct>
Result<Struct> readSized(const Struct *given, const Struct &defaults) {
  Struct options = defaults;
  if (!given)
    return options;
  size_t size = given->size;
  if (size < sizeof(size_t) || size > kMostOptionBytes)
    return invalidArgument("the options' 'size' is ", size, ", but ",
                           sizeof(Struct), " is expected");
  if (Check error = checkBeyond(given, size, "the options have "))
    return *error;
  __builtin_memcpy(&options, given,
                   size < sizeof(Struct) ? size : sizeof(Struct));
  options.size = sizeof(Struct);
  return options;
}

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_STATUS_H
