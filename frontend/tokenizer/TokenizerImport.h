// A tokenizer.json as the tokenizer segment of an artifact.
//
// The file describes a pipeline of named parts; what the segment's schema
// (runtime/schema/tokenizer.fbs) cannot say exactly is refused by its name:
//
//   normalizer       Normalizer.h
//   pre_tokenizer    PreTokenizer.h
//   model            Model.h
//   post_processor   PostProcessor.h
//   decoder          Decoder.h
//   truncation, padding   left aside: the library applies them on request only
#ifndef EFFC_FRONTEND_TOKENIZER_TOKENIZERIMPORT_H
#define EFFC_FRONTEND_TOKENIZER_TOKENIZERIMPORT_H

#include "frontend/tokenizer/TokenizerSettings.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace effc::frontend {

/// Translates the text of a tokenizer.json; `name` is the file's, for messages.
/// `vocabulary` is the language model's; a remark tells of ids past it.
/// `settings` is what lies beside the file. The same texts give the same bytes.
llvm::Expected<std::vector<uint8_t>>
translateTokenizer(llvm::StringRef text, llvm::StringRef name,
                   int64_t vocabulary, std::vector<std::string> &remarks,
                   const TokenizerSettings &settings = {});

/// Reads and translates a file.
llvm::Expected<std::vector<uint8_t>>
importTokenizer(llvm::StringRef path, llvm::StringRef name, int64_t vocabulary,
                std::vector<std::string> &remarks,
                const TokenizerSettings &settings = {});

} // namespace effc::frontend

#endif // EFFC_FRONTEND_TOKENIZER_TOKENIZERIMPORT_H
