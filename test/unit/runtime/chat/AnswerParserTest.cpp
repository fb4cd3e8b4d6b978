// Answers taken apart: in each public manner of calls, at all places where a stream
// could be cut, and where models write what they should not.
#include "runtime/include/effc/effc.hpp"
#include "test/unit/runtime/chat/AnswerTemplates.h"

#include <cstring>
#include <gtest/gtest.h>

using namespace effc;
using namespace effc::test;

namespace {
struct OpenedChat {
  explicit OpenedChat(std::string_view source) {
    check(effc_chat_create_from_source(source.data(), source.size(), nullptr,
                                       &chat));
  }
  ~OpenedChat() { effc_chat_free(chat); }
  effc_chat_t *chat = nullptr;
};

const char *sourceOf(const char *form) {
  for (const AnswerTemplate &each : kAnswerTemplates)
    if (std::strcmp(each.form, form) == 0)
      return each.source;
  return "";
}

struct Asked {
  bool tools = true, reasoning = true;
  std::string prompt, definitions;
};

void readParts(effc_chat_parser_t *parser, std::string &seen, int &last) {
  for (;;) {
    effc_chat_part_t part = {};
    part.size = sizeof part;
    check(effc_chat_parser_next(parser, &part));
    if (part.kind == EFFC_CHAT_NONE)
      return;
    // Pieces of one kind are one text.
    const char *names[] = {"", "content", "reasoning", "call", "arguments"};
    if (part.kind != last || part.kind == EFFC_CHAT_CALL)
      seen += std::string(seen.empty() ? "" : "|") + names[part.kind] +
              (part.kind >= EFFC_CHAT_CALL ? std::to_string(part.call) : "") +
              ":";
    last = part.kind;
    seen.append(part.text, part.text_size);
    if (*part.id)
      seen += std::string("#") + part.id;
  }
}

/// All parts of an answer that comes in two pieces, cut at `cut`; and again, byte by
/// byte, by the same parser.
std::string partsOf(const OpenedChat &chat, const std::string &answer,
                    size_t cut, const Asked &asked) {
  effc_chat_parser_options_t options = effc_chat_parser_options_default();
  options.tools = asked.tools;
  options.reasoning = asked.reasoning;
  options.prompt = asked.prompt.data();
  options.prompt_size = asked.prompt.size();
  if (!asked.definitions.empty()) {
    options.definitions = asked.definitions.data();
    options.definitions_size = asked.definitions.size();
  }
  effc_chat_parser_t *parser = nullptr;
  check(effc_chat_parser_create(chat.chat, &options, &parser));
  std::string seen, again;
  int last = EFFC_CHAT_NONE;
  check(effc_chat_parser_push(parser, answer.data(), cut));
  readParts(parser, seen, last);
  check(
      effc_chat_parser_push(parser, answer.data() + cut, answer.size() - cut));
  check(effc_chat_parser_finish(parser));
  readParts(parser, seen, last);
  last = EFFC_CHAT_NONE;
  for (char byte : answer) {
    check(effc_chat_parser_push(parser, &byte, 1));
    readParts(parser, again, last);
  }
  check(effc_chat_parser_finish(parser));
  readParts(parser, again, last);
  EXPECT_EQ(again, seen);
  effc_chat_parser_free(parser);
  return seen;
}

void expectParts(const char *form, const std::string &answer,
                 const std::string &expected, const Asked &asked = {}) {
  OpenedChat chat(sourceOf(form));
  for (size_t cut = 0; cut <= answer.size(); ++cut)
    ASSERT_EQ(partsOf(chat, answer, cut, asked), expected)
        << form << ", cut at " << cut << ": " << answer;
}
} // namespace

TEST(AnswerFormat, IsFoundInEachManner) {
  for (const auto &[form, source] : kAnswerTemplates) {
    OpenedChat chat(source);
    const char *name = nullptr;
    check(effc_chat_tool_format(chat.chat, &name));
    EXPECT_STREQ(name, form);
  }
}

