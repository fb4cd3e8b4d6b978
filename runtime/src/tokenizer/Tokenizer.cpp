#include "runtime/src/tokenizer/Tokenizer.h"

#include "runtime/src/Limits.h"
#include "runtime/src/tokenizer/PieceCache.h"
#include "runtime/src/tokenizer/Utf8.h"

#include <algorithm>

using namespace effc::rt;

/// What one call of tokenize() works with.
struct Tokenizer::Encoding {
  explicit Encoding(size_t bytes)
      : budget(Budget::ofEncoding(bytes)), cache(bytes) {}

  Budget budget;
  std::vector<int32_t> tokens;
  ModelWorkspace workspace;
  PieceCache cache;
};

Check Tokenizer::encodePiece(std::string_view piece, Encoding &encoding) const {
  if (encoding.cache.find(piece, encoding.tokens))
    return {};
  size_t before = encoding.tokens.size();
  if (Check error = model->encode(piece, encoding.workspace, encoding.budget,
                                  encoding.tokens))
    return error;
  if (!encoding.budget.admits(encoding.tokens.size()))
    return encoding.budget.error();
  encoding.cache.keep(piece, std::span(encoding.tokens).subspan(before));
  return {};
}

Check Tokenizer::encodeText(std::string_view text, bool isFirst,
                            Encoding &encoding) const {
  Pieces pieces(text, isFirst);
  encoding.budget.enter(Stage::PreTokenizer);
  if (Check error = pieceSteps.apply(pieces, encoding.budget))
    return error;
  encoding.budget.enter(Stage::Model);
  for (std::string_view piece : pieces.all())
    if (Check error = encodePiece(piece, encoding))
      return error;
  return {};
}

/// The same, with a cut wherever `plain` begins or ends.
Check Tokenizer::encodeApart(std::string_view text, bool isFirst,
                             const PlainSpans &plain,
                             Encoding &encoding) const {
  size_t at = 0;
  auto encode = [&](size_t end, bool isPlain) -> Check {
    std::string_view part = text.substr(at, end - at);
    bool isStart = isFirst && at == 0;
    at = end;
    if (part.empty())
      return {};
    return encodeParts(part, isStart,
                       isPlain ? PlainSpans::all(part.size()) : PlainSpans(),
                       encoding);
  };
  for (const PlainSpans::Span &span : plain.all()) {
    if (Check error = encode(span.begin, false))
      return error;
    if (Check error = encode(span.end, true))
      return error;
  }
  return encode(text.size(), false);
}

static bool hasSpecial(const std::vector<TextPart> &parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [](const TextPart &part) { return part.isSpecial; });
}

/// A text between added tokens that are looked for as they are.
Check Tokenizer::encodeParts(std::string_view text, bool isFirst,
                             const PlainSpans &given,
                             Encoding &encoding) const {
  std::string_view whole = text;
  PlainSpans plain = given;
  bool wasFirst = isFirst;
  // Nobody knows where spans are in what a normalizer makes.
  bool isPartly =
      !normalizer.isEmpty() && !given.isEmpty() && !given.cover(0, text.size());
  std::string normalized;
  if (!normalizer.isEmpty()) {
    bool movesStart = false;
    encoding.budget.enter(Stage::Normalizer);
    Result<std::string> made =
        normalizer.apply(text, movesStart, encoding.budget);
    if (!made)
      return made.error();
    normalized = std::move(*made);
    text = normalized;
    isFirst &= !movesStart;
    plain = isPartly || given.isEmpty() ? PlainSpans()
                                        : PlainSpans::all(text.size());
  }
  encoding.budget.enter(Stage::AddedTokens);
  std::vector<TextPart> parts =
      addedTokens.splitNormalized(text, plain, encoding.budget);
  if (Check error = encoding.budget.check())
    return error;
  // The rare text whose special tokens may be somebody's: parts of one writer each.
  if (isPartly && hasSpecial(parts))
    return encodeApart(whole, wasFirst, given, encoding);
  for (const TextPart &part : parts) {
    bool isStart = part.text.data() == text.data();
    if (part.id >= 0)
      encoding.tokens.push_back(part.id);
    else if (Check error = encodeText(part.text, isFirst && isStart, encoding))
      return error;
  }
  return {};
}

