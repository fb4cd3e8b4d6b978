/*===- checkpoint.h - Places that sequences return to ---------------------===*\
 *
 * A part of effc.h, which includes it. A checkpoint is a copy of a sequence's
 * states in the host's memory, outside of the engine's slots. It never changes, and
 * any number of sessions may go on from it. It costs what the sequence holds, not
 * the room for its context; one with a parent costs only what is new:
 *
 *   states of a fixed size     copied by each checkpoint
 *   keys and values            of the tokens behind the parent's position
 *
 * So of a model with attention alone, checkpoints all along a text cost together as
 * much as one at its end.
 *
 * Threads. A checkpoint may be freed on any thread. Making one and going back to
 * one belong to the engine's thread, as all that concerns its sessions.
 *
\*===---------------------------------------------------------------------===*/
#ifndef EFFC_CHECKPOINT_H
#define EFFC_CHECKPOINT_H

#include "effc.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Copies the states of `session`, which stays as it is. `parent`, or NULL, is an
 * earlier checkpoint of the same text: the session's first tokens are the parent's.
 * Nobody can check that, so a session that goes on from it is then anything.
 * The parent may be freed at any time: what both have is kept as long as one of
 * them needs it.
 *
 * EFFC_INVALID_ARGUMENT: `parent` is of another model, or at a later position.
 * EFFC_DEVICE_ERROR: the sequence was lost before, or the device has failed. */
EFFC_API effc_status_t *
effc_session_checkpoint(const effc_session_t *session,
                        const effc_checkpoint_t *parent,
                        effc_checkpoint_t **out_checkpoint);

/* Makes `session` the sequence that the checkpoint was made of, logits of its last
 * token aside: feed at least one. The session may be of another engine, and of
 * another device, if that runs the same effc_model_t. What the session was before
 * is gone. What follows has the bits of a sequence that was never copied.
 *
 * EFFC_INVALID_ARGUMENT: `checkpoint` is of another model.
 * EFFC_OUT_OF_MEMORY: there is no memory for what it holds; the session is as it
 * was.
 * EFFC_DEVICE_ERROR: the device has failed, and the sequence is lost. */
EFFC_API effc_status_t *
effc_session_restore(effc_session_t *session,
                     const effc_checkpoint_t *checkpoint);

/* Takes the last `count` tokens of the sequence back, at most all of them, so that
 * others can follow: what follows has the bits that it would have had without them.
 *
 * Keys and values have rows of their own for each token. Where there is nothing else,
 * the sequence goes back by exactly `count`, nothing is copied, and `mark` may be
 * NULL. States of a fixed size hold all tokens at once, and a window (effc_memory_t)
 * that is full has lost the rows from before. Then the sequence goes back to `mark`, a
 * checkpoint of this text from before the tokens that are taken back, and what lies in
 * between is fed again: effc_session_position() says from where on. Keys and values
 * that are still there are not copied. Nobody can check that `mark` is of this text.
 *
 * So to try up to K tokens: make a checkpoint, with the last one as its parent; feed
 * them; take back those that were wrong.
 *
 * EFFC_UNSUPPORTED: the sequence needs a mark, and there is none.
 * EFFC_INVALID_ARGUMENT: `count` is more than the position; `mark` is of another
 * model, or at a later position than the one to go back to.
 * EFFC_DEVICE_ERROR: the sequence was lost before; or the device has failed, and it is
 * lost now. */
EFFC_API effc_status_t *effc_session_rewind(effc_session_t *session,
                                            uint64_t count,
                                            const effc_checkpoint_t *mark);

/* Another handle of the same copy, which is shared: nothing is copied. */
EFFC_API effc_status_t *
effc_checkpoint_share(const effc_checkpoint_t *checkpoint,
                      effc_checkpoint_t **out_checkpoint);

/* Returns how many tokens the sequence had taken. */
EFFC_API uint64_t effc_checkpoint_position(const effc_checkpoint_t *checkpoint);

/* Returns the bytes that were copied when it was made: without what it shares with
 * its parent. */
EFFC_API uint64_t effc_checkpoint_bytes(const effc_checkpoint_t *checkpoint);

EFFC_API void effc_checkpoint_free(effc_checkpoint_t *checkpoint);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* EFFC_CHECKPOINT_H */
