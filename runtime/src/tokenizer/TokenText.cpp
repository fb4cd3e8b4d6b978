// What one token adds to a text: Decoder::tokenText().

#include "runtime/src/tokenizer/ByteAlphabet.h"
#include "runtime/src/tokenizer/DecodeStages.h"
#include "runtime/src/tokenizer/Decoder.h"
#include "runtime/src/tokenizer/Utf8.h"

using namespace effc;
using namespace effc::rt;
using artifact::DecoderKind;

std::string TokenText::of(std::string_view token) const {
  if (readsCharacters)
    if (std::optional<std::string> bytes = readByteCharacters(token))
      return *bytes;
  std::string text(token);
  for (const auto &[from, to] : replacements)
    text = replaceText(TextSearch(from), to, text);
  // A first token would lose more than the space at its beginning.
  if (!mark.empty() && dropsSpace && text.find(mark, 1) != std::string::npos)
    return "";
  if (readsBytes)
    if (std::optional<char> byte = readByteToken(text))
      return std::string(1, *byte);
  return text;
}

Result<TokenText> Decoder::tokenText() const {
  TokenText made;
  bool isFused = false;
  for (const Step &step : steps) {
    // Behind fused tokens what is looked for could lie across two.
    bool looksAcross = isFused && !isOneCharacter(step.pattern);
    switch (step.kind) {
    case DecoderKind::Bytes:
      isFused = true;
      continue;
    case DecoderKind::ByteLevel:
      made.readsCharacters = isFused = true;
      continue;
    case DecoderKind::Fuse:
      isFused = true;
      continue;
    case DecoderKind::ByteFallback:
      made.readsBytes = true;
      continue;
    case DecoderKind::Replace:
      if (looksAcross || made.readsCharacters || made.readsBytes)
        break;
      made.replacements.emplace_back(step.pattern, step.content);
      continue;
    case DecoderKind::Metaspace:
      if (isFused || made.readsBytes)
        break;
      made.replacements.emplace_back(step.content, " ");
      made.dropsSpace |= step.prepend != artifact::Prepend::Never;
      made.mark = " ";
      continue;
    case DecoderKind::Strip:
      // Of the whole text, which is fused, and at its beginning.
      if (!isFused || step.content != " " || step.start > 1 || step.stop > 0)
        break;
      made.dropsSpace |= step.start == 1;
      continue;
    default:
      break;
    }
    return fail(EFFC_UNSUPPORTED,
                "a grammar is not possible with this tokenizer: what a token "
                "adds to a text depends on the tokens beside it");
  }
  return made;
}