TEST(AnswerFormat, SaysWhatACallBeginsWith) {
  struct Manner {
    std::string lead, arguments;
    bool isList;
  };
  const std::map<std::string, Manner> expected = {
      {"json_tags", {"<tool_call>\n", "arguments", false}},
      {"xml_tags", {"", "", false}},
      {"json", {"", "parameters", false}},
      {"bracket_list", {"[TOOL_CALLS] ", "arguments", true}},
      {"tagged_list", {"<tool_calls>", "arguments", true}},
      {"python", {"", "", false}},
      {"marked_list", {"<|tool_call|>", "arguments", true}}};
  for (const auto &[form, source] : kAnswerTemplates) {
    OpenedChat chat(source);
    effc_chat_tool_manner_t manner = {};
    manner.size = sizeof manner;
    check(effc_chat_tool_manner(chat.chat, &manner));
    const Manner &one = expected.at(form);
    EXPECT_STREQ(manner.format, form);
    EXPECT_EQ(manner.lead, one.lead) << form;
    EXPECT_EQ(manner.arguments_key, one.arguments) << form;
    EXPECT_EQ(manner.is_list, one.isList) << form;
  }
}

TEST(AnswerFormat, SaysWhyThereIsNone) {
  const std::pair<const char *, const char *> templates[] = {
      {"{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}",
       "it has no call of a tool where a conversation has one"},
      {"{% for m in messages %}{{ m.content }}{% for c in m.tool_calls or [] "
       "%}CALL {{ c.function.name }} WITH {{ c.function.arguments }}{% endfor "
       "%}{% endfor %}",
       "'CALL ' before the name of a tool, which is none"},
      {"{{ raise_exception('no') }}", "it has no call"}};
  for (auto [source, reason] : templates) {
    OpenedChat chat(source);
    const char *name = nullptr;
    effc_status_t *status = effc_chat_tool_format(chat.chat, &name);
    EXPECT_EQ(effc_status_code(status), EFFC_UNSUPPORTED);
    EXPECT_NE(std::string(effc_status_message(status)).find(reason),
              std::string::npos)
        << effc_status_message(status);
    effc_status_free(status);
    effc_chat_parser_options_t options = effc_chat_parser_options_default();
    effc_chat_parser_t *parser = nullptr;
    check(effc_chat_parser_create(chat.chat, &options, &parser));
    effc_chat_parser_free(parser);
    options.tools = true;
    status = effc_chat_parser_create(chat.chat, &options, &parser);
    EXPECT_EQ(effc_status_code(status), EFFC_UNSUPPORTED);
    effc_status_free(status);
  }
}

TEST(AnswerParser, ReadsJsonBetweenTags) {
  expectParts("json_tags", "Hello <b>you</b>. ", "content:Hello <b>you</b>. ");
  expectParts(
      "json_tags",
      "I look.\n<tool_call>\n{\"name\": \"get\", \"arguments\": {\"a\": "
      "[1, {\"b\": \"}\\\"\"}]}}\n</tool_call>",
      "content:I look.|call0:get|arguments0:{\"a\": [1, {\"b\": "
      "\"}\\\"\"}]}");
  expectParts(
      "json_tags",
      "<tool_call>{\"name\":\"f\",\"arguments\":{}}</tool_call>\n"
      "<tool_call>\n{\"arguments\": {\"x\":1}, \"name\": \"g\"}\n"
      "</tool_call>\nDone.",
      "call0:f|arguments0:{}|call1:g|arguments1:{\"x\":1}|content:Done.");
  // Several between one pair of tags.
  expectParts("json_tags",
              "<tool_call>\n{\"name\": \"f\", \"arguments\": {}}\n{\"name\": "
              "\"g\", \"arguments\": {}}\n</tool_call>",
              "call0:f|arguments0:{}|call1:g|arguments1:{}");
  // Arguments as a text of JSON, and none.
  expectParts("json_tags",
              "<tool_call>{\"id\": \"c1\", \"name\": \"f\", \"arguments\": "
              "\"{\\\"a\\\": 1}\"}</tool_call>"
              "<tool_call>{\"name\": \"g\"}</tool_call>",
              "call0:f#c1|arguments0:{\"a\": 1}|call1:g|arguments1:{}");
}

