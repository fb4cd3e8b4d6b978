// Answers to their parts: effc_chat_parser_create and its counterparts.

#include "runtime/src/Status.h"
#include "runtime/src/capi/ChatHandle.h"

using namespace effc::rt;

static Check requireTools(const AnswerFormat &format) {
  if (format.form != CallForm::None)
    return {};
  return fail(EFFC_UNSUPPORTED,
              "tools are not possible with this chat template: it has ",
              format.whyNone);
}

effc_status_t *effc_chat_tool_format(const effc_chat_t *chat,
                                     const char **out_name) {
  return atBorder([&]() -> Check {
    if (Check error = requireGiven({{"chat", chat}, {"out_name", out_name}}))
      return error;
    const AnswerFormat &format = chat->answers();
    if (Check error = requireTools(format))
      return error;
    *out_name = nameOf(format.form);
    return {};
  });
}

effc_status_t *effc_chat_tool_manner(const effc_chat_t *chat,
                                     effc_chat_tool_manner_t *out_manner) {
  return atBorder([&]() -> Check {
    if (Check error =
            requireGiven({{"chat", chat}, {"out_manner", out_manner}}))
      return error;
    const AnswerFormat &format = chat->answers();
    if (Check error = requireTools(format))
      return error;
    copySized(effc_chat_tool_manner_t{0, nameOf(format.form),
                                      format.lead.c_str(), format.argumentsKey,
                                      format.isList},
              out_manner);
    return {};
  });
}

effc_chat_parser_options_t effc_chat_parser_options_default(void) {
  effc_chat_parser_options_t options = {};
  options.size = sizeof options;
  options.reasoning = true;
  return options;
}

effc_status_t *
effc_chat_parser_create(const effc_chat_t *chat,
                        const effc_chat_parser_options_t *options,
                        effc_chat_parser_t **out_parser) {
  return atBorder([&]() -> Check {
    if (Check error =
            requireGiven({{"chat", chat}, {"out_parser", out_parser}}))
      return error;
    auto given = readSized(options, effc_chat_parser_options_default());
    if (!given)
      return given.error();
    if (Check error =
            requireArray({"prompt", given->prompt}, given->prompt_size))
      return error;
    if (Check error = requireArray({"definitions", given->definitions},
                                   given->definitions_size))
      return error;
    AnswerParser::Options asked;
    asked.tools = given->tools;
    asked.reasoning = given->reasoning;
    if (given->prompt)
      asked.prompt = {given->prompt, given->prompt_size};
    if (given->definitions)
      asked.definitions = {given->definitions, given->definitions_size};
    auto parser = AnswerParser::create(chat->answers(), asked);
    if (!parser)
      return parser.error();
    *out_parser = new effc_chat_parser{std::move(*parser)};
    return {};
  });
}

void effc_chat_parser_free(effc_chat_parser_t *parser) { delete parser; }

effc_status_t *effc_chat_parser_push(effc_chat_parser_t *parser,
                                     const char *text, size_t size) {
  return atBorder([&]() -> Check {
    if (Check error = requireGiven({{"parser", parser}}))
      return error;
    if (Check error = requireArray({"text", text}, size))
      return error;
    if (size > 0)
      parser->parser->push({text, size});
    return {};
  });
}

effc_status_t *effc_chat_parser_finish(effc_chat_parser_t *parser) {
  return atBorder([&]() -> Check {
    if (Check error = requireGiven({{"parser", parser}}))
      return error;
    parser->parser->finish();
    return {};
  });
}

effc_status_t *effc_chat_parser_next(effc_chat_parser_t *parser,
                                     effc_chat_part_t *out_part) {
  return atBorder([&]() -> Check {
    if (Check error =
            requireGiven({{"parser", parser}, {"out_part", out_part}}))
      return error;
    if (!parser->parser->next(parser->shown))
      parser->shown = {};
    effc_chat_part_t part = {};
    part.kind = parser->shown.kind;
    part.call = parser->shown.call;
    part.text = parser->shown.text.c_str();
    part.text_size = parser->shown.text.size();
    part.id = parser->shown.id.c_str();
    copySized(part, out_part);
    return {};
  });
}
