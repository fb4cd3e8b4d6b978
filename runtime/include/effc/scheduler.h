/*===- scheduler.h - Many requests on one engine --------------------------===*\
 *
 * A part of effc.h, which includes it. A scheduler runs the requests that any
 * number of threads submit: prompts in pieces beside decoding, all sequences that
 * decode in one call a step, and each ended by its own rules.
 *
 *   submit ──> waiting ──> prompt ──> decoding ──> end
 *                 │ a session and      │ events: a token with its text,
 *                 │ memory are free    │ and how the request ended
 *
 * What a request gets depends on the model, the request and its seed alone: the
 * tokens are those that it would get alone, as effc_engine_prefill() promises for
 * cuts and company.
 *
 * Threads. Every function may be called from any thread at any time, but for
 * effc_scheduler_poll(), which is for one thread at a time, and
 * effc_scheduler_free(), after which there is no scheduler. The engine, its
 * sessions included, belongs to the scheduler from effc_scheduler_create() to
 * effc_scheduler_free(): nobody else may use it in between.
 *
\*===---------------------------------------------------------------------===*/
#ifndef EFFC_SCHEDULER_H
#define EFFC_SCHEDULER_H

#include "effc.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct effc_scheduler effc_scheduler_t;

typedef enum effc_event_kind {
  EFFC_EVENT_NONE = 0,
  EFFC_EVENT_TOKEN = 1, /* one more token; its text may come with a later one */
  EFFC_EVENT_END = 2,   /* the last of a request, with the rest of its text */
  EFFC_EVENT_PROMPT = 3 /* what the model said of tokens of the prompt */
} effc_event_kind_t;

typedef enum effc_end {
  EFFC_END_TOKEN =
      0,             /* the model's own end, or that of the request's grammar */
  EFFC_END_STOP = 1, /* a stop text or stop token of the request */
  EFFC_END_LENGTH = 2,  /* `max_tokens` were generated */
  EFFC_END_CONTEXT = 3, /* the model takes no more */
  EFFC_END_CANCELLED = 4,
  EFFC_END_DEADLINE = 5,
  EFFC_END_UNREAD = 6, /* its reader took too long */
  EFFC_END_FAILED = 7  /* `message` says why */
} effc_end_t;

/* Why a prompt was not taken from the cache as far as it could have been. */
typedef enum effc_cache_miss {
  EFFC_CACHE_HIT = 0,       /* all that it shares with earlier texts was used */
  EFFC_CACHE_NO_PREFIX = 1, /* nothing begins as it does */
  EFFC_CACHE_NEAREST =
      2, /* it shares more, but the last checkpoint is before */
  EFFC_CACHE_INEXACT =
      3, /* there is a later one, but other bits would follow */
  EFFC_CACHE_EVICTED = 4,  /* there was a later one, but room was needed */
  EFFC_CACHE_DISABLED = 5, /* by the scheduler's options, or the request's */
  EFFC_CACHE_NEW_SALT = 6  /* nothing has the request's salt; other salts do */
} effc_cache_miss_t;
#define EFFC_CACHE_MISSES 7

/* What happened to a request. Pointers belong to the scheduler, until the next
 * effc_scheduler_poll(), or the end of the callback. */
typedef struct effc_event {
  size_t size;
  effc_event_kind_t kind;
  effc_end_t end;   /* of EFFC_EVENT_END */
  uint64_t request; /* that effc_scheduler_submit() has given */
  uint32_t choice;  /* of the request's: 0 and up; each has an end of its own */
  void *user;       /* of the request */
  int32_t token;    /* of EFFC_EVENT_TOKEN; else -1 */
  int32_t stop;     /* of EFFC_END_STOP: the index of the stop text, or -1 */
  const char *text; /* that is certain now; "" without a tokenizer */
  size_t text_size;
  const struct effc_logprob
      *logprobs; /* as effc_sampler_logprobs() gives them */
  size_t logprob_count;
  const char *message; /* of EFFC_END_FAILED; else "" */
  uint64_t
      prompt_tokens;   /* of the request, and what it has generated so far: */
  uint64_t new_tokens; /* an end token and a stop token do not count */
  /* Of EFFC_EVENT_PROMPT: `logprobs` has `prompt_logprobs` of the request for each
   * of so many tokens of the prompt, from this one on. The first is 1: nothing is
   * said of the prompt's first token. */
  uint64_t prompt_begin, prompt_count;
  effc_status_code_t code; /* of EFFC_END_FAILED: EFFC_DEVICE_ERROR, or
                              EFFC_BAD_DATA where logits are not numbers */
  /* Of the prompt: so many tokens were not fed, since the states behind them were
   * kept; so many it shares with texts that are kept, which may be more; and of
   * how many behind `cached_tokens` the states have been kept for others. */
  uint64_t cached_tokens, matched_tokens, kept_tokens;
  effc_cache_miss_t cache_miss;
  bool is_near; /* what follows may have other bits than without a cache */
  uint64_t drafted_tokens, accepted_tokens; /* that were guessed; and rightly */
  /* Of EFFC_EVENT_END, where `keep_states` of the request asked: the states of the
   * tokens that the choice was fed, the prompt's and then its own. The last token
   * drawn is not among them. NULL: nothing was fed, it failed, or memory lacked.
   * effc_checkpoint_share() keeps it. */
  const effc_checkpoint_t *states;
  /* Of EFFC_EVENT_END, in nanoseconds by the scheduler's clock: from the submission to
   * its place among those that run, or to its end; from there to its first token; and
   * from that to its last. 0 where it did not come so far. */
  uint64_t queued_ns, prompt_ns, decode_ns;
} effc_event_t;

