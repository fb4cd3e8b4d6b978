//===- ByteAlphabet.h - Bytes as printable characters ---------------------===//
//
// Each of the 256 bytes has a printable character: itself where it is one of
// Latin-1, else the next free one from U+0100 on. Byte-level vocabularies are
// written with these.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_RUNTIME_SRC_TOKENIZER_BYTEALPHABET_H
#define EFFC_RUNTIME_SRC_TOKENIZER_BYTEALPHABET_H

#include <optional>
#include <string>
#include <string_view>

namespace effc::rt {

/// Appends the characters of `bytes` in UTF-8.
void appendByteCharacters(std::string_view bytes, std::string &out);

/// The bytes that a text of such characters, valid UTF-8, stands for; nothing
/// where one of its characters stands for none.
std::optional<std::string> readByteCharacters(std::string_view text);

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_TOKENIZER_BYTEALPHABET_H
