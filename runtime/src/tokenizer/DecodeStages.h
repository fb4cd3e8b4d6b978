//===- DecodeStages.h - The steps of decoders -----------------------------===//
//
// All but the first two work on UTF-8 and pass UTF-8 on. Patterns and contents
// are not empty unless said so. What a stage does is linear in the text that it
// gets, and in what it makes of it; a stage stops where the budget is exhausted.
// Stages are made for each stream, so they refer to the decoder's texts.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_RUNTIME_SRC_TOKENIZER_DECODESTAGES_H
#define EFFC_RUNTIME_SRC_TOKENIZER_DECODESTAGES_H

#include "runtime/src/tokenizer/Decoder.h"
#include "runtime/src/tokenizer/TextSearch.h"

#include <optional>

namespace effc::rt {

/// The byte of a token "<0xHH>". The library reads the two characters as Rust does:
/// also "+A".
std::optional<char> readByteToken(std::string_view text);

/// The bytes of all tokens are one text; invalid runs become U+FFFD. With
/// `readsCharacters`, a token is written in ByteAlphabet.h's characters; one
/// that is not stands for itself.
std::unique_ptr<DecodeStage> createBytesStage(bool readsCharacters);

/// Tokens "<0xHH>" in a row are the bytes of a text. If it is not valid UTF-8,
/// each is a U+FFFD, so nothing is certain before the row ends.
std::unique_ptr<DecodeStage> createByteFallbackStage();

/// `mark` is a space; in the first token it is nothing if `dropsFirst`.
std::unique_ptr<DecodeStage>
createMetaspaceStage(std::shared_ptr<const TextSearch> mark, bool dropsFirst);

/// One token of all.
std::unique_ptr<DecodeStage> createFuseStage();

/// `content`, possibly empty, for each occurrence of `pattern` in a token.
std::unique_ptr<DecodeStage>
createReplaceStage(std::shared_ptr<const TextSearch> pattern,
                   std::string_view content);

/// Drops `mark`, a character, up to `start` times from the start of a token and
/// up to `stop` times from its end.
std::unique_ptr<DecodeStage> createStripStage(std::string mark, uint32_t start,
                                              uint32_t stop);

/// A space before each token but the first, or `prefix`, possibly empty, taken
/// away.
std::unique_ptr<DecodeStage> createWordPieceStage(std::string_view prefix,
                                                  bool cleanup);

/// A space for `suffix`, nothing in the last token.
std::unique_ptr<DecodeStage>
createWordSuffixStage(std::shared_ptr<const TextSearch> suffix);

/// A space between tokens.
std::unique_ptr<DecodeStage> createSpacesStage();

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_TOKENIZER_DECODESTAGES_H
