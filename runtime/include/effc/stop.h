/*===- stop.h - Texts that end a stream of text ---------------------------===*\
 *
 * A part of effc.h, which includes it.
 *
\*===---------------------------------------------------------------------===*/
#ifndef EFFC_STOP_H
#define EFFC_STOP_H

#include "effc.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Looks for stop texts in the text of one sequence, as it comes from a
 * detokenizer. Tokens end where they like: a stop text may begin in one and end in
 * another. Used by one thread at a time. */
typedef struct effc_stop effc_stop_t;

/* Creates one for `count` texts, zero-terminated, which are copied.
 * EFFC_INVALID_ARGUMENT: one is null or empty (named by its index). */
EFFC_API effc_status_t *effc_stop_create(const char *const *texts, size_t count,
                                         effc_stop_t **out_stop);

EFFC_API void effc_stop_free(effc_stop_t *stop);

/* Adds `text` of `size` bytes. `*out_text` and `*out_size` become what comes
 * before any stop text for certain, possibly nothing: an end that may be the
 * beginning of one is held back. It belongs to `stop` until its next call.
 * `*out_index` becomes the stop text that has come, -1 while none has; the first
 * that comes, and of several at one place the first given. From then on all text
 * is swallowed, until effc_stop_finish(). */
EFFC_API effc_status_t *effc_stop_push(effc_stop_t *stop, const char *text,
                                       size_t size, const char **out_text,
                                       size_t *out_size, int32_t *out_index);

/* Ends the text: what was held back is shown after all. The object can be used
 * anew, for another text. */
EFFC_API effc_status_t *
effc_stop_finish(effc_stop_t *stop, const char **out_text, size_t *out_size);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* EFFC_STOP_H */
