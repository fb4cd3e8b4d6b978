#include "tools/effc/PromptText.h"

#include "tools/terminal/Failure.h"

#include <CLI/CLI.hpp>
#include <charconv>

using namespace effc;
using namespace effc::cli;

/// The byte that a letter behind a backslash stands for; none of most.
static std::optional<char> escapedBy(char letter) {
  switch (letter) {
  case 'n':
    return '\n';
  case 'r':
    return '\r';
  case 't':
    return '\t';
  case '"':
  case '\'':
  case '\\':
    return letter;
  default:
    return std::nullopt;
  }
}

/// The byte of "xHH"; none where `text` begins otherwise.
static std::optional<char> hexByte(std::string_view text) {
  if (text.size() < 3 || text[0] != 'x')
    return std::nullopt;
  unsigned byte = 0;
  auto [end, failure] =
      std::from_chars(text.data() + 1, text.data() + 3, byte, 16);
  if (failure != std::errc() || end != text.data() + 3)
    return std::nullopt;
  return static_cast<char>(byte);
}

std::string effc::cli::withoutEscapes(std::string_view text) {
  std::string plain;
  while (!text.empty()) {
    std::string_view behind = text.substr(1);
    size_t taken = 1;
    char byte = text[0];
    if (byte == '\\' && !behind.empty()) {
      if (auto escaped = escapedBy(behind[0])) {
        byte = *escaped;
        taken = 2;
      } else if (auto number = hexByte(behind)) {
        byte = *number;
        taken = 4;
      }
    }
    plain += byte;
    text.remove_prefix(taken);
  }
  return plain;
}

void PromptText::declare(CLI::App &command) {
  command.add_option("TEXT", bare, "The text, as -p gives it");
  command.add_option("-p,--prompt", text, "A text")->group("Prompt");
  command
      .add_option("-f,--prompt-file", file,
                  "A text file; - reads standard input")
      ->type_name("FILE")
      ->group("Prompt");
  command
      .add_flag("-e,--escape", escapes,
                "Read \\n, \\t, \\r, \\\", \\', \\\\ and \\xHH in the text as "
                "what they stand for")
      ->group("Prompt");
  command
      .add_flag("--no-special", noSpecial,
                "Leave out the tokens that the tokenizer puts around a text, "
                "such as the one that begins it: for texts that spell them")
      ->group("Prompt");
  command
      .add_flag("--plain", plain,
                "Take special tokens that the text spells, such as <|im_end|>, "
                "for text: for texts that are not to be trusted")
      ->group("Prompt");
}

Tokens PromptText::tokenize(const Model &model, uint32_t flags) const {
  int given = bool(bare) + bool(text) + bool(file);
  if (given == 0)
    throw UsageError(
        "give a text: 'TEXT', --prompt TEXT or --prompt-file FILE");
  if (given > 1)
    throw UsageError("expects one of a bare TEXT, --prompt and --prompt-file, "
                     "but got " +
                     std::to_string(given));
  std::string content = bare ? *bare : text ? *text : readWholeFile(*file);
  if (escapes)
    content = withoutEscapes(content);
  if (noSpecial)
    flags |= EFFC_TOKENIZE_NO_SPECIAL;
  if (plain)
    flags |= EFFC_TOKENIZE_PLAIN;
  return model.tokenize(content, flags);
}
