//===- Fault.h - What is wrong, in a line ---------------------------------===//
#ifndef EFFC_RUNTIME_SRC_DEVICES_SIM_FAULT_H
#define EFFC_RUNTIME_SRC_DEVICES_SIM_FAULT_H

#include "runtime/src/Error.h"

#include <charconv>
#include <cstdint>
#include <string>
#include <type_traits>

namespace effc::rt {

/// What was wrong with an access or an op: one line, empty when nothing was.
using Fault = std::string;

/// An address, as "0x7f00": other parts of a line stay what they are.
template <typename Part> decltype(auto) shownPart(const Part &part) {
  if constexpr (std::is_same_v<Part, const void *> ||
                std::is_same_v<Part, void *>) {
    char digits[20] = "0x";
    auto written = std::to_chars(digits + 2, digits + sizeof digits,
                                 reinterpret_cast<uintptr_t>(part), 16);
    return std::string(digits, written.ptr);
  } else {
    return static_cast<const Part &>(part);
  }
}

/// The parts in a line.
template <typename... Parts> Fault say(const Parts &...parts) {
  return fail(EFFC_DEVICE_ERROR, shownPart(parts)...).message;
}

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_DEVICES_SIM_FAULT_H
