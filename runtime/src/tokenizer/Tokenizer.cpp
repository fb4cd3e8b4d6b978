#include "runtime/src/tokenizer/Tokenizer.h"

#include "runtime/src/Limits.h"
#include "runtime/src/tokenizer/PieceCache.h"
#include "runtime/src/tokenizer/Utf8.h"

using namespace effc::rt;

/// What one call of tokenize() works with.
struct Tokenizer::Encoding {
  explicit Encoding(size_t bytes) : cache(bytes) {}

  std::vector<int32_t> tokens;
  ModelWorkspace workspace;
  PieceCache cache;
};

Check Tokenizer::encodePiece(std::string_view piece, Encoding &encoding) const {
  if (encoding.cache.find(piece, encoding.tokens))
    return {};
  size_t before = encoding.tokens.size();
  if (Check error = model->encode(piece, encoding.workspace, encoding.tokens))
    return error;
  encoding.cache.keep(piece, std::span(encoding.tokens).subspan(before));
  return {};
}

Check Tokenizer::encodeText(std::string_view text, bool isFirst,
                            Encoding &encoding) const {
  Pieces pieces(text, isFirst);
  if (Check error = pieceSteps.apply(pieces))
    return error;
  for (std::string_view piece : pieces.all())
    if (Check error = encodePiece(piece, encoding))
      return error;
  return {};
}

/// A text between added tokens that are looked for as they are.
Check Tokenizer::encodeParts(std::string_view text, bool isFirst, bool plain,
                             Encoding &encoding) const {
  std::string normalized;
  if (!normalizer.isEmpty()) {
    bool movesStart = false;
    Result<std::string> made = normalizer.apply(text, movesStart);
    if (!made)
      return made.error();
    normalized = std::move(*made);
    text = normalized;
    isFirst &= !movesStart;
  }
  for (const TextPart &part : addedTokens.splitNormalized(text, plain)) {
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
  Encoding encoding(valid.size());
  if (options.addSpecial)
    encoding.tokens = prepend;
  for (const TextPart &part : addedTokens.splitRaw(valid, options.plain)) {
    bool isFirst = part.text.data() == valid.data();
    if (part.id >= 0)
      encoding.tokens.push_back(part.id);
    else if (Check error =
                 encodeParts(part.text, isFirst, options.plain, encoding))
      return *error;
  }
  if (options.addSpecial)
    encoding.tokens.insert(encoding.tokens.end(), append.begin(), append.end());
  return std::move(encoding.tokens);
}

std::string Tokenizer::detokenize(std::span<const int32_t> tokens,
                                  bool skipSpecial) const {
  DecodeStream stream(*this, skipSpecial);
  std::string text;
  for (int32_t token : tokens)
    text += stream.push(token);
  text += stream.finish();
  return text;
}

/// The end of the chain.
class DecodeStream::Output : public DecodeStage {
public:
  void push(std::string_view more, bool) override { text += more; }
  void finish() override {}
  std::string text;
};

DecodeStream::DecodeStream(const Tokenizer &tokenizer, bool skipSpecial)
    : tokenizer(&tokenizer), skipSpecial(skipSpecial),
      stages(tokenizer.decoder.createStages()),
      output(std::make_unique<Output>()) {
  stages.back()->setNext(output.get());
}

DecodeStream::~DecodeStream() = default;
DecodeStream::DecodeStream(DecodeStream &&) noexcept = default;

std::string_view DecodeStream::push(int32_t token) {
  output->text.clear();
  std::string_view text = tokenizer->vocabulary.textOf(token);
  bool isToken = tokenizer->vocabulary.has(token);
  if (auto at = tokenizer->exceptions.find(token);
      at != tokenizer->exceptions.end()) {
    text = at->second.text;
    isToken = !(skipSpecial && at->second.isSpecial);
  }
  if (isToken)
    stages.front()->push(text, /*starts=*/true);
  return output->text;
}

std::string_view DecodeStream::finish() {
  output->text.clear();
  stages.front()->finish();
  return output->text;
}
