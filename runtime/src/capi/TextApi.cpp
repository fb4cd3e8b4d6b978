// Text to tokens and back: effc_model_tokenize and its counterparts.

#include "runtime/src/capi/Handles.h"
#include "runtime/src/capi/TextBorder.h"
#include "runtime/src/tokenizer/Tokenizer.h"

using namespace effc::rt;

bool effc_model_has_tokenizer(const effc_model_t *model) {
  return model && model->model->tokenizer() != nullptr;
}

/// Empty without a tokenizer.
static std::span<const ChatTemplate> templatesOf(const Model &model) {
  return model.tokenizer() ? model.tokenizer()->templates()
                           : std::span<const ChatTemplate>();
}

size_t effc_model_chat_template_count(const effc_model_t *model) {
  return model ? templatesOf(*model->model).size() : 0;
}

effc_status_t *effc_model_chat_template(const effc_model_t *model, size_t index,
                                        effc_chat_template_t *out_template) {
  return atBorder([&]() -> Check {
    if (Check error =
            requireGiven({{"model", model}, {"out_template", out_template}}))
      return error;
    std::span<const ChatTemplate> templates = templatesOf(*model->model);
    if (index >= templates.size())
      return invalidArgument("chat template ", index, " of ", templates.size(),
                             " is asked for");
    effc_chat_template_t filled = {};
    filled.name = templates[index].name.c_str();
    filled.source = templates[index].source.c_str();
    filled.source_size = templates[index].source.size();
    copySized(filled, out_template);
    return {};
  });
}

const char *effc_model_named_token(const effc_model_t *model,
                                   const char *name) {
  const Tokenizer *tokenizer = model ? model->model->tokenizer() : nullptr;
  const std::string *found =
      tokenizer && name ? tokenizer->namedToken(name) : nullptr;
  return found ? found->c_str() : nullptr;
}

effc_status_t *effc_model_tokenize(const effc_model_t *model, const char *text,
                                   size_t size, uint32_t flags,
                                   int32_t *out_tokens, size_t capacity,
                                   size_t *out_count) {
  return atBorder([&]() -> Check {
    if (Check error =
            requireGiven({{"model", model}, {"out_count", out_count}}))
      return error;
    if (Check error = requireTokenizer(*model->model))
      return error;
    if (Check error = requireArray({"text", text}, size))
      return error;
    if (Check error = requireArray({"out_tokens", out_tokens}, capacity))
      return error;
    Tokenizer::Options options;
    options.addSpecial = !(flags & EFFC_TOKENIZE_NO_SPECIAL);
    if (flags & EFFC_TOKENIZE_PLAIN)
      options.plain = PlainSpans::all(size);
    auto tokens = model->model->tokenizer()->tokenize({text, size}, options);
    if (!tokens)
      return tokens.error();
    copyOut(*tokens, out_tokens, capacity, out_count);
    return {};
  });
}

static Check checkToken(int32_t token) {
  if (token < 0)
    return invalidArgument("token ", token, " is negative");
  return {};
}

effc_status_t *effc_model_detokenize(const effc_model_t *model,
                                     const int32_t *tokens, size_t count,
                                     uint32_t flags, char *out_text,
                                     size_t capacity, size_t *out_size) {
  return atBorder([&]() -> Check {
    if (Check error = requireGiven({{"model", model}, {"out_size", out_size}}))
      return error;
    if (Check error = requireTokenizer(*model->model))
      return error;
    if (Check error = requireArray({"tokens", tokens}, count))
      return error;
    if (Check error = requireArray({"out_text", out_text}, capacity))
      return error;
    for (size_t i = 0; i < count; ++i)
      if (Check error = checkToken(tokens[i]))
        return error;
    Result<std::string> text = model->model->tokenizer()->detokenize(
        {tokens, count}, flags & EFFC_DETOKENIZE_SKIP_SPECIAL);
    if (!text)
      return text.error();
    copyOut(*text, out_text, capacity, out_size);
    return {};
  });
}

