#include "tools/effc-serve/engine/AnswerParts.h"

#include <cstdio>
#include <random>

using namespace effc;
using namespace effc::serve;

/// For a call that the model gave none: clients send it back with the result.
static std::string newCallId() {
  static thread_local std::mt19937_64 random{std::random_device{}()};
  char digits[32];
  std::snprintf(digits, sizeof digits, "call_%016llx",
                static_cast<unsigned long long>(random()));
  return digits;
}

AnswerParts::AnswerParts(const effc_chat_t *chat, const AnswerManner &manner) {
  effc_chat_parser_options_t options = effc_chat_parser_options_default();
  options.tools = !manner.tools.empty();
  options.prompt = manner.prompt.data();
  options.prompt_size = manner.prompt.size();
  if (options.tools) {
    options.definitions = manner.tools.data();
    options.definitions_size = manner.tools.size();
  }
  effc_chat_parser_t *made = nullptr;
  check(effc_chat_parser_create(chat, &options, &made));
  parser.reset(made);
  Written none; // a call that has only begun says nothing
  push(manner.lead, none);
}

bool AnswerParts::beginsWithReasoning(const effc_chat_t *chat,
                                      const AnswerManner &manner) {
  AnswerManner outside = manner;
  outside.lead.clear();
  AnswerParts parts(chat, outside);
  Written said;
  parts.push("probe", said);
  parts.finish(said);
  return !said.reasoning.empty();
}

void AnswerParts::push(std::string_view text, Written &out) {
  check(effc_chat_parser_push(parser.get(), text.data(), text.size()));
  take(out);
}

void AnswerParts::finish(Written &out) {
  check(effc_chat_parser_finish(parser.get()));
  take(out);
}

void AnswerParts::take(Written &out) {
  while (true) {
    effc_chat_part_t part = {};
    part.size = sizeof part;
    check(effc_chat_parser_next(parser.get(), &part));
    std::string_view text(part.text ? part.text : "", part.text_size);
    switch (part.kind) {
    case EFFC_CHAT_NONE:
      return;
    case EFFC_CHAT_CONTENT:
      out.content += text;
      break;
    case EFFC_CHAT_REASONING:
      out.reasoning += text;
      break;
    case EFFC_CHAT_CALL: {
      calls = true;
      Written::Call &call = out.callAt(part.call);
      call.name = text;
      call.id = part.id && *part.id ? part.id : newCallId();
      break;
    }
    case EFFC_CHAT_ARGUMENTS:
      out.callAt(part.call).arguments += text;
      break;
    }
  }
}
