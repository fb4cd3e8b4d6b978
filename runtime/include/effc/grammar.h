/*===- grammar.h - Texts that follow a grammar ----------------------------===*\
 *
 * A part of effc.h, which includes it. A grammar says which texts a model may
 * write. Before each draw a matcher gives a mask: which tokens of the vocabulary
 * can come next, so that the text stays one of the grammar's. A text that is drawn
 * under masks up to an end follows the grammar as a whole.
 *
 *   GBNF, JSON Schema ──> effc_grammar_t ──> effc_grammar_matcher_t of each text
 *                         once a model        mask ──> draw ──> accept ──> mask ...
 *
 * What is allowed are bytes: those that tokens add to a text from which special
 * tokens are left out (effc_detokenizer_create() with EFFC_DETOKENIZE_SKIP_SPECIAL).
 * So a special token is never allowed, but for those that end a text, where the
 * grammar may end.
 *
\*===---------------------------------------------------------------------===*/
#ifndef EFFC_GRAMMAR_H
#define EFFC_GRAMMAR_H

#include "effc.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A grammar for the vocabulary of one model, which it keeps alive. Any number of
 * threads may use it at the same time; what one text has found out of it serves
 * the others. */
typedef struct effc_grammar effc_grammar_t;

/* Reads a grammar in GBNF, the form of llama.cpp's grammars, UTF-8, of at most
 * 1 MiB. The text is what the rule `root` is.
 *
 * EFFC_INVALID_ARGUMENT: it is no grammar, or has a rule that begins with itself,
 * that no text fits, or that is missing (the message has line and column).
 * EFFC_UNSUPPORTED: it is too large, or the model has no tokenizer, or one that
 * gives tokens no text of their own. EFFC_EXHAUSTED: it reads the empty text in too
 * many ways. */
EFFC_API effc_status_t *effc_grammar_create(const effc_model_t *model,
                                            const char *text, size_t size,
                                            effc_grammar_t **out_grammar);

/* Makes a grammar of a JSON Schema, itself JSON in UTF-8 of at most 1 MiB: all
 * texts are JSON that fits the schema. runtime/src/grammar/README.md lists the
 * keywords that are understood; properties come in the schema's order.
 *
 * EFFC_INVALID_ARGUMENT: it is no schema, or nothing fits it. EFFC_UNSUPPORTED: a
 * keyword is not understood; messages have it and its place, and else as
 * effc_grammar_create(). */
EFFC_API effc_status_t *
effc_grammar_create_from_schema(const effc_model_t *model, const char *schema,
                                size_t size, effc_grammar_t **out_grammar);

/* Makes a grammar of a regular expression, UTF-8 of at most 1 MiB: the whole text is
 * what it fits, with `^` and `$` or without. runtime/src/grammar/README.md says which
 * expressions are understood.
 *
 * EFFC_INVALID_ARGUMENT: it is no expression, or nothing fits it. EFFC_UNSUPPORTED: it
 * has what is not understood, such as references and looks ahead; messages have the
 * byte, and else as effc_grammar_create(). */
EFFC_API effc_status_t *
effc_grammar_create_from_pattern(const effc_model_t *model, const char *pattern,
                                 size_t size, effc_grammar_t **out_grammar);

/* Makes the grammar of any JSON object. Errors as effc_grammar_create(). */
EFFC_API effc_status_t *
effc_grammar_create_json_object(const effc_model_t *model,
                                effc_grammar_t **out_grammar);

EFFC_API void effc_grammar_free(effc_grammar_t *grammar);

/* Where one text stands in its grammar, which it keeps alive. Used by one thread at
 * a time. */
typedef struct effc_grammar_matcher effc_grammar_matcher_t;

/* Creates one for a text that begins. `end_tokens` are those that end it; NULL:
 * the model's own, whatever `end_count`. */
EFFC_API effc_status_t *
effc_grammar_matcher_create(const effc_grammar_t *grammar,
                            const int32_t *end_tokens, size_t end_count,
                            effc_grammar_matcher_t **out_matcher);

/* Creates one that stands where `matcher` does, and goes on by itself. */
EFFC_API effc_status_t *
effc_grammar_matcher_copy(const effc_grammar_matcher_t *matcher,
                          effc_grammar_matcher_t **out_matcher);

EFFC_API void effc_grammar_matcher_free(effc_grammar_matcher_t *matcher);

/* Makes `*out_mask` the tokens that can come next: bit t % 64 of word t / 64 is that
 * of token t, in (vocabulary size + 63) / 64 words. They belong to the matcher until
 * its next call. Where several texts of a grammar come to the same place, only the
 * first looks through the vocabulary.
 *
 * EFFC_EXHAUSTED: the text has ended, no token of the vocabulary fits, or the
 * grammar reads the text in too many ways at once. */
EFFC_API effc_status_t *
effc_grammar_matcher_mask(effc_grammar_matcher_t *matcher,
                          const uint64_t **out_mask);

/* Takes the token that comes next.
 * EFFC_INVALID_ARGUMENT: it cannot come here; the matcher stays where it was.
 * EFFC_EXHAUSTED: as effc_grammar_matcher_mask(). */
EFFC_API effc_status_t *
effc_grammar_matcher_accept(effc_grammar_matcher_t *matcher, int32_t token);

/* Whether the text may end here. */
EFFC_API bool
effc_grammar_matcher_can_end(const effc_grammar_matcher_t *matcher);

/* Whether it has to: an end token was accepted, or nothing else can follow. */
EFFC_API bool
effc_grammar_matcher_is_complete(const effc_grammar_matcher_t *matcher);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* EFFC_GRAMMAR_H */
