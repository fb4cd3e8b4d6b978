#include "runtime/src/tokenizer/Decoder.h"

#include "runtime/schema/TokenizerLimits.h"
#include "runtime/src/tokenizer/ByteAlphabet.h"
#include "runtime/src/tokenizer/DecodeStages.h"
#include "runtime/src/tokenizer/Utf8.h"

#include <algorithm>

using namespace effc;
using namespace effc::rt;
using artifact::DecoderKind;

static bool fuses(DecoderKind kind) {
  return kind == DecoderKind::Bytes || kind == DecoderKind::ByteLevel ||
         kind == DecoderKind::Fuse;
}

/// Those that look at a whole token cannot work on one that grows.
static bool worksFused(const artifact::DecoderStep &step) {
  switch (step.kind()) {
  case DecoderKind::Bytes:
  case DecoderKind::ByteLevel:
  case DecoderKind::ByteFallback:
  case DecoderKind::Spaces:
    return false;
  case DecoderKind::WordPiece:
    return !step.cleanup();
  default:
    return true;
  }
}

Check Decoder::add(const artifact::DecoderStep &step) {
  if (step.kind() > DecoderKind::MAX || step.prepend() > artifact::Prepend::MAX)
    return badData("a decoder step is of unknown kind ", unsigned(step.kind()));
  Step made{step.kind(),
            step.pattern() ? step.pattern()->str() : "",
            step.content() ? step.content()->str() : "",
            step.prepend(),
            step.start(),
            step.stop(),
            step.cleanup(),
            nullptr};
  if (makeValidUtf8(made.pattern) != made.pattern ||
      makeValidUtf8(made.content) != made.content)
    return badData("a decoder step's text is not UTF-8");
  for (const std::string *text : {&made.pattern, &made.content})
    if (text->size() > artifact::kMostStepTextBytes)
      return badData("a decoder step's text has ", text->size(),
                     " bytes, but at most ", artifact::kMostStepTextBytes,
                     " are expected");
  bool needsPattern = made.kind == DecoderKind::Replace;
  bool needsContent = made.kind == DecoderKind::Metaspace ||
                      made.kind == DecoderKind::Strip ||
                      made.kind == DecoderKind::WordSuffix;
  if ((needsPattern && made.pattern.empty()) ||
      (needsContent && made.content.empty()))
    return badData("a decoder step of kind ", unsigned(made.kind),
                   " has no text to look for");
  bool needsCharacter =
      made.kind == DecoderKind::Metaspace || made.kind == DecoderKind::Strip;
  if (needsCharacter && !isOneCharacter(made.content))
    return badData("a decoder step of kind ", unsigned(made.kind),
                   " looks for a text of ", made.content.size(),
                   " bytes, but one character is expected");
  if (std::max(made.start, made.stop) > artifact::kMostStripped)
    return badData("a decoder step strips up to ",
                   std::max(made.start, made.stop), " characters, but at most ",
                   artifact::kMostStripped, " are expected");
  if (made.kind == DecoderKind::Bytes && !steps.empty())
    return badData("the decoder of bytes is not the first step");
  for (const Step &before : steps)
    if (fuses(before.kind) && !worksFused(step))
      return badData("a decoder step of kind ", unsigned(made.kind),
                     " comes after tokens were fused");
  if (needsPattern || needsContent)
    made.search = std::make_shared<const TextSearch>(
        needsPattern ? made.pattern : made.content);
  steps.push_back(std::move(made));
  return {};
}

bool Decoder::takesBytes() const {
  return !steps.empty() && steps[0].kind == DecoderKind::Bytes;
}

std::unique_ptr<DecodeStage> Decoder::createStage(const Step &step,
                                                  bool fused) {
  switch (step.kind) {
  case DecoderKind::Bytes:
    return createBytesStage(/*readsCharacters=*/false);
  case DecoderKind::ByteLevel:
    return createBytesStage(/*readsCharacters=*/true);
  case DecoderKind::ByteFallback:
    return createByteFallbackStage();
  case DecoderKind::Metaspace:
    return createMetaspaceStage(step.search,
                                step.prepend != artifact::Prepend::Never);
  case DecoderKind::Fuse:
    return createFuseStage();
  case DecoderKind::Replace:
    return createReplaceStage(step.search, step.content);
  case DecoderKind::Strip:
    return createStripStage(step.content, step.start, step.stop);
  case DecoderKind::WordPiece:
    return createWordPieceStage(step.content, step.cleanup);
  case DecoderKind::WordSuffix:
    // In the only token, which is the last, it is nothing.
    return fused ? createReplaceStage(step.search, "")
                 : createWordSuffixStage(step.search);
  case DecoderKind::Spaces:
    return createSpacesStage();
  }
  return createFuseStage();
}

std::vector<std::unique_ptr<DecodeStage>>
Decoder::createStages(Budget &budget) const {
  std::vector<std::unique_ptr<DecodeStage>> stages;
  bool fused = false;
  for (const Step &step : steps) {
    stages.push_back(createStage(step, fused));
    stages.back()->setBudget(&budget);
    fused |= fuses(step.kind);
    if (stages.size() > 1)
      stages[stages.size() - 2]->setNext(stages.back().get());
  }
  return stages;
}
