// A text to tokenize, as users give one.
#ifndef EFFC_TOOLS_EFFC_PROMPTTEXT_H
#define EFFC_TOOLS_EFFC_PROMPTTEXT_H

#include "tools/effc/Inputs.h"

#include <optional>
#include <string>

namespace CLI {
class App;
}

namespace effc::cli {

/// `text` with \n, \r, \t, \", \', \\ and \xHH replaced by what they stand for.
/// Other backslashes stay, so that paths and formulas survive.
std::string withoutEscapes(std::string_view text);

/// A text from the command line or a file, and how its tokens are made.
struct PromptText {
  std::optional<std::string> bare, text, file; // at most one of them
  bool escapes = false;                        // \n in the text is a line break
  bool noSpecial = false; // without what the tokenizer puts around a text
  bool plain = false;     // special tokens in the text are text

  /// Declares the positional TEXT, -p, -f, -e, --no-special and --plain.
  void declare(CLI::App &command);
  bool isGiven() const { return bare || text || file; }
  /// Reads the text and cuts it into tokens; `flags` are effc_tokenize_flags_t
  /// that hold besides. Throws UsageError where no text was given, or more than
  /// one; Failure where its file cannot be read.
  Tokens tokenize(const Model &model, uint32_t flags = 0) const;
};

} // namespace effc::cli

#endif // EFFC_TOOLS_EFFC_PROMPTTEXT_H