typedef struct effc_scheduler_options {
  size_t size;
  uint32_t max_running; /* sequences at once; 0: the engine's max_sessions */
  uint32_t max_queue;   /* requests that wait besides; default 256 */
  /* Prompt tokens of a step while others decode; default 64. More answers new
   * requests sooner and makes the others stutter. A piece may have one chunk of
   * the model's grid in any case. It sets speed, and no token. */
  uint32_t step_tokens;
  /* What one request may ask for, which bounds how long others wait: new tokens,
   * default 4096, and prompt tokens, default 0: what the context takes. */
  uint64_t max_new_tokens, max_prompt_tokens;
  uint32_t
      max_choices; /* likewise; default 8, or `max_running` if that is less */
  /* What states may take; 0: what the engine has. */
  uint64_t max_state_bytes;
  /* A waiting request counts as one class more after each so many steps; default
   * 32. */
  uint32_t age_steps;
  /* A request with so many unread events waits for its reader (default 4096), and
   * ends when that takes so long (default 10^10: ten seconds). */
  uint32_t max_unread;
  uint64_t reader_ns;
  /* How often a request is run again after a device has failed; default 2. */
  uint32_t max_retries;
  /* NULL: events wait for effc_scheduler_poll(). Else each is told to this
   * function, on the thread that steps, one after another. It may submit and
   * cancel, and calls no other function of the scheduler. */
  void (*on_event)(void *user, const effc_event_t *event);
  void *on_event_user;
  /* Nanoseconds that only grow; NULL: the system's. */
  uint64_t (*clock)(void *user);
  void *clock_user;
  /* Memory of the host for states of texts that have been fed, from which requests
   * go on that begin alike; 0, the default: none. On the host it is taken from what
   * sequences may have. */
  uint64_t cache_bytes;
  /* States of long prompts are kept every so many tokens; default 2048; 0: not for
   * their number. Of models in which nothing is fixed any position will do. */
  uint32_t checkpoint_every;
  /* Not 0: goes on from states, too, behind which other bits may follow than
   * without a cache. Such hits are counted apart. */
  uint32_t cache_near;
  /* A folder for kept states, which is made if it is not there, and how many bytes of
   * this model's they may have; NULL: none. What is kept in memory is written there
   * meanwhile, and found again by later processes. Files that are damaged, or of
   * other code, are refused and counted. When the disk refuses to be written to,
   * the folder is left alone from then on. Whoever can write to it can change what
   * models say. */
  const char *cache_dir;
  uint64_t cache_disk_bytes;
  /* An engine with a smaller model of the same tokens, which guesses for requests with
   * `draft_tokens` where their own text says nothing: up to `draft_model_tokens` at a
   * time, default 4, and no more than the request has. It belongs to the scheduler as
   * the engine itself does, which keeps it alive. So many requests as it has sessions
   * are guessed for at once. Their states count as others do, and a request for which
   * there is no room goes without guesses. A guess is what the request's sampler draws
   * from the small model's logits, by the same noise; a wrong one costs time, and so
   * does a call of the small model that fails. NULL: none. */
  effc_engine_t *draft_engine;
  uint32_t draft_model_tokens;
} effc_scheduler_options_t;

EFFC_API effc_scheduler_options_t effc_scheduler_options_default(void);

