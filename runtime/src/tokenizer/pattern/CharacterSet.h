//===- CharacterSet.h - What one step of a pattern matches ----------------===//
#ifndef EFFC_RUNTIME_SRC_TOKENIZER_PATTERN_CHARACTERSET_H
#define EFFC_RUNTIME_SRC_TOKENIZER_PATTERN_CHARACTERSET_H

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace effc::rt {

/// A set of characters, put together from ranges and properties, then sealed.
class CharacterSet {
public:
  void addRange(char32_t first, char32_t last);
  /// `name` as in \p{name}: a general category, White_Space, sc:Script, or one
  /// of numeric, punctuation and word after "x:" (Unicode.h). False for an
  /// unknown name.
  bool addProperty(std::string_view name, bool negated);
  /// Adds the other case of all characters so far: of ASCII, and U+017F and
  /// U+212A, which are a long s and a Kelvin sign.
  void addOtherCase();
  void negate() { isNegated = !isNegated; }
  /// To be called when the set is complete.
  void seal();

  bool hasAscii(uint8_t byte) const {
    return ascii[byte >> 6] >> (byte & 63) & 1;
  }
  /// For any character; slower.
  bool has(char32_t character) const;
  /// The bits of hasAscii().
  const std::array<uint64_t, 2> &getAscii() const { return ascii; }
  /// What it takes in memory.
  size_t bytes() const {
    return sizeof *this + ranges.size() * sizeof ranges[0];
  }
  /// The one character of a sealed set that is written as such.
  std::optional<char32_t> getOnly() const;

private:
  bool hasBeforeNegation(char32_t character) const;
  bool hasProperty(char32_t character) const;

  std::vector<std::pair<char32_t, char32_t>> ranges; // sorted once sealed
  uint32_t categories = 0;                           // bits by Category
  uint16_t flags = 0;                                // bits of Flag
  // Each once.
  std::vector<uint16_t> withoutFlags;            // each: not this flag
  std::vector<std::pair<uint8_t, bool>> scripts; // and whether negated
  bool isNegated = false;
  std::array<uint64_t, 2> ascii = {};
};

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_TOKENIZER_PATTERN_CHARACTERSET_H
