// Tokenizer::create: from the bytes of a Tokenizer segment to tables that the
// encoder trusts. Every id and every pattern is checked here.

#include "runtime/schema/TokenizerLimits.h"
#include "runtime/schema/tokenizer_generated.h"
#include "runtime/src/Limits.h"
#include "runtime/src/tokenizer/Budget.h"
#include "runtime/src/tokenizer/ByteAlphabet.h"
#include "runtime/src/tokenizer/TakenRow.h"
#include "runtime/src/tokenizer/Tokenizer.h"
#include "runtime/src/tokenizer/Utf8.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace effc::rt {

/// One table per token, and as many again for added ones and steps.
static constexpr uint32_t kMaxTokenizerTables = 2 * kMaxVocabulary;
/// A flatbuffer may name one string a million times; copies are counted.
static constexpr uint64_t kMaxVocabularyBytes = uint64_t(1) << 30;

class TokenizerReader {
public:
  TokenizerReader(const artifact::Tokenizer &root, size_t bytes)
      : root(root), budget(Budget::ofLoad(bytes)) {}

  Result<std::unique_ptr<Tokenizer>> run() {
    for (Check (TokenizerReader::*step)() :
         {&TokenizerReader::checkVocabulary, &TokenizerReader::checkIds,
          &TokenizerReader::readSteps, &TokenizerReader::readModel,
          &TokenizerReader::readAddedTokens,
          &TokenizerReader::readChatTemplates})
      if (Check error = (this->*step)())
        return *error;
    return std::unique_ptr<Tokenizer>(std::move(made));
  }

private:
  /// Fails where a table of `bytes`, made in `steps`, is more than may be.
  Check take(uint64_t steps, uint64_t bytes) {
    budget.spend(steps);
    budget.admits(bytes);
    return budget.check();
  }

  bool exists(int32_t id) const {
    return id >= 0 && static_cast<uint32_t>(id) < root.tokens()->size();
  }

  Check checkVocabulary() {
    uint32_t size = root.tokens()->size();
    if (size > kMaxVocabulary)
      return badData("the vocabulary has ", size, " tokens, but at most ",
                     kMaxVocabulary, " are expected");
    uint64_t bytes = 0;
    for (uint32_t id = 0; id < size; ++id) {
      const auto *data = root.tokens()->Get(id)->data();
      if (data && data->size() > artifact::kMostTokenBytes)
        return badData("token ", id, " has ", data->size(),
                       " bytes, but at most ", artifact::kMostTokenBytes,
                       " are expected");
      bytes += data ? data->size() : 0;
    }
    if (bytes > kMaxVocabularyBytes)
      return badData("the vocabulary takes ", bytes, " bytes");
    if (Check error = take(bytes + size, bytes))
      return error;
    if (root.model() > artifact::ModelKind::MAX)
      return badData("the model is of unknown kind ", unsigned(root.model()));
    for (const artifact::Bytes *token : *root.tokens()) {
      const auto *data = token->data();
      made->vocabulary.add(
          data ? std::string_view(reinterpret_cast<const char *>(data->data()),
                                  data->size())
               : std::string_view(),
          data != nullptr);
    }
    return {};
  }

  static Check checkName(const char *what, std::string_view name) {
    if (name.empty() || name.size() > artifact::kMostTemplateName ||
        name.find('\0') != name.npos)
      return badData(what, " has a name of ", name.size(), " bytes, but 1 to ",
                     artifact::kMostTemplateName,
                     " are expected, none of them zero");
    return {};
  }

  Check readChatTemplates() {
    size_t templates =
               root.chat_templates() ? root.chat_templates()->size() : 0,
           tokens = root.named_tokens() ? root.named_tokens()->size() : 0;
    if (templates > artifact::kMostTemplates ||
        tokens > artifact::kMostTemplates)
      return badData("there are ", templates, " chat templates and ", tokens,
                     " tokens that they name, but at most ",
                     artifact::kMostTemplates, " of each are expected");
    std::set<std::string_view> names;
    for (size_t i = 0; i < templates; ++i) {
      const artifact::ChatTemplate *from =
          root.chat_templates()->Get(flatbuffers::uoffset_t(i));
      std::string_view name = from->name()->string_view();
      if (Check error = checkName("a chat template", name))
        return error;
      if (from->source()->size() > artifact::kMostTemplateBytes)
        return badData("the chat template '", name, "' has ",
                       from->source()->size(), " bytes, but at most ",
                       artifact::kMostTemplateBytes, " are expected");
      if (!names.insert(name).second)
        return badData("two chat templates are called '", name, "'");
      made->chatTemplates.push_back({std::string(name), from->source()->str()});
    }
    for (size_t i = 0; i < tokens; ++i) {
      const artifact::NamedToken *from =
          root.named_tokens()->Get(flatbuffers::uoffset_t(i));
      std::string_view name = from->name()->string_view();
      if (Check error = checkName("a token", name))
        return error;
      if (from->content()->size() > artifact::kMostTokenBytes)
        return badData("the token called '", name, "' has ",
                       from->content()->size(), " bytes, but at most ",
                       artifact::kMostTokenBytes, " are expected");
      if (!made->namedTokens.emplace(name, from->content()->str()).second)
        return badData("two tokens are called '", name, "'");
    }
    return {};
  }