/* Makes a scheduler over `engine`, which it keeps alive.
 * EFFC_UNSUPPORTED: a model gives hidden states; there is a `draft_engine`, and drafts
 * are not possible (effc_scheduler_no_drafts()).
 * EFFC_IO_ERROR: `cache_dir` can be neither made nor read.
 * EFFC_OUT_OF_MEMORY: `cache_bytes` are more than there is beside one token of each
 * sequence.
 * EFFC_INVALID_ARGUMENT: `max_running` is above the engine's max_sessions; there is a
 * `cache_dir`, and `cache_bytes` or `cache_disk_bytes` is 0;
 * `step_tokens`, `age_steps`, `max_new_tokens`, `max_choices` or `max_unread` is
 * 0; `draft_engine` is `engine`, or has a model of another vocabulary size, or of other
 * texts of tokens where both have a tokenizer; `draft_model_tokens` is 0 then, or above
 * EFFC_DRAFT_MOST. */
EFFC_API effc_status_t *
effc_scheduler_create(effc_engine_t *engine,
                      const effc_scheduler_options_t *options,
                      effc_scheduler_t **out_scheduler);

/* Stops the thread, if there is one, and drops all requests without an event. */
EFFC_API void effc_scheduler_free(effc_scheduler_t *scheduler);

/* Returns what is not as one would expect of how requests run, or "": that a cache
 * was asked for which can never hit, and why. Owned by the scheduler. */
EFFC_API const char *effc_scheduler_note(const effc_scheduler_t *scheduler);

/* Returns why no request of the scheduler can have `draft_tokens`, or "". Owned by the
 * scheduler. */
EFFC_API const char *
effc_scheduler_no_drafts(const effc_scheduler_t *scheduler);

#define EFFC_PRIORITY_MOST 7
#define EFFC_MARKS_MOST 16
#define EFFC_DRAFT_MOST 64

typedef enum effc_cache_flags {
  EFFC_CACHE_NO_READ = 1, /* feed all of the prompt */
  EFFC_CACHE_NO_WRITE = 2 /* keep nothing for others */
} effc_cache_flags_t;

/* What is asked for. Everything that pointers lead to is copied. */
typedef struct effc_request {
  size_t size;
  /* The prompt: `tokens`, or else `text`, cut as effc_model_tokenize() does with
   * `tokenize_flags`. */
  const int32_t *tokens;
  size_t token_count;
  const char *text;
  size_t text_size;
  uint32_t tokenize_flags;
  /* NULL: as the model asks, effc_sampler_options_for_model(). */
  const struct effc_sampler_options *sampling;
  uint64_t max_tokens; /* new ones, of each choice; default 128 */
  /* Texts that are to follow the prompt, which is fed once; default 1. Choice i
   * draws with the seed + i, as a request of its own would. */
  uint32_t choices;
  const int32_t *stop_tokens;
  size_t stop_token_count;
  const char *const *stop_texts; /* zero-terminated; they need a tokenizer */
  size_t stop_text_count;
  bool ignore_end;      /* go on behind the model's own end */
  uint32_t priority;    /* 0 to EFFC_PRIORITY_MOST; the larger goes first */
  uint64_t deadline_ns; /* from now; 0: none. What is not done by then ends. */
  void *user;           /* comes back with each event */
  /* Not 0: the events of choice 0 begin with what effc_logprobs() gives for each
   * token of the prompt but the first, with so many numbers each. Then `max_tokens`
   * may be 0, for nothing more than that, and all of the prompt is fed: nothing is
   * read from the cache. */
  uint32_t prompt_logprobs;
  /* Ends of beginnings that other prompts will share, as numbers of tokens: 1 to
   * all of the prompt. States are kept there, and longer than others. */
  const uint64_t *marks;
  size_t mark_count; /* at most EFFC_MARKS_MOST */
  /* Requests share states with those of the same salt alone, so that nobody finds
   * out by timing what others have asked. NULL is as "". */
  const char *salt;
  uint32_t cache_flags; /* effc_cache_flags_t, or'ed */
  /* Guesses up to so many tokens of how the text goes on, where its end stood earlier
   * in it, or else by `draft_engine` of the scheduler, and feeds them in one call; 0:
   * none; at most EFFC_DRAFT_MOST. Texts that repeat what the prompt says come in fewer
   * calls. What is drawn is the same. */
  uint32_t draft_tokens;
  /* NULL: any text. Else each choice follows it, from its first token on, and may
   * be freed behind the submission. An end of the model's or a stop token comes
   * where the grammar may end alone. A text that cannot go on ends by itself:
   * EFFC_END_TOKEN. It is to be of the engine's model. */
  const struct effc_grammar *grammar;
  /* Texts of events show special tokens too, as effc_chat_parser_push() needs them.
   * Default false. */
  bool show_special;
  /* States to go on from: the checkpoint's tokens are the prompt's first, which
   * nobody can check, and the prompt has more. They are taken where the cache has no
   * longer beginning, and where the bits of a cold run follow: else the event's
   * `cache_miss` is EFFC_CACHE_INEXACT, and the tokens are fed. What keeps the
   * cache from being read keeps these from it. May be freed behind the submission. */
  const effc_checkpoint_t *from;
  /* The last event of each choice brings its states. Then `max_tokens` may be 0, for
   * the states of the prompt alone. */
  bool keep_states;
} effc_request_t;