effc_status_t *effc_detokenizer_create(effc_model_t *model, uint32_t flags,
                                       effc_detokenizer_t **out_detokenizer) {
  return atBorder([&]() -> Check {
    if (Check error = requireGiven(
            {{"model", model}, {"out_detokenizer", out_detokenizer}}))
      return error;
    if (Check error = requireTokenizer(*model->model))
      return error;
    *out_detokenizer = new effc_detokenizer{
        model->model,
        DecodeStream(*model->model->tokenizer(),
                     (flags & EFFC_DETOKENIZE_SKIP_SPECIAL) != 0)};
    return {};
  });
}

void effc_detokenizer_free(effc_detokenizer_t *detokenizer) {
  delete detokenizer;
}

effc_status_t *effc_detokenizer_push(effc_detokenizer_t *detokenizer,
                                     int32_t token, const char **out_text,
                                     size_t *out_size) {
  return atBorder([&]() -> Check {
    if (Check error = requireGiven({{"detokenizer", detokenizer},
                                    {"out_text", out_text},
                                    {"out_size", out_size}}))
      return error;
    if (Check error = checkToken(token))
      return error;
    Result<std::string_view> text = detokenizer->stream.push(token);
    if (!text)
      return text.error();
    *out_text = text->data();
    *out_size = text->size();
    return {};
  });
}

effc_status_t *effc_detokenizer_finish(effc_detokenizer_t *detokenizer,
                                       const char **out_text,
                                       size_t *out_size) {
  return atBorder([&]() -> Check {
    if (Check error = requireGiven({{"detokenizer", detokenizer},
                                    {"out_text", out_text},
                                    {"out_size", out_size}}))
      return error;
    Result<std::string_view> text = detokenizer->stream.finish();
    if (!text)
      return text.error();
    *out_text = text->data();
    *out_size = text->size();
    return {};
  });
}

effc_status_t *effc_stop_create(const char *const *texts, size_t count,
                                effc_stop_t **out_stop) {
  return atBorder([&]() -> Check {
    if (Check error = requireGiven({{"out_stop", out_stop}}))
      return error;
    if (Check error = requireArray({"texts", texts}, count))
      return error;
    std::vector<std::string> copies;
    for (size_t i = 0; i < count; ++i) {
      if (!texts[i] || !*texts[i])
        return invalidArgument("stop text ", i, " is ",
                               texts[i] ? "empty" : "null");
      copies.push_back(texts[i]);
    }
    *out_stop = new effc_stop{StopText(std::move(copies))};
    return {};
  });
}

void effc_stop_free(effc_stop_t *stop) { delete stop; }

effc_status_t *effc_stop_push(effc_stop_t *stop, const char *text, size_t size,
                              const char **out_text, size_t *out_size,
                              int32_t *out_index) {
  return atBorder([&]() -> Check {
    if (Check error = requireGiven({{"stop", stop},
                                    {"out_text", out_text},
                                    {"out_size", out_size},
                                    {"out_index", out_index}}))
      return error;
    if (Check error = requireArray({"text", text}, size))
      return error;
    std::string_view shown = stop->stop.push({text, size});
    *out_text = shown.data();
    *out_size = shown.size();
    std::optional<size_t> found = stop->stop.found();
    *out_index = found ? static_cast<int32_t>(*found) : -1;
    return {};
  });
}

effc_status_t *effc_stop_finish(effc_stop_t *stop, const char **out_text,
                                size_t *out_size) {
  return atBorder([&]() -> Check {
    if (Check error = requireGiven(
            {{"stop", stop}, {"out_text", out_text}, {"out_size", out_size}}))
      return error;
    std::string_view shown = stop->stop.finish();
    *out_text = shown.data();
    *out_size = shown.size();
    return {};
  });
}
