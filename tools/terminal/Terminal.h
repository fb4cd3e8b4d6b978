//===- Terminal.h - Standard output and standard error --------------------===//
//
// Results go to standard output; progress and diagnostics to standard error.
// Colour only on a terminal, and not when NO_COLOR is set.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_TOOLS_TERMINAL_TERMINAL_H
#define EFFC_TOOLS_TERMINAL_TERMINAL_H

#include <string_view>

namespace effc::cli {

/// "effc: error: MESSAGE", one line on standard error, withoutControls().
void printError(std::string_view message);
/// "effc: warning: MESSAGE".
void printWarning(std::string_view message);
/// "effc: note: MESSAGE".
void printNote(std::string_view message);

/// Writes what is shown beside a result, on standard error; on a terminal dim and
/// withoutControls().
void printAside(std::string_view text);

/// Writes a result; on a terminal withoutControls(). Throws Failure when standard output cannot take it.
void print(std::string_view text);
/// Makes sure that all of it is written.
void flushOutput();

} // namespace effc::cli

#endif // EFFC_TOOLS_TERMINAL_TERMINAL_H