EFFC_API effc_request_t effc_request_default(void);

/* Takes a request, whose number becomes `*out_request`. The first is 1; each is
 * larger than the one before by the choices of that. Nothing is computed here but
 * tokens of a text.
 *
 * EFFC_EXHAUSTED: `max_queue` requests wait: submit it again when some have ended;
 * twice as many events are unread as `max_running` requests leave when each waits
 * for its reader; or the prompt alone is longer than the context.
 * EFFC_OUT_OF_MEMORY: prompt and new tokens would not fit even alone (the message
 * has both numbers).
 * EFFC_INVALID_ARGUMENT: no prompt, both or an empty one; a token outside the
 * vocabulary; a prompt, `max_tokens` or `choices` beyond the scheduler's bounds;
 * one of the latter is 0; a priority that is none; `prompt_logprobs` above 1 + the
 * size of the vocabulary; more than EFFC_DRAFT_MOST draft tokens; a mark outside of
 * the prompt, or more than EFFC_MARKS_MOST; a cache flag that is none; a grammar for
 * another model; `from` is of another model, or not before the prompt's last token;
 * sampling options as effc_sampler_create().
 * EFFC_EXHAUSTED, besides: the grammar allows no token at the beginning.
 * EFFC_UNSUPPORTED: a text or stop texts for a model without a tokenizer; drafts where
 * several tokens of a call may have other bits than one after another.
 * EFFC_BAD_DATA: as effc_model_tokenize(). */
EFFC_API effc_status_t *effc_scheduler_submit(effc_scheduler_t *scheduler,
                                              const effc_request_t *request,
                                              uint64_t *out_request);

/* What a request would have of the cache. */
typedef struct effc_cache_lookup {
  size_t size;
  uint64_t prompt_tokens, cached_tokens, matched_tokens;
  effc_cache_miss_t miss;
  bool is_near; /* as events have these */
} effc_cache_lookup_t;

/* Fills `out_lookup`, whose `size` the caller has set, with what `request` would find
 * if its prompt were fed now. Changes nothing. Errors as effc_scheduler_submit(). */
EFFC_API effc_status_t *
effc_scheduler_cache_lookup(const effc_scheduler_t *scheduler,
                            const effc_request_t *request,
                            effc_cache_lookup_t *out_lookup);

/* Ends a request with all its choices, in the next step. One that has ended, or was never there, is
 * left alone. */
EFFC_API void effc_scheduler_cancel(effc_scheduler_t *scheduler,
                                    uint64_t request);

/* Has a request wait for its reader, or go on: for whoever hands its events on to
 * somebody slower. A request that is held longer than `reader_ns` ends as
 * EFFC_END_UNREAD. One that has ended, or was never there, is left alone. */
EFFC_API void effc_scheduler_hold(effc_scheduler_t *scheduler, uint64_t request,
                                  bool hold);

/* Advances everything by one step: ends what is to end, admits what waits, decodes
 * a token of each sequence, feeds pieces of prompts. `*out_did` becomes whether
 * there was anything to compute; NULL: nobody asks. Steps of several threads take
 * turns. Failures of a device are events of the requests that they hit. */
EFFC_API effc_status_t *effc_scheduler_step(effc_scheduler_t *scheduler,
                                            bool *out_did);

/* Starts a thread that steps while there is anything to do, and ends it, behind
 * the step in progress. Both may be called again. */
EFFC_API effc_status_t *effc_scheduler_start(effc_scheduler_t *scheduler);
EFFC_API void effc_scheduler_stop(effc_scheduler_t *scheduler);

