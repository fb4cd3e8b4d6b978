//===- SimDevice.h - A GPU that the host plays ----------------------------===//
//
// Runs the kernels that would run on a GPU, one thread after another, and looks
// at everything they do: README.md says what it sees. Blocks of a launch are
// independent, so they are dealt to the host's threads; results do not depend
// on which does what.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_RUNTIME_SRC_DEVICES_SIM_SIMDEVICE_H
#define EFFC_RUNTIME_SRC_DEVICES_SIM_SIMDEVICE_H

#include "runtime/src/Device.h"

namespace effc::rt {

/// `architecture` is 80, 90, ...; 0: the newest that a file has code for.
/// `threads` 0: one per usable core. Fails where the library was built without
/// Boost.Context, or for another processor than its code is for.
Result<std::shared_ptr<Device>> createSimDevice(uint32_t architecture,
                                                uint32_t threads);

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_DEVICES_SIM_SIMDEVICE_H
