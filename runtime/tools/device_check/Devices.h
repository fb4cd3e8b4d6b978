//===- Devices.h - Devices and models by name -----------------------------===//
#ifndef EFFC_RUNTIME_TOOLS_DEVICE_CHECK_DEVICES_H
#define EFFC_RUNTIME_TOOLS_DEVICE_CHECK_DEVICES_H

#include "runtime/src/Device.h"
#include "runtime/tools/device_check/CaseFile.h"

namespace effc::check {

/// "host", "sim", "sim:80" or "cuda". Throws Failure.
std::shared_ptr<rt::Device> openDevice(const std::string &name);

/// A model that is ready on a device.
struct Prepared {
  std::shared_ptr<const rt::Model> model;
  std::unique_ptr<rt::Executor> executor;
};

/// Loads a file and makes it ready on `device`. Throws Failure.
/// Weights are drawn where the file has none.
Prepared prepare(rt::Device &device, const std::string &path, uint32_t slots);

/// The smallest entry of `kind` with room for `rows`. Throws Failure.
uint32_t findEntry(const rt::Plan &plan, artifact::EntryKind kind,
                   int64_t rows);

/// Throws what a function of the runtime reports.
inline void require(const rt::Check &check) {
  if (check)
    throw Failure(check->message);
}

} // namespace effc::check

#endif // EFFC_RUNTIME_TOOLS_DEVICE_CHECK_DEVICES_H