TEST(AnswerParser, ReadsReasoning) {
  expectParts("json_tags", "<think>\nWell, <i>.\n</think>\n\nYes.",
              "reasoning:Well, <i>.|content:Yes.");
  Asked open;
  open.prompt = "<|im_start|>assistant\n<think>\n";
  expectParts("json_tags",
              "So it is </ think>.\n</think>\n\n<tool_call>\n{\"name\": \"f\", "
              "\"arguments\": {}}\n</tool_call>",
              "reasoning:So it is </ think>.|call0:f|arguments0:{}", open);
  // Not to an end; and calls within are none.
  expectParts("json_tags", "Hm <tool_call>{\"name\"",
              "reasoning:Hm <tool_call>{\"name\"", open);
  Asked plain;
  plain.reasoning = false;
  expectParts("json_tags", "<think>a</think>b", "content:<think>a</think>b",
              plain);
  // A mark that comes later is a text.
  expectParts("json_tags", "The tag <think> is one.",
              "content:The tag <think> is one.");
}

TEST(AnswerParser, ReadsParametersBetweenTags) {
  std::string answer =
      "<tool_call>\n<function=get>\n<parameter=a>\n12\n</parameter>\n"
      "<parameter=b>\nline 1\n <x>\"2\"\n</parameter>\n<parameter=c>\n[1, "
      "null]\n</parameter>\n</function>\n</tool_call>";
  expectParts("xml_tags", answer,
              "call0:get|arguments0:{\"a\": 12, \"b\": \"line 1\\n "
              "<x>\\\"2\\\"\", \"c\": [1, null]}");
  Asked known;
  known.definitions =
      R"([{"type": "function", "function": {"name": "get", "parameters":
          {"properties": {"a": {"type": "string"}, "c": {"type": "array"}}}}}])";
  expectParts("xml_tags", answer,
              "call0:get|arguments0:{\"a\": \"12\", \"b\": \"line 1\\n "
              "<x>\\\"2\\\"\", \"c\": [1, null]}",
              known);
  // Without what stands around it, and without parameters.
  expectParts("xml_tags", "Now:\n<function=f>\n</function>\n</tool_call>",
              "content:Now:|call0:f|arguments0:{}");
}

TEST(AnswerParser, ReadsJsonThatIsTheAnswer) {
  expectParts("json", "{\"name\": \"f\", \"parameters\": {\"a\": 1}}",
              "call0:f|arguments0:{\"a\": 1}");
  expectParts("json",
              "<|python_tag|>{\"type\": \"function\", \"name\": \"f\", "
              "\"parameters\": {}}",
              "call0:f|arguments0:{}");
  // Other JSON, and calls behind a text, are content.
  for (const char *text :
       {"{\"name\": \"Anna\", \"age\": 3}", "{\"a\": 1}", "{not}", "{\"name\"",
        "Use {\"name\": \"f\", \"parameters\": {}}", "{", "{\"name\": \"f\"}"})
    expectParts("json", text, std::string("content:") + text);
}

TEST(AnswerParser, ReadsLists) {
  expectParts("bracket_list",
              "[TOOL_CALLS] [{\"name\": \"f\", \"arguments\": {\"a\": \"]\"}, "
              "\"id\": \"abc\"}, {\"name\": \"g\", \"arguments\": {}}]",
              "call0:f|arguments0:{\"a\": \"]\"}|call1:g|arguments1:{}");
  expectParts("tagged_list",
              "Wait.<tool_calls>[{\"name\": \"f\", \"arguments\": "
              "{}}]</tool_calls>",
              "content:Wait.|call0:f|arguments0:{}");
  expectParts("marked_list",
              "<|tool_call|>[{\"name\": \"f\", \"arguments\": {\"a\": 1}}]",
              "call0:f|arguments0:{\"a\": 1}");
  expectParts("bracket_list", "[TOOL_CALL", "content:[TOOL_CALL");
}

