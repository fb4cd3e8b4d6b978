#include "runtime/src/sampling/Adjustments.h"

#include <cmath>
#include <new>

using namespace effc::rt;

static Check checkToken(const char *list, size_t index, int32_t token,
                        uint32_t vocabulary) {
  if (token >= 0 && static_cast<uint32_t>(token) < vocabulary)
    return {};
  return invalidArgument("'", list, "' names token ", token, " in place ",
                         index, ", but the vocabulary has ", vocabulary);
}

static Check checkPenalty(const char *name, float penalty) {
  if (std::isfinite(penalty))
    return {};
  return invalidArgument("'", name, "' is ", penalty,
                         ", but a finite number is expected");
}

Check Adjustments::check(const effc_sampler_options_t &options,
                         uint32_t vocabulary) {
  if (!std::isfinite(options.repeat_penalty) || options.repeat_penalty <= 0)
    return invalidArgument("'repeat_penalty' is ", options.repeat_penalty,
                           ", but a positive finite number is expected");
  if (Check error =
          checkPenalty("frequency_penalty", options.frequency_penalty))
    return error;
  if (Check error = checkPenalty("presence_penalty", options.presence_penalty))
    return error;
  if (!options.logit_bias && options.logit_bias_count > 0)
    return invalidArgument("'logit_bias' is null, but ",
                           options.logit_bias_count,
                           " elements are to be there");
  for (size_t i = 0; i < options.logit_bias_count; ++i) {
    const effc_logit_bias_t &bias = options.logit_bias[i];
    if (Check error = checkToken("logit_bias", i, bias.token, vocabulary))
      return error;
    if (!std::isfinite(bias.bias) && bias.bias != -INFINITY)
      return invalidArgument("'logit_bias' of token ", bias.token, " is ",
                             bias.bias,
                             ", but a finite number or minus infinity is "
                             "expected");
  }
  if (!options.end_tokens && options.end_count > 0)
    return invalidArgument("'end_tokens' is null, but ", options.end_count,
                           " elements are to be there");
  for (size_t i = 0; i < options.end_count; ++i)
    if (Check error =
            checkToken("end_tokens", i, options.end_tokens[i], vocabulary))
      return error;
  return {};
}

Adjustments::Adjustments(const effc_sampler_options_t &options,
                         uint32_t vocabulary)
    : repeat(options.repeat_penalty), frequency(options.frequency_penalty),
      presence(options.presence_penalty),
      biases(options.logit_bias, options.logit_bias + options.logit_bias_count),
      ends(options.end_tokens, options.end_tokens + options.end_count),
      minTokens(options.min_tokens), seen(vocabulary), drawn(vocabulary) {
  if (!countsDrawn())
    return;
  counts.reset(
      static_cast<uint32_t *>(std::calloc(vocabulary, sizeof(uint32_t))));
  if (!counts)
    throw std::bad_alloc();
}

bool Adjustments::areActive() const {
  return repeat != 1 || countsDrawn() || !biases.empty() ||
         (tokensDrawn < minTokens && !ends.empty());
}

void Adjustments::read(int32_t token) { seen.add(token); }

void Adjustments::drew(int32_t token) {
  seen.add(token);
  ++tokensDrawn;
  if (!countsDrawn())
    return;
  drawn.add(token);
  ++counts[static_cast<size_t>(token)];
}

void Adjustments::apply(std::span<float> logits) const {
  for (const effc_logit_bias_t &bias : biases)
    logits[static_cast<size_t>(bias.token)] += bias.bias;
  if (repeat != 1)
    seen.forEach([&](size_t id) {
      float &logit = logits[id];
      logit = logit > 0 ? logit / repeat : logit * repeat;
    });
  if (countsDrawn())
    drawn.forEach([&](size_t id) {
      logits[id] -= static_cast<float>(counts[id]) * frequency;
      logits[id] -= presence;
    });
  if (tokensDrawn < minTokens)
    for (int32_t token : ends)
      logits[static_cast<size_t>(token)] = -INFINITY;
}
