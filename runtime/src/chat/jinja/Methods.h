//===- Methods.h - Methods of Python's texts, lists and mappings ----------===//
#ifndef EFFC_RUNTIME_SRC_CHAT_JINJA_METHODS_H
#define EFFC_RUNTIME_SRC_CHAT_JINJA_METHODS_H

#include "runtime/src/chat/jinja/Arguments.h"

namespace effc::rt::jinja {

/// Whether Python's object has a method of that name that templates may call; one
/// that is not understood here counts, and is refused when it is called.
bool hasMethod(const Value &object, std::string_view name);

/// Whether Python's object has it, and the reference's sandbox does not let
/// templates have it: what changes lists and mappings, and names with `_`.
bool isForbidden(const Value &object, std::string_view name);

Value callMethod(Machine &machine, const Value &object, std::string_view name,
                 const Arguments &arguments);

/// What text.split(separator, most) gives: parts between separators, or between
/// white space without one; `most` cuts at most, all where it is negative.
std::vector<Value> splitText(Machine &machine, const Text &text,
                             const std::optional<std::string> &separator,
                             int64_t most, bool fromRight);

/// text.replace(from, to, most).
Value replaceText(Machine &machine, const Text &text, const Text &from,
                  const Text &to, int64_t most);

/// text.capitalize().
std::optional<Text> capitalize(const Text &text);

/// The text method `name` of an object that is a text.
Value callTextMethod(Machine &machine, const Text &text, std::string_view name,
                     const Arguments &arguments);

/// text.format(...).
Value formatText(Machine &machine, const Text &text,
                 const Arguments &arguments);

} // namespace effc::rt::jinja

#endif // EFFC_RUNTIME_SRC_CHAT_JINJA_METHODS_H
