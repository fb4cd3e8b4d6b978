#include "runtime/src/tokenizer/ByteAlphabet.h"

#include "runtime/src/tokenizer/unicode/Unicode.h"

#include <array>

using namespace effc::rt;

namespace {

constexpr char32_t kCharacters = 0x144;

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

void effc::rt::appendByteCharacters(std::string_view bytes, std::string &out) {
  for (char c : bytes)
    unicode::append(kAlphabet.characterOf[static_cast<uint8_t>(c)], out);
}

std::optional<std::string> effc::rt::readByteCharacters(std::string_view text) {
  std::string bytes;
  while (!text.empty()) {
    unicode::Decoded decoded = unicode::decode(text);
    if (decoded.character >= kCharacters ||
        kAlphabet.byteOf[decoded.character] < 0)
      return std::nullopt;
    bytes += static_cast<char>(kAlphabet.byteOf[decoded.character]);
    text.remove_prefix(decoded.bytes);
  }
  return bytes;
}
