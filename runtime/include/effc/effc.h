/*===- effc.h - Run a compiled sequence model ----------------------------===*\
 *
 * effc compiles a model ahead of time into one .effc file; this library runs
 * such a file. Nothing is compiled here and no other library is needed; that of
 * the NVIDIA driver is opened when a GPU is asked for.
 *
 *   effc_model_t     a loaded file: what is in it, and its tokenizer
 *   effc_device_t    where it runs (the host and its threads, a GPU, a
 *                    simulated GPU): device.h, which this file includes
 *   effc_engine_t    a model made ready on a device, with memory for a fixed
 *                    number of sequences
 *   effc_session_t   one sequence: its recurrent state and its position
 *   effc_checkpoint_t  a copy of it that others go on from: checkpoint.h
 *   effc_sampler_t   chooses the next token from logits: sampler.h, likewise
 *   effc_detokenizer_t  turns a stream of tokens into text
 *   effc_status_t    why a call failed
 *
 * Status. A function that can fail returns `effc_status_t *`: NULL when all
 * went well, else an object that the caller frees with effc_status_free(). Each
 * declaration lists the codes that are particular to it; EFFC_OUT_OF_MEMORY is
 * possible wherever something is created. On failure out parameters are not
 * written.
 *
 * Null. An object, a place for a result or an array of more than no elements
 * that is NULL is EFFC_INVALID_ARGUMENT, and the message names the argument,
 * unless its declaration says what NULL means. A function without a status gives
 * 0, false or "" then, or does nothing.
 *
 * Ownership. `*_create`, `*_load` and `effc_session_fork` hand out an object
 * that the caller frees with the function of the same noun; freeing NULL does
 * nothing. Objects keep what they are made from alive (a session its engine, an
 * engine its model and device), so they may be freed in any order. After fork()
 * the child may free what it has inherited, and nothing else: there are no threads
 * for it, and a GPU is its parent's.
 *
 * Threads. A model may be used by any number of threads at once. An engine
 * together with its sessions, a sampler and a detokenizer are each used by one
 * thread at a time. Engines of one device may be driven from several threads;
 * their calls then take turns.
 *
 * Sizes. Token ids are int32_t in [0, vocabulary size). Logits are f32 rows of
 * vocabulary-size values, natural-log units, not normalised. Bytes are bytes,
 * text is UTF-8 with an explicit size and no terminating zero.
 *
 * Option structs start with their own size, so that they can grow: fill them
 * with `*_default()`, then change what you like. NULL means the defaults. A
 * size that was not set (below that of the size itself or above 4096), and a
 * field that this library does not know and that is not zero, are
 * EFFC_INVALID_ARGUMENT.
 *
\*===---------------------------------------------------------------------===*/
#ifndef EFFC_EFFC_H
#define EFFC_EFFC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define EFFC_API __attribute__((visibility("default")))
#else
#define EFFC_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef struct effc_status effc_status_t;
typedef struct effc_model effc_model_t;
typedef struct effc_device effc_device_t;
typedef struct effc_engine effc_engine_t;
typedef struct effc_session effc_session_t;
typedef struct effc_checkpoint effc_checkpoint_t;
typedef struct effc_sampler effc_sampler_t;
typedef struct effc_detokenizer effc_detokenizer_t;

/* Returns the version of the library, "0.1.0". Static storage. */
EFFC_API const char *effc_version(void);

/*===- Status ------------------------------------------------------------===*/

typedef enum effc_status_code {
  EFFC_OK = 0,
  EFFC_INVALID_ARGUMENT = 1, /* the caller passed something out of range */
  EFFC_IO_ERROR = 2,         /* the operating system refused a file */
  EFFC_BAD_DATA = 3,         /* a file is damaged or not what it should be */
  EFFC_UNSUPPORTED = 4,   /* sound, but not possible here: an ISA, a device */
  EFFC_OUT_OF_MEMORY = 5, /* memory could not be had */
  EFFC_EXHAUSTED = 6,     /* a fixed resource is used up: sessions, context */
  EFFC_INTERNAL = 7,      /* a mistake of this library */
  EFFC_DEVICE_ERROR = 8   /* a device failed while it ran: its message, and what
                             was launched */
} effc_status_code_t;

