/*===- steps.h - Several steps of decoding in one call --------------------===*\
 *
 * A part of effc.h, which includes it.
 *
\*===---------------------------------------------------------------------===*/
#ifndef EFFC_STEPS_H
#define EFFC_STEPS_H

#include "effc.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct effc_steps_options {
  size_t size;
  /* Tokens behind which a sequence takes no further step: `eos` of
   * effc_generation_t, and others. Read during the call. Default: none. */
  const int32_t *end_tokens;
  size_t end_count;
} effc_steps_options_t;

EFFC_API effc_steps_options_t effc_steps_options_default(void);

/* Takes up to `steps` steps in one call: each is what effc_engine_decode_draw() does,
 * or effc_engine_decode_best() where `samplers` is NULL, and feeds every sequence the
 * token that the step before gave for it, `tokens` in the first. The tokens are those
 * of as many calls, bit for bit. A sequence that draws an end token, or -1, takes no
 * further step, and the compiled calls of the others are made without it.
 *
 * `out_tokens` receives [count, steps], and may not overlap `tokens`: row i begins
 * with the out_lengths[i] tokens that sequence i drew, 1 to `steps` of them; the last
 * of fewer is an end token or -1. The rest of the row is -1. As behind single calls
 * the last token drawn has not been fed: sessions[i] has moved by out_lengths[i]
 * tokens, from tokens[i] on.
 *
 * A sampler that stands there several times draws in the order of i, step by step. A
 * mask (effc_sampler_set_mask) holds for its sampler's first draw alone.
 *
 * Blocks until all steps are done; allocates nothing. Everything is checked before
 * anything runs, for all of `steps`, and what steps that are not taken would fill is
 * not filled. Where a device fails, the sequences that took part in that step are
 * lost, those that had ended before are not; what the arrays hold is not defined.
 *
 * EFFC_INVALID_ARGUMENT, besides: `steps` is 0; an end token outside the vocabulary.
 * EFFC_EXHAUSTED: a sequence would grow past the model's max_context in `steps` steps:
 * ask for fewer. Other errors as effc_engine_decode_draw(). */
EFFC_API effc_status_t *
effc_engine_decode_steps(effc_engine_t *engine, effc_session_t *const *sessions,
                         effc_sampler_t *const *samplers, const int32_t *tokens,
                         size_t count, size_t steps,
                         const effc_steps_options_t *options,
                         int32_t *out_tokens, size_t *out_lengths);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* EFFC_STEPS_H */
