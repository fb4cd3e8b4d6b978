// The file of a conversation.
#ifndef EFFC_TOOLS_EFFC_CHATFILE_H
#define EFFC_TOOLS_EFFC_CHATFILE_H

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace effc::cli {

/// The messages of the file, a JSON array of {"role", "content"} or an object whose
/// "messages" is one, as OpenAI's API has it; none where there is no file. Throws
/// Failure where the file is something else.
std::optional<nlohmann::ordered_json> readConversation(const std::string &path);

/// Writes {"messages": [...]}; the file is the old one or the new one, never a part.
/// Throws Failure.
void writeConversation(const std::string &path,
                       const nlohmann::ordered_json &messages);

} // namespace effc::cli

#endif // EFFC_TOOLS_EFFC_CHATFILE_H
