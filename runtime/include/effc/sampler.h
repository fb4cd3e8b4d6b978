/*===- sampler.h - The next token from logits -----------------------------===*\
 *
 * A part of effc.h, which includes it.
 *
\*===---------------------------------------------------------------------===*/
#ifndef EFFC_SAMPLER_H
#define EFFC_SAMPLER_H

#include "effc.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What is added to the logit of one token. */
typedef struct effc_logit_bias {
  int32_t token;
  float bias; /* finite, or minus infinity: never drawn */
} effc_logit_bias_t;

/* Logits are changed in this order: bias, repeat penalty, frequency and presence
 * penalty, ends excluded. Then filters apply, as in the Hugging Face library:
 * temperature, top_k, top_p, min_p, typical_p; then one token is drawn, by noise
 * that depends on the seed, the number of the draw and the token alone. */
typedef struct effc_sampler_options {
  size_t size;
  float temperature; /* 0: greedy, the most likely token; ties: lowest id.
                        Below 2^-95 as 2^-95, above 2^126 as 2^126 */
  uint32_t top_k;    /* keep the k most likely; 0: all */
  float top_p; /* keep the fewest of this probability; 1: all, 0: the best */
  float min_p; /* keep those at least this fraction of the best; 0: all */
  float repeat_penalty; /* divides (multiplies when negative) the logits of
                           tokens seen before; 1: none */
  uint64_t seed;        /* same seed and logits: same tokens, on any machine */
  /* Keep those whose surprise is nearest to the expected one, of this probability
   * together; 0 and 1: all. Tokens below 2^-51 of the best are not looked at. */
  float typical_p;
  /* Subtracted from the logits of tokens that were drawn before: once for each
   * time, and once. The prompt does not count. 0: nothing. */
  float frequency_penalty;
  float presence_penalty;
  /* Added to logits, also of greedy choices; read when the sampler is created.
   * Of a token that stands there twice both count. */
  const effc_logit_bias_t *logit_bias;
  size_t logit_bias_count;
  /* Tokens that end a text, and how many others have to be drawn before one of
   * them can be; read when the sampler is created. */
  const int32_t *end_tokens;
  size_t end_count;
  uint64_t min_tokens;
  /* Not 0: of each draw keeps the log-probability of the token, and those of the
   * `logprobs` - 1 likeliest, for effc_sampler_logprobs(). At most 1 + the size of
   * the vocabulary. */
  uint32_t logprobs;
} effc_sampler_options_t;

/* Greedy; seed 0. */
EFFC_API effc_sampler_options_t effc_sampler_options_default(void);

/* The options that the checkpoint asks for (effc_model_generation); seed 0. Its
 * end tokens, which stay the model's, are there for whoever sets `min_tokens`. */
EFFC_API effc_sampler_options_t
effc_sampler_options_for_model(const effc_model_t *model);

/* Creates a sampler for rows of `vocabulary_size` logits.
 * EFFC_INVALID_ARGUMENT: 'temperature' negative or not finite; 'top_p' not in
 * [0, 1]; 'min_p' or 'typical_p' not in [0, 1]; 'repeat_penalty' not positive and
 * finite; another penalty not finite; a bias that is NaN or plus infinity, or of a
 * token outside the vocabulary, as of an end token; 'logprobs' too many; no
 * vocabulary. */
EFFC_API effc_status_t *
effc_sampler_create(const effc_sampler_options_t *options,
                    uint32_t vocabulary_size, effc_sampler_t **out_sampler);

EFFC_API void effc_sampler_free(effc_sampler_t *sampler);

/* Tells the sampler of tokens that count as seen for the repeat penalty: those
 * of the prompt. Drawn tokens count by themselves, for all penalties.
 * EFFC_INVALID_ARGUMENT: a token outside the vocabulary. */
EFFC_API effc_status_t *effc_sampler_accept(effc_sampler_t *sampler,
                                            const int32_t *tokens,
                                            size_t count);

/* Of the next draw, which an engine may make too, only those tokens may come whose
 * bit is set: bit t % 64 of word t / 64 for token t, in (vocabulary size + 63) / 64
 * words, as effc_grammar_matcher_mask() gives them. The others count as minus
 * infinity behind all other changes; noise and log-probabilities stay what they
 * are. `mask` is read by that draw, until when it is to stay; NULL: any token. */
EFFC_API void effc_sampler_set_mask(effc_sampler_t *sampler,
                                    const uint64_t *mask);

/* Draws a token from one row of logits and counts it as seen. Allocates nothing,
 * but once on each other thread than the one that created the sampler. After a
 * failure the draw counts all the same.
 *
 * EFFC_BAD_DATA: a logit is NaN (the message names the token), or all are minus
 * infinity, as those are that a mask leaves out. */
EFFC_API effc_status_t *effc_sampler_sample(effc_sampler_t *sampler,
                                            const float *logits,
                                            int32_t *out_token);

/* Makes `*out_token` what the draw that is `ahead` behind the next one would give of
 * one row of logits, as far as is known now: with its noise, and with the tokens that
 * have been seen so far; a mask counts for the next draw alone. -1: none. Nothing
 * counts as drawn. So a smaller model guesses what will be drawn from a larger one.
 * Allocates nothing, but once on each other thread than that of the creation. */
EFFC_API effc_status_t *effc_sampler_guess(const effc_sampler_t *sampler,
                                           const float *logits, uint64_t ahead,
                                           int32_t *out_token);

/* A token, and the natural logarithm of its probability. */
typedef struct effc_logprob {
  int32_t token;
  float logprob;
} effc_logprob_t;

/* Writes what a row of logits says of `token`, and then of the `count` - 1
 * likeliest, the likeliest first, of equal ones the lowest. Logits as they are: at
 * temperature 1, before penalties and filters. The sum of all is taken in double,
 * so that numbers are right to the last bit of f32 or the one beside it.
 *
 * EFFC_INVALID_ARGUMENT: `token` is not below `vocabulary_size`; `count` is 0 or
 * above 1 + that. EFFC_BAD_DATA: as effc_sampler_sample(). */
EFFC_API effc_status_t *effc_logprobs(const float *logits,
                                      uint32_t vocabulary_size, int32_t token,
                                      effc_logprob_t *out_logprobs,
                                      size_t count);

/* Makes `*out_logprobs` what effc_logprobs() writes for the token drawn last, with
 * the count that `logprobs` of the options says; the sampler's until its next
 * draw. `*out_count` is 0 where the last draw gave none.
 * EFFC_INVALID_ARGUMENT: the options ask for none. */
EFFC_API effc_status_t *
effc_sampler_logprobs(const effc_sampler_t *sampler,
                      const effc_logprob_t **out_logprobs, size_t *out_count);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* EFFC_SAMPLER_H */
