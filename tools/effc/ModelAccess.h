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
  std::string sha256; // that the file must have; empty: any
};

/// Declares FILE, the compiled model, which -m names as well.
void addModelFile(CLI::App &command, std::string &file);

/// Declares --weights-folder, --copy and --sha256.
void addModelAccess(CLI::App &command, ModelAccess &access);

Model openModel(const std::string &file, const ModelAccess &access);

/// Where a model is to run.
struct DeviceChoice {
  /// Or "host", "host:x86-64-v3", "cuda", "sim", "sim:80".
  std::string name = "auto";
  uint32_t threads = 0; // of the host; 0: one per usable core
};

/// Declares --device and --threads.
void addDeviceChoice(CLI::App &command, DeviceChoice &choice);

/// Whether a device called so is the host.
inline bool isHostName(const std::string &name) {
  return name == "host" || name.starts_with("host:");
}

/// What an engine is to have.
struct EngineWish {
  uint32_t sessions = 1;
  bool keepTime = false;    // of calls, by the device's clock, where it has one
  bool takesHidden = false; // of a model that gives hidden states, no logits
};

/// A device, and a model on it.
struct Place {
  /// As --device has it: "host", "host:x86-64-v3", "cuda", "sim:90".
  std::string name;
  Device device;
  Engine engine;
  double engineSeconds; // that making the engine took
};

/// The model on the device that is asked for; shows how far the weights have
/// come that are brought there. "auto" is a GPU that has code in the file and
/// takes it, else the host, and says on standard error which and why; never the
/// simulated GPU. "sim" is the newest of those that the file has code for, and
/// says which where there are several. Throws Failure where the model runs on none of them,
/// or gives hidden states that are not wished for.
Place openEngine(const DeviceChoice &choice, const Model &model,
                 const EngineWish &wish = {});

} // namespace effc::cli

#endif // EFFC_TOOLS_EFFC_MODELACCESS_H
