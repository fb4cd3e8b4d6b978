#include "frontend/tokenizer/ByteAlphabet.h"

#include <array>

using namespace effc::frontend;

namespace {

constexpr uint32_t kCharacters = 0x144;

struct Alphabet {
  std::array<uint16_t, 256> characterOf{};
  std::array<int16_t, kCharacters> byteOf{};

  constexpr Alphabet() {
    byteOf.fill(-1);
    uint16_t next = 0x100;
    for (int byte = 0; byte < 256; ++byte) {
      bool printable = (byte >= 0x21 && byte <= 0x7e) ||
                       (byte >= 0xa1 && byte <= 0xff && byte != 0xad);
      characterOf[byte] = printable ? byte : next++;
      byteOf[characterOf[byte]] = byte;
    }
  }
};

constexpr Alphabet kAlphabet;
static_assert(kAlphabet.characterOf[0xad] == kCharacters - 1);

} // namespace

std::string effc::frontend::getByteCharacter(uint8_t byte) {
  uint16_t character = kAlphabet.characterOf[byte];
  if (character < 0x80)
    return std::string(1, char(character));
  return {char(0xc0 | character >> 6), char(0x80 | (character & 0x3f))};
}

std::optional<std::vector<uint8_t>>
effc::frontend::getBytesOfCharacters(llvm::StringRef text) {
  std::vector<uint8_t> bytes;
  bytes.reserve(text.size());
  for (size_t at = 0; at < text.size(); ++at) {
    uint32_t character = uint8_t(text[at]);
    if (character >= 0x80) {
      // The alphabet has no character of more than two bytes.
      if (character >= 0xe0 || at + 1 >= text.size())
        return std::nullopt;
      character = (character & 0x1f) << 6 | (uint8_t(text[++at]) & 0x3f);
    }
    if (character >= kCharacters || kAlphabet.byteOf[character] < 0)
      return std::nullopt;
    bytes.push_back(kAlphabet.byteOf[character]);
  }
  return bytes;
}
