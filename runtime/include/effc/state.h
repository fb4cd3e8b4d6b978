/*===- state.h - Sequences that outlive a process -------------------------===*\
 *
 * A part of effc.h, which includes it: sessions saved to files or memory, and
 * loaded again.
 *
\*===---------------------------------------------------------------------===*/
#ifndef EFFC_STATE_H
#define EFFC_STATE_H

#include "effc.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Writes the sequence's states and position to a state file. It holds the
 * logical state, not a memory image, so it can be loaded by another process,
 * build or device, and where states are kept in another floating-point type.
 * The file appears under its name when it is complete; one of that name is
 * replaced and its mode kept, and a symbolic link stays one. Once this returns, a
 * loss of power does not undo it. What a killed writer of the name has left
 * beside it is removed. What the sequence was told of the past is all in there, but not the
 * logits of its last token: feed at least one token after loading.
 *
 * EFFC_IO_ERROR: cannot be written, or something other than a regular file is
 * there. */
EFFC_API effc_status_t *effc_session_save(const effc_session_t *session,
                                          const char *path);

typedef struct effc_save_options {
  size_t size;
  /* Does not wait until the disk has the file: for measurements, and for states
   * that may be lost with the machine. */
  bool no_sync;
} effc_save_options_t;

EFFC_API effc_save_options_t effc_save_options_default(void);

/* As effc_session_save(), with options. */
EFFC_API effc_status_t *
effc_session_save_with(const effc_session_t *session, const char *path,
                       const effc_save_options_t *options);

/* Returns the instruction sets of the code by which the sequence was computed,
 * "x86-64-v3" or, where it was moved, "x86-64-v3, x86-64-v4", owned by the session
 * until its next call. "" where it has taken no token.
 *
 * A sequence may go on by other code than it was begun with. Its logits are then
 * those of neither alone: they differ in their last bits, as all results do
 * between the levels of the host and between devices. */
EFFC_API const char *effc_session_isas(const effc_session_t *session);

/* Makes `session` the sequence that was saved to `path`; what it was before is
 * gone. On failure it is left as it was. Widening conversions of states are
 * exact, narrowing ones round to nearest even.
 *
 * EFFC_IO_ERROR: cannot be opened or read, or is no regular file.
 * EFFC_BAD_DATA: is no state file, is cut short or damaged, holds a NaN, is of
 * another model (of other weights), has a state that the model has not, or in
 * another shape or kind (named), or is longer than the model's context.
 * EFFC_UNSUPPORTED: written in a newer format (the message names both). */
EFFC_API effc_status_t *effc_session_load(effc_session_t *session,
                                          const char *path);

/* The same to memory: `*out_size` becomes the size of the state in bytes, the
 * first `capacity` of them are written to `out_bytes`. So (NULL, 0) asks for
 * the size, which depends on the model alone unless it keeps keys and values:
 * of those the tokens that are held are saved. */
EFFC_API effc_status_t *effc_session_save_memory(const effc_session_t *session,
                                                 void *out_bytes,
                                                 size_t capacity,
                                                 size_t *out_size);

/* The same from memory; `bytes` is not needed afterwards. */
EFFC_API effc_status_t *effc_session_load_memory(effc_session_t *session,
                                                 const void *bytes,
                                                 size_t size);

/* Writes a state file, as effc_session_save_with() does of a session. Any thread.
 * EFFC_IO_ERROR: the file cannot be written; what was there is there still. */
EFFC_API effc_status_t *
effc_checkpoint_save(const effc_checkpoint_t *checkpoint, const char *path,
                     const effc_save_options_t *options);

/* Reads a state file, without an engine. Any thread. Errors as
 * effc_session_load(). */
EFFC_API effc_status_t *
effc_checkpoint_load(const effc_model_t *model, const char *path,
                     effc_checkpoint_t **out_checkpoint);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* EFFC_STATE_H */
