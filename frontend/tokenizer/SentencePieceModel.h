// What a file of SentencePiece holds (tokenizer.model, spiece.model): its
// ModelProto (github.com/google/sentencepiece, src/sentencepiece_model.proto),
// as much of it as says how a text becomes ids.
#ifndef EFFC_FRONTEND_TOKENIZER_SENTENCEPIECEMODEL_H
#define EFFC_FRONTEND_TOKENIZER_SENTENCEPIECEMODEL_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace effc::frontend {

/// With the numbers of ModelProto.SentencePiece.Type.
enum class PieceType : uint8_t {
  Normal = 1,
  Unknown = 2,
  Control = 3,
  UserDefined = 4,
  Unused = 5,
  Byte = 6
};

struct SentencePiece {
  std::string text; // UTF-8, not empty
  float score = 0;  // finite
  PieceType type = PieceType::Normal;
};

/// With the numbers of TrainerSpec.ModelType.
enum class SentencePieceKind : uint8_t {
  Unigram = 1,
  Bpe = 2,
  Word = 3,
  Character = 4
};

/// The values that are set are the format's own defaults.
struct SentencePieceModel {
  /// By id; no two have the same text.
  std::vector<SentencePiece> pieces;

  // TrainerSpec
  SentencePieceKind kind = SentencePieceKind::Unigram;
  bool byteFallback = false;
  bool isSpaceSuffix = false;                  // treat_whitespace_as_suffix
  int64_t unknownId = 0, bosId = 1, eosId = 2; // below 0: there is none
  std::string unknownPiece = "<unk>", bosPiece = "<s>", eosPiece = "</s>";

  // NormalizerSpec
  std::string normalizerName;
  std::string charsmap; // precompiled; empty: nothing is replaced
  bool addDummyPrefix = true;
  bool removeExtraSpaces = true;
  bool escapeSpaces = true;
};

/// Reads a file's bytes; `name` is the file's. Refused, with the offset, is what
/// is no such file, what ends early, and pieces that SentencePiece would not
/// load. Fields that are about training are skipped.
llvm::Expected<SentencePieceModel> parseSentencePiece(llvm::StringRef bytes,
                                                      llvm::StringRef name);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_TOKENIZER_SENTENCEPIECEMODEL_H
