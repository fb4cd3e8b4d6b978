// Which class of the public library reads a file of SentencePiece, and what it
// takes and leaves (transformers 5.24): the table behind SentencePiece.h.
#ifndef EFFC_FRONTEND_TOKENIZER_SENTENCEPIECECLASS_H
#define EFFC_FRONTEND_TOKENIZER_SENTENCEPIECECLASS_H

#include "frontend/tokenizer/SentencePieceModel.h"
#include "frontend/tokenizer/TokenizerSettings.h"

#include "llvm/ADT/ArrayRef.h"

#include <optional>

namespace effc::frontend {

/// How the file is read.
enum class SentencePieceScheme { Llama, Gemma, T5, Own };

struct NamedToken {
  llvm::StringRef key, content;
};

/// What a class of the library does with such a file.
struct SentencePieceClass {
  llvm::StringRef name;
  SentencePieceScheme scheme;
  llvm::StringRef file;                  // that it reads
  std::optional<SentencePieceKind> kind; // that it reads; none: both
  llvm::ArrayRef<llvm::StringRef>
      modelTypes;                   // that have it where no class is named
  llvm::ArrayRef<NamedToken> names; // where the settings give none
};

/// The class that `settings` name, else the one that `modelType` of config.json
/// stands for, else Own. `name` is the file's; other classes are refused.
llvm::Expected<const SentencePieceClass *>
findSentencePieceClass(llvm::StringRef name, llvm::StringRef modelType,
                       const TokenizerSettings &settings);

/// The class that reads a file as the file itself says.
const SentencePieceClass &getOwnReading();

/// Refuses a file that the class does not read, or not as SentencePiece does.
llvm::Error checkClassFits(const SentencePieceModel &model,
                           llvm::StringRef name,
                           const SentencePieceClass &kind);

/// Tells what the class leaves aside, and where releases of the library differ.
void remarkOnClass(const SentencePieceModel &model, llvm::StringRef name,
                   const SentencePieceClass &kind,
                   const TokenizerSettings &settings,
                   std::vector<std::string> &remarks);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_TOKENIZER_SENTENCEPIECECLASS_H
