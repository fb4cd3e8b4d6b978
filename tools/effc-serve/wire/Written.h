// What a choice says: its content, and in conversations reasoning and calls of tools.
#ifndef EFFC_TOOLS_EFFC_SERVE_WIRE_WRITTEN_H
#define EFFC_TOOLS_EFFC_SERVE_WIRE_WRITTEN_H

#include <cstdint>
#include <string>
#include <vector>

namespace effc::serve {

struct Written {
  /// A call, or more of one that has begun.
  struct Call {
    uint32_t index = 0;   // among the calls of its choice
    std::string id, name; // empty where it is more of one
    std::string arguments;
  };
  std::string content, reasoning;
  std::vector<Call> calls;

  bool isEmpty() const {
    return content.empty() && reasoning.empty() && calls.empty();
  }
  /// What is more of `index`, which is appended to what there is.
  Call &callAt(uint32_t index) {
    if (calls.empty() || calls.back().index != index) {
      calls.emplace_back();
      calls.back().index = index;
    }
    return calls.back();
  }
};

} // namespace effc::serve

#endif // EFFC_TOOLS_EFFC_SERVE_WIRE_WRITTEN_H
