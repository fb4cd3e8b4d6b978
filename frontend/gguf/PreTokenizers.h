// How byte-level tokenizers of GGUF files cut texts, by the name that
// `tokenizer.ggml.pre` gives.
#ifndef EFFC_FRONTEND_GGUF_PRETOKENIZERS_H
#define EFFC_FRONTEND_GGUF_PRETOKENIZERS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace effc::frontend {

struct GgufPreTokenizer {
  llvm::StringLiteral name;
  /// One after another: what a pattern matches is a piece of its own, and so is what
  /// lies between.
  llvm::ArrayRef<llvm::StringLiteral> splits;
  /// A piece that is a token is that token.
  bool ignoresMerges = false;
  /// A text begins with the token `bos`, unless `add_bos_token` says otherwise.
  bool addsBos = false;
  /// Where the file has no merges, any two tokens that make a token are merged, those
  /// first that make the one of the lowest id, as tiktoken does.
  bool mergesByRank = false;
  /// The vocabulary is none of bytes: its tokens are characters, U+2581 for a space.
  bool mergesCharacters = false;
};

llvm::ArrayRef<GgufPreTokenizer> listGgufPreTokenizers();
/// Null where no row has the name.
const GgufPreTokenizer *findGgufPreTokenizer(llvm::StringRef name);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_GGUF_PRETOKENIZERS_H
