#include "tools/effc/ModelAccess.h"

#include "tools/terminal/Failure.h"
#include "tools/terminal/OptionChecks.h"
#include "tools/terminal/Progress.h"
#include "tools/terminal/Terminal.h"

#include <CLI/CLI.hpp>
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>

using namespace effc;
using namespace effc::cli;

void effc::cli::addModelAccess(CLI::App &command, ModelAccess &access) {
  command.add_option("--weights-folder", access.weightsFolder,
                     "Folder of the weights of a model that was compiled with "
                     "--weights reference (default: where the file says)");
  command.add_flag("--copy", access.copy,
                   "Read the files into memory instead of mapping them; what "
                   "happens to them afterwards does not matter then");
}

Model effc::cli::openModel(const std::string &file, const ModelAccess &access) {
  effc_model_load_options_t options = effc_model_load_options_default();
  if (!access.weightsFolder.empty())
    options.weights_folder = access.weightsFolder.c_str();
  options.copy = access.copy;
  options.draw_seed = access.drawSeed;
  return Model(file, options);
}

void effc::cli::addDeviceChoice(CLI::App &command, DeviceChoice &choice) {
  command
      .add_option(
          "--device", choice.name,
          "Where to run; auto: on a GPU that the file has code for, else "
          "on the host")
      ->check(CLI::IsMember({"auto", "host", "cuda", "sim"}))
      ->capture_default_str();
  command
      .add_option("--threads", choice.threads,
                  "Threads of the host; 0: one per usable core")
      ->check(wholeNumber(0, 1024));
}

/// Whether a model was compiled for a target whose name starts so.
static bool hasTarget(const Model &model, const std::string &start) {
  auto about = nlohmann::json::parse(model.describe());
  for (const nlohmann::json &target :
       about.value("targets", nlohmann::json::array()))
    if (target.at("name").get<std::string>().starts_with(start))
      return true;
  return false;
}

/// The model on the device; shows how far the weights have come that are
/// brought there.
static Engine makeEngine(const Model &model, const Device &device,
                         const EngineWish &wish) {
  std::optional<Progress> bar; // made when the total is known
  effc_engine_options_t options = effc_engine_options_default();
  options.max_sessions = wish.sessions;
  options.keep_time = wish.keepTime;
  options.user = &bar;
  options.progress = [](void *user, uint64_t done, uint64_t total) {
    auto &bar = *static_cast<std::optional<Progress> *>(user);
    if (!bar)
      bar.emplace("weights", "bytes", total);
    bar->update(done);
  };
  return Engine(model, device, options);
}

static Place makePlace(const Model &model, Device device,
                       const EngineWish &wish) {
  auto start = std::chrono::steady_clock::now();
  Engine engine = makeEngine(model, device, wish);
  std::chrono::duration<double> taken =
      std::chrono::steady_clock::now() - start;
  return {std::move(device), std::move(engine), taken.count()};
}

/// The GPU, if `model` runs there; else `reason` says why it does not. A file
/// without code for one opens no driver, and nobody wonders about it.
static std::optional<Place> tryCuda(const Model &model, const EngineWish &wish,
                                    std::string &reason) {
  if (!hasTarget(model, "sm_"))
    return std::nullopt;
  try {
    Device device = Device::cuda();
    device.requireAccepts(model);
    return makePlace(model, std::move(device), wish);
  } catch (const Error &error) {
    reason = error.what();
    return std::nullopt;
  }
}

/// The host, which has to accept the model; `reason` says why no other device
/// was taken, if one was looked for.
static Device openHost(const DeviceChoice &choice, const Model &model,
                       const std::string &reason) {
  Device device = Device::host(choice.threads);
  try {
    device.requireAccepts(model);
  } catch (const Error &error) {
    throw Failure(error.what() + (reason.empty() ? "" : "; " + reason) +
                  (hasTarget(model, "sim_")
                       ? "; it has code for the simulated GPU: --device sim"
                       : ""));
  }
  return device;
}

static Place openAnywhere(const DeviceChoice &choice, const Model &model,
                          const EngineWish &wish) {
  std::string reason;
  if (std::optional<Place> place = tryCuda(model, wish, reason)) {
    std::string note = place->engine.note();
    std::fprintf(stderr, "device: %s; the file has code for this GPU%s%s\n",
                 place->device.description().c_str(), note.empty() ? "" : "; ",
                 note.c_str());
    return std::move(*place);
  }
  Device device = openHost(choice, model, reason);
  std::fprintf(stderr, "device: %s%s%s\n", device.description().c_str(),
               reason.empty() ? "" : "; ", reason.c_str());
  return makePlace(model, std::move(device), wish);
}

Place effc::cli::openEngine(const DeviceChoice &choice, const Model &model,
                            const EngineWish &wish) {
  if (choice.name == "host")
    return makePlace(model, openHost(choice, model, /*reason=*/""), wish);
  if (choice.name == "sim")
    return makePlace(model, Device::sim(0, choice.threads), wish);
  if (choice.name != "cuda")
    return openAnywhere(choice, model, wish);
  Place place = makePlace(model, Device::cuda(), wish);
  if (std::string note = place.engine.note(); !note.empty())
    printNote(note);
  return place;
}
