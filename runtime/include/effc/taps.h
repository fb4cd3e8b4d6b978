/*===- taps.h - Inner values that a file gives ----------------------------===*\
 *
 * A part of effc.h, which includes it.
 *
\*===---------------------------------------------------------------------===*/
#ifndef EFFC_TAPS_H
#define EFFC_TAPS_H

#include "effc.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An inner value of the model, which rows hold where the file was compiled with effc
 * compile --tap. */
typedef struct effc_tap {
  size_t size;
  const char *name;      /* "layers.0.mixer:dt"; owned by the model */
  size_t first, count;   /* its numbers within a row */
  const uint32_t *shape; /* of one token's numbers; owned by the model */
  size_t rank;
} effc_tap_t;

/* Returns how many inner values a row has, one after another; 0 of a file that was
 * compiled without them. effc_model_hidden_width() is what they have together. */
EFFC_API size_t effc_model_tap_count(const effc_model_t *model);

/* Writes inner value `index`, as rows have them, to `out_tap`, whose `size` the caller
 * has set. EFFC_INVALID_ARGUMENT: there is no such value. */
EFFC_API effc_status_t *effc_model_tap(const effc_model_t *model, size_t index,
                                       effc_tap_t *out_tap);

#ifdef __cplusplus
}
#endif

#endif /* EFFC_TAPS_H */
