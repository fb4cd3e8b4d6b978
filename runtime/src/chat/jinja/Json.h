//===- Json.h - JSON in and out, as Python has it -------------------------===//
#ifndef EFFC_RUNTIME_SRC_CHAT_JINJA_JSON_H
#define EFFC_RUNTIME_SRC_CHAT_JINJA_JSON_H

#include "runtime/src/chat/jinja/Machine.h"

namespace effc::rt::jinja {

/// Of one JSON text: 16 times what a rendering may have.
constexpr size_t kMostJsonBytes = size_t(128) << 20;

/// Reads one JSON text, all of whose texts are the caller's (Text::given). Of
/// equal keys the last value counts, at the place of the first, as in Python.
/// EFFC_INVALID_ARGUMENT: it is no JSON, names `what` and the place; has a whole
/// number beyond 64 bits, invalid UTF-8, or more than kMostDepth / 2 levels.
Result<Value> readJson(std::string_view what, std::string_view text);

/// The named arguments of json.dumps() that transformers hands on.
struct JsonStyle {
  std::optional<std::string> indent; // of each level; none: one line
  std::string itemSeparator = ", ", keySeparator = ": ";
  bool asciiOnly = false, sortKeys = false;
};

/// json.dumps(value).
Value writeJson(Machine &machine, const Value &value, const JsonStyle &style);

} // namespace effc::rt::jinja

#endif // EFFC_RUNTIME_SRC_CHAT_JINJA_JSON_H
