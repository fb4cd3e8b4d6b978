// effc_sampler_*: the next token from logits.

#include "runtime/src/Sampler.h"
#include "runtime/src/Status.h"
#include "runtime/src/capi/Handles.h"
#include "runtime/src/system/FloatMode.h"

using namespace effc::rt;

effc_sampler_options_t effc_sampler_options_default(void) {
  effc_sampler_options_t options = {};
  options.size = sizeof options;
  options.top_p = 1;
  options.repeat_penalty = 1;
  return options;
}

effc_sampler_options_t
effc_sampler_options_for_model(const effc_model_t *model) {
  effc_sampler_options_t options = effc_sampler_options_default();
  if (!model)
    return options;
  effc_generation_t generation = {};
  generation.size = sizeof generation;
  effc_model_generation(model, &generation);
  if (generation.do_sample) {
    options.temperature = generation.temperature;
    options.top_k = generation.top_k;
    options.top_p = generation.top_p;
    options.min_p = generation.min_p;
  }
  // It holds for the likeliest token, too, as in the public library.
  options.repeat_penalty = generation.repeat_penalty;
  options.end_tokens = generation.eos;
  options.end_count = generation.eos_count;
  return options;
}

effc_status_t *effc_sampler_create(const effc_sampler_options_t *options,
                                   uint32_t vocabulary_size,
                                   effc_sampler_t **out_sampler) {
  return atBorder([&]() -> Check {
    if (Check error = requireGiven({{"out_sampler", out_sampler}}))
      return error;
    auto given = readSized(options, effc_sampler_options_default());
    if (!given)
      return given.error();
    auto sampler = Sampler::create(*given, vocabulary_size);
    if (!sampler)
      return sampler.error();
    *out_sampler = new effc_sampler{std::move(*sampler)};
    return {};
  });
}

void effc_sampler_free(effc_sampler_t *sampler) { delete sampler; }

effc_status_t *effc_sampler_accept(effc_sampler_t *sampler,
                                   const int32_t *tokens, size_t count) {
  return atBorder([&]() -> Check {
    if (Check error = requireGiven({{"sampler", sampler}}))
      return error;
    if (Check error = requireArray({"tokens", tokens}, count))
      return error;
    return sampler->sampler.accept({tokens, count});
  });
}

void effc_sampler_set_mask(effc_sampler_t *sampler, const uint64_t *mask) {
  if (sampler)
    sampler->sampler.setMask(mask);
}

effc_status_t *effc_sampler_sample(effc_sampler_t *sampler, const float *logits,
                                   int32_t *out_token) {
  return atBorder([&]() -> Check {
    if (Check error = requireGiven({{"sampler", sampler},
                                    {"logits", logits},
                                    {"out_token", out_token}}))
      return error;
    auto token =
        sampler->sampler.sample({logits, sampler->sampler.vocabularySize()});
    if (!token)
      return token.error();
    *out_token = *token;
    return {};
  });
}

effc_status_t *effc_sampler_guess(const effc_sampler_t *sampler,
                                  const float *logits, uint64_t ahead,
                                  int32_t *out_token) {
  return atBorder([&]() -> Check {
    if (Check error = requireGiven({{"sampler", sampler},
                                    {"logits", logits},
                                    {"out_token", out_token}}))
      return error;
    const Sampler &own = sampler->sampler;
    SamplingScratch &scratch = SamplingScratch::ofThread();
    scratch.reserve(own.vocabularySize());
    DefaultFloatMode mode;
    *out_token = own.guess({logits, own.vocabularySize()}, ahead, scratch);
    return {};
  });
}

effc_status_t *effc_logprobs(const float *logits, uint32_t vocabulary_size,
                             int32_t token, effc_logprob_t *out_logprobs,
                             size_t count) {
  return atBorder([&]() -> Check {
    if (Check error =
            requireGiven({{"logits", logits}, {"out_logprobs", out_logprobs}}))
      return error;
    if (token < 0 || static_cast<uint32_t>(token) >= vocabulary_size)
      return invalidArgument("'token' is ", token, ", but the vocabulary has ",
                             vocabulary_size);
    if (count == 0 || count > uint64_t(vocabulary_size) + 1)
      return invalidArgument("'count' is ", count, ", but 1 to 1 + ",
                             vocabulary_size, " are possible");
    SamplingScratch &scratch = SamplingScratch::ofThread();
    scratch.reserve(vocabulary_size);
    std::span<const float> row(logits, vocabulary_size);
    if (!scratch.logprobs(row, token, {out_logprobs, count}))
      return LogitRow::whyNone(row);
    return {};
  });
}

effc_status_t *effc_sampler_logprobs(const effc_sampler_t *sampler,
                                     const effc_logprob_t **out_logprobs,
                                     size_t *out_count) {
  return atBorder([&]() -> Check {
    if (Check error = requireGiven({{"sampler", sampler},
                                    {"out_logprobs", out_logprobs},
                                    {"out_count", out_count}}))
      return error;
    if (!sampler->sampler.keepsLogprobs())
      return invalidArgument("'logprobs' of the sampler's options is 0: none "
                             "are kept");
    std::span<const effc_logprob_t> kept = sampler->sampler.logprobs();
    *out_logprobs = kept.data();
    *out_count = kept.size();
    return {};
  });
}
