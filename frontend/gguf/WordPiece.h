// Tokenizers of the kind `bert`: WordPiece, whose tokens llama.cpp's converter writes in
// another way than the model's own file has them.
//
//   tokenizer.json   play           ##ing   [CLS]
//   GGUF             U+2581 play    ing     [CLS]
//
// The rest is BERT's own: what its normalizer and its way to cut texts do, [CLS] in front
// of a text and [SEP] behind it.
#ifndef EFFC_FRONTEND_GGUF_WORDPIECE_H
#define EFFC_FRONTEND_GGUF_WORDPIECE_H

#include "frontend/gguf/Metadata.h"
#include "frontend/tokenizer/SentencePieceModel.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/JSON.h"

namespace effc::frontend {

/// The tokens as the model's own file has them.
std::vector<std::string>
withoutPhantomSpaces(llvm::ArrayRef<std::string> tokens,
                     llvm::ArrayRef<PieceType> types);

/// What a tokenizer.json has of such a kind besides its added tokens; `tokens` are those
/// of the model's own file, and differ. `unknown` is the one for what is no token. Fails
/// with the problem of `keys`.
llvm::Expected<llvm::json::Object>
describeWordPiece(GgufMetadata &keys, llvm::ArrayRef<std::string> tokens,
                  llvm::StringRef unknown, bool addsFirst);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_GGUF_WORDPIECE_H
