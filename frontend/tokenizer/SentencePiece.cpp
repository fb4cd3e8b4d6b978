#include "frontend/tokenizer/SentencePiece.h"

#include "frontend/checkpoint/Refusal.h"
#include "frontend/tokenizer/SentencePieceClass.h"
#include "frontend/tokenizer/SplitPattern.h"
#include "frontend/tokenizer/TextEnds.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Base64.h"
#include "llvm/Support/JSON.h"

using namespace effc::frontend;
using llvm::StringRef;
using llvm::Twine;
namespace json = llvm::json;
using Scheme = SentencePieceScheme;

namespace {

/// U+2581, which stands for a space in a piece.
constexpr llvm::StringLiteral kSpace = "\xE2\x96\x81";
/// The start and the end of a text.
constexpr llvm::StringLiteral kStart = R"((?<![\s\S]))", kEnd = R"((?![\s\S]))";

/// T5Tokenizer's, whatever the file says.
constexpr int64_t kT5UnknownId = 2;
constexpr int64_t kT5ExtraIds = 100;

class Describer {
public:
  Describer(SentencePieceModel model, StringRef name,
            const SentencePieceClass &kind, TokenizerSettings &settings)
      : model(std::move(model)), name(name), kind(kind), settings(settings) {}

  llvm::Expected<std::string> describe() {
    if (kind.scheme == Scheme::Own)
      followDecoder();
    nameTokens();
    for (auto [id, piece] : llvm::enumerate(model.pieces))
      idOf[piece.text] = int64_t(id);
    piecesOfFile = model.pieces.size();
    if (llvm::Error error = addExtraIds())
      return error;
    if (llvm::Error error = checkMergeWork())
      return error;
    auto around = describeEnds();
    if (!around)
      return around.takeError();
    json::Object file{{"version", "1.0"},
                      {"added_tokens", describeAdded()},
                      {"normalizer", describeNormalizer()},
                      {"pre_tokenizer", describePreTokenizer()},
                      {"post_processor", std::move(*around)},
                      {"decoder", describeDecoder()},
                      {"model", describeModel()}};
    std::string text;
    llvm::raw_string_ostream(text) << json::Value(std::move(file));
    return text;
  }

private:
  //===--------------------------------------------------------------------===//
  // Tokens with names
  //===--------------------------------------------------------------------===//

  /// The library calls a piece as 'added_tokens_decoder' does, unless another
  /// piece that keeps its name is called so; and looks for such tokens in the
  /// text as it is where a space is put in front of each part between them.
  void followDecoder() {
    llvm::StringMap<bool> kept;
    auto isPiece = [&](const SettingsToken &token) {
      return token.id && *token.id < int64_t(model.pieces.size());
    };
    std::vector<bool> isNamed(model.pieces.size());
    for (const SettingsToken &token : settings.tokens)
      if (isPiece(token))
        isNamed[*token.id] = true;
    for (auto [id, piece] : llvm::enumerate(model.pieces))
      if (!isNamed[id])
        kept[piece.text] = true;
    for (SettingsToken &token : settings.tokens) {
      if (isPiece(token) && !kept.contains(token.content))
        model.pieces[*token.id].text = token.content;
      if (token.id && model.addDummyPrefix)
        token.normalized = false;
    }
  }

  /// Names what the class, or the file, calls its special tokens where the
  /// settings do not.
  void nameTokens() {
    for (const NamedToken &one : kind.names)
      nameToken(one.key, one.content);
    if (kind.scheme != Scheme::Own)
      return;
    if (model.bosId >= 0)
      nameToken("bos_token", model.bosPiece);
    if (model.eosId >= 0)
      nameToken("eos_token", model.eosPiece);
    if (model.unknownId >= 0)
      nameToken("unk_token", model.unknownPiece);
  }

  void nameToken(StringRef key, StringRef content) {
    if (settings.find(key) || content.empty())
      return;
    settings.named.push_back({key.str(), content.str()});
    if (llvm::any_of(settings.tokens, [&](const SettingsToken &token) {
          return token.content == content;
        }))
      return;
    SettingsToken token;
    token.content = content.str();
    token.file = name.str();
    settings.tokens.push_back(std::move(token));
  }

