// Pieces of JSON that are written for every token.
#ifndef EFFC_TOOLS_EFFC_SERVE_WIRE_JSONTEXT_H
#define EFFC_TOOLS_EFFC_SERVE_WIRE_JSONTEXT_H

#include <cstdint>
#include <string>
#include <string_view>

namespace effc::serve {

/// Adds `text`, valid UTF-8, between quotes.
void appendQuoted(std::string &out, std::string_view text);
/// Adds the shortest number that reads back as `value`; null for infinities and
/// what is no number.
void appendNumber(std::string &out, float value);
void appendNumber(std::string &out, uint64_t value);

} // namespace effc::serve

#endif // EFFC_TOOLS_EFFC_SERVE_WIRE_JSONTEXT_H
