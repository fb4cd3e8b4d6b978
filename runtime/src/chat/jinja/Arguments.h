//===- Arguments.h - What a call hands over -------------------------------===//
#ifndef EFFC_RUNTIME_SRC_CHAT_JINJA_ARGUMENTS_H
#define EFFC_RUNTIME_SRC_CHAT_JINJA_ARGUMENTS_H

#include "runtime/src/chat/jinja/Machine.h"

#include <initializer_list>

namespace effc::rt::jinja {

struct Arguments {
  std::vector<Value> positional;
  std::vector<std::pair<std::string, Value>> named;

  /// The value of each of `parameters`, by place or by name; nothing where none is
  /// given. Refuses what no parameter takes, and fewer than `least` at the front.
  /// `what` is the function, for messages.
  std::vector<std::optional<Value>>
  bind(Machine &machine, std::string_view what,
       std::initializer_list<std::string_view> parameters,
       size_t least = 0) const;
};

} // namespace effc::rt::jinja

#endif // EFFC_RUNTIME_SRC_CHAT_JINJA_ARGUMENTS_H
