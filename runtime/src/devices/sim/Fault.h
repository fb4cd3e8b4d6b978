//===- Fault.h - What is wrong, in a line ---------------------------------===//
#ifndef EFFC_RUNTIME_SRC_DEVICES_SIM_FAULT_H
#define EFFC_RUNTIME_SRC_DEVICES_SIM_FAULT_H

#include "runtime/src/Error.h"

#include <string>

namespace effc::rt {

/// What was wrong with an access or an op: one line, empty when nothing was.
using Fault = std::string;

/// The parts in a line.
template <typename... Parts> Fault say(const Parts &...parts) {
  return fail(EFFC_DEVICE_ERROR, parts...).message;
}

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_DEVICES_SIM_FAULT_H
