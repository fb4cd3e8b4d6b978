// The characters in which byte-level vocabularies write bytes.
//
// Each of the 256 bytes has a printable character: itself where it is one of
// Latin-1 ('A' is "A", 0xE9 is "é"), else the next free one from U+0100 on (the
// space is "Ġ"). A vocabulary's tokens are strings of these characters.
#ifndef EFFC_FRONTEND_TOKENIZER_BYTEALPHABET_H
#define EFFC_FRONTEND_TOKENIZER_BYTEALPHABET_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace effc::frontend {

/// The character of a byte, in UTF-8.
std::string getByteCharacter(uint8_t byte);

/// The bytes that a string of such characters stands for; nothing where one of
/// its characters stands for none. `text` is UTF-8.
std::optional<std::vector<uint8_t>> getBytesOfCharacters(llvm::StringRef text);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_TOKENIZER_BYTEALPHABET_H
