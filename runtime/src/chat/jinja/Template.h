//===- Template.h - A template and its rendering --------------------------===//
#ifndef EFFC_RUNTIME_SRC_CHAT_JINJA_TEMPLATE_H
#define EFFC_RUNTIME_SRC_CHAT_JINJA_TEMPLATE_H

#include "runtime/src/chat/jinja/Moment.h"
#include "runtime/src/chat/jinja/Syntax.h"

namespace effc::rt::jinja {

/// Twenty times the longest public template.
constexpr size_t kMostSourceBytes = size_t(1) << 20;

using Variables = std::vector<std::pair<std::string, Value>>;

/// Immutable: any number of threads may render it at the same time.
class Template {
public:
  /// See parse(); EFFC_UNSUPPORTED also for a source that is too long.
  static Result<Template> create(std::string_view source);

  /// What the template writes for `variables`, at the time `now`, in at most
  /// `steps` (Machine.h).
  /// EFFC_INVALID_ARGUMENT: the template refuses them, or cannot do with them what
  /// it does; EFFC_UNSUPPORTED: it comes to what is not understood here. Messages
  /// start with the line.
  Result<Text> render(const Variables &variables, const Moment &now,
                      uint64_t steps) const;

private:
  explicit Template(Body body) : body(std::move(body)) {}
  Body body;
};

} // namespace effc::rt::jinja

#endif // EFFC_RUNTIME_SRC_CHAT_JINJA_TEMPLATE_H