/* Returns the code of `status`; EFFC_OK for NULL. */
EFFC_API effc_status_code_t effc_status_code(const effc_status_t *status);

/* Returns one line of text without a final period or line break, owned by
 * `status`; "" for NULL. */
EFFC_API const char *effc_status_message(const effc_status_t *status);

/* Frees `status`, which may be NULL. */
EFFC_API void effc_status_free(effc_status_t *status);

/*===- Model -------------------------------------------------------------===*/

/* Loads the .effc file at `path`. The file is mapped, not read: weights cost
 * memory only as they are touched, and several processes share them. It must
 * not be changed in place while it is loaded (replacing it by renaming is
 * fine).
 *
 * The structure of the file is checked in full, and so are the checksums of
 * program, code and tokenizer; those of the weights are left to
 * effc_model_check(), since it reads them all. Damaged data gives a status. The
 * code inside is as trusted as a program.
 *
 * EFFC_IO_ERROR: cannot be opened or mapped, or is no regular file.
 * EFFC_BAD_DATA: is no .effc file, is cut short or damaged.
 * EFFC_UNSUPPORTED: written in a newer format (the message names both). */
EFFC_API effc_status_t *effc_model_load(const char *path,
                                        effc_model_t **out_model);

typedef struct effc_model_load_options {
  size_t size;
  /* For a model whose weights stay in files of their own: the folder that those
   * files are in. NULL: where the .effc file says, from its own folder. */
  const char *weights_folder;
  /* Reads the files into memory instead of mapping them. This costs their size
   * in memory of this process's own and the time to read them; afterwards
   * nothing that happens to the files matters. A mapped file that is truncated
   * in place ends the process with SIGBUS when a missing page is touched: a
   * library cannot catch it without taking the signal from its user. */
  bool copy;
  /* For timing: not 0 gives a model that was compiled from shapes alone weights
   * that are drawn at random from this seed. What it says means nothing. */
  uint64_t draw_seed;
  /* 64 hexadecimal digits: the SHA-256 that the bytes of the .effc file must
   * have. It is that of the mapped (or copied) bytes themselves, and is compared
   * before anything of them is used. NULL: any. Weights in files of their own are
   * compared with what the .effc file says of them, as always. */
  const char *sha256;
} effc_model_load_options_t;

EFFC_API effc_model_load_options_t effc_model_load_options_default(void);

/* As effc_model_load(), with options.
 *
 * EFFC_IO_ERROR, EFFC_BAD_DATA: also of a file of weights that cannot be read,
 * or that has another size, other tensors or other numbers than the one that the
 * model was compiled with. Of files with more than 64 MiB of weights, samples of
 * each weight are compared; effc_model_check() compares all.
 * EFFC_BAD_DATA: also of a file with another SHA-256 than `sha256` (the message
 * has both). EFFC_INVALID_ARGUMENT: that is not 64 hexadecimal digits. */
EFFC_API effc_status_t *
effc_model_load_with(const char *path, const effc_model_load_options_t *options,
                     effc_model_t **out_model);

EFFC_API void effc_model_free(effc_model_t *model);

/* Reads every segment and weight, those in files of their own too, and compares
 * it with its checksum; what lies between must be zero. Calls
 * `progress(user, done, total)` in bytes now and then; it may be NULL.
 * EFFC_BAD_DATA names the first segment or weight that differs. */
EFFC_API effc_status_t *
effc_model_check(const effc_model_t *model,
                 void (*progress)(void *user, uint64_t done, uint64_t total),
                 void *user);

/* Writes the SHA-256 of the .effc file's bytes to `out_digits`: 64 hexadecimal
 * digits in lower case and a terminating zero, 65 in all. Reads the whole file.
 * `progress` as in effc_model_check(). */
EFFC_API effc_status_t *
effc_model_sha256(const effc_model_t *model,
                  void (*progress)(void *user, uint64_t done, uint64_t total),
                  void *user, char *out_digits);

/* Returns how many tokens the model knows: the length of a row of logits. */
EFFC_API uint32_t effc_model_vocabulary_size(const effc_model_t *model);