  Check checkIds() {
    struct List {
      const char *what;
      uint64_t size, most;
    };
    const List lists[] = {
        {"merges", root.merges()->size(), artifact::kMostMerges},
        {"added tokens", root.added_tokens()->size(), artifact::kMostTokens},
        {"ids that no text becomes",
         root.outside() ? root.outside()->size() : 0, artifact::kMostTokens}};
    for (const List &list : lists)
      if (list.size > list.most)
        return badData("there are ", list.size, " ", list.what,
                       ", but at most ", list.most, " are expected");
    for (const artifact::Merge *merge : *root.merges())
      if (!exists(merge->left()) || !exists(merge->right()) ||
          !exists(merge->merged()))
        return badData("a merge of ", merge->left(), " and ", merge->right(),
                       " to ", merge->merged(),
                       " names a token past the vocabulary of ",
                       root.tokens()->size());
    if (root.unknown() != -1 && !exists(root.unknown()))
      return badData("the unknown token is ", root.unknown(),
                     ", but the vocabulary has ", root.tokens()->size());
    uint64_t around = (root.prepend() ? root.prepend()->size() : 0) +
                      (root.append() ? root.append()->size() : 0);
    if (around > artifact::kMostAroundText)
      return badData("there are ", around,
                     " tokens to put around a text, but at most ",
                     artifact::kMostAroundText, " are expected");
    if (Check error = readAround(root.prepend(), "prepend", made->prepend))
      return error;
    return readAround(root.append(), "append", made->append);
  }

  static Check readAround(const flatbuffers::Vector<int32_t> *ids,
                          const char *what, std::vector<int32_t> &into) {
    if (!ids)
      return {};
    for (int32_t id : *ids)
      if (id < 0 || static_cast<uint32_t>(id) >= kMaxVocabulary)
        return badData("the tokens to ", what, " contain id ", id);
    into.assign(ids->begin(), ids->end());
    return {};
  }

  template <typename Steps>
  static Check checkCount(const Steps *steps, const char *what) {
    if (steps && steps->size() > artifact::kMostTokenizerSteps)
      return badData("there are ", steps->size(), " ", what,
                     " steps, but at most ", artifact::kMostTokenizerSteps,
                     " are expected");
    return {};
  }

  Check readSteps() {
    if (Check error = checkCount(root.pieces(), "pre-tokenizer"))
      return error;
    if (Check error = checkCount(root.normalizers(), "normalizer"))
      return error;
    if (Check error = checkCount(root.decoders(), "decoder"))
      return error;
    budget.enter(Stage::PreTokenizer);
    if (root.pieces())
      for (const artifact::PieceStep *step : *root.pieces())
        if (Check error = made->pieceSteps.add(*step, budget))
          return error;
    if (Check error = take(0, made->pieceSteps.bytes()))
      return error;
    budget.enter(Stage::Normalizer);
    if (root.normalizers())
      for (const artifact::NormalizerStep *step : *root.normalizers()) {
        if (Check error = made->normalizer.add(*step, budget))
          return error;
        // A flatbuffer may name one charsmap for each step.
        if (Check error = take(0, made->normalizer.bytes()))
          return error;
      }
    budget.enter(Stage::Decoder);
    return readDecoder();
  }

  Check readDecoder() {
    if (!root.decoders() || root.decoders()->size() == 0)
      return badData("there is no decoder step");
    for (const artifact::DecoderStep *step : *root.decoders())
      if (Check error = made->decoder.add(*step))
        return error;
    return {};
  }

  Check readByteTokens(const flatbuffers::Vector<int32_t> *ids,
                       const char *what, ByteTokens &into) {
    if (!ids || ids->size() != 256)
      return badData("there are tokens for ", ids ? ids->size() : 0, " ", what,
                     ", but 256 are expected");
    for (int32_t id : *ids)
      if (id != -1 && !exists(id))
        return badData("a byte's token is ", id, ", but the vocabulary has ",
                       root.tokens()->size());
    std::copy(ids->begin(), ids->end(), into.begin());
    return {};
  }