Result<std::vector<int32_t>> Tokenizer::tokenize(std::string_view text,
                                                 Options options) const {
  if (text.size() > kMaxTextBytes)
    return invalidArgument("a text of ", text.size(), " bytes is longer than ",
                           kMaxTextBytes);
  std::string valid = makeValidUtf8(text);
  PlainSpans plain = options.plain;
  if (plain.cover(0, text.size()))
    plain = PlainSpans::all(valid.size());
  Encoding encoding(valid.size());
  if (options.addSpecial)
    encoding.tokens = prepend;
  std::vector<TextPart> parts =
      addedTokens.splitRaw(valid, plain, encoding.budget);
  if (Check error = encoding.budget.check())
    return *error;
  for (const TextPart &part : parts) {
    bool isFirst = part.text.data() == valid.data();
    if (part.id >= 0)
      encoding.tokens.push_back(part.id);
    else if (size_t begin =
                 static_cast<size_t>(part.text.data() - valid.data());
             Check error = encodeParts(
                 part.text, isFirst,
                 plain.within(begin, begin + part.text.size()), encoding))
      return *error;
  }
  if (options.addSpecial)
    encoding.tokens.insert(encoding.tokens.end(), append.begin(), append.end());
  return std::move(encoding.tokens);
}

Result<std::string> Tokenizer::detokenize(std::span<const int32_t> tokens,
                                          bool skipSpecial) const {
  DecodeStream stream(*this, skipSpecial);
  std::string text;
  for (int32_t token : tokens) {
    Result<std::string_view> more = stream.push(token);
    if (!more)
      return more.error();
    text += *more;
  }
  Result<std::string_view> more = stream.finish();
  if (!more)
    return more.error();
  text += *more;
  return text;
}

Result<const TokenTexts *> Tokenizer::tokenTexts() const {
  std::lock_guard guard(textsLock);
  if (texts)
    return texts.get();
  Result<TokenText> textOf = decoder.tokenText();
  if (!textOf)
    return textOf.error();
  // Added tokens follow the others; one that is far away has no text here.
  constexpr size_t kMostBehind = 65536;
  constexpr uint64_t kMostBytes = uint64_t(1) << 28;
  size_t count = vocabulary.size();
  for (const auto &[id, exception] : exceptions)
    if (static_cast<size_t>(id) < vocabulary.size() + kMostBehind)
      count = std::max(count, static_cast<size_t>(id) + 1);
  std::vector<std::string> all(count);
  uint64_t bytes = 0;
  for (size_t i = 0; i < count; ++i) {
    if (i > 0)
      bytes += all[i - 1].size();
    if (bytes > kMostBytes)
      return fail(EFFC_UNSUPPORTED, "the texts of all tokens take more than ",
                  kMostBytes, " bytes");
    auto id = static_cast<int32_t>(i);
    auto exception = exceptions.find(id);
    if (exception == exceptions.end())
      all[i] = textOf->of(vocabulary.textOf(id));
    else if (!exception->second.isSpecial)
      all[i] = textOf->of(exception->second.text);
  }
  texts = std::make_unique<TokenTexts>(all, textOf->dropsFirstSpace());
  return texts.get();
}

/// The end of the chain.
class DecodeStream::Output : public DecodeStage {
public:
  void push(std::string_view more, bool) override {
    bytes += more.size();
    if (budget.admits(bytes))
      text += more;
  }
  void finish() override {}

  Budget budget = Budget::ofDecoding();
  std::string text;   // of the last call
  uint64_t bytes = 0; // of all calls
};

DecodeStream::DecodeStream(const Tokenizer &tokenizer, bool skipSpecial)
    : tokenizer(&tokenizer), skipSpecial(skipSpecial),
      output(std::make_unique<Output>()) {
  begin();
}

void DecodeStream::begin() {
  output->budget = Budget::ofDecoding();
  output->bytes = 0;
  stages = tokenizer->decoder.createStages(output->budget);
  stages.back()->setNext(output.get());
}

DecodeStream::~DecodeStream() = default;
DecodeStream::DecodeStream(DecodeStream &&) noexcept = default;

Result<std::string_view> DecodeStream::push(int32_t token) {
  output->text.clear();
  std::string_view text = tokenizer->vocabulary.textOf(token);
  bool isToken = tokenizer->vocabulary.has(token);
  if (auto at = tokenizer->exceptions.find(token);
      at != tokenizer->exceptions.end()) {
    text = at->second.text;
    isToken = !(skipSpecial && at->second.isSpecial);
  }
  output->budget.grow(1);
  if (isToken)
    stages.front()->push(text, /*starts=*/true);
  if (output->budget.isExhausted())
    return output->budget.error();
  return std::string_view(output->text);
}

Result<std::string_view> DecodeStream::finish() {
  output->text.clear();
  stages.front()->finish();
  Check error = output->budget.check();
  if (error) {
    begin();
    return *error;
  }
  // The stages are as new; so is what they may take.
  output->budget = Budget::ofDecoding();
  output->bytes = 0;
  return std::string_view(output->text);
}
