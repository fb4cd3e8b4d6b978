//===- TextFormats.h - Formats of texts in a schema -----------------------===//
#ifndef EFFC_RUNTIME_SRC_GRAMMAR_TEXTFORMATS_H
#define EFFC_RUNTIME_SRC_GRAMMAR_TEXTFORMATS_H

#include "runtime/src/grammar/Rules.h"

#include <optional>
#include <string_view>

namespace effc::rt::grammar {

/// The inner part of a text that has `format`: "date", "time", "date-time" (RFC
/// 3339) or "uuid" (RFC 4122); none for others. Days that only some years have, and
/// leap seconds, are left out.
std::optional<Expression> formatNamed(std::string_view format);

} // namespace effc::rt::grammar

#endif // EFFC_RUNTIME_SRC_GRAMMAR_TEXTFORMATS_H
