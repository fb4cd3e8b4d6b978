#include "runtime/src/chat/jinja/Arguments.h"

#include <algorithm>

using namespace effc::rt;
using namespace effc::rt::jinja;

std::vector<std::optional<Value>>
Arguments::bind(Machine &machine, std::string_view what,
                std::initializer_list<std::string_view> parameters,
                size_t least) const {
  std::vector<std::optional<Value>> bound(parameters.size());
  if (positional.size() > parameters.size()) {
    machine.refuse("expected at most ", parameters.size(), " arguments of '",
                   what, "', but found ", positional.size());
    return bound;
  }
  std::copy(positional.begin(), positional.end(), bound.begin());
  for (const auto &[name, value] : named) {
    auto found = std::find(parameters.begin(), parameters.end(), name);
    auto place = static_cast<size_t>(found - parameters.begin());
    if (found == parameters.end() || bound[place]) {
      machine.refuse("expected no argument '", name, "' of '", what,
                     found == parameters.end() ? "', which takes none"
                                               : "', which has it by place",
                     ", but found one");
      return bound;
    }
    bound[place] = value;
  }
  for (size_t i = 0; i < least; ++i)
    if (!bound[i]) {
      machine.refuse("expected ", least, " arguments of '", what, "', but '",
                     *(parameters.begin() + i), "' is missing");
      return bound;
    }
  return bound;
}