  bool isNamed(StringRef content) const {
    return llvm::any_of(settings.named, [&](const auto &named) {
      return named.second == content;
    });
  }

  /// T5Tokenizer's are pieces too, the highest number first.
  llvm::Error addExtraIds() {
    if (kind.scheme != Scheme::T5)
      return llvm::Error::success();
    if (int64_t(model.pieces.size()) <= kT5UnknownId)
      return refuse(name + ": T5Tokenizer takes piece " + Twine(kT5UnknownId) +
                    " for what has none, but there are " +
                    Twine(model.pieces.size()));
    for (int64_t i = settings.extraIds.value_or(kT5ExtraIds) - 1; i >= 0; --i) {
      SentencePiece piece;
      piece.text = ("<extra_id_" + Twine(i) + ">").str();
      piece.type = PieceType::Control;
      if (!idOf.try_emplace(piece.text, model.pieces.size()).second)
        return refuse(name + ": has a piece " + quote(piece.text) +
                      ", which T5Tokenizer adds as well; have 'extra_ids' of "
                      "tokenizer_config.json be 0");
      model.pieces.push_back(std::move(piece));
    }
    return llvm::Error::success();
  }

  /// Pieces that a text is searched for before it is cut. Of the file's own
  /// reading the ones that a user defined are cut out after normalizing.
  json::Array describeAdded() const {
    json::Array added;
    for (auto [id, piece] : llvm::enumerate(model.pieces)) {
      bool isUsers = piece.type == PieceType::UserDefined;
      if (settings.listsSpecial && id < piecesOfFile)
        continue;
      if (piece.type != PieceType::Control &&
          !(isUsers && kind.scheme != Scheme::Own))
        continue;
      added.push_back(json::Object{{"id", int64_t(id)},
                                   {"content", piece.text},
                                   {"special", !isUsers || isNamed(piece.text)},
                                   {"lstrip", false},
                                   {"rstrip", false},
                                   {"single_word", false},
                                   {"normalized", false}});
    }
    return added;
  }

  llvm::Expected<json::Value> describeEnds() {
    TokenizerSettings asked = settings;
    if (kind.scheme == Scheme::T5) { // always
      asked.addBosToken = false;
      asked.addEosToken = true;
      llvm::erase_if(asked.named, [](const auto &named) {
        return named.first == "eos_token";
      });
      asked.named.push_back({"eos_token", "</s>"});
    }
    return describeTextEnds(
        asked, name, [&](StringRef content) -> std::optional<int64_t> {
          if (auto known = idOf.find(content); known != idOf.end())
            return known->second;
          for (const SettingsToken &token : settings.tokens)
            if (token.content == content)
              return token.id;
          return std::nullopt;
        });
  }

  //===--------------------------------------------------------------------===//
  // The parts around the model
  //===--------------------------------------------------------------------===//

  static json::Object replace(StringRef kind, std::string pattern,
                              std::string content) {
    return json::Object{{"type", "Replace"},
                        {"pattern", json::Object{{kind, std::move(pattern)}}},
                        {"content", std::move(content)}};
  }

  static json::Value sequence(StringRef key, json::Array steps) {
    if (steps.empty())
      return nullptr;
    return json::Object{{"type", "Sequence"}, {key, std::move(steps)}};
  }

  json::Value describeNormalizer() const {
    json::Array steps;
    bool normalizes = kind.scheme == Scheme::Own || kind.scheme == Scheme::T5;
    if (normalizes && !model.charsmap.empty())
      steps.push_back(json::Object{
          {"type", "Precompiled"},
          {"precompiled_charsmap", llvm::encodeBase64(model.charsmap)}});
    if (kind.scheme == Scheme::Gemma)
      steps.push_back(replace("String", " ", kSpace.str()));
    if (kind.scheme != Scheme::Own)
      return sequence("normalizers", std::move(steps));
    if (model.removeExtraSpaces) {
      steps.push_back(replace("Regex", (kStart + " +| +" + kEnd).str(), ""));
      steps.push_back(replace("Regex", " {2,}", " "));
    }
    if (model.escapeSpaces)
      steps.push_back(replace("String", " ", kSpace.str()));
    // Metaspace puts no space before one that is there; SentencePiece does.
    if (model.addDummyPrefix && settings.legacy.value_or(true))
      steps.push_back(
          replace("Regex", (kStart + kSpace).str(), (kSpace + kSpace).str()));
    return sequence("normalizers", std::move(steps));
  }

