#include "tools/effc/ModelAccess.h"
#include "runtime/include/effc/product_inputs.h"

#include "tools/terminal/Failure.h"
#include "tools/terminal/OptionChecks.h"
#include "tools/terminal/Progress.h"
#include "tools/terminal/Terminal.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <vector>

using namespace effc;
using namespace effc::cli;

void effc::cli::addModelFile(CLI::App &command, std::string &file) {
  command.add_option("FILE,-m,--model", file, "A compiled model")
      ->type_name("FILE")
      ->group("Model")
      ->required();
}

void effc::cli::addModelAccess(CLI::App &command, ModelAccess &access) {
  command.option_defaults()->group("Model");
  command
      .add_option("--weights-folder", access.weightsFolder,
                  "Folder of the weights of a model that was compiled with "
                  "--weights reference (default: where the file says)")
      ->type_name("DIR");
  command.add_flag("--copy", access.copy,
                   "Read the files into memory instead of mapping them; what "
                   "happens to them afterwards does not matter then");
  command
      .add_option("--sha256", access.sha256,
                  "Refuse the file where its SHA-256, which effc inspect "
                  "prints, is another; nothing of it is used before. Of the "
                  "file alone, not of weights in other files")
      ->type_name("HEX")
      ->check(CLI::Validator(
          [](std::string &text) {
            bool isDigest =
                text.size() == 64 &&
                std::all_of(text.begin(), text.end(),
                            [](unsigned char c) { return std::isxdigit(c); });
            return isDigest ? std::string()
                            : "expects 64 hexadecimal digits, but got '" +
                                  text + "'";
          },
          ""));
}

namespace {
/// How files begin that people have of models (the specifications of GGUF and
/// safetensors, PKWARE's of ZIP).
struct Foreign {
  const char *kind;
  bool (*is)(std::string_view start);
};
constexpr Foreign kForeign[] = {
    {"a GGUF file",
     [](std::string_view start) { return start.starts_with("GGUF"); }},
    {"a ZIP file, as torch.save writes",
     [](std::string_view start) { return start.starts_with("PK\x03\x04"); }},
    // A length of eight bytes, of which none uses all, and a JSON object.
    {"a safetensors file",
     [](std::string_view start) {
       return start.size() > 9 && start[7] == 0 && start.substr(8, 2) == "{\"";
     }},
};
} // namespace

/// Throws Failure where `file` is something else that people take for a model.
static void refuseForeign(const std::string &file) {
  std::error_code ignored; // whoever opens it says what is wrong
  if (std::filesystem::is_directory(file, ignored))
    throw Failure("'" + file +
                  "' is a folder, not a compiled model: effc "
                  "compile " +
                  file +
                  " -o FILE.effc makes one of a "
                  "checkpoint");
  if (!std::filesystem::is_regular_file(file, ignored))
    return;
  char bytes[16] = {};
  std::ifstream stream(file, std::ios::binary);
  stream.read(bytes, sizeof bytes);
  std::string_view start(bytes, static_cast<size_t>(stream.gcount()));
  for (const Foreign &foreign : kForeign)
    if (foreign.is(start))
      throw Failure("'" + file + "' is " + foreign.kind +
                    ", not a compiled model; a model is compiled first: effc "
                    "compile MODEL -o FILE.effc, of a checkpoint's folder or a "
                    "GGUF file");
}

Model effc::cli::openModel(const std::string &file, const ModelAccess &access) {
  refuseForeign(file);
  effc_model_load_options_t options = effc_model_load_options_default();
  if (!access.weightsFolder.empty())
    options.weights_folder = access.weightsFolder.c_str();
  options.copy = access.copy;
  options.draw_seed = access.drawSeed;
  if (!access.sha256.empty())
    options.sha256 = access.sha256.c_str();
  return Model(file, options);
}

/// What is wrong with the name of a device; which levels of the host there are
/// the runtime knows.
static std::string checkDevice(const std::string &name) {
  constexpr std::string_view kLevel = "host:";
  if (name.starts_with(kLevel) && name.size() > kLevel.size())
    return "";
  for (const char *known : {"auto", "host", "cuda", "sim", "sim:80", "sim:90"})
    if (name == known)
      return "";
  return "expects auto, host, host:LEVEL, cuda, sim, sim:80 or sim:90, but got "
         "'" +
         name + "'";
}

void effc::cli::addDeviceChoice(CLI::App &command, DeviceChoice &choice) {
  command.option_defaults()->group("Device");
  command
      .add_option(
          "--device", choice.name,
          "Where to run; auto: on a GPU that the file has code for, else "
          "on the host; host:x86-64-v3: there, by the code of that level "
          "alone; sim: on a simulated GPU, which runs the newest such code of "
          "the file; sim:80, sim:90: that of sm_80, of sm_90a")
      ->check(CLI::Validator(checkDevice, "{auto,host,cuda,sim,sim:80,sim:90}"))
      ->capture_default_str();
  command
      .add_option("-t,--threads", choice.threads,
                  "Threads of the host; 0: one for each core that the "
                  "affinity and the quotas of control groups leave")
      ->check(wholeNumber(0, 1024));
}

