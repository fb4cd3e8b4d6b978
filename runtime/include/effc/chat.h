/*===- chat.h - How a conversation becomes a text ------------------------===*\
 *
 * A part of effc.h, which includes it.
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

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* EFFC_CHAT_H */
