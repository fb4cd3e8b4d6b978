#include "tools/effc/ChatFile.h"

#include "runtime/src/PartialFile.h"
#include "tools/effc/Inputs.h"
#include "tools/terminal/Failure.h"
#include "tools/terminal/Signals.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <unistd.h>

using namespace effc::cli;
using Json = nlohmann::ordered_json;

std::optional<Json> effc::cli::readConversation(const std::string &path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error) && !error)
    return std::nullopt;
  Json json = Json::parse(readWholeFile(path), nullptr, false);
  Json messages = json.is_object() && json.contains("messages")
                      ? json["messages"]
                      : std::move(json);
  auto isMessage = [](const Json &one) {
    return one.is_object() && one.contains("role") && one["role"].is_string();
  };
  if (!messages.is_array() ||
      !std::all_of(messages.begin(), messages.end(), isMessage))
    throw Failure("'" + path +
                  "' is no conversation: expects JSON, a list of messages "
                  "{\"role\": ..., \"content\": ...}");
  return messages;
}

void effc::cli::writeConversation(const std::string &path,
                                  const Json &messages) {
  std::string text = Json{{"messages", messages}}.dump(
                         2, ' ', false, Json::error_handler_t::replace) +
                     "\n";
  HoldSignals held;
  rt::PartialFile file;
  int code = file.begin(path);
  for (size_t at = 0; !code && at < text.size();) {
    ssize_t written =
        write(file.descriptor(), text.data() + at, text.size() - at);
    if (written >= 0)
      at += static_cast<size_t>(written);
    else if (errno != EINTR)
      code = errno;
  }
  if (!code)
    code = file.finish(/*durable=*/true);
  if (code)
    throw Failure("cannot write '" + path + "': " +
                  (code == rt::PartialFile::kNotRegular
                       ? "it is not a regular file"
                       : std::strerror(code)));
}
