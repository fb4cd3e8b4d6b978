#include "frontend/tokenizer/Model.h"

#include "frontend/checkpoint/ConfigReader.h"
#include "frontend/checkpoint/Refusal.h"
#include "runtime/schema/TokenizerLimits.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>

using namespace effc;
using namespace effc::frontend;
using artifact::ModelKind;

namespace {

class ModelReader {
public:
  ModelReader(llvm::StringRef file, const JsonObject &model,
              Vocabulary &vocabulary, artifact::TokenizerT &into,
              std::vector<std::string> &remarks)
      : file(file), reader((file + ": model").str(), model),
        vocabulary(vocabulary), into(into), remarks(remarks) {}

  llvm::Error read(const JsonObject &model) {
    // Old files leave the type out; only a BPE has merges.
    llvm::StringRef type = model.find("merges") ? "BPE" : "";
    if (const JsonValue *value = reader.get("type")) {
      if (!value->getString())
        return refuse(file +
                      ": model: expects 'type' to be a string, but got " +
                      value->describe());
      type = *value->getString();
    }
    std::string supported;
    for (const Handled &handled : getHandled()) {
      if (type == handled.type)
        return (this->*handled.read)();
      if (!handled.isOfGguf)
        supported +=
            (supported.empty() ? handled.type : ", " + handled.type).str();
    }
    return refuse(file + ": model " + quote(type) +
                  " is not supported; supported: " + supported);
  }

private:
  struct Handled {
    llvm::StringLiteral type;
    llvm::Error (ModelReader::*read)();
    /// Whether tokenizers of GGUF files alone are described by it, and no public
    /// tokenizer.json has it.
    bool isOfGguf = false;
  };
  static llvm::ArrayRef<Handled> getHandled();

  /// A string, or nothing for null.
  std::string readText(llvm::StringRef key) {
    const JsonValue *value = reader.get(key);
    if (!value || value->isNull())
      return "";
    if (!value->getString())
      reader.reportMismatch(key, "a string or null", *value);
    return value->getString() ? *value->getString() : "";
  }

  /// What characters get before or behind them, or nothing for null.
  std::string readAffix(llvm::StringRef key) {
    return checkAffix(key, readText(key));
  }
  std::string checkAffix(llvm::StringRef key, std::string text) {
    if (text.size() > artifact::kMostAffixBytes)
      reader.report("expects " + quote(key) + " to be a string of at most " +
                    llvm::Twine(artifact::kMostAffixBytes) +
                    " bytes, but got " + llvm::Twine(text.size()));
    return text;
  }

  /// The token for what has none; a problem where it is not in the vocabulary.
  void readUnknown(bool isRequired) {
    const JsonValue *value = reader.get("unk_token");
    if (!value || value->isNull()) {
      if (isRequired)
        reader.report("lacks 'unk_token'");
      return;
    }
    if (!value->getString())
      return reader.reportMismatch("unk_token", "a string", *value);
    into.unknown = vocabulary.find(*value->getString());
    if (into.unknown < 0)
      reader.report("'unk_token' is " + quote(*value->getString()) +
                    ", which is not in the vocabulary");
  }

  llvm::Error readBpe() {
    into.model = ModelKind::CharacterBpe;
    if (llvm::Error error = vocabulary.readTokens(reader.get("vocab")))
      return error;
    into.subword_prefix = readAffix("continuing_subword_prefix");
    into.word_suffix = readAffix("end_of_word_suffix");
    if (llvm::Error error = readMerges(reader.get("merges")))
      return error;
    if (const JsonValue *dropout = reader.get("dropout"))
      if (!dropout->isNull() && dropout->getNumber() != 0.0)
        reader.reportMismatch("dropout", "null or 0", *dropout);
    into.ignore_merges = reader.getBoolean("ignore_merges", false);
    into.fuse_unknown = reader.getBoolean("fuse_unk", false);
    if (reader.getBoolean("byte_fallback", false))
      into.byte_fallback = vocabulary.getByteFallback();
    // Where every byte has a token there is nothing unknown.
    if (llvm::is_contained(vocabulary.getByteCharacters(), -1))
      readUnknown(/*isRequired=*/false);
    else
      reader.get("unk_token");
    bool mayDrop = into.unknown < 0 &&
                   (into.byte_fallback.empty() ||
                    llvm::is_contained(into.byte_fallback, -1)) &&
                   llvm::is_contained(vocabulary.getByteCharacters(), -1);
    if (mayDrop)
      remarks.push_back(
          (file + ": characters without a token are dropped, as the library "
                  "does: there is no 'unk_token' and no token for every byte")
              .str());
    return reader.finish();
  }

  /// The two halves of a merge: "a b" or ["a", "b"].
  static std::optional<std::pair<llvm::StringRef, llvm::StringRef>>
  splitMerge(const JsonValue &value) {
    if (const std::string *text = value.getString()) {
      auto halves = llvm::StringRef(*text).split(' ');
      if (!llvm::StringRef(*text).contains(' ') || halves.second.contains(' '))
        return std::nullopt;
      return halves;
    }
    const JsonArray *array = value.getArray();
    if (!array || array->size() != 2 || !(*array)[0].getString() ||
        !(*array)[1].getString())
      return std::nullopt;
    return std::pair<llvm::StringRef, llvm::StringRef>(
        *(*array)[0].getString(), *(*array)[1].getString());
  }