  /// Models but ByteBpe work on characters. Where a token may be any bytes, those of
  /// BackwardUnigram that are no pieces may.
  Check checkTexts() {
    bool mayBeBytes = root.model() == artifact::ModelKind::BackwardUnigram &&
                      made->decoder.takesBytes();
    for (uint32_t id = 0; id < root.tokens()->size(); ++id) {
      bool isPiece = root.scores() && id < root.scores()->size() &&
                     !std::isnan(root.scores()->Get(id));
      if (mayBeBytes && !isPiece)
        continue;
      std::string_view text = made->vocabulary.textOf(id);
      if (makeValidUtf8(text) != text)
        return badData("token ", id, " is not UTF-8");
    }
    return {};
  }

  Check readScores(std::vector<double> &scores) {
    if (!root.scores() || root.scores()->size() > root.tokens()->size())
      return badData("there are ", root.scores() ? root.scores()->size() : 0,
                     " scores for ", root.tokens()->size(), " tokens");
    for (double score : *root.scores()) {
      if (std::isinf(score))
        return badData("a score is infinite");
      scores.push_back(score);
    }
    return {};
  }

  Check indexVocabulary() {
    std::vector<bool> outside(root.tokens()->size());
    if (root.outside())
      for (int32_t id : *root.outside()) {
        if (!exists(id))
          return badData("id ", id, " is outside a vocabulary of ",
                         root.tokens()->size());
        outside[id] = true;
      }
    if (!made->vocabulary.index(outside, budget))
      return budget.error();
    return checkRow(made->vocabulary.longestRow(), "texts");
  }

  /// Texts or pairs that are made to share places would make each look-up as long
  /// as there are of them.
  static Check checkRow(size_t row, const char *what) {
    if (row > kMostTakenInARow)
      return badData(what, " of the vocabulary take ", row,
                     " places in a row of their table, but at most ",
                     kMostTakenInARow, " are expected");
    return {};
  }

  Check checkAffix(const flatbuffers::String *affix) {
    if (affix && affix->size() > artifact::kMostAffixBytes)
      return badData("what characters get before or behind them has ",
                     affix->size(), " bytes, but at most ",
                     artifact::kMostAffixBytes, " are expected");
    return {};
  }

  Check readModel() {
    budget.enter(Stage::Model);
    for (const flatbuffers::String *affix :
         {root.subword_prefix(), root.word_suffix()})
      if (Check error = checkAffix(affix))
        return error;
    if (Check error = take(root.merges()->size(), 0))
      return error;
    if (Check error = makeModel())
      return error;
    return checkRow(made->model->longestRow(), "merges");
  }

  Check makeModel() {
    using artifact::ModelKind;
    auto kind = root.model();
    bool needsIndex = kind != ModelKind::ByteBpe || root.ignore_merges();
    if (needsIndex)
      if (Check error = indexVocabulary())
        return error;
    if (kind != ModelKind::ByteBpe || !made->decoder.takesBytes())
      if (Check error = checkTexts())
        return error;
    ByteTokens bytes;
    bool hasFallback = root.byte_fallback() && root.byte_fallback()->size() > 0;
    if (kind == ModelKind::ByteBpe) {
      if (Check error = readByteTokens(root.byte_symbols(), "bytes", bytes))
        return error;
    } else if (hasFallback) {
      if (Check error = readByteTokens(root.byte_fallback(),
                                       "bytes to fall back to", bytes))
        return error;
    }
    const ByteTokens *fallback = hasFallback ? &bytes : nullptr;
    auto textOf = [](const flatbuffers::String *text) {
      return text ? text->str() : std::string();
    };
    switch (kind) {
    case ModelKind::ByteBpe:
      made->model = createByteBpe(made->vocabulary, readMerges(), bytes,
                                  root.ignore_merges());
      return {};
    case ModelKind::CharacterBpe:
      made->model = createCharacterBpe(
          made->vocabulary, readMerges(), fallback,
          {root.ignore_merges(), root.unknown(), root.fuse_unknown(),
           textOf(root.subword_prefix()), textOf(root.word_suffix())});
      return {};
    case ModelKind::Unigram: {
      std::vector<double> scores;
      if (Check error = readScores(scores))
        return error;
      made->model = createUnigram(made->vocabulary, std::move(scores), fallback,
                                  root.unknown());
      return {};
    }
    case ModelKind::BackwardUnigram: {
      std::vector<double> scores;
      if (Check error = readScores(scores))
        return error;
      if (!std::isfinite(root.unknown_score()))
        return badData("the score of unknown characters is not finite");
      if (!fallback || std::count(bytes.begin(), bytes.end(), -1) > 0)
        return badData("not every byte has a token to fall back to");
      made->model = createBackwardUnigram(made->vocabulary, std::move(scores),
                                          bytes, root.unknown_score());
      return {};
    }
    case ModelKind::WordPiece:
      made->model =
          createWordPiece(made->vocabulary, textOf(root.subword_prefix()),
                          root.longest_word(), root.unknown());
      return {};
    case ModelKind::WordLevel:
      made->model = createWordLevel(made->vocabulary, root.unknown());
      return {};
    }
    return {};
  }