/* Fills `out_event`, whose `size` the caller has set, with the oldest event that
 * nobody has read. Waits for one as long as `timeout_ns`; `kind` is
 * EFFC_EVENT_NONE when there is none by then. Events of one request come in order.
 * EFFC_INTERNAL: the scheduler's thread had to end (the message says why). */
EFFC_API effc_status_t *effc_scheduler_poll(effc_scheduler_t *scheduler,
                                            uint64_t timeout_ns,
                                            effc_event_t *out_event);

/* Returns a descriptor that is readable while events wait, for poll(2), epoll and
 * the loops built on them. It stays the scheduler's, and nobody else reads from it
 * or writes to it. It may be readable for events that were read already; a poll that
 * finds none ends that. -1: the system had none, or there is no scheduler. */
EFFC_API int effc_scheduler_fd(const effc_scheduler_t *scheduler);

#define EFFC_STEP_SIZES 16

/* Since the scheduler was created; what ends in `_now` is how things stand. */
typedef struct effc_scheduler_stats {
  size_t size;
  uint64_t submitted; /* and taken */
  uint64_t refused;
  uint64_t ended[8]; /* by effc_end_t */
  uint64_t steps;
  uint64_t prompt_tokens, new_tokens;
  uint64_t retries;
  uint32_t queued_now, running_now;
  uint32_t queued_most, running_most;
  uint64_t reserved_bytes_now, reserved_bytes_most; /* for states */
  uint64_t unread_now;                              /* events */
  /* Steps from submission to the first token: in all, the longest, and of how
   * many requests. */
  uint64_t waited_steps, waited_steps_most, first_tokens;
  /* No request waits longer, whatever others ask for, as long as events are read
   * and no device fails; UINT64_MAX: there is no bound, since neither the options
   * nor the context bound a prompt. */
  uint64_t waited_steps_bound;
  /* Of the cache; all 0 without one. A prompt counts once, when it is first fed: by
   * how it ended, and with the tokens that it is fed for that reason. */
  uint64_t cache_prompts[EFFC_CACHE_MISSES];     /* by effc_cache_miss_t */
  uint64_t cache_lost_tokens[EFFC_CACHE_MISSES]; /* likewise */
  uint64_t cached_prompts; /* that went on from kept states, */
  uint64_t cached_tokens;  /* of so many tokens, which were not fed; */
  uint64_t near_prompts;   /* so many of them with other bits, maybe */
  uint64_t cache_kept, cache_unkept; /* copies; and those without room */
  uint64_t cache_evicted;            /* that were given up for others */
  uint64_t cache_places_now;         /* where sequences can go on */
  uint64_t cache_bytes_now, cache_bytes_most;
  /* Of `cache_dir`. */
  uint64_t cache_files_now, cache_disk_bytes_now;
  uint64_t cache_files_written, cache_files_loaded;
  uint64_t cache_files_refused; /* damaged, of other code, or another model's */
  uint64_t cache_files_dropped; /* not written, since others came too fast */
  uint64_t cache_disk_failures; /* more than 0: the folder is left alone */
  uint64_t drafted_tokens, accepted_tokens; /* of all requests */
  uint64_t drafts; /* so many times a sequence was fed one */
  /* Calls of the engine that went well, and their time by the scheduler's clock: those
   * with pieces of prompts, which were fed `prompt_tokens`; and those with a token or
   * a draft of each sequence, which were fed `decode_tokens`. */
  uint64_t prompt_calls, prompt_ns;
  uint64_t decode_calls, decode_ns, decode_tokens;
  /* Steps by the tokens that their calls were fed: element i counts those with at most
   * 2^i, and more than the element before; the last one all with more. Steps that were
   * fed nothing are not counted. */
  uint64_t sized_steps[EFFC_STEP_SIZES];
  /* Requests that found a place, and how long they waited for it. */
  uint64_t admitted, queued_ns, queued_ns_most;
  /* How often a device has failed. It counts as lost when a request has ended for that,
   * run again as often as it may be, and no call has gone well since: 1, else 0. */
  uint64_t device_failures;
  uint32_t device_lost_now;
  /* Those of `drafts`, `drafted_tokens` and `accepted_tokens` that `draft_engine` made,
   * and the time that its calls took. How often one failed, behind which the requests
   * that it was for were not guessed for any more. */
  uint64_t model_drafts, model_drafted_tokens, model_accepted_tokens;
  uint64_t draft_ns, draft_failures;
} effc_scheduler_stats_t;

EFFC_API void effc_scheduler_stats(const effc_scheduler_t *scheduler,
                                   effc_scheduler_stats_t *out_stats);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* EFFC_SCHEDULER_H */
