/*===- profile.h - What ran when -----------------------------------------===*\
 *
 * A part of effc.h, which includes it: a timeline of an engine's calls and their
 * launches, for the viewers that read Chrome's trace format (Perfetto,
 * chrome://tracing). Each launch has the name of what it was made from, such as
 * "layers.0.in_proj".
 *
 * Without a profile a launch costs one comparison more. With one, the clock is read
 * twice for each part that a thread does; on a GPU decode steps are not recorded as
 * graphs, and launches do not overlap.
 *
\*===---------------------------------------------------------------------===*/
#ifndef EFFC_PROFILE_H
#define EFFC_PROFILE_H

#include "effc.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct effc_profile_options {
  size_t size;
  /* Parts of launches that are kept, 56 bytes each; default 1,048,576. Those beyond
   * are counted in the file alone. */
  uint64_t max_parts;
} effc_profile_options_t;

EFFC_API effc_profile_options_t effc_profile_options_default(void);

/* Begins a profile of `engine`, in place of one that had begun. To be called by the
 * thread that uses the engine, as the next one is; `options` may be NULL.
 * EFFC_INVALID_ARGUMENT: `max_parts` is 0. EFFC_OUT_OF_MEMORY: they do not fit. */
EFFC_API effc_status_t *
effc_profile_start(effc_engine_t *engine,
                   const effc_profile_options_t *options);

/* Ends the profile and writes what has run since its start to the file `path`, which
 * is replaced when it is whole.
 * EFFC_INVALID_ARGUMENT: none has begun. EFFC_IO_ERROR: the file cannot be written;
 * the profile has ended. */
EFFC_API effc_status_t *effc_profile_save(effc_engine_t *engine,
                                          const char *path);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* EFFC_PROFILE_H */
