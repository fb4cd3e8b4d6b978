//===- ChatFile.h - The file of a conversation ----------------------------===//
//
// JSON: the messages, as OpenAI's API has them, and where a state is kept, its file and
// the tokens that it holds. A state gets a name of its own each time, and the file
// names it when it is whole, so that the two belong together whenever the program ends.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_TOOLS_EFFC_CHATFILE_H
#define EFFC_TOOLS_EFFC_CHATFILE_H

#include "tools/effc/Inputs.h"

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace effc::cli {

class ChatFile {
public:
  using Json = nlohmann::ordered_json;

  /// Reads `path`, where there is such a file: an object with "messages", or a list of
  /// messages alone. Throws Failure where it is something else.
  explicit ChatFile(std::string path);

  /// Whether there was a file.
  bool isThere() const { return wasThere; }
  const Json &messages() const { return kept["messages"]; }

  struct State {
    std::string path;
    Tokens tokens;
  };
  /// The state that is kept with the messages, if one is.
  std::optional<State> state() const;

  /// Writes the messages; the file is the old one or the new one, never a part.
  void write(const Json &messages);
  /// Has `save` write a state, whose tokens it returns, and puts it in place of the one
  /// before.
  void writeState(const std::function<Tokens(const std::string &)> &save);

private:
  void write();
  std::string beside(const std::string &name) const;

  std::string path;
  bool wasThere = false;
  Json kept = {{"messages", Json::array()}};
};

} // namespace effc::cli

#endif // EFFC_TOOLS_EFFC_CHATFILE_H