  static json::Object metaspace(StringRef scheme, bool splits) {
    return json::Object{{"type", "Metaspace"},
                        {"replacement", kSpace},
                        {"prepend_scheme", scheme},
                        {"split", splits}};
  }

  bool putsSpace() const { return settings.addPrefixSpace.value_or(true); }

  json::Value describePreTokenizer() const {
    json::Array steps;
    switch (kind.scheme) {
    case Scheme::Llama:
      return metaspace(!putsSpace()                      ? "never"
                       : settings.legacy.value_or(false) ? "always"
                                                         : "first",
                       /*splits=*/false);
    case Scheme::Gemma:
      return json::Object{{"type", "Split"},
                          {"pattern", json::Object{{"String", " "}}},
                          {"behavior", "MergedWithPrevious"},
                          {"invert", false}};
    case Scheme::T5:
      steps.push_back(json::Object{{"type", "WhitespaceSplit"}});
      steps.push_back(metaspace("always", /*splits=*/true));
      break;
    case Scheme::Own:
      if (model.addDummyPrefix)
        steps.push_back(
            metaspace(settings.legacy.value_or(true) ? "always" : "first",
                      /*splits=*/false));
      if (std::string pattern = matchUserDefined(); !pattern.empty())
        steps.push_back(
            json::Object{{"type", "Split"},
                         {"pattern", json::Object{{"Regex", pattern}}},
                         {"behavior", "Isolated"},
                         {"invert", false}});
      break;
    }
    return sequence("pretokenizers", std::move(steps));
  }

  static int64_t countCharacters(StringRef text) {
    return llvm::count_if(text,
                          [](char c) { return (uint8_t(c) & 0xC0) != 0x80; });
  }

  /// The pieces that a user defined, the longest first: these are never cut and
  /// never part of others.
  std::string matchUserDefined() const {
    std::vector<std::pair<int64_t, size_t>> order; // -characters, id
    for (auto [id, piece] : llvm::enumerate(model.pieces))
      if (piece.type == PieceType::UserDefined)
        order.push_back({-countCharacters(piece.text), id});
    llvm::sort(order);
    std::string pattern;
    for (auto [characters, id] : order)
      pattern +=
          (pattern.empty() ? "" : "|") + escapePattern(model.pieces[id].text);
    return pattern;
  }

