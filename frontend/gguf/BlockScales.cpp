#include "frontend/gguf/BlockScales.h"

#include "llvm/Support/Endian.h"

using namespace effc::frontend;

std::optional<uint64_t>
effc::frontend::findBadScale(const GgufType &type,
                             llvm::ArrayRef<uint8_t> blocks) {
  if (type.halves.empty() && type.power < 0)
    return std::nullopt;
  // All bits of the exponent.
  constexpr uint16_t kNotFinite = 0x7c00;
  for (uint64_t at = 0; at < blocks.size(); at += type.bytes) {
    const uint8_t *block = blocks.data() + at;
    for (uint32_t half : type.halves)
      if ((llvm::support::endian::read16le(block + half) & kNotFinite) ==
          kNotFinite)
        return at / type.bytes;
    if (type.power >= 0 && block[type.power] == 0xff)
      return at / type.bytes;
  }
  return std::nullopt;
}
