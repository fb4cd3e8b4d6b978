// `effc devices`: where models can run on this machine.

#include "runtime/include/effc/effc.hpp"
#include "tools/effc/Commands.h"
#include "tools/terminal/Table.h"
#include "tools/terminal/Terminal.h"

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>

using namespace effc;
using namespace effc::cli;
using Json = nlohmann::ordered_json;

namespace {
struct Kind {
  const char *name; // as --device has it
  std::function<Device()> open;
};
} // namespace

static void listDevices(bool asJson) {
  const Kind kinds[] = {{"host", [] { return Device::host(); }},
                        {"cuda", [] { return Device::cuda(); }},
                        {"sim", [] { return Device::sim(); }}};
  Json json = Json::array();
  Table table;
  for (const Kind &kind : kinds) {
    std::string description, reason;
    try {
      description = kind.open().description();
    } catch (const Error &error) {
      reason = error.what();
    }
    json.push_back({{"name", kind.name},
                    {"usable", reason.empty()},
                    {"description", description},
                    {"reason", reason.empty() ? Json() : Json(reason)}});
    table.add({kind.name, reason.empty() ? description : "no: " + reason});
  }
  print(asJson ? json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"
               : table.text());
}

void effc::cli::addDevicesCommand(CLI::App &app) {
  auto json = std::make_shared<bool>(false);
  CLI::App *command = app.add_subcommand(
      "devices", "Show where models can run on this machine");
  command->add_flag("--json", *json, "Print JSON")->group("Output");
  command->footer("effc devices");
  command->callback([json] { listDevices(*json); });
}