/* Returns 0 of a model that gives logits. Of one that was compiled for its hidden
 * states (effc compile --hidden) or for inner values (--tap, taps.h) how long a row
 * of these is: calls give such rows wherever logits are spoken of here. Hidden states
 * are what the model's head would have multiplied. Nothing can be drawn from them. */
EFFC_API uint32_t effc_model_hidden_width(const effc_model_t *model);

/* Returns the longest sequence in tokens, 0 when there is no bound. */
EFFC_API uint64_t effc_model_max_context(const effc_model_t *model);

/* Returns everything the file says about itself as one JSON document: format,
 * provenance, segments, states, kernels, entries, targets, memory, generation.
 * Keys are only ever added. Zero-terminated, owned by the model. NULL: no memory. */
EFFC_API const char *effc_model_describe(const effc_model_t *model);

/* How the checkpoint asks to be sampled. -1 is "none" for a token. */
typedef struct effc_generation {
  size_t size;
  int32_t bos;        /* first token of a sequence */
  const int32_t *eos; /* tokens that end one; owned by the model */
  size_t eos_count;
  bool do_sample; /* false: greedy */
  float temperature;
  uint32_t top_k;       /* 0: all */
  float top_p;          /* 0: the likeliest token alone */
  float min_p;          /* 0: all */
  float repeat_penalty; /* 1: none; greedy too */
  size_t stop_count;    /* texts that end one: effc_model_stop() */
} effc_generation_t;

/* Fills `out_generation`, whose `size` the caller has set. */
EFFC_API void effc_model_generation(const effc_model_t *model,
                                    effc_generation_t *out_generation);

/* Makes `*out_text` the stop text `index`: zero-terminated, owned by the model.
 * EFFC_INVALID_ARGUMENT: `index` is not below the count. */
EFFC_API effc_status_t *effc_model_stop(const effc_model_t *model, size_t index,
                                        const char **out_text);

/* One recurrent state of a sequence. */
typedef struct effc_state_info {
  size_t size;
  const char *name;      /* "layers.0.ssd"; owned by the model */
  const char *kind;      /* "matrix", "tail", "shift", ... */
  const char *type;      /* "f32", "bf16", "f16", "int8" */
  const uint64_t *shape; /* logical; owned by the model */
  size_t rank;
  uint64_t bytes;
} effc_state_info_t;

EFFC_API size_t effc_model_state_count(const effc_model_t *model);

/* Fills `out_state` (its `size` set) for `index` below the count.
 * EFFC_INVALID_ARGUMENT: `index` is not. */
EFFC_API effc_status_t *effc_model_state(const effc_model_t *model,
                                         size_t index,
                                         effc_state_info_t *out_state);

typedef enum effc_entry_kind {
  EFFC_PREFILL = 0,
  EFFC_DECODE = 1
} effc_entry_kind_t;

/* One compiled call: of the host, or of the first target of a file that was not
 * compiled for the host. effc_model_describe() lists those of every target. */
typedef struct effc_entry_info {
  size_t size;
  const char *name; /* "prefill_256"; owned by the model */
  effc_entry_kind_t kind;
  uint32_t rows;  /* the most tokens in a call */
  uint32_t chunk; /* prompts are cut on multiples of this position */
  uint64_t arena_bytes;
} effc_entry_info_t;

EFFC_API size_t effc_model_entry_count(const effc_model_t *model);

/* Fills `out_entry` (its `size` set) for `index` below the count.
 * EFFC_INVALID_ARGUMENT: `index` is not. */
EFFC_API effc_status_t *effc_model_entry(const effc_model_t *model,
                                         size_t index,
                                         effc_entry_info_t *out_entry);

/* A run of bytes of the file. */
typedef struct effc_segment_info {
  size_t size;
  const char *kind;    /* "host_code", "sim_code", "cubin", "ptx", "seq_module",
                          "weights", "tokenizer" */
  const char *isa;     /* of code: "x86-64-v3", "sm_90a"; "" otherwise */
  const uint8_t *data; /* where it is mapped; owned by the model */
  uint64_t bytes;
} effc_segment_info_t;

