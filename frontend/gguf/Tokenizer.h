// The tokenizer of a GGUF file, as the text of the tokenizer.json that means the
// same.
//
//   tokenizer.ggml.model   read as
//   gpt2                   byte-level BPE, cut as `tokenizer.ggml.pre` says
//                          (PreTokenizers.h)
//   llama                  SentencePiece's BPE: of two neighbours whose sum is a
//                          token those are merged first whose sum has the best
//                          score; bytes for what is no token
//   t5                     Unigram, with SentencePiece's way to normalize
//   rwkv                   the World vocabulary: the longest token first
//   bert                   WordPiece (WordPiece.h)
//   gemma4                 BPE of characters whose merges the file lists, U+2581 for a
//                          space; bytes for what is no token
//   plamo2                 the best sum of scores, from a text's end on (PLaMo-2 and 3)
//   none, no_vocab         no tokenizer
//
// Others are refused by name, and so are keys under `tokenizer.` that are not known.
// A file that has a whole `tokenizer.huggingface.json` is read by that alone.
//
// What is checked (the labels name the tests):
//
//   (GT1) tokens are not empty, UTF-8, and differ; types and scores are as many;
//   (GT2) types are 1 to 6; a token of type byte is called `<0xNN>`;
//   (GT3) a merge is two tokens with a space between;
//   (GT4) ids of tokens with a meaning are less than the number of tokens;
//   (GT5) where merges are of characters, every byte has a token `<0xNN>`.
#ifndef EFFC_FRONTEND_GGUF_TOKENIZER_H
#define EFFC_FRONTEND_GGUF_TOKENIZER_H

#include "frontend/gguf/Metadata.h"
#include "frontend/tokenizer/TokenizerSettings.h"

namespace effc::frontend {

struct GgufTokenizer {
  /// Of a tokenizer.json.
  std::string text;
  /// The named tokens, and which of them texts begin and end with.
  TokenizerSettings settings;
  /// Ids whose names say that a turn or a text ends, in ascending order, and the
  /// texts of all tokens by id.
  std::vector<int32_t> ends;
  std::vector<std::string> tokens;
};

/// None where the file has no tokenizer, with a remark. What is left aside is told
/// by `remarks`.
llvm::Expected<std::optional<GgufTokenizer>>
describeGgufTokenizer(GgufMetadata &keys, std::vector<std::string> &remarks);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_GGUF_TOKENIZER_H
