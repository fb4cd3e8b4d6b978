#include "runtime/src/tokenizer/Normalizer.h"

#include "runtime/schema/TokenizerLimits.h"
#include "runtime/src/tokenizer/ByteAlphabet.h"
#include "runtime/src/tokenizer/Utf8.h"
#include "runtime/src/tokenizer/unicode/NormalForm.h"
#include "runtime/src/tokenizer/unicode/Unicode.h"

using namespace effc;
using namespace effc::rt;
using artifact::NormalizerKind;

namespace {

constexpr char32_t kDrop = 0xFFFFFFFF;

/// `text` with each character by `map` of it; kDrop drops it.
template <typename Map>
std::string mapEach(std::string_view text, bool &movesStart, Map map) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    unicode::Decoded decoded = unicode::decode(text);
    char32_t mapped = map(decoded.character);
    if (mapped == decoded.character)
      out.append(text.substr(0, decoded.bytes));
    else if (mapped != kDrop)
      unicode::append(mapped, out);
    else if (out.empty())
      movesStart = true;
    text.remove_prefix(decoded.bytes);
  }
  return out;
}

char32_t dropWith(unicode::Flag flag, char32_t character) {
  return unicode::lookUp(character).is(flag) ? kDrop : character;
}

char32_t cleanText(char32_t character) {
  const unicode::Character &properties = unicode::lookUp(character);
  if (character == 0 || character == 0xFFFD || properties.is(unicode::Control))
    return kDrop;
  return properties.is(unicode::White) ? U' ' : character;
}

char32_t cleanForTranslation(char32_t character) {
  struct Range {
    char32_t first, last, mapped;
  };
  // As the library has them, oddities (U+008F) included.
  static constexpr Range kRanges[] = {
      {0x01, 0x08, kDrop},    {0x09, 0x0A, U' '},     {0x0B, 0x0B, kDrop},
      {0x0C, 0x0D, U' '},     {0x0E, 0x1F, kDrop},    {0x7F, 0x7F, kDrop},
      {0x8F, 0x8F, kDrop},    {0x9F, 0x9F, kDrop},    {0x1680, 0x1680, U' '},
      {0x200B, 0x200F, U' '}, {0x2028, 0x2029, U' '}, {0x2581, 0x2581, U' '},
      {0xFEFF, 0xFEFF, U' '}, {0xFFFD, 0xFFFD, U' '}};
  for (const Range &range : kRanges)
    if (character >= range.first && character <= range.last)
      return range.mapped;
  return character;
}

bool isIdeograph(char32_t character) {
  static constexpr std::pair<char32_t, char32_t> kBlocks[] = {
      {0x3400, 0x4DBF},   {0x4E00, 0x9FFF},   {0xF900, 0xFAFF},
      {0x20000, 0x2A6DF}, {0x2A700, 0x2B73F}, {0x2B740, 0x2B81F},
      {0x2B920, 0x2CEAF}, {0x2F800, 0x2FA1F}};
  for (auto [first, last] : kBlocks)
    if (character >= first && character <= last)
      return true;
  return false;
}

std::string spaceIdeographs(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    unicode::Decoded decoded = unicode::decode(text);
    bool spaced = isIdeograph(decoded.character);
    out += spaced ? " " : "";
    out += text.substr(0, decoded.bytes);
    out += spaced ? " " : "";
    text.remove_prefix(decoded.bytes);
  }
  return out;
}

std::string lowercase(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    unicode::Decoded decoded = unicode::decode(text);
    if (unicode::lookUp(decoded.character).is(unicode::Lowers))
      for (char32_t lower : unicode::toLower(decoded.character))
        unicode::append(lower, out);
    else
      out.append(text.substr(0, decoded.bytes));
    text.remove_prefix(decoded.bytes);
  }
  return out;
}

bool isWhite(std::string_view character) {
  return unicode::lookUp(unicode::decode(character).character)
      .is(unicode::White);
}

std::string_view stripLeft(std::string_view text) {
  while (!text.empty() && isWhite(text))
    text.remove_prefix(unicode::decode(text).bytes);
  return text;
}

std::string_view stripRight(std::string_view text) {
  while (!text.empty() && isWhite(text.substr(unicode::lastStart(text))))
    text = text.substr(0, unicode::lastStart(text));
  return text;
}

} // namespace

