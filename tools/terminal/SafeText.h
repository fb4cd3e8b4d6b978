// Text of files, made fit for a terminal.
#ifndef EFFC_TOOLS_TERMINAL_SAFETEXT_H
#define EFFC_TOOLS_TERMINAL_SAFETEXT_H

#include <string>
#include <string_view>

namespace effc::cli {

/// `text` with everything spelled out by which a file could steer a terminal:
/// control characters but line breaks and tabs (ESC becomes "\x1b"), those of
/// U+0080 to U+009F, and marks that reorder what stands around them (U+202A to
/// U+202E, U+2066 to U+2069). All else stays as it is, other bytes that are no
/// UTF-8 included.
std::string withoutControls(std::string_view text);

} // namespace effc::cli

#endif // EFFC_TOOLS_TERMINAL_SAFETEXT_H