EFFC_API size_t effc_model_segment_count(const effc_model_t *model);

/* Fills `out_segment` (its `size` set) for `index` below the count. Reading the
 * bytes reads the file: what is not part of effc_model_load()'s checks
 * (weights, the seq module) may be damaged, which effc_model_check() tells.
 * EFFC_INVALID_ARGUMENT: `index` is not. */
EFFC_API effc_status_t *effc_model_segment(const effc_model_t *model,
                                           size_t index,
                                           effc_segment_info_t *out_segment);

/* One weight: row-major, a row being what lies at one place of the first
 * dimension; a vector is one row. Of a matrix in panels `rows_together` rows lie
 * interleaved and count as one here; the last of them may be short of rows.
 * `columns_together` neighbours of a row share bytes: those of a block, or of a bundle
 * of blocks in files for GPUs, which has all their codes before their scales. */
typedef struct effc_weight_info {
  size_t size;
  const char *name; /* "layers.0.in_proj"; owned by the model */
  const char *type; /* "f32", "bf16", "f16", or a storage in blocks, "q8_0" */
  const uint64_t *shape; /* owned by the model */
  size_t rank;
  uint64_t row_stride_bytes; /* from a row to the next */
  const uint8_t *data;    /* owned by the model; NULL when the file has none */
  uint64_t row_bytes;     /* of a row's elements, without what pads it */
  uint32_t rows_together; /* 1, or 16 of a matrix in panels */
  uint32_t columns_together; /* 1, or the elements of a block, or of a bundle */
} effc_weight_info_t;

EFFC_API size_t effc_model_weight_count(const effc_model_t *model);

/* Fills `out_weight` (its `size` set) for `index` below the count.
 * EFFC_INVALID_ARGUMENT: `index` is not. */
EFFC_API effc_status_t *effc_model_weight(const effc_model_t *model,
                                          size_t index,
                                          effc_weight_info_t *out_weight);

/* What running the model takes, in bytes. All of it is known before the first
 * token: an engine reserves it when it is created and never asks again. */
typedef struct effc_memory {
  size_t size;
  uint64_t weights;     /* mapped from the file, shared between processes */
  uint64_t per_session; /* room for the states of one sequence */
  uint64_t arena;       /* activations, once per engine */
  uint64_t logits;      /* once per engine; committed only as far as used */
  uint64_t tables;      /* tokens, segments, launch tables; once per engine */
  /* Of per_session, what a sequence fills: so much with its first token, and so
   * much with each token until the model's windows are full. */
  uint64_t fixed_per_session;
  uint64_t per_token;
} effc_memory_t;

/* Fills `out_memory`, whose `size` the caller has set: for the host, or for the
 * first target of a file that was not compiled for the host. An engine for N
 * sessions takes arena + logits + tables + N * per_session: on a GPU all of it when
 * the engine is created, elsewhere as sequences fill it. */
EFFC_API void effc_model_memory(const effc_model_t *model,
                                effc_memory_t *out_memory);

/*===- Text --------------------------------------------------------------===*/

/* Whether the file carries a tokenizer; without one the functions of this group
 * give EFFC_UNSUPPORTED. */
EFFC_API bool effc_model_has_tokenizer(const effc_model_t *model);

typedef enum effc_tokenize_flags {
  /* Leave out the tokens that the tokenizer puts before and after a text. */
  EFFC_TOKENIZE_NO_SPECIAL = 1,
  /* Special tokens spelled out in the text are text, not tokens. */
  EFFC_TOKENIZE_PLAIN = 2
} effc_tokenize_flags_t;

/* Cuts `text` of `size` bytes into tokens. `*out_count` becomes the number of
 * tokens in all; the first `capacity` of them are written to `out_tokens`. So
 * (NULL, 0) asks for the count.
 *
 * Invalid UTF-8 is not an error: each maximal invalid run is read as U+FFFD, as
 * the Hugging Face library does for bytes.
 *
 * `flags` are effc_tokenize_flags_t, or'ed.
 * EFFC_INVALID_ARGUMENT: the text is longer than 1 GiB; `text` is NULL and
 * `size` is not 0, or `out_tokens` is NULL and `capacity` is not 0.
 * EFFC_BAD_DATA: the vocabulary has no token for a byte (named), or this text
 * takes more steps or bytes than a tokenizer may (named with its part). */
