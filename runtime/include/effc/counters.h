/*===- counters.h - What an engine has done -------------------------------===*\
 *
 * A part of effc.h, which includes it: numbers for a page of metrics. They are
 * always kept, since keeping them costs two readings of a clock a compiled call.
 *
\*===---------------------------------------------------------------------===*/
#ifndef EFFC_COUNTERS_H
#define EFFC_COUNTERS_H

#include "effc.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Since the engine was created; what ends in `_now` is how things stand. Calls are
 * compiled calls: one call of the C API may take several. */
typedef struct effc_engine_counters {
  size_t size;
  uint64_t calls;
  uint64_t prefill_tokens;   /* taken by calls of prefill entries */
  uint64_t decode_tokens;    /* and of decode entries */
  double seconds;            /* in calls: wall time, from inputs to logits */
  double choice_seconds;     /* in which logits became tokens on the host */
  uint64_t copies;           /* forks, assignments, saves and loads */
  uint64_t copied_bytes;     /* what these moved */
  uint32_t sessions_now;     /* that are open */
  uint32_t sessions_most;    /* that have been open at once */
  uint64_t state_bytes_now;  /* that the states of all sessions have filled */
  uint64_t state_bytes_most; /* the most that they had */
} effc_engine_counters_t;

/* Fills `out_counters`, whose `size` the caller has set. To be called by the
 * thread that uses the engine, as all of its functions are. */
EFFC_API void effc_engine_counters(const effc_engine_t *engine,
                                   effc_engine_counters_t *out_counters);

/* The same of one compiled entry. `tokens` over `calls` times `rows` is how full
 * its calls were. A call that failed counts as a call. */
typedef struct effc_entry_counters {
  size_t size;
  const char *name; /* "decode_4"; owned by the engine's model */
  effc_entry_kind_t kind;
  uint32_t rows; /* the most tokens in a call */
  uint64_t calls;
  uint64_t tokens;
  uint64_t outputs; /* rows of logits, or choices */
  double seconds;
} effc_entry_counters_t;

/* Returns how many entries the engine runs: those of its device's code, which may
 * be others than effc_model_entry() lists. */
EFFC_API size_t effc_engine_entry_count(const effc_engine_t *engine);

/* Fills `out_counters` (its `size` set) for `index` below the count.
 * EFFC_INVALID_ARGUMENT: `index` is not. */
EFFC_API effc_status_t *
effc_engine_entry_counters(const effc_engine_t *engine, size_t index,
                           effc_entry_counters_t *out_counters);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* EFFC_COUNTERS_H */