TEST(AnswerParser, ReadsPython) {
  expectParts("python",
              "<|tool_call_start|>[get(a=\"x, y)\", b=[1, 'it\\'s'], c=None, "
              "d={'k': True}, e=-2.5), f()]<|tool_call_end|>Done",
              "call0:get|arguments0:{\"a\": \"x, y)\", \"b\": [1, \"it's\"], "
              "\"c\": null, \"d\": {\"k\": true}, \"e\": "
              "-2.5}|call1:f|arguments1:{}|content:Done");
}

TEST(AnswerParser, LeavesWhatIsNoCall) {
  // What breaks before a call is known is content, mark included.
  expectParts("json_tags", "<tool_call>\nnot JSON\n</tool_call>",
              "content:<tool_call>\nnot JSON\n</tool_call>");
  expectParts("json_tags", "<tool_call>{\"nam", "content:<tool_call>{\"nam");
  // A call that is not whole stays as far as it has come.
  expectParts("json_tags",
              "<tool_call>{\"name\": \"f\", \"arguments\": {\"a\": \"b",
              "call0:f|arguments0:{\"a\": \"b");
  Asked plain;
  plain.tools = false;
  expectParts("json_tags", "<tool_call>{}</tool_call>",
              "content:<tool_call>{}</tool_call>", plain);
}

TEST(AnswerParser, NamesArgumentsThatAreNull) {
  OpenedChat chat(sourceOf("json"));
  effc_chat_parser_t *parser = nullptr, *other = nullptr;
  check(effc_chat_parser_create(chat.chat, nullptr, &parser));
  effc_chat_parser_options_t options = effc_chat_parser_options_default();
  options.prompt_size = 3;
  effc_chat_parser_options_t wrong = effc_chat_parser_options_default();
  wrong.definitions = "{}";
  wrong.definitions_size = 2;
  effc_chat_part_t part = {};
  part.size = sizeof part;
  const char *name = nullptr;
  effc_chat_tool_manner_t manner = {};
  manner.size = sizeof manner;
  const std::pair<effc_status_t *, const char *> calls[] = {
      {effc_chat_tool_format(nullptr, &name), "'chat' is null"},
      {effc_chat_tool_format(chat.chat, nullptr), "'out_name' is null"},
      {effc_chat_tool_manner(nullptr, &manner), "'chat' is null"},
      {effc_chat_tool_manner(chat.chat, nullptr), "'out_manner' is null"},
      {effc_chat_parser_create(nullptr, nullptr, &other), "'chat' is null"},
      {effc_chat_parser_create(chat.chat, nullptr, nullptr),
       "'out_parser' is null"},
      {effc_chat_parser_create(chat.chat, &options, &other),
       "'prompt' is null"},
      {effc_chat_parser_create(chat.chat, &wrong, &other), "expected a list"},
      {effc_chat_parser_push(nullptr, "", 0), "'parser' is null"},
      {effc_chat_parser_push(parser, nullptr, 1), "'text' is null"},
      {effc_chat_parser_finish(nullptr), "'parser' is null"},
      {effc_chat_parser_next(nullptr, &part), "'parser' is null"},
      {effc_chat_parser_next(parser, nullptr), "'out_part' is null"}};
  for (auto [status, message] : calls) {
    EXPECT_EQ(effc_status_code(status), EFFC_INVALID_ARGUMENT) << message;
    EXPECT_EQ(std::string(effc_status_message(status)).find(message), 0u)
        << effc_status_message(status);
    effc_status_free(status);
  }
  effc_chat_parser_free(parser);
}
