#include "tools/effc/ChatFile.h"

#include "tools/effc/TextFile.h"
#include "tools/terminal/Failure.h"
#include "tools/terminal/Signals.h"

#include <algorithm>
#include <filesystem>
#include <random>

using namespace effc::cli;
using Json = nlohmann::ordered_json;

static bool isMessage(const Json &one) {
  return one.is_object() && one.contains("role") && one["role"].is_string();
}

static bool isState(const Json &state) {
  return state.is_object() && state.contains("file") &&
         state["file"].is_string() && state.contains("tokens") &&
         state["tokens"].is_array() &&
         std::all_of(state["tokens"].begin(), state["tokens"].end(),
                     [](const Json &id) { return id.is_number_integer(); });
}

ChatFile::ChatFile(std::string name) : path(std::move(name)) {
  std::error_code error;
  if (!std::filesystem::exists(path, error) && !error)
    return;
  wasThere = true;
  Json json = Json::parse(readWholeFile(path), nullptr, false);
  if (json.is_array())
    json = {{"messages", std::move(json)}};
  if (!json.is_object() || !json.contains("messages") ||
      !json["messages"].is_array() ||
      !std::all_of(json["messages"].begin(), json["messages"].end(),
                   isMessage) ||
      (json.contains("state") && !isState(json["state"])))
    throw Failure("'" + path +
                  "' is no conversation: expects JSON, a list of messages "
                  "{\"role\": ..., \"content\": ...}");
  kept = std::move(json);
}

std::string ChatFile::beside(const std::string &name) const {
  // A name alone: nobody is led elsewhere.
  return std::filesystem::path(path).replace_filename(
      std::filesystem::path(name).filename());
}

std::optional<ChatFile::State> ChatFile::state() const {
  if (!kept.contains("state"))
    return std::nullopt;
  const Json &state = kept["state"];
  return State{beside(state["file"].get<std::string>()),
               state["tokens"].get<Tokens>()};
}

void ChatFile::write(const Json &messages) {
  kept["messages"] = messages;
  write();
}

void ChatFile::writeState(
    const std::function<Tokens(const std::string &)> &save) {
  std::optional<State> before = state();
  std::string name = std::filesystem::path(path).filename().string() + "." +
                     std::to_string(std::random_device()()) + ".state";
  HoldSignals held;
  Tokens tokens = save(beside(name));
  kept["state"] = {{"file", name}, {"tokens", tokens}};
  write();
  if (before)
    std::filesystem::remove(before->path);
}

void ChatFile::write() {
  std::string text =
      kept.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  writeTextFile(path, text);
}