EFFC_API effc_status_t *effc_model_tokenize(const effc_model_t *model,
                                            const char *text, size_t size,
                                            uint32_t flags, int32_t *out_tokens,
                                            size_t capacity, size_t *out_count);

typedef enum effc_detokenize_flags {
  EFFC_DETOKENIZE_SKIP_SPECIAL = 1 /* special tokens give no text */
} effc_detokenize_flags_t;

/* Writes the text of `count` tokens. `*out_size` becomes its size in bytes; the
 * first `capacity` bytes are written to `out_text`. Bytes that are no UTF-8
 * become U+FFFD. Ids that the vocabulary does not define give no text.
 *
 * EFFC_INVALID_ARGUMENT: a negative id; `tokens` is NULL and `count` is not 0,
 * or `out_text` is NULL and `capacity` is not 0. EFFC_BAD_DATA: as above. */
EFFC_API effc_status_t *effc_model_detokenize(const effc_model_t *model,
                                              const int32_t *tokens,
                                              size_t count, uint32_t flags,
                                              char *out_text, size_t capacity,
                                              size_t *out_size);

/* Creates a detokenizer for a stream: it hands out text as soon as whole
 * characters are there, since a token may end inside one. `flags` as above. */
EFFC_API effc_status_t *
effc_detokenizer_create(effc_model_t *model, uint32_t flags,
                        effc_detokenizer_t **out_detokenizer);

EFFC_API void effc_detokenizer_free(effc_detokenizer_t *detokenizer);

/* Adds one token. `*out_text` and `*out_size` become the text that is now
 * certain, possibly none; it is valid UTF-8 and belongs to the detokenizer
 * until its next call. All pieces together are what effc_model_detokenize()
 * gives. EFFC_BAD_DATA: as there; then the stream has to be finished. */
EFFC_API effc_status_t *effc_detokenizer_push(effc_detokenizer_t *detokenizer,
                                              int32_t token,
                                              const char **out_text,
                                              size_t *out_size);

/* Ends the stream: what is left of a character comes out as U+FFFD. The
 * detokenizer can be used anew, after an error as well. */
EFFC_API effc_status_t *effc_detokenizer_finish(effc_detokenizer_t *detokenizer,
                                                const char **out_text,
                                                size_t *out_size);

/*===- Engine and sessions -----------------------------------------------===*/

typedef struct effc_engine_options {
  size_t size;
  uint32_t max_sessions; /* sequences that can be open at once; default 1 */
  /* Told how many bytes of how many weights have been brought to a device with
   * memory of its own; NULL: nobody is. */
  void (*progress)(void *user, uint64_t done, uint64_t total);
  void *user;
  /* Not 0: the device keeps the time of calls by its own clock, for
   * effc_engine_device_seconds(). A GPU can; elsewhere nothing is kept. */
  uint32_t keep_time;
} effc_engine_options_t;

EFFC_API effc_engine_options_t effc_engine_options_default(void);

/* Makes `model` ready on `device`, with memory for `max_sessions` sequences.
 * Everything that calls will need is reserved here: addresses are fixed, and
 * the system commits a page when it is first used, so a sequence costs the
 * memory of the tokens that it has taken, not that of its context. What could
 * not fit in the memory of the machine, or of the process's control group, is
 * refused: here what a first token of every session takes, later what a call
 * would add.
 *
 * On a GPU its own memory is taken, all of it, and the weights are brought
 * there.
 *
 * EFFC_UNSUPPORTED: the file has no code for this machine or GPU (the message
 * names what is missing), or no weights.
 * EFFC_OUT_OF_MEMORY: states, arena and inputs take more than there is in all;
 * or more than the GPU has free (the message has both numbers, and how many
 * sessions or which --max-context would fit). EFFC_BAD_DATA:
 * the driver takes none of the file's code. EFFC_INVALID_ARGUMENT:
 * `max_sessions` is 0 or above 1048576. */
