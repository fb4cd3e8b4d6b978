#include "tools/terminal/SafeText.h"

#include <cstdint>
#include <cstdio>

using namespace effc::cli;

namespace {
/// A character at the start of a text, as far as its steering ones are told.
struct Character {
  uint32_t code;
  size_t bytes;
};
} // namespace

static bool steers(uint32_t code) {
  return (code < 0x20 && code != '\n' && code != '\t') || code == 0x7f ||
         (code >= 0x80 && code <= 0x9f) || (code >= 0x202a && code <= 0x202e) ||
         (code >= 0x2066 && code <= 0x2069);
}

/// Two and three bytes of UTF-8 hold all characters that steer; anything else
/// is taken a byte at a time, as a code that does not.
static Character firstOf(std::string_view text) {
  auto byte = [&](size_t i) {
    return i < text.size() ? static_cast<uint8_t>(text[i]) : 0u;
  };
  auto continues = [&](size_t i) { return (byte(i) & 0xc0) == 0x80; };
  if (byte(0) < 0x80)
    return {byte(0), 1};
  if ((byte(0) & 0xe0) == 0xc0 && continues(1))
    return {(byte(0) & 0x1fu) << 6 | (byte(1) & 0x3fu), 2};
  if ((byte(0) & 0xf0) == 0xe0 && continues(1) && continues(2))
    return {(byte(0) & 0xfu) << 12 | (byte(1) & 0x3fu) << 6 | (byte(2) & 0x3fu),
            3};
  return {UINT32_MAX, 1};
}

std::string effc::cli::withoutControls(std::string_view text) {
  std::string safe;
  while (!text.empty()) {
    Character character = firstOf(text);
    if (steers(character.code)) {
      char spelled[16];
      std::snprintf(spelled, sizeof spelled,
                    character.code < 0x100 ? "\\x%02x" : "\\u%04x",
                    character.code);
      safe += spelled;
    } else {
      safe += text.substr(0, character.bytes);
    }
    text.remove_prefix(character.bytes);
  }
  return safe;
}
