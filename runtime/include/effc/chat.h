/*===- chat.h - How a conversation becomes a text ------------------------===*\
 *
 * A part of effc.h, which includes it. A template of Jinja says how; it is
 * rendered here, without Python, to the text that transformers 5.24 makes of it
 * (apply_chat_template). runtime/src/chat/README.md lists what is understood.
 *
\*===---------------------------------------------------------------------===*/
#ifndef EFFC_CHAT_H
#define EFFC_CHAT_H

#include "effc.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A way to write a conversation as a text: a template in Jinja, as the checkpoint has
 * it. Texts belong to the model and are zero-terminated. */
typedef struct effc_chat_template {
  size_t size;
  const char *name; /* "default" is taken where none is asked for */
  const char *source;
  size_t source_size;
} effc_chat_template_t;

EFFC_API size_t effc_model_chat_template_count(const effc_model_t *model);

/* Fills `out_template` (its `size` set) for `index` below the count.
 * EFFC_INVALID_ARGUMENT: `index` is not. */
EFFC_API effc_status_t *
effc_model_chat_template(const effc_model_t *model, size_t index,
                         effc_chat_template_t *out_template);

/* Returns the text of the token that templates call `name`, such as "bos_token";
 * NULL where none is called so, or there is no template. */
EFFC_API const char *effc_model_named_token(const effc_model_t *model,
                                            const char *name);

/* A template that is ready to render. It never changes: any number of threads may
 * render with it at the same time. */
typedef struct effc_chat effc_chat_t;

/* Reads the model's template of that name; NULL for `name` is "default".
 *
 * EFFC_UNSUPPORTED: the model has no template, or the template has what is not
 * understood; EFFC_INVALID_ARGUMENT: the model has others, which the message
 * names; EFFC_BAD_DATA: the template is none. */
EFFC_API effc_status_t *effc_chat_create(const effc_model_t *model,
                                         const char *name,
                                         effc_chat_t **out_chat);

/* Reads a template of your own, UTF-8, of at most 1 MiB. The named tokens are
 * those of `model`; without one they are what a conversation's `arguments` say. */
EFFC_API effc_status_t *effc_chat_create_from_source(const char *source,
                                                     size_t source_size,
                                                     const effc_model_t *model,
                                                     effc_chat_t **out_chat);

EFFC_API void effc_chat_free(effc_chat_t *chat);

/* Sets `*out_token` to the special token of `model` that the template writes behind
 * an answer, such as "<|im_end|>": a text ends there, also where
 * effc_model_generation() does not name the token. It becomes -1 where something
 * else stands behind an answer.
 * EFFC_UNSUPPORTED: the model has no tokenizer. */
EFFC_API effc_status_t *effc_chat_end_token(const effc_chat_t *chat,
                                            const effc_model_t *model,
                                            int32_t *out_token);

/* What is rendered. Texts are JSON in UTF-8, of at most 128 MiB each, with lists
 * and mappings of at most 64 levels; all but the messages may be NULL. */
typedef struct effc_conversation {
  size_t size;
  /* A list of mappings, as OpenAI's API has it: "role", "content" and what else the
   * template reads, such as "tool_calls" and "reasoning_content". Keys whose value
   * is null count as absent. */
  const char *messages;
  size_t messages_size;
  const char *tools; /* a list of mappings */
  size_t tools_size;
  const char *documents; /* a list of mappings */
  size_t documents_size;
  /* A mapping: more variables, such as {"enable_thinking": false}. They go before
   * the model's named tokens. */
  const char *arguments;
  size_t arguments_size;
  /* The day that the template sees, "2026-03-09" or "2026-03-09T14:05:07", in no
   * zone; NULL: the machine's time in the machine's zone. */
  const char *date;
  /* The field of the last message that the prompt ends within, as "content", so
   * that the model goes on there; NULL: none. Not together with the next. */
  const char *continued;
  /* End with what begins an answer. Default false. */
  bool add_generation_prompt;
} effc_conversation_t;

EFFC_API effc_conversation_t effc_conversation_default(void);

/* A rendered conversation. */
typedef struct effc_chat_text effc_chat_text_t;

/* Renders `conversation`. The template may take 1,000,000 steps and 10,000 more for
 * each message, 20,000,000 in all, and make texts of 8 MiB.
 *
 * EFFC_INVALID_ARGUMENT: something is no JSON of its shape, the template refuses
 * the conversation (the message has its words), or does with it what cannot be
 * done (the message has the line, what is expected and what was found).
 * EFFC_UNSUPPORTED: the template comes to what is not understood. */
EFFC_API effc_status_t *
effc_chat_render(const effc_chat_t *chat,
                 const effc_conversation_t *conversation,
                 effc_chat_text_t **out_prompt);

EFFC_API void effc_chat_text_free(effc_chat_text_t *prompt);

/* Returns the prompt, valid UTF-8, zero-terminated, which may hold zeros too;
 * `*out_size`, unless NULL, becomes its bytes. It belongs to `prompt`. */
EFFC_API const char *effc_chat_text_bytes(const effc_chat_text_t *prompt,
                                          size_t *out_size);

/* Bytes from `begin` to before `end`. */
typedef struct effc_span {
  size_t begin, end;
} effc_span_t;

/* Returns the parts of the prompt that came from the conversation, in order: what
 * users and tools wrote, and not the template. `*out_count` becomes how many. They
 * belong to `prompt`. */
EFFC_API const effc_span_t *effc_chat_text_given(const effc_chat_text_t *prompt,
                                                 size_t *out_count);

/* Cuts a prompt into tokens of `model`, as effc_model_tokenize() does: without
 * what the tokenizer puts around a text, since the template says that. Special
 * tokens that the conversation spells out, wholly or in part, are text: nobody
 * ends a turn or begins another by writing so.
 *
 * EFFC_UNSUPPORTED: the model has no tokenizer. Others as effc_model_tokenize(). */
EFFC_API effc_status_t *effc_chat_text_tokenize(const effc_model_t *model,
                                                const effc_chat_text_t *prompt,
                                                int32_t *out_tokens,
                                                size_t capacity,
                                                size_t *out_count);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* EFFC_CHAT_H */