EFFC_API effc_status_t *effc_engine_create(effc_model_t *model,
                                           effc_device_t *device,
                                           const effc_engine_options_t *options,
                                           effc_engine_t **out_engine);

EFFC_API void effc_engine_free(effc_engine_t *engine);

/* Returns the seconds that the device has spent on all calls so far, from the
 * arrival of their inputs to the departure of their logits, by its own clock;
 * negative where `keep_time` was not asked for or the device keeps none. */
EFFC_API double effc_engine_device_seconds(const effc_engine_t *engine);

/* Opens a sequence at position 0.
 * EFFC_EXHAUSTED: `max_sessions` are open. */
EFFC_API effc_status_t *effc_session_create(effc_engine_t *engine,
                                            effc_session_t **out_session);

/* Closes the sequence; its place can be used by another. The memory that its
 * states have filled goes back to the system, where the device has it from there
 * and it is 1 MiB or more. */
EFFC_API void effc_session_free(effc_session_t *session);

/* Goes back to position 0. Gives back the memory of keys and values as
 * effc_session_free() does, and else costs nothing; a lost sequence can be used
 * again. */
EFFC_API void effc_session_reset(effc_session_t *session);

/* Returns how many tokens the sequence has taken. */
EFFC_API uint64_t effc_session_position(const effc_session_t *session);

/* Fails, with the reason, when the sequence cannot take `count` more tokens. For
 * a prompt that is fed in pieces: a single call checks its own tokens before
 * anything runs. Costs nothing.
 *
 * EFFC_EXHAUSTED: the sequence would grow past the model's max_context (the
 * message has the count, the position and the context).
 * EFFC_OUT_OF_MEMORY: its states would not fit beside those of the other
 * sequences of the engine.
 * EFFC_DEVICE_ERROR: it was lost before. */
EFFC_API effc_status_t *effc_session_accepts(const effc_session_t *session,
                                             size_t count);

/* Opens a second sequence of the same engine that continues as `session` would:
 * copies what that holds (effc_memory_t), not the room for more.
 * EFFC_EXHAUSTED: `max_sessions` are open. EFFC_OUT_OF_MEMORY: there is no memory
 * for a copy. */
EFFC_API effc_status_t *effc_session_fork(const effc_session_t *session,
                                          effc_session_t **out_session);

/* Makes `session` continue as `from`, of the same engine, would: copies
 * what that holds. With effc_session_fork() a sequence returns to a place:
 * fork there, assign the fork back. effc_session_rewind() (checkpoint.h) takes
 * its last tokens back without a second sequence.
 * EFFC_INVALID_ARGUMENT: `from` is null or of another engine. */
EFFC_API effc_status_t *effc_session_assign(effc_session_t *session,
                                            const effc_session_t *from);

typedef enum effc_wanted {
  EFFC_LOGITS_NONE = 0,
  EFFC_LOGITS_LAST = 1, /* of the last token: 1 row */
  EFFC_LOGITS_ALL = 2   /* of every token: `count` rows */
} effc_wanted_t;

/* Tokens to feed to one sequence. */
typedef struct effc_prompt {
  effc_session_t *session;
  const int32_t *tokens;
  size_t count; /* at least 1 */
  effc_wanted_t wanted;
  float *out_logits; /* [rows wanted, vocabulary]; may be NULL when none are */
  /* sizeof(effc_prompt_t), the same of all in an array. 0, as where nothing sets
   * it, stands for the fields up to here. */
  size_t size;
} effc_prompt_t;

