#include "runtime/src/Sampler.h"

#include "runtime/schema/GenerationLimits.h"
#include "runtime/src/sampling/LogProbabilities.h"
#include "runtime/src/system/FloatMode.h"

#include <algorithm>
#include <cmath>
#include <optional>

using namespace effc::rt;

void SamplingScratch::reserve(uint32_t vocabularySize) {
  size_t blocks = (vocabularySize + LogitRow::kBlock - 1) / LogitRow::kBlock;
  maxima.reserve(blocks);
  numbers.reserve(blocks);
  adjusted.reserve(vocabularySize);
  kept.reserve(vocabularySize);
}

int32_t SamplingScratch::likeliest(std::span<const float> logits) {
  std::optional<LogitRow> row = LogitRow::scan(logits, maxima);
  return row ? row->best().id : -1;
}

bool SamplingScratch::logprobs(std::span<const float> logits, int32_t token,
                               std::span<effc_logprob_t> out) {
  std::optional<LogitRow> row = LogitRow::scan(logits, maxima);
  if (row)
    logProbabilities(*row, token, out, kept, numbers);
  return bool(row);
}

SamplingScratch &SamplingScratch::ofThread() {
  static thread_local SamplingScratch scratch;
  return scratch;
}

/// A number by which noise is lost beside any difference of logits, but logits
/// up to 2^32 stay finite; not 0, nor lost where small numbers are flushed.
static float scaleOf(float temperature) {
  constexpr float kLeast = 0x1p-126f, kMost = 0x1p95f;
  return temperature > 0 ? std::clamp(1.0f / temperature, kLeast, kMost) : 1.0f;
}

Sampler::Sampler(const effc_sampler_options_t &given, uint32_t vocabularySize)
    : vocabulary(vocabularySize),
      filters{given.temperature, given.top_k, given.top_p, given.min_p,
              given.typical_p},
      adjustments(given, vocabularySize), seed(given.seed),
      scale(scaleOf(given.temperature)), kept(given.logprobs) {}

Result<Sampler> Sampler::create(const effc_sampler_options_t &options,
                                uint32_t vocabularySize) {
  if (vocabularySize == 0)
    return invalidArgument("the vocabulary is empty");
  if (!std::isfinite(options.temperature) || options.temperature < 0)
    return invalidArgument("'temperature' is ", options.temperature,
                           ", but a finite number from 0 on is expected");
  if (!artifact::isTopP(options.top_p))
    return invalidArgument("'top_p' is ", options.top_p,
                           ", but a number from 0 to 1 is expected");
  if (!artifact::isMinP(options.min_p))
    return invalidArgument("'min_p' is ", options.min_p,
                           ", but a number from 0 to 1 is expected");
  if (!(options.typical_p >= 0 && options.typical_p <= 1))
    return invalidArgument("'typical_p' is ", options.typical_p,
                           ", but a number from 0 to 1 is expected");
  if (Check error = Adjustments::check(options, vocabularySize))
    return *error;
  if (options.logprobs > uint64_t(vocabularySize) + 1)
    return invalidArgument("'logprobs' is ", options.logprobs,
                           ", but at most 1 for the token drawn and ",
                           vocabularySize, " for the vocabulary are possible");
  SamplingScratch::ofThread().reserve(vocabularySize);
  return Sampler(options, vocabularySize);
}

Check Sampler::accept(std::span<const int32_t> tokens) {
  for (size_t i = 0; i < tokens.size(); ++i)
    if (tokens[i] < 0 || static_cast<uint32_t>(tokens[i]) >= vocabulary)
      return invalidArgument("token ", i, " is ", tokens[i],
                             ", but the vocabulary has ", vocabulary);
  for (int32_t token : tokens)
    adjustments.read(token);
  return {};
}

void Sampler::drew(int32_t token) { adjustments.drew(token); }

bool Sampler::needsLogits() const {
  return !kept.empty() || changesLogits() || filters.leaveOut(vocabulary);
}

Draw Sampler::drawAt(uint64_t number) const {
  if (isGreedy())
    return {};
  return {scale, 1, Noise::of(seed, number)};
}

Draw Sampler::nextDraw() { return drawAt(drawn++); }

/// Makes those tokens impossible whose bit is not set; what is no number stays,
/// for it is an error wherever it stands.
static void leaveOut(const uint64_t *mask, std::span<float> logits) {
  for (size_t begin = 0; begin < logits.size(); begin += 64) {
    uint64_t word = mask[begin / 64];
    if (word == UINT64_MAX)
      continue;
    size_t end = std::min(begin + 64, logits.size());
    for (size_t id = begin; id < end; ++id, word >>= 1)
      logits[id] =
          (word & 1) || std::isnan(logits[id]) ? logits[id] : -INFINITY;
  }
}

/// The row as filters see it, of the tokens of `words`.
std::span<const float> Sampler::adjust(std::span<const float> logits,
                                       const uint64_t *words,
                                       SamplingScratch &scratch) const {
  if (!words && !adjustments.areActive())
    return logits;
  scratch.adjusted.assign(logits.begin(), logits.end());
  if (adjustments.areActive())
    adjustments.apply(scratch.adjusted);
  if (words)
    leaveOut(words, scratch.adjusted);
  return scratch.adjusted;
}

/// The token that `draw` chooses from an adjusted row; -1 for none.
int32_t Sampler::choose(std::span<const float> logits, Draw draw,
                        SamplingScratch &scratch) const {
  std::optional<LogitRow> row = LogitRow::scan(logits, scratch.maxima);
  if (!row)
    return -1;
  if (isGreedy())
    return row->best().id;
  Race race = {draw.noise, draw.scale};
  if (filters.leaveOut(vocabulary)) {
    filters.apply(*row, scratch.kept, scratch.numbers);
    for (const Candidate &candidate : scratch.kept)
      race.enter(candidate.logit, candidate.id);
  } else {
    row->enterAll(race);
  }
  return race.token;
}

int32_t Sampler::draw(std::span<const float> logits, SamplingScratch &scratch) {
  int32_t token = choose(adjust(logits, mask, scratch), nextDraw(), scratch);
  mask = nullptr;
  hasDrawn =
      !kept.empty() && token >= 0 && scratch.logprobs(logits, token, kept);
  if (token >= 0)
    drew(token);
  return token;
}

int32_t Sampler::guess(std::span<const float> logits, uint64_t ahead,
                       SamplingScratch &scratch) const {
  // Which tokens come later depends on those before.
  const uint64_t *words = ahead == 0 ? mask : nullptr;
  return choose(adjust(logits, words, scratch), drawAt(drawn + ahead), scratch);
}

Result<int32_t> Sampler::sample(std::span<const float> logits,
                                SamplingScratch &scratch) {
  DefaultFloatMode mode;
  scratch.reserve(vocabulary);
  const uint64_t *words = mask;
  if (int32_t token = draw(logits, scratch); token >= 0)
    return token;
  std::span<const float> row = adjust(logits, words, scratch);
  if (LogitRow::scan(row, scratch.maxima))
    return badData("all logits over the temperature are minus infinity");
  return LogitRow::whyNone(row);
}
