//===- Unicode.h - What a character is ------------------------------------===//
//
// Properties as the public tokenizer library sees them, written down by
// make_unicode_data.py: the parts of that library have tables of different
// versions of Unicode, and ids agree only if each question is answered by the
// same one.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_RUNTIME_SRC_TOKENIZER_UNICODE_UNICODE_H
#define EFFC_RUNTIME_SRC_TOKENIZER_UNICODE_UNICODE_H

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace effc::rt::unicode {

// clang-format off
enum class Category : uint8_t {
  Cc, Cf, Cn, Co, Cs, Ll, Lm, Lo, Lt, Lu, Mc, Me, Mn, Nd, Nl, No,
  Pc, Pd, Pe, Pf, Pi, Po, Ps, Sc, Sk, Sm, So, Zl, Zp, Zs
};
// clang-format on

/// Bits of Character::flags.
enum Flag : uint16_t {
  White = 1 << 0,
  Numeric = 1 << 1,
  Punctuation = 1 << 2, // of ASCII or of a category P
  Word = 1 << 3,        // what \w matches
  Nonspacing = 1 << 4,
  Combining = 1 << 5,  // any mark
  Control = 1 << 6,    // of a category C, but no tab and no line end
  Lowers = 1 << 7,     // has a lower case
  Canonical = 1 << 8,  // has a canonical decomposition
  Compatible = 1 << 9, // has any decomposition
  Second = 1 << 10     // may compose with what is before it
};

/// How a character joins its neighbours in a grapheme cluster.
enum class Grapheme : uint8_t {
  Other,
  Control,
  CarriageReturn,
  LineFeed,
  Extend,
  Joiner, // U+200D
  Prepend,
  Regional,
  HangulL,
  HangulV,
  HangulT,
  HangulLV,
  HangulLVT,
  Pictograph
};

struct Character {
  uint16_t flags;
  Category category;
  uint8_t combiningClass;
  Grapheme grapheme;
  uint8_t script; // 0: none that has a name here

  bool is(Flag flag) const { return flags & flag; }
};

/// The properties of any number below 0x110000.
const Character &lookUp(char32_t character);

/// "Lu" -> the set of one category, "L" -> of all that start so, as bits by
/// Category; 0 where there is none.
uint32_t findCategories(std::string_view name);

/// The number that Character::script has for "Han"; 0 for an unknown one.
uint8_t findScript(std::string_view name);

/// The full decompositions, without Hangul; empty for a character that has
/// none. `compatible`: NFKD's, else NFD's.
std::u32string_view decompose(char32_t character, bool compatible);

/// What two characters compose to (NFC), without Hangul; 0 for nothing.
char32_t compose(char32_t first, char32_t second);

/// The lower case; empty for a character that has none.
std::u32string_view toLower(char32_t character);

/// The character that valid UTF-8 starts with and its length in bytes.
struct Decoded {
  char32_t character;
  uint32_t bytes;
};
inline Decoded decode(std::string_view text) {
  auto at = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  uint32_t lead = at(0);
  if (lead < 0x80)
    return {lead, 1};
  if (lead < 0xE0)
    return {(lead & 0x1Fu) << 6 | (at(1) & 0x3Fu), 2};
  if (lead < 0xF0)
    return {(lead & 0xFu) << 12 | (at(1) & 0x3Fu) << 6 | (at(2) & 0x3Fu), 3};
  return {(lead & 7u) << 18 | (at(1) & 0x3Fu) << 12 | (at(2) & 0x3Fu) << 6 |
              (at(3) & 0x3Fu),
          4};
}

/// Where the last character of valid UTF-8, which is not empty, starts.
inline size_t lastStart(std::string_view text) {
  size_t at = text.size() - 1;
  while (at > 0 && (static_cast<uint8_t>(text[at]) & 0xC0) == 0x80)
    --at;
  return at;
}

/// Appends a character as UTF-8.
void append(char32_t character, std::string &text);

} // namespace effc::rt::unicode

#endif // EFFC_RUNTIME_SRC_TOKENIZER_UNICODE_UNICODE_H
