//===- Characters.h - Python's view of a text -----------------------------===//
//
// Texts are UTF-8; Python counts code points. Where nothing but ASCII is there,
// both are the same.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_RUNTIME_SRC_CHAT_JINJA_CHARACTERS_H
#define EFFC_RUNTIME_SRC_CHAT_JINJA_CHARACTERS_H

#include "runtime/src/chat/jinja/Text.h"

#include <optional>

namespace effc::rt::jinja {

/// str.isspace() of one character: Unicode's white space and four controls.
bool isSpace(char32_t character);
/// What repr() writes as it is.
bool isPrintable(char32_t character);
/// Whether a character has upper and lower forms, or is one.
bool isUpper(char32_t character);
bool isLower(char32_t character);

size_t countCharacters(std::string_view text);
/// Where the character number `index` starts; the end where there are fewer.
size_t offsetOf(std::string_view text, size_t index);

/// Where what is left begins and ends once characters are stripped from the
/// sides: those of `characters`, or white space.
Span strippedSpan(std::string_view text,
                  const std::optional<std::string> &characters, bool left,
                  bool right);

/// Lower case as str.lower() has it.
Text toLower(const Text &text);
/// Upper case. Nothing where a letter's capital is not known here: one that is
/// more than one letter, as that of U+FB01, or no letter's counterpart.
std::optional<Text> toUpper(const Text &text);

/// The lines of str.splitlines(), without their ends.
std::vector<Text> splitLines(const Text &text);

} // namespace effc::rt::jinja

#endif // EFFC_RUNTIME_SRC_CHAT_JINJA_CHARACTERS_H
