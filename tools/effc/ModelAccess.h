// How a command opens the model that it is given, and where it runs it.
#ifndef EFFC_TOOLS_EFFC_MODELACCESS_H
#define EFFC_TOOLS_EFFC_MODELACCESS_H

#include "runtime/include/effc/effc.hpp"

#include <cstdint>
#include <string>

namespace CLI {
class App;
}

namespace effc::cli {

struct ModelAccess {
  std::string weightsFolder; // empty: where the file says
  uint64_t drawSeed = 0;     // not 0: weights are drawn where the file has none
  bool copy = false;
};

/// Declares --weights-folder and --copy.
void addModelAccess(CLI::App &command, ModelAccess &access);

Model openModel(const std::string &file, const ModelAccess &access);

/// Where a model is to run.
struct DeviceChoice {
  std::string name = "auto";
  uint32_t threads = 0; // of the host; 0: one per usable core
};

/// Declares --device and --threads.
void addDeviceChoice(CLI::App &command, DeviceChoice &choice);

/// The device that is asked for. "auto" is a GPU that has code in the file,
/// else the host, and says on standard error which and why; never the simulated
/// GPU. Throws Failure where the model runs on none of them.
Device openDevice(const DeviceChoice &choice, const Model &model);

/// The model on the device; shows how far the weights have come that are
/// brought there.
/// `keepTime`: calls are timed by the device's clock, where it has one.
Engine openEngine(const Model &model, const Device &device,
                  uint32_t sessions = 1, bool keepTime = false);

} // namespace effc::cli

#endif // EFFC_TOOLS_EFFC_MODELACCESS_H
