// Kinds that take the tokens whose scores sum to the most: t5, plamo2.
#include "frontend/gguf/TokenizerDescriber.h"

#include "frontend/checkpoint/Refusal.h"
#include "frontend/tokenizer/SentencePiece.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>

using namespace effc::frontend;
using llvm::StringLiteral;
using llvm::StringRef;
namespace json = llvm::json;

std::vector<double> GgufTokenizerDescriber::readScores() {
  constexpr StringLiteral kScores = "tokenizer.ggml.scores";
  const GgufValue *value = keys.find(kScores);
  if (!value) {
    keys.report("lacks key " + quote(kScores));
    return {};
  }
  if (value->isInteger()) {
    auto scores =
        keys.getIntegers(kScores, INT32_MIN, INT32_MAX, tokens->size());
    return scores ? std::vector<double>(scores->begin(), scores->end())
                  : std::vector<double>();
  }
  return keys.getNumbers(kScores, tokens->size())
      .value_or(std::vector<double>());
}

//===----------------------------------------------------------------------===//
// t5
//===----------------------------------------------------------------------===//

llvm::Expected<std::string> GgufTokenizerDescriber::describeUnigram() {
  std::vector<double> scores = readScores();
  SentencePieceModel model;
  model.kind = SentencePieceKind::Unigram;
  model.addDummyPrefix =
      keys.getBoolean("tokenizer.ggml.add_space_prefix").value_or(true);
  model.removeExtraSpaces =
      keys.getBoolean("tokenizer.ggml.remove_extra_whitespaces").value_or(true);
  constexpr StringLiteral kCharsmap = "tokenizer.ggml.precompiled_charsmap";
  if (auto bytes = keys.getIntegers(kCharsmap, -128, 255))
    for (int64_t byte : *bytes)
      model.charsmap.push_back(char(byte));
  for (StringRef key : {"tokenizer.ggml.treat_whitespace_as_suffix"})
    if (keys.getBoolean(key).value_or(false))
      keys.report("expects " + quote(key) + " to be false, but got true");
  if (llvm::Error error = keys.getProblem())
    return error;
  for (const auto &[id, token] : llvm::enumerate(*tokens)) {
    model.pieces.push_back({token, float(scores[id]), types[id]});
    model.byteFallback |= types[id] == TokenType::Byte;
  }
  auto idNamed = [&](StringRef name) -> int64_t {
    std::optional<std::string> token = result.settings.find(name);
    return token ? idOf.lookup(*token) : -1;
  };
  model.unknownId = idNamed("unk_token");
  model.bosId = idNamed("bos_token");
  model.eosId = idNamed("eos_token");
  if (model.unknownId >= 0)
    model.unknownPiece = text(model.unknownId);
  return effc::frontend::describeSentencePiece(std::move(model), keys.getFile(),
                                               result.settings);
}

//===----------------------------------------------------------------------===//
// plamo2
//===----------------------------------------------------------------------===//

llvm::Expected<std::string> GgufTokenizerDescriber::describePlamo2() {
  std::vector<double> scores = readScores();
  if (llvm::Error error = keys.getProblem())
    return error;
  if (!keys.has("tokenizer.ggml.add_bos_token"))
    remarks.push_back(
        keys.getFile() +
        ": a text begins with bos_token, as with released checkpoints' own "
        "tokenizers; the file does not say, and llama.cpp puts none");
  json::Array pieces;
  for (const auto &[id, token] : llvm::enumerate(*tokens)) {
    // No text becomes a byte, a mark, or what the converter put into gaps.
    bool isPiece = (types[id] == TokenType::Normal ||
                    types[id] == TokenType::UserDefined) &&
                   std::isfinite(scores[id]);
    pieces.push_back(json::Array{token, isPiece ? json::Value(scores[id])
                                                : json::Value(nullptr)});
  }
  auto around = describeAround();
  if (!around)
    return around.takeError();
  return writeJson(
      json::Object{{"version", "1.0"},
                   {"added_tokens", describeAdded()},
                   {"normalizer", nullptr},
                   {"pre_tokenizer", nullptr},
                   {"post_processor", std::move(*around)},
                   {"decoder", json::Object{{"type", "ByteFallback"}}},
                   {"model", json::Object{{"type", "Plamo2"},
                                          {"vocab", std::move(pieces)}}}});
}
