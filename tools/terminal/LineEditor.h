//===- LineEditor.h - Lines that somebody types ---------------------------===//
//
// On a terminal, with editing and a history (libedit, where the build has it). From
// a file or a pipe, lines as they are.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_TOOLS_TERMINAL_LINEEDITOR_H
#define EFFC_TOOLS_TERMINAL_LINEEDITOR_H

#include <optional>
#include <string>

namespace effc::cli {

class LineEditor {
public:
  /// Whether standard input and output are a terminal, so that somebody types.
  static bool isInteractive();

  /// Shows `prompt`, on a terminal alone, and returns the line that follows without
  /// its end; none at the end of the input.
  std::optional<std::string> read(const std::string &prompt);

  /// Has the history offer `text`, which may have several lines.
  void remember(const std::string &text);
};

} // namespace effc::cli

#endif // EFFC_TOOLS_TERMINAL_LINEEDITOR_H