  json::Value describeDecoder() const {
    if (kind.scheme == Scheme::T5)
      return metaspace("always", /*splits=*/true);
    bool isOwn = kind.scheme == Scheme::Own;
    bool bytes = !isOwn || model.byteFallback;
    bool strips = isOwn ? model.addDummyPrefix
                        : kind.scheme == Scheme::Llama && putsSpace();
    json::Array steps{replace("String", kSpace.str(), " ")};
    if (bytes)
      steps.push_back(json::Object{{"type", "ByteFallback"}});
    if (bytes || strips)
      steps.push_back(json::Object{{"type", "Fuse"}});
    if (strips)
      steps.push_back(json::Object{
          {"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}});
    return sequence("decoders", std::move(steps));
  }

  //===--------------------------------------------------------------------===//
  // The model
  //===--------------------------------------------------------------------===//

  json::Value describeModel() const {
    bool isOwn = kind.scheme == Scheme::Own;
    if (model.kind == SentencePieceKind::Unigram) {
      json::Array vocabulary;
      for (const SentencePiece &piece : model.pieces)
        vocabulary.push_back(json::Array{piece.text, double(piece.score)});
      return json::Object{{"type", "Unigram"},
                          {"vocab", std::move(vocabulary)},
                          {"unk_id", isOwn ? model.unknownId : kT5UnknownId},
                          {"byte_fallback", isOwn && model.byteFallback}};
    }
    json::Object vocabulary;
    for (auto [id, piece] : llvm::enumerate(model.pieces))
      vocabulary[piece.text] = int64_t(id);
    json::Object described{{"type", "BPE"},
                           {"vocab", std::move(vocabulary)},
                           {"merges", describeMerges()},
                           {"fuse_unk", true},
                           {"byte_fallback", !isOwn || model.byteFallback}};
    if (isOwn)
      described["unk_token"] = model.unknownPiece;
    else if (kind.scheme == Scheme::Gemma)
      described["unk_token"] = *settings.find("unk_token");
    bool hasUsers = llvm::any_of(model.pieces, [](const SentencePiece &piece) {
      return piece.type == PieceType::UserDefined;
    });
    described["ignore_merges"] = isOwn && hasUsers;
    return described;
  }

  /// Every way to cut every piece is looked up.
  llvm::Error checkMergeWork() const {
    // 256,000 pieces of 93 bytes, the longest of Gemma, are half of it.
    constexpr uint64_t kMostWork = uint64_t(1) << 32;
    uint64_t work = 0;
    if (model.kind == SentencePieceKind::Bpe)
      for (const SentencePiece &piece : model.pieces)
        work += piece.text.size() * piece.text.size();
    if (work <= kMostWork)
      return llvm::Error::success();
    return refuse(name +
                  ": expects pieces whose squared sizes sum to at most " +
                  Twine(kMostWork) + ", but got " + Twine(work));
  }

  /// The pairs of pieces that make a piece. The classes take all pieces, in the
  /// order of ids; the file's own reading takes normal ones, the best score
  /// first.
  json::Array describeMerges() const {
    bool isOwn = kind.scheme == Scheme::Own;
    auto takesPart = [&](const SentencePiece &piece) {
      return !isOwn || piece.type == PieceType::Normal;
    };
    std::vector<size_t> order;
    for (auto [id, piece] : llvm::enumerate(model.pieces))
      if (takesPart(piece))
        order.push_back(id);
    if (isOwn)
      llvm::sort(order, [&](size_t a, size_t b) {
        return std::pair(-model.pieces[a].score, a) <
               std::pair(-model.pieces[b].score, b);
      });
    json::Array merges;
    for (size_t id : order) {
      StringRef text = model.pieces[id].text;
      for (size_t cut = 1; cut < text.size(); ++cut) {
        if ((uint8_t(text[cut]) & 0xC0) == 0x80) // inside a character
          continue;
        auto left = idOf.find(text.take_front(cut)),
             right = idOf.find(text.drop_front(cut));
        if (left != idOf.end() && right != idOf.end() &&
            takesPart(model.pieces[left->second]) &&
            takesPart(model.pieces[right->second]))
          merges.push_back(
              json::Array{text.take_front(cut), text.drop_front(cut)});
      }
    }
    return merges;
  }

  SentencePieceModel model;
  StringRef name;
  const SentencePieceClass &kind;
  TokenizerSettings &settings;
  llvm::StringMap<int64_t> idOf;
  size_t piecesOfFile = 0;
};

} // namespace

llvm::Expected<std::string> effc::frontend::describeSentencePiece(
    StringRef bytes, StringRef name, StringRef modelType,
    TokenizerSettings &settings, std::vector<std::string> &remarks) {
  auto kind = findSentencePieceClass(name, modelType, settings);
  if (!kind)
    return kind.takeError();
  auto model = parseSentencePiece(bytes, name);
  if (!model)
    return refuse(llvm::toString(model.takeError()) +
                  ": the file is damaged or cut short, or no SentencePiece "
                  "model; fetch it again");
  if (llvm::Error error = checkClassFits(*model, name, **kind))
    return error;
  remarkOnClass(*model, name, **kind, settings, remarks);
  return Describer(std::move(*model), name, **kind, settings).describe();
}

llvm::Expected<std::string>
effc::frontend::describeSentencePiece(SentencePieceModel model, StringRef name,
                                      TokenizerSettings &settings) {
  return Describer(std::move(model), name, getOwnReading(), settings)
      .describe();
}