/* Feeds `count` prompts of any lengths, each to a sequence of its own. They are
 * packed into as few compiled calls as fit; a prompt longer than a call goes in
 * pieces that end on the model's chunk grid, which is counted from the
 * sequence's position 0. So neither the cutting nor who else is packed into a
 * call shows in the results of a model that keeps its states in f32, as all do
 * that were compiled without `--state-dtype bf16`. States in bf16 are rounded
 * where a call ends, and the results depend on both. Where the prompts
 * themselves are cut shows in no bit if the mixers of the model run step by
 * step (the default), and within f32 rounding otherwise.
 *
 * Blocks until all logits are written. Allocates nothing. Everything is checked
 * before anything runs: on failure every session has its position and state of
 * before. Running itself cannot fail on the host. Where a device fails while it
 * runs, the sequences of the call are lost: what is asked of them gives
 * EFFC_DEVICE_ERROR until they are reset, loaded or assigned to.
 *
 * The calling thread works too and needs 128 KiB of free stack.
 *
 * EFFC_INVALID_ARGUMENT: an empty prompt, a token outside the vocabulary (the
 * message holds both), a session of another engine or named twice, logits
 * wanted but nowhere to write them.
 * EFFC_EXHAUSTED: a sequence would grow past the model's max_context.
 *
 * EFFC_OUT_OF_MEMORY: the states of all sequences would take more memory than
 * there is. Nothing has run, and no session has changed.
 *
 * EFFC_DEVICE_ERROR: a device failed; a sequence was lost before. */
EFFC_API effc_status_t *effc_engine_prefill(effc_engine_t *engine,
                                            const effc_prompt_t *prompts,
                                            size_t count);

/* Advances `count` sequences by one token each: tokens[i] goes to sessions[i].
 * `out_logits` receives f32 [count, vocabulary], in this order; NULL when they
 * are not wanted. Any count: it is split over the compiled calls.
 *
 * Blocks until the logits are written; allocates nothing. Failure, stack and
 * errors as effc_engine_prefill(). */
EFFC_API effc_status_t *effc_engine_decode(effc_engine_t *engine,
                                           effc_session_t *const *sessions,
                                           const int32_t *tokens, size_t count,
                                           float *out_logits);

/* The same, but gives the likeliest token of each sequence instead of logits:
 * out_tokens[i] is the token of the largest logit, of several the lowest, as a
 * sampler with temperature 0 and without a repeat penalty draws it; -1 where a
 * logit is NaN or all are minus infinity. On a GPU no logits are written where
 * the file was compiled for that, and 8 bytes a sequence come back; elsewhere
 * they are looked through. `out_tokens` may be `tokens`; after a failure what
 * it holds is not defined, as the sessions are lost. Errors as
 * effc_engine_decode(). */
EFFC_API effc_status_t *effc_engine_decode_best(effc_engine_t *engine,
                                                effc_session_t *const *sessions,
                                                const int32_t *tokens,
                                                size_t count,
                                                int32_t *out_tokens);

/* The same, but gives the token that samplers[i] draws for sessions[i], as
 * effc_sampler_sample() would from its logits; -1 where that would fail, which
 * counts as a draw and adds no token to those seen. On a GPU no logits are
 * written where the file was compiled for that, in calls in which no sampler
 * has a repeat penalty, top_k, top_p or min_p; elsewhere the samplers are given
 * them. The tokens are the same either way.
 *
 * `samplers` has `count` of them, which stay the caller's; one may stand there
 * several times and draws in the order of i. During the call nobody else may
 * use them. If a device fails, they may have counted draws.
 * EFFC_INVALID_ARGUMENT, besides: one is null or of another vocabulary size.
 * Other errors and `out_tokens` as effc_engine_decode_best(). */
EFFC_API effc_status_t *
effc_engine_decode_draw(effc_engine_t *engine, effc_session_t *const *sessions,
                        effc_sampler_t *const *samplers, const int32_t *tokens,
                        size_t count, int32_t *out_tokens);

#ifdef __cplusplus
} /* extern "C" */
#endif

#include "chat.h"       /* how a conversation becomes a text */
#include "checkpoint.h" /* places that sequences return to */
#include "counters.h"   /* what an engine has done */
#include "device.h"     /* where models run */
#include "grammar.h"    /* texts that follow a grammar */
#include "profile.h"    /* what ran when */
#include "sampler.h"    /* the next token from logits */
#include "scheduler.h"  /* many requests on one engine */
#include "state.h"      /* sequences as files */
#include "steps.h"      /* several steps of decoding in one call */
#include "stop.h"       /* texts that end a stream of text */
#include "taps.h"       /* inner values that a file gives */
#include "version.h"

#endif /* EFFC_EFFC_H */
