// In place of the simulator where the library was built without it.

#include "runtime/src/devices/sim/SimDevice.h"

using namespace effc;
using namespace effc::rt;

Result<std::shared_ptr<Device>> rt::createSimDevice(uint32_t, uint32_t) {
  return fail(EFFC_UNSUPPORTED,
              "this library was built without the simulated GPU: build it with "
              "-DEFFC_SIMULATOR=ON and Boost.Context (Debian: "
              "libboost-context-dev)");
}