/// The targets that a model was compiled for whose names start so.
static std::vector<std::string> targetsOf(const Model &model,
                                          const std::string &start) {
  auto about = nlohmann::json::parse(model.describe());
  std::vector<std::string> names;
  for (const nlohmann::json &target :
       about.value("targets", nlohmann::json::array()))
    if (auto name = target.at("name").get<std::string>();
        name.starts_with(start))
      names.push_back(std::move(name));
  return names;
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

/// `name` asks for the device again.
static Place makePlace(const Model &model, std::string name, Device device,
                       const EngineWish &wish) {
  auto start = std::chrono::steady_clock::now();
  Engine engine = makeEngine(model, device, wish);
  std::chrono::duration<double> taken =
      std::chrono::steady_clock::now() - start;
  return {std::move(name), std::move(device), std::move(engine), taken.count()};
}

/// The GPU, if `model` runs there; else `reason` says why it does not. A file
/// without code for one opens no driver.
static std::optional<Place> tryCuda(const Model &model, const EngineWish &wish,
                                    std::string &reason) {
  if (targetsOf(model, "sm_").empty())
    return std::nullopt;
  try {
    Device device = Device::cuda();
    device.requireAccepts(model);
    return makePlace(model, "cuda", std::move(device), wish);
  } catch (const Error &error) {
    reason = error.what();
    return std::nullopt;
  }
}

/// The host, which has to accept the model; `reason` says why no other device
/// was taken, if one was looked for.
static Device openHost(const DeviceChoice &choice, const Model &model,
                       const std::string &reason) {
  std::string level =
      choice.name.starts_with("host:") ? choice.name.substr(5) : "";
  Device device = Device::host(choice.threads, level);
  try {
    device.requireAccepts(model);
  } catch (const Error &error) {
    bool namesCuda = reason.empty() && !targetsOf(model, "sm_").empty(),
         namesSim = !targetsOf(model, "sim_").empty();
    throw Failure(
        error.what() + (reason.empty() ? "" : "; " + reason) +
        (namesCuda ? "; it has code for GPUs: --device cuda" : "") +
        (namesSim ? "; it has code for the simulated GPU: --device sim" : ""));
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
  Place place = makePlace(model, "host", openHost(choice, model, reason), wish);
  // The level of the code that runs, which may be below the machine's.
  uint32_t threads = place.device.threads();
  std::fprintf(stderr, "device: host (%s, %u thread%s); %s\n",
               place.engine.isa().c_str(), threads, threads == 1 ? "" : "s",
               reason.empty() ? "the file has no code for a GPU"
                              : reason.c_str());
  return place;
}

/// The architecture whose code the simulated GPU runs: 90 of "sim:90" and of a
/// target called "sim_90a"; 0 where neither says one.
static uint32_t architectureIn(const std::string &name) {
  constexpr size_t kPrefix = 4;
  return name.size() > kPrefix
             ? uint32_t(std::strtoul(name.c_str() + kPrefix, nullptr, 10))
             : 0;
}

static std::string nameOfSim(uint32_t architecture) {
  return "sim:" + std::to_string(architecture);
}

/// The simulated GPU that is asked for, or the newest that the file has code
/// for, which is said where there are several.
static Place openSim(const DeviceChoice &choice, const Model &model,
                     const EngineWish &wish) {
  uint32_t architecture = architectureIn(choice.name);
  std::string others;
  if (architecture == 0) {
    std::vector<uint32_t> all;
    for (const std::string &target : targetsOf(model, "sim_"))
      all.push_back(architectureIn(target));
    std::sort(all.begin(), all.end());
    architecture = all.empty() ? 0 : all.back();
    for (uint32_t other : all)
      if (other != architecture)
        others += (others.empty() ? "" : ", ") + nameOfSim(other);
  }
  Device device = Device::sim(architecture, choice.threads);
  if (!others.empty())
    std::fprintf(stderr, "device: %s; the file has code for %s as well\n",
                 device.description().c_str(), others.c_str());
  return makePlace(model, nameOfSim(architecture), std::move(device), wish);
}

/// Whether a file was compiled with --product-inputs.
static bool givesProductInputs(const Model &model) {
  std::vector<effc_tap_t> taps = model.taps();
  return std::ranges::any_of(taps, [](const effc_tap_t &tap) {
    std::string_view name = tap.name;
    return name.ends_with(EFFC_INPUT_SUFFIX) ||
           name.ends_with(EFFC_EXPERT_INPUT_SUFFIX);
  });
}

Place effc::cli::openEngine(const DeviceChoice &choice, const Model &model,
                            const EngineWish &wish) {
  if (model.hiddenWidth() > 0 && !wish.takesHidden)
    throw Failure(
        model.taps().empty()
            ? "the file was compiled with --hidden: it gives hidden states, "
              "from which nothing is predicted (effc eval --hidden writes "
              "them, effc serve has /v1/embeddings)"
        : givesProductInputs(model)
            ? "the file was compiled with --product-inputs: it gives what "
              "matrices are multiplied by, from which nothing is predicted "
              "(effc eval --collect-importance sums it up)"
            : "the file was compiled with --tap: it gives inner values, from "
              "which nothing is predicted (effc eval --tap writes them)");
  if (isHostName(choice.name))
    return makePlace(model, choice.name, openHost(choice, model, /*reason=*/""),
                     wish);
  if (choice.name.starts_with("sim"))
    return openSim(choice, model, wish);
  if (choice.name != "cuda")
    return openAnywhere(choice, model, wish);
  Place place = makePlace(model, "cuda", Device::cuda(), wish);
  if (std::string note = place.engine.note(); !note.empty())
    printNote(note);
  return place;
}