  std::vector<BytePairMerger::Merge> readMerges() const {
    std::vector<BytePairMerger::Merge> merges;
    merges.reserve(root.merges()->size());
    for (const artifact::Merge *merge : *root.merges())
      merges.push_back({merge->left(), merge->right(), merge->merged()});
    return merges;
  }

  Check readAddedTokens() {
    budget.enter(Stage::AddedTokens);
    std::vector<AddedToken> added;
    std::set<std::string> specials;
    uint64_t bytes = 0;
    for (const artifact::AddedToken *token : *root.added_tokens()) {
      const flatbuffers::String &content = *token->content();
      bytes += content.size();
      if (content.size() == 0 || content.size() > artifact::kMostAddedBytes)
        return badData("added token ", token->id(), " has ", content.size(),
                       " bytes, but 1 to ", artifact::kMostAddedBytes,
                       " are expected");
      if (Check error = take(content.size(), bytes))
        return error;
      if (makeValidUtf8(content.string_view()) != content.string_view())
        return badData("added token ", token->id(), " is not UTF-8");
      if (token->id() < 0 ||
          static_cast<uint32_t>(token->id()) >= kMaxVocabulary)
        return badData("an added token has id ", token->id());
      added.push_back({token->id(), content.str(), token->special(),
                       token->left_strip(), token->right_strip(),
                       token->single_word(), token->normalized()});
      if (token->special())
        specials.insert(content.str());
    }
    for (AddedToken &token : added) {
      if (Check error = spell(token, specials))
        return error;
      // Each may be long, or be named many times.
      bytes += token.spelling.size();
      budget.enter(Stage::AddedTokens);
      if (Check error = take(token.spelling.size(), bytes))
        return error;
    }
    made->addedTokens = AddedTokens(std::move(added));
    return {};
  }

  /// What a token is looked for as, and what it is decoded to.
  Check spell(AddedToken &token, const std::set<std::string> &specials) {
    if (token.normalized && !made->normalizer.isEmpty()) {
      bool ignored = false;
      budget.enter(Stage::Normalizer);
      Result<std::string> spelling =
          made->normalizer.apply(token.content, ignored, budget);
      if (!spelling)
        return badData("added token ", token.id, ": ",
                       spelling.error().message);
      token.spelling = std::move(*spelling);
    }
    // The library decodes to the spelling, and tells special tokens by it.
    const std::string &text =
        token.spelling.empty() ? token.content : token.spelling;
    bool isRenamed = text != token.content;
    std::string decoded = text;
    if (made->decoder.takesBytes())
      decoded = readByteCharacters(text).value_or(text);
    if (!isRenamed && made->vocabulary.has(token.id))
      decoded = made->vocabulary.textOf(token.id);
    bool isSpecial = specials.count(text) > 0;
    if (isSpecial || isRenamed || !made->vocabulary.has(token.id))
      made->exceptions[token.id] = {std::move(decoded), isSpecial};
    return {};
  }

  const artifact::Tokenizer &root;
  Budget budget;
  std::unique_ptr<Tokenizer> made{new Tokenizer()};
};

Result<std::unique_ptr<Tokenizer>>
Tokenizer::create(std::span<const uint8_t> bytes) {
  if (bytes.size() >= FLATBUFFERS_MAX_BUFFER_SIZE)
    return badData(bytes.size(), " bytes are more than a flatbuffer can hold");
  flatbuffers::Verifier verifier(bytes.data(), bytes.size(), /*max_depth=*/64,
                                 kMaxTokenizerTables);
  if (!artifact::VerifyTokenizerBuffer(verifier))
    return badData("not a well-formed flatbuffer \"",
                   artifact::TokenizerIdentifier(), "\"");
  return TokenizerReader(*artifact::GetTokenizer(bytes.data()), bytes.size())
      .run();
}

} // namespace effc::rt