  llvm::Error readMerges(const JsonValue *value) {
    const JsonArray *array = value ? value->getArray() : nullptr;
    if (!array)
      return refuse(file +
                    ": model: expects 'merges' to be an array, but got " +
                    (value ? value->describe() : "nothing"));
    if (array->size() > artifact::kMostMerges)
      return refuse(file + ": model: expects at most " +
                    llvm::Twine(artifact::kMostMerges) + " merges, but got " +
                    llvm::Twine(array->size()));
    // Of a pair that occurs twice the last rank counts, as in the library.
    std::map<std::pair<int32_t, int32_t>, size_t> rankOf;
    std::vector<artifact::Merge> all;
    for (size_t rank = 0; rank < array->size(); ++rank) {
      const std::string *line = (*array)[rank].getString();
      if (line && llvm::StringRef(*line).starts_with("#version"))
        continue;
      auto merge = readMerge((*array)[rank], rank);
      if (!merge)
        return merge.takeError();
      rankOf[{merge->left(), merge->right()}] = all.size();
      all.push_back(*merge);
    }
    for (size_t rank = 0; rank < all.size(); ++rank)
      if (rankOf[{all[rank].left(), all[rank].right()}] == rank)
        into.merges.push_back(all[rank]);
    return llvm::Error::success();
  }

  llvm::Expected<artifact::Merge> readMerge(const JsonValue &value,
                                            size_t rank) {
    std::string where = (file + ": merge " + llvm::Twine(rank)).str();
    auto halves = splitMerge(value);
    if (!halves)
      return refuse(where + ": expects two tokens, but got " +
                    value.describe());
    size_t prefix = into.subword_prefix.size();
    if (halves->second.size() < prefix)
      return refuse(where + ": token " + quote(halves->second) +
                    " is shorter than 'continuing_subword_prefix'");
    std::string merged =
        (halves->first + halves->second.drop_front(prefix)).str();
    int32_t found[3];
    llvm::StringRef parts[3] = {halves->first, halves->second, merged};
    for (int i = 0; i < 3; ++i) {
      found[i] = vocabulary.find(parts[i]);
      if (found[i] < 0)
        return refuse(where + (i < 2 ? ": token " : ": its result ") +
                      quote(parts[i]) + " is not in the vocabulary");
    }
    return artifact::Merge(found[0], found[1], found[2]);
  }

  llvm::Error readUnigram() {
    into.model = ModelKind::Unigram;
    if (llvm::Error error =
            vocabulary.readPieces(reader.get("vocab"), into.scores))
      return error;
    if (const JsonValue *unknown = reader.get("unk_id");
        unknown && !unknown->isNull())
      into.unknown =
          reader.requireInteger("unk_id", 0, int64_t(into.scores.size()) - 1);
    if (reader.getBoolean("byte_fallback", false))
      into.byte_fallback = vocabulary.getByteFallback();
    return reader.finish();
  }

  /// What PLaMo's own code does (Model.h).
  llvm::Error readPlamo2() {
    // It counts in ten-thousandths, rounded to even, and adds integers.
    constexpr double kUnit = 1e4, kUnknown = -1e7, kNone = -2e7, kMost = 2e7;
    into.model = ModelKind::BackwardUnigram;
    if (llvm::Error error = vocabulary.readPieces(
            reader.get("vocab"), into.scores, /*mayBeNone=*/true))
      return error;
    for (auto [id, score] : llvm::enumerate(into.scores)) {
      double rounded = std::nearbyint(score * kUnit);
      // Of a score like that its code takes the piece for the end of a list.
      if (rounded == kUnknown || rounded >= kMost)
        return refuse(file + ": piece " + llvm::Twine(id) +
                      ": expects a score below 2000 and not -1000, but got " +
                      std::to_string(score));
      score = rounded > kNone ? rounded : NAN;
    }
    into.unknown_score = kUnknown;
    into.byte_fallback = vocabulary.getByteFallback();
    if (llvm::is_contained(into.byte_fallback, -1))
      return refuse(file + ": expects tokens <0x00> to <0xFF>, for characters "
                           "without one, but not all are there");
    return reader.finish();
  }

  llvm::Error readWordPiece() {
    into.model = ModelKind::WordPiece;
    if (llvm::Error error = vocabulary.readTokens(reader.get("vocab")))
      return error;
    constexpr llvm::StringLiteral kPrefix = "continuing_subword_prefix";
    const std::string *prefix = reader.getString(kPrefix);
    into.subword_prefix = checkAffix(kPrefix, prefix ? *prefix : "##");
    into.longest_word =
        reader.getInteger("max_input_chars_per_word", 0, UINT32_MAX, 100);
    readUnknown(/*isRequired=*/true);
    return reader.finish();
  }

  llvm::Error readWordLevel() {
    into.model = ModelKind::WordLevel;
    if (llvm::Error error = vocabulary.readTokens(reader.get("vocab")))
      return error;
    readUnknown(/*isRequired=*/true);
    return reader.finish();
  }

  llvm::StringRef file;
  ConfigReader reader;
  Vocabulary &vocabulary;
  artifact::TokenizerT &into;
  std::vector<std::string> &remarks;
};

llvm::ArrayRef<ModelReader::Handled> ModelReader::getHandled() {
  static const Handled kHandled[] = {
      {"BPE", &ModelReader::readBpe},
      {"Plamo2", &ModelReader::readPlamo2, /*isOfGguf=*/true},
      {"Unigram", &ModelReader::readUnigram},
      {"WordLevel", &ModelReader::readWordLevel},
      {"WordPiece", &ModelReader::readWordPiece}};
  return kHandled;
}

} // namespace

llvm::Error effc::frontend::readModel(llvm::StringRef file,
                                      const JsonValue *value,
                                      Vocabulary &vocabulary,
                                      artifact::TokenizerT &into,
                                      std::vector<std::string> &remarks) {
  const JsonObject *model = value ? value->getObject() : nullptr;
  if (!model)
    return refuse(file + ": expects 'model' to be an object, but got " +
                  (value ? value->describe() : "nothing"));
  return ModelReader(file, *model, vocabulary, into, remarks).read(*model);
}
