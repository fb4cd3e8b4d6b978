// In place of the simulator: in the libraries that users install, and wherever there
// is no Boost.Context.

#include "runtime/src/devices/sim/SimDevice.h"

using namespace effc;
using namespace effc::rt;

Result<std::shared_ptr<Device>> rt::createSimDevice(uint32_t, uint32_t) {
  return fail(EFFC_UNSUPPORTED,
              "there is no simulated GPU in this program: build effc with "
              "Boost.Context (Debian: libboost-context-dev), and with "
              "-DEFFC_INSTALL_SIMULATOR=ON for the library's own users");
}
