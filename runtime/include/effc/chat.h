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
/* Makes `*out_name` how the template writes calls of tools: "json_tags" (Hermes,
 * Qwen), "xml_tags" (Qwen Coder), "json" (Llama 3), "bracket_list" (Mistral),
 * "tagged_list" (Jamba, Granite 4), "python" (LFM2, Llama 4), "marked_list" (Granite
 * 3). Found by rendering a conversation with a known call. Static storage.
 *
 * EFFC_UNSUPPORTED: none of these (the message says what was found instead). */
EFFC_API effc_status_t *effc_chat_tool_format(const effc_chat_t *chat,
                                              const char **out_name);

/* What a call of a tool looks like. Texts belong to the chat. */
typedef struct effc_chat_tool_manner {
  size_t size;
  const char *format; /* as effc_chat_tool_format() has it */
  /* What stands before the first call of an answer: the mark, with the white space
   * behind it; "" for none. */
  const char *lead;
  /* A call is one JSON mapping with "name" and this key, in this order, and an
   * answer is either that or a list of such: */
  const char *arguments_key; /* "" for formats that are not JSON */
  bool is_list;
} effc_chat_tool_manner_t;

/* Fills `out_manner`, whose `size` the caller has set: for those who have a model
 * write a call, by a prompt that ends with `lead` and a grammar for the rest.
 * EFFC_UNSUPPORTED: as effc_chat_tool_format(). */
EFFC_API effc_status_t *
effc_chat_tool_manner(const effc_chat_t *chat,
                      effc_chat_tool_manner_t *out_manner);

/* Takes apart what a model has written as an answer: reasoning, content, calls of
 * tools, while it comes. Used by one thread at a time. */
typedef struct effc_chat_parser effc_chat_parser_t;

typedef struct effc_chat_parser_options {
  size_t size;
  /* Look for calls of tools; without it they are content. Default false. */
  bool tools;
  /* Tell reasoning from content, where the template has marks for it; without it
   * reasoning is content, marks included. Default true. */
  bool reasoning;
  /* The prompt that the answer follows: an answer begins within reasoning where the
   * prompt ends there. NULL: one that ends outside. */
  const char *prompt;
  size_t prompt_size;
  /* The tools of the conversation, as effc_conversation_t has them, or NULL: where
   * calls do not show the types of their arguments ("xml_tags"), an argument that is
   * said to be a text is one, whatever it looks like. */
  const char *definitions;
  size_t definitions_size;
} effc_chat_parser_options_t;

EFFC_API effc_chat_parser_options_t effc_chat_parser_options_default(void);

/* Creates one for an answer in the manner of `chat`, which may be freed.
 * EFFC_UNSUPPORTED: `tools`, and as effc_chat_tool_format().
 * EFFC_INVALID_ARGUMENT: `definitions` are no list in JSON. */
EFFC_API effc_status_t *
effc_chat_parser_create(const effc_chat_t *chat,
                        const effc_chat_parser_options_t *options,
                        effc_chat_parser_t **out_parser);

EFFC_API void effc_chat_parser_free(effc_chat_parser_t *parser);

typedef enum effc_chat_part_kind {
  EFFC_CHAT_NONE = 0, /* nothing more is certain now */
  EFFC_CHAT_CONTENT = 1,
  EFFC_CHAT_REASONING = 2,
  EFFC_CHAT_CALL = 3,     /* a call begins: `text` is the whole name */
  EFFC_CHAT_ARGUMENTS = 4 /* more of its arguments: together one JSON mapping */
} effc_chat_part_kind_t;

/* A piece of an answer. Pieces of one kind that follow each other are one text. */
typedef struct effc_chat_part {
  size_t size;
  effc_chat_part_kind_t kind;
  uint32_t call; /* which one, from 0; of content and reasoning 0 */
  const char *text;
  size_t text_size;
  /* Of EFFC_CHAT_CALL: the call's id if the model has written one; else "". */
  const char *id;
} effc_chat_part_t;

/* Adds `text` of `size` bytes, as it comes from a detokenizer that keeps special
 * tokens: some models write marks as such. Cut anywhere, it gives the same. Parts
 * are to be read before the next call. */
EFFC_API effc_status_t *effc_chat_parser_push(effc_chat_parser_t *parser,
                                              const char *text, size_t size);

/* Ends the answer. A call that is not whole by then stays as far as it has come,
 * and text that only began like a mark becomes content. The parser can be used for
 * another answer to the same prompt. */
EFFC_API effc_status_t *effc_chat_parser_finish(effc_chat_parser_t *parser);

/* Fills `out_part`, whose `size` the caller has set, with the next part that is
 * certain; of kind EFFC_CHAT_NONE where there is none. Its texts belong to the
 * parser until the next call. */
EFFC_API effc_status_t *effc_chat_parser_next(effc_chat_parser_t *parser,
                                              effc_chat_part_t *out_part);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* EFFC_CHAT_H */
