// Conversations to prompts: effc_chat_create and its counterparts.

#include "runtime/src/capi/ChatHandle.h"
#include "runtime/src/capi/Handles.h"
#include "runtime/src/capi/TextBorder.h"
#include "runtime/src/chat/TurnEnd.h"

using namespace effc::rt;

struct effc_chat_text {
  jinja::Text text;
  std::vector<effc_span_t> given;
};

static ChatFormat::Tokens namedTokens(const effc_model_t *model) {
  ChatFormat::Tokens tokens;
  if (model && model->model->tokenizer())
    for (const auto &[name, text] : model->model->tokenizer()->allNamedTokens())
      tokens.emplace_back(name, text);
  return tokens;
}

static Check createChat(std::string source, const effc_model_t *model,
                        effc_chat_t **out) {
  Result<ChatFormat> format =
      ChatFormat::create(std::move(source), namedTokens(model));
  if (!format) {
    format.error().message =
        "the chat template is refused: " + format.error().message;
    return format.error();
  }
  *out = new effc_chat(std::move(*format));
  return {};
}

effc_status_t *effc_chat_create(const effc_model_t *model, const char *name,
                                effc_chat_t **out_chat) {
  return atBorder([&]() -> Check {
    if (Check error = requireGiven({{"model", model}, {"out_chat", out_chat}}))
      return error;
    const Tokenizer *tokenizer = model->model->tokenizer();
    if (!tokenizer || tokenizer->templates().empty())
      return fail(EFFC_UNSUPPORTED, "the model has no chat template; give one, "
                                    "or use a prompt of text");
    std::string wanted = name ? name : "default", others;
    for (const ChatTemplate &one : tokenizer->templates()) {
      if (one.name == wanted)
        return createChat(one.source, model, out_chat);
      others += (others.empty() ? "'" : ", '") + one.name + "'";
    }
    return invalidArgument(
        "expected the name of a chat template of the model (", others,
        "), but found '", wanted, "'");
  });
}

effc_status_t *effc_chat_create_from_source(const char *source,
                                            size_t source_size,
                                            const effc_model_t *model,
                                            effc_chat_t **out_chat) {
  return atBorder([&]() -> Check {
    if (Check error = requireGiven({{"out_chat", out_chat}}))
      return error;
    if (Check error = requireArray({"source", source}, source_size))
      return error;
    if (source_size > jinja::kMostSourceBytes) // before it is copied
      return fail(EFFC_UNSUPPORTED, "expected a chat template of at most ",
                  jinja::kMostSourceBytes, " bytes, but found ", source_size);
    return createChat(source_size ? std::string(source, source_size)
                                  : std::string(),
                      model, out_chat);
  });
}

void effc_chat_free(effc_chat_t *chat) { delete chat; }

effc_status_t *effc_chat_end_token(const effc_chat_t *chat,
                                   const effc_model_t *model,
                                   int32_t *out_token) {
  return atBorder([&]() -> Check {
    if (Check error = requireGiven(
            {{"chat", chat}, {"model", model}, {"out_token", out_token}}))
      return error;
    if (Check error = requireTokenizer(*model->model))
      return error;
    *out_token =
        findTurnEnd(chat->format, *model->model->tokenizer()).value_or(-1);
    return {};
  });
}

effc_conversation_t effc_conversation_default(void) {
  effc_conversation_t conversation = {};
  conversation.size = sizeof conversation;
  return conversation;
}

static std::string_view viewOf(const char *text, size_t size) {
  return text ? std::string_view(text, size) : std::string_view();
}

effc_status_t *effc_chat_render(const effc_chat_t *chat,
                                const effc_conversation_t *conversation,
                                effc_chat_text_t **out_prompt) {
  return atBorder([&]() -> Check {
    if (Check error = requireGiven({{"chat", chat},
                                    {"conversation", conversation},
                                    {"out_prompt", out_prompt}}))
      return error;
    auto given = readSized(conversation, effc_conversation_default());
    if (!given)
      return given.error();
    if (Check error = requireGiven({{"messages", given->messages}}))
      return error;
    const std::pair<Argument, size_t> texts[] = {
        {{"tools", given->tools}, given->tools_size},
        {{"documents", given->documents}, given->documents_size},
        {{"arguments", given->arguments}, given->arguments_size}};
    for (const auto &[text, size] : texts)
      if (Check error = requireArray(text, size))
        return error;
    Conversation read;
    read.messages = {given->messages, given->messages_size};
    read.tools = viewOf(given->tools, given->tools_size);
    read.documents = viewOf(given->documents, given->documents_size);
    read.arguments = viewOf(given->arguments, given->arguments_size);
    read.addGenerationPrompt = given->add_generation_prompt;
    if (given->continued)
      read.continued = given->continued;
    jinja::Moment now;
    if (given->date) {
      Result<jinja::Moment> date = jinja::Moment::parse(given->date);
      if (!date)
        return date.error();
      now = *date;
    } else {
      now = jinja::Moment::now();
    }
    Result<jinja::Text> text = chat->format.render(read, now);
    if (!text)
      return text.error();
    auto prompt = std::make_unique<effc_chat_text>();
    for (const jinja::Span &span : text->givenSpans())
      prompt->given.push_back({span.begin, span.end});
    prompt->text = std::move(*text);
    *out_prompt = prompt.release();
    return {};
  });
}

void effc_chat_text_free(effc_chat_text_t *prompt) { delete prompt; }

const char *effc_chat_text_bytes(const effc_chat_text_t *prompt,
                                 size_t *out_size) {
  if (out_size)
    *out_size = prompt ? prompt->text.size() : 0;
  return prompt ? prompt->text.bytes().c_str() : "";
}

const effc_span_t *effc_chat_text_given(const effc_chat_text_t *prompt,
                                        size_t *out_count) {
  if (out_count)
    *out_count = prompt ? prompt->given.size() : 0;
  return prompt ? prompt->given.data() : nullptr;
}

effc_status_t *effc_chat_text_tokenize(const effc_model_t *model,
                                       const effc_chat_text_t *prompt,
                                       int32_t *out_tokens, size_t capacity,
                                       size_t *out_count) {
  return atBorder([&]() -> Check {
    if (Check error = requireGiven(
            {{"model", model}, {"prompt", prompt}, {"out_count", out_count}}))
      return error;
    if (Check error = requireTokenizer(*model->model))
      return error;
    if (Check error = requireArray({"out_tokens", out_tokens}, capacity))
      return error;
    Tokenizer::Options options;
    options.addSpecial = false;
    std::vector<PlainSpans::Span> given;
    for (const effc_span_t &span : prompt->given)
      given.push_back({span.begin, span.end});
    options.plain = PlainSpans(given);
    auto tokens =
        model->model->tokenizer()->tokenize(prompt->text.bytes(), options);
    if (!tokens)
      return tokens.error();
    copyOut(*tokens, out_tokens, capacity, out_count);
    return {};
  });
}