Result<std::string> effc::rt::replaceAll(const Pattern &pattern,
                                         std::string_view content,
                                         std::string_view text,
                                         Budget &budget) {
  Result<std::vector<Pattern::Match>> matches = pattern.findAll(text, budget);
  if (!matches)
    return matches.error();
  size_t grown = text.size();
  for (const Pattern::Match &match : *matches)
    grown += content.size() - (match.end - match.begin);
  if (!budget.admits(grown))
    return budget.error();
  std::string out;
  out.reserve(grown);
  size_t at = 0;
  for (const Pattern::Match &match : *matches) {
    out += text.substr(at, match.begin - at);
    out += content;
    at = match.end;
  }
  out += text.substr(at);
  return out;
}

Check Normalizer::add(const artifact::NormalizerStep &step, Budget &budget) {
  if (step.kind() > NormalizerKind::MAX)
    return badData("a normalizer is of unknown kind ", unsigned(step.kind()));
  Step made{step.kind(), {}, step.content() ? step.content()->str() : "", {}};
  if (makeValidUtf8(made.content) != made.content)
    return badData("a normalizer's content is not UTF-8");
  if (made.content.size() > artifact::kMostStepTextBytes)
    return badData("a normalizer's content has ", made.content.size(),
                   " bytes, but at most ", artifact::kMostStepTextBytes,
                   " are expected");
  if (made.kind == NormalizerKind::Replace) {
    Result<Pattern> pattern = Pattern::compile(
        step.pattern() ? step.pattern()->string_view() : "", budget);
    if (!pattern)
      return pattern.error();
    made.pattern = std::move(*pattern);
  }
  if (made.kind == NormalizerKind::Charsmap) {
    const auto *bytes = step.charsmap();
    Result<CharsMap> map = CharsMap::create(
        bytes ? std::span(bytes->data(), bytes->size()) : std::span<uint8_t>());
    if (!map)
      return map.error();
    made.charsmap = std::move(*map);
  }
  steps.push_back(std::move(made));
  return {};
}

Result<std::string> Normalizer::applyStep(const Step &step,
                                          std::string_view text,
                                          bool &movesStart, Budget &budget) {
  using unicode::NormalForm;
  switch (step.kind) {
  case NormalizerKind::Nfc:
    return unicode::normalize(text, NormalForm::Nfc);
  case NormalizerKind::Nfd:
    return unicode::normalize(text, NormalForm::Nfd);
  case NormalizerKind::Nfkc:
    return unicode::normalize(text, NormalForm::Nfkc);
  case NormalizerKind::Nfkd:
    return unicode::normalize(text, NormalForm::Nfkd);
  case NormalizerKind::Lowercase:
    return lowercase(text);
  case NormalizerKind::StripLeft: {
    std::string_view stripped = stripLeft(text);
    movesStart |= stripped.size() != text.size();
    return std::string(stripped);
  }
  case NormalizerKind::StripRight:
    return std::string(stripRight(text));
  case NormalizerKind::StripAccents:
    return mapEach(text, movesStart,
                   [](char32_t c) { return dropWith(unicode::Combining, c); });
  case NormalizerKind::StripNonspacing:
    return mapEach(text, movesStart,
                   [](char32_t c) { return dropWith(unicode::Nonspacing, c); });
  case NormalizerKind::CleanText:
    return mapEach(text, movesStart, cleanText);
  case NormalizerKind::SpaceIdeographs:
    return spaceIdeographs(text);
  case NormalizerKind::Nmt:
    return mapEach(text, movesStart, cleanForTranslation);
  case NormalizerKind::Prepend:
    return text.empty() ? std::string() : step.content + std::string(text);
  case NormalizerKind::Replace:
    return replaceAll(*step.pattern, step.content, text, budget);
  case NormalizerKind::Charsmap:
    return step.charsmap->apply(text, budget);
  case NormalizerKind::ByteCharacters: {
    std::string out;
    appendByteCharacters(text, out);
    return out;
  }
  }
  return std::string(text);
}

size_t Normalizer::bytes() const {
  size_t size = 0;
  for (const Step &step : steps)
    size += step.content.size() + (step.pattern ? step.pattern->bytes() : 0) +
            (step.charsmap ? step.charsmap->bytes() : 0);
  return size;
}

Result<std::string> Normalizer::apply(std::string_view text, bool &movesStart,
                                      Budget &budget) const {
  std::string current(text);
  for (const Step &step : steps) {
    Result<std::string> next = applyStep(step, current, movesStart, budget);
    if (!next)
      return next.error();
    if (!budget.spend(current.size() + next->size()) ||
        !budget.admits(next->size()))
      return budget.error();
    current = std::move(*next);
  }
  return current;
}
