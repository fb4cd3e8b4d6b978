// effc-device-check: kernel tests on devices, and times of launches.
//
//   effc-device-check cases --device cuda,sim,host FOLDER...
//       Runs every case on every device; status 1 if a case fails on any. JSON
//       on standard output, a line for each of these, when it is known:
//         {"devices": [{"name", "description", "error"}]}
//         {"begins": FOLDER, "device": NAME}: a case, on a device
//         {"name", "folder", "tolerance", "devices": {...}, "apart": {...}}:
//         how a case has ended
//   effc-device-check time FILE --device cuda --tokens 2048
//       Times the launches of one call. One JSON document.

#include "runtime/tools/device_check/CaseRun.h"
#include "runtime/tools/device_check/LaunchTimes.h"

#include <CLI/CLI.hpp>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fcntl.h>
#include <unistd.h>

using namespace effc;
using namespace effc::check;
using Json = nlohmann::ordered_json;

namespace {
struct CasesRequest {
  std::vector<std::string> devices, folders;
  double seconds = 0; // after which the simulated GPU starts no further case
};

/// A device, and why there is none.
struct Opened {
  std::string name, error;
  std::shared_ptr<rt::Device> device;
};
} // namespace

/// JSON has no infinite numbers.
static Json number(double value) {
  return std::isfinite(value) ? Json(value) : Json();
}

static Json describe(const CaseOutcome &outcome) {
  if (!outcome.error.empty())
    return {{"error", outcome.error}, {"passed", false}};
  return {{"largest", number(outcome.largest)},
          {"relative", number(outcome.relative)},
          {"seconds", outcome.seconds},
          {"passed", outcome.passed}};
}

/// A process that hangs or dies has said what it was about.
static void printLine(const Json &json) {
  std::printf(
      "%s\n",
      json.dump(-1, ' ', false, Json::error_handler_t::replace).c_str());
  std::fflush(stdout);
}

/// One case on all devices.
static Json runEverywhere(const std::string &folder,
                          const std::vector<Opened> &devices, bool simulates) {
  CaseFile file = CaseFile::read(folder);
  Json on = Json::object(), apart = Json::object();
  std::vector<std::pair<std::string, CaseOutcome>> outcomes;
  for (const Opened &one : devices) {
    if (!one.device)
      continue;
    if (one.name.rfind("sim", 0) == 0 && !simulates) {
      on[one.name] = {{"left_out", "the time for simulation is over"}};
      continue;
    }
    printLine({{"begins", folder}, {"device", one.name}});
    outcomes.emplace_back(one.name, run(file, *one.device));
    on[one.name] = describe(outcomes.back().second);
  }
  for (size_t i = 0; i < outcomes.size(); ++i)
    for (size_t j = i + 1; j < outcomes.size(); ++j)
      if (outcomes[i].second.error.empty() && outcomes[j].second.error.empty())
        apart[outcomes[i].first + " and " + outcomes[j].first] =
            number(differenceOf(outcomes[i].second, outcomes[j].second));
  return {{"name", file.name},
          {"folder", folder},
          {"tolerance", file.tolerance},
          {"devices", on},
          {"apart", apart}};
}

static bool allPassed(const Json &one) {
  for (const Json &outcome : one.at("devices"))
    if (outcome.contains("passed") && !outcome["passed"].get<bool>())
      return false;
  return true;
}

/// Returns whether everything passed.
static bool runCases(const CasesRequest &request) {
  auto start = std::chrono::steady_clock::now();
  std::vector<Opened> devices;
  Json described = Json::array();
  bool passed = true;
  for (const std::string &name : request.devices) {
    Opened one = {name, "", nullptr};
    try {
      one.device = openDevice(name);
    } catch (const Failure &failure) {
      one.error = failure.what();
      passed = false;
    }
    described.push_back(
        {{"name", name},
         {"description", one.device ? one.device->description() : ""},
         {"error", one.error}});
    devices.push_back(std::move(one));
  }
  printLine({{"devices", std::move(described)}});
  for (size_t i = 0; i < request.folders.size(); ++i) {
    std::chrono::duration<double> since =
        std::chrono::steady_clock::now() - start;
    Json ended =
        runEverywhere(request.folders[i], devices,
                      request.seconds <= 0 || since.count() < request.seconds);
    printLine(ended);
    passed &= allPassed(ended);
    std::fprintf(stderr, "%zu of %zu: %s: %s\n", i + 1, request.folders.size(),
                 ended["name"].get<std::string>().c_str(),
                 allPassed(ended) ? "passed" : "FAILED");
  }
  return passed;
}

static void addCases(CLI::App &app, CasesRequest &request, bool &passed) {
  CLI::App *command =
      app.add_subcommand("cases", "Run kernel tests on devices");
  command->add_option("FOLDER", request.folders, "Kernel tests")->required();
  command
      ->add_option("--device", request.devices,
                   "Where to run: host, sim, sim:80, sim:90, cuda")
      ->delimiter(',')
      ->required()
      ->allow_extra_args(false);
  command->add_option("--simulated-seconds", request.seconds,
                      "After so many seconds the simulated GPU starts no "
                      "further case; 0: it runs all");
  command->callback([&] { passed = runCases(request); });
}

static void addTime(CLI::App &app, TimeRequest &request, std::string &device) {
  CLI::App *command =
      app.add_subcommand("time", "Time the launches of one call");
  command->add_option("FILE", request.file, "A compiled model")->required();
  command->add_option("--device", device, "Where to run")
      ->capture_default_str();
  command->add_flag("--decode", request.decode,
                    "A decode call: one token for each sequence");
  command->add_option("--sequences", request.sequences, "Sequences of the call")
      ->check(CLI::Range(1, 65536))
      ->capture_default_str();
  command->add_option("--tokens", request.tokens, "Tokens of each sequence")
      ->check(CLI::Range(1, 65536))
      ->capture_default_str();
  command
      ->add_option("--warm-ups", request.timing.warmUps,
                   "Runs that are not timed")
      ->check(CLI::Range(0, 1000))
      ->capture_default_str();
  command->add_option("--runs", request.timing.runs, "Runs that are timed")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
  command->add_option("--flush", request.timing.flushBytes,
                      "Bytes written elsewhere before each thing that is "
                      "timed, so that no cache holds what it reads");
  command->add_option("--outputs", request.outputs,
                      "File that gets the results of one run as f32");
  command->add_option("--weights-out", request.weights,
                      "Safetensors file that gets the weights, which are drawn "
                      "at random where the model has none");
  command->callback([&] {
    std::shared_ptr<rt::Device> opened = openDevice(device);
    std::printf("%s\n", timeLaunches(*opened, request).dump(1).c_str());
  });
}

/// Opens /dev/null on each standard descriptor that is closed: a file that is
/// opened here would take its number, and what is printed would land there.
static void openStandardStreams() {
  for (int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(stream, F_GETFD) == -1 && open("/dev/null", O_RDWR) != stream)
      _exit(1); // there is nowhere to say why
}

int main(int argc, char **argv) {
  openStandardStreams();
  CLI::App app("Kernel tests and times on a device", "effc-device-check");
  app.require_subcommand(1);
  CasesRequest cases;
  TimeRequest time;
  std::string device = "cuda";
  bool passed = true;
  addCases(app, cases, passed);
  addTime(app, time, device);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return app.exit(error) == 0 ? 0 : 2;
  } catch (const std::exception &error) {
    std::fprintf(stderr, "effc-device-check: error: %s\n", error.what());
    return 1;
  }
  return passed ? 0 : 1;
}
