// effc_grammar_*: texts that follow a grammar.

#include "runtime/src/Status.h"
#include "runtime/src/capi/Handles.h"
#include "runtime/src/grammar/GbnfReader.h"
#include "runtime/src/grammar/GrammarHandle.h"
#include "runtime/src/grammar/PatternReader.h"
#include "runtime/src/grammar/SchemaReader.h"

using namespace effc;
using namespace effc::rt;
using namespace effc::rt::grammar;

static std::vector<int32_t> endsOf(const Model &model) {
  const artifact::Generation *generation = model.program().generation();
  if (!generation || !generation->eos())
    return {};
  return {generation->eos()->begin(), generation->eos()->end()};
}

static Check createFrom(Result<Rules> rules, const effc_model_t *model,
                        const char *what, effc_grammar_t **out) {
  if (!rules) {
    rules.error().message =
        std::string(what) + " is refused: " + rules.error().message;
    return rules.error();
  }
  const Tokenizer *tokenizer = model->model->tokenizer();
  if (!tokenizer)
    return fail(EFFC_UNSUPPORTED, "the model has no tokenizer, and so no text "
                                  "that could follow a grammar");
  auto tokens = tokenizer->tokenTexts();
  if (!tokens)
    return tokens.error();
  auto made = Grammar::create(*rules, model->model, **tokens,
                              model->model->program().vocabulary_size());
  if (!made)
    return made.error();
  *out = new effc_grammar{std::move(*made), endsOf(*model->model)};
  return {};
}

effc_status_t *effc_grammar_create(const effc_model_t *model, const char *text,
                                   size_t size, effc_grammar_t **out_grammar) {
  return atBorder([&]() -> Check {
    if (Check error = requireGiven(
            {{"model", model}, {"text", text}, {"out_grammar", out_grammar}}))
      return error;
    return createFrom(readGbnf({text, size}), model, "the grammar",
                      out_grammar);
  });
}

effc_status_t *effc_grammar_create_from_schema(const effc_model_t *model,
                                               const char *schema, size_t size,
                                               effc_grammar_t **out_grammar) {
  return atBorder([&]() -> Check {
    if (Check error = requireGiven({{"model", model},
                                    {"schema", schema},
                                    {"out_grammar", out_grammar}}))
      return error;
    return createFrom(readSchema({schema, size}), model, "the schema",
                      out_grammar);
  });
}

effc_status_t *effc_grammar_create_from_pattern(const effc_model_t *model,
                                                const char *pattern,
                                                size_t size,
                                                effc_grammar_t **out_grammar) {
  return atBorder([&]() -> Check {
    if (Check error = requireGiven({{"model", model},
                                    {"pattern", pattern},
                                    {"out_grammar", out_grammar}}))
      return error;
    return createFrom(rulesOfPattern({pattern, size}), model, "the expression",
                      out_grammar);
  });
}

effc_status_t *effc_grammar_create_json_object(const effc_model_t *model,
                                               effc_grammar_t **out_grammar) {
  return atBorder([&]() -> Check {
    if (Check error =
            requireGiven({{"model", model}, {"out_grammar", out_grammar}}))
      return error;
    return createFrom(jsonObject(), model, "the grammar", out_grammar);
  });
}

void effc_grammar_free(effc_grammar_t *grammar) { delete grammar; }

effc_status_t *
effc_grammar_matcher_create(const effc_grammar_t *grammar,
                            const int32_t *end_tokens, size_t end_count,
                            effc_grammar_matcher_t **out_matcher) {
  return atBorder([&]() -> Check {
    if (Check error =
            requireGiven({{"grammar", grammar}, {"out_matcher", out_matcher}}))
      return error;
    std::vector<int32_t> ends = grammar->ends;
    if (end_tokens)
      ends.assign(end_tokens, end_tokens + end_count);
    *out_matcher =
        new effc_grammar_matcher{Matcher(grammar->grammar, std::move(ends))};
    return {};
  });
}

effc_status_t *effc_grammar_matcher_copy(const effc_grammar_matcher_t *matcher,
                                         effc_grammar_matcher_t **out_matcher) {
  return atBorder([&]() -> Check {
    if (Check error =
            requireGiven({{"matcher", matcher}, {"out_matcher", out_matcher}}))
      return error;
    *out_matcher = new effc_grammar_matcher(*matcher);
    return {};
  });
}

void effc_grammar_matcher_free(effc_grammar_matcher_t *matcher) {
  delete matcher;
}

effc_status_t *effc_grammar_matcher_mask(effc_grammar_matcher_t *matcher,
                                         const uint64_t **out_mask) {
  return atBorder([&]() -> Check {
    if (Check error =
            requireGiven({{"matcher", matcher}, {"out_mask", out_mask}}))
      return error;
    auto mask = matcher->matcher.mask();
    if (!mask)
      return mask.error();
    *out_mask = mask->data();
    return {};
  });
}

effc_status_t *effc_grammar_matcher_accept(effc_grammar_matcher_t *matcher,
                                           int32_t token) {
  return atBorder([&]() -> Check {
    if (Check error = requireGiven({{"matcher", matcher}}))
      return error;
    return matcher->matcher.accept(token);
  });
}

bool effc_grammar_matcher_can_end(const effc_grammar_matcher_t *matcher) {
  return matcher && matcher->matcher.canEnd();
}

bool effc_grammar_matcher_is_complete(const effc_grammar_matcher_t *matcher) {
  return matcher && matcher->matcher.isComplete();
}
