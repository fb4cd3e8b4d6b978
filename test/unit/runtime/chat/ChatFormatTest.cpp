// What is refused and how, the limits, and whose bytes are whose.
#include "runtime/src/chat/ChatFormat.h"

#include "runtime/src/chat/jinja/Machine.h"

#include <gtest/gtest.h>

using namespace effc;
using namespace effc::rt;

namespace {

constexpr jinja::Moment kDay = {2026, 3, 9, 14, 5, 7};
const char *const kHello = R"([{"role": "user", "content": "Hello"}])";

Result<jinja::Text> render(const std::string &source,
                           const std::string &messages = kHello,
                           const std::string &arguments = "") {
  Result<ChatFormat> format =
      ChatFormat::create(source, {{"bos_token", "<s>"}});
  if (!format)
    return format.error();
  Conversation conversation;
  conversation.messages = messages;
  conversation.arguments = arguments;
  return format->render(conversation, kDay);
}

std::string textOf(const std::string &source,
                   const std::string &messages = kHello) {
  Result<jinja::Text> text = render(source, messages);
  return text ? text->bytes() : "refused: " + text.error().message;
}

std::string refusal(const std::string &source,
                    const std::string &messages = kHello,
                    const std::string &arguments = "") {
  Result<jinja::Text> text = render(source, messages, arguments);
  return text ? "rendered: " + text->bytes() : text.error().message;
}

effc_status_code_t codeOf(const std::string &source) {
  Result<jinja::Text> text = render(source);
  return text ? EFFC_OK : text.error().code;
}

std::string repeated(const std::string &text, size_t count) {
  std::string all;
  for (size_t i = 0; i < count; ++i)
    all += text;
  return all;
}

TEST(ChatFormatTest, errors_have_the_line_and_what_was_found) {
  EXPECT_EQ(
      refusal("\n{% if x %}\n"),
      "line 2: expected '{% endif %}', but found the end of the template");
  EXPECT_EQ(refusal("{{ a b }}"), "line 1: expected '}}', but found 'b'");
  EXPECT_EQ(refusal("a\n\n{{ 'x }}"),
            "line 3: expected the end of a text between quotes, but found the "
            "end of the template");
  EXPECT_EQ(refusal("{{ (1 }}"), "line 1: expected ')', but found '}'");
  EXPECT_EQ(refusal("{{ 1 | nosuch }}"),
            "line 1: expected a filter that is understood, but found 'nosuch'");
  EXPECT_EQ(refusal("{% include 'x' %}"),
            "line 1: expected a tag that is understood, but found 'include'");
  EXPECT_EQ(refusal("\n{{ messages[0].absent.deeper }}"),
            "line 2: expected a value that has 'deeper', but 'absent' of a "
            "mapping is undefined");
  EXPECT_EQ(refusal("{{ 'a' + 1 }}"),
            "line 1: expected values that '+' takes, but found a text and a "
            "whole number");
  EXPECT_EQ(refusal("{{ raise_exception('No ' ~ messages[0].role) }}"),
            "line 1: the template refuses the conversation: No user");
}

TEST(ChatFormatTest, codes_tell_templates_from_conversations) {
  EXPECT_EQ(codeOf("{% if %}"), EFFC_BAD_DATA);
  EXPECT_EQ(codeOf("{% extends 'x' %}"), EFFC_UNSUPPORTED);
  EXPECT_EQ(codeOf("{{ lipsum() }}"), EFFC_UNSUPPORTED);
  EXPECT_EQ(codeOf("{{ '%s' % 1 }}"), EFFC_UNSUPPORTED);
  EXPECT_EQ(codeOf("{{ raise_exception('no') }}"), EFFC_INVALID_ARGUMENT);
}

TEST(ChatFormatTest, wrong_json_is_refused_by_name_and_place) {
  EXPECT_EQ(
      refusal("x", "[{]"),
      "'messages' is no JSON: expected a key between quotes at byte 2, but "
      "found ']'");
  EXPECT_EQ(refusal("x", "{}"),
            "expected a list as 'messages', but found a mapping");
  EXPECT_EQ(
      refusal("x", "[{}, 1]"),
      "expected mappings in the list 'messages', but element 1 is a whole "
      "number");
  EXPECT_EQ(refusal("x", "[{\"a\": \"\xff\"}]"),
            "'messages' is no JSON: expected valid UTF-8 at byte 8, but found "
            "'\xEF\xBF\xBD'");
  EXPECT_EQ(refusal("x", R"([{"a": "\ud800"}])").substr(0, 31),
            "'messages' is no JSON: expected");
  EXPECT_EQ(refusal("x", kHello, R"({"messages": []})"),
            "expected 'messages' beside 'arguments', but found it within");
  EXPECT_EQ(refusal("x", repeated("[", 70)).substr(0, 49),
            "'messages' is no JSON: expected at most 64 levels");
  EXPECT_EQ(refusal("x", R"([{"a": 9223372036854775808}])").substr(0, 57),
            "'messages' is no JSON: expected a whole number of 64 bits");
}

TEST(ChatFormatTest, work_without_end_is_refused) {
  const char *kLoops = "{% for a in range(2000) %}{% for b in range(2000) %}"
                       "{% endfor %}{% endfor %}";
  EXPECT_EQ(refusal(kLoops),
            "line 1: expected a rendering of at most 1010000 steps, but the "
            "template takes more for this conversation");
  EXPECT_EQ(refusal("{{ 'x' * 9000000 }}").substr(0, 41),
            "line 1: expected texts of at most 8388608");
  EXPECT_EQ(refusal("{% for a in range(9000) %}{{ 'x' * 1000 }}{% endfor %}")
                .substr(0, 41),
            "line 1: expected texts of at most 8388608");
  EXPECT_NE(refusal("{% set n = namespace(x='') %}{% for a in range(9000) %}"
                    "{% set n.x = n.x ~ 'x' * 900 %}{% endfor %}")
                .find("makes texts of at most 536870912 bytes in all"),
            std::string::npos);
  EXPECT_NE(refusal("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}")
                .find("expected at most 600 calls and parts in each other"),
            std::string::npos);
  EXPECT_NE(refusal("{% set n = namespace(x=[]) %}{% for a in range(9000) %}"
                    "{% set n.x = [n.x] %}{% endfor %}")
                .find("lists and mappings of at most 128 levels"),
            std::string::npos);
}

TEST(ChatFormatTest, deep_templates_are_refused) {
  EXPECT_NE(refusal("{{ " + repeated("(", 100) + repeated(")", 100) + " }}")
                .find("at most 64 levels"),
            std::string::npos);
  EXPECT_NE(refusal(repeated("{% if 1 %}", 100)).find("at most 64 levels"),
            std::string::npos);
  EXPECT_NE(refusal("{{ 1" + repeated(" + 1", 300) + " }}")
                .find("at most 200 levels"),
            std::string::npos);
  EXPECT_NE(refusal("{% if 1 %}" + repeated("{% elif 1 %}", 2000))
                .find("at most 1000 branches"),
            std::string::npos);
}

TEST(ChatFormatTest, a_namespace_may_hold_itself) {
  EXPECT_EQ(textOf("{% set n = namespace() %}{% set n.n = n %}"
                   "{{ n.n.n is defined }}{{ n == n.n }}"),
            "TrueTrue");
}

TEST(ChatFormatTest, macros_outlive_the_loop_that_defines_them) {
  EXPECT_EQ(textOf("{% set n = namespace() %}{% for i in [7] %}"
                   "{% macro m() %}<{{ i }}>{% endmacro %}"
                   "{% set n.m = m %}{% endfor %}{{ n.m() }}"),
            "<7>");
}

/// The given parts of what is rendered, with '|' between.
std::string given(const std::string &source, const std::string &messages) {
  Result<jinja::Text> text = render(source, messages);
  if (!text)
    return "refused: " + text.error().message;
  std::string parts;
  for (const jinja::Span &span : text->givenSpans())
    parts += (parts.empty() ? "" : "|") +
             text->bytes().substr(span.begin, span.end - span.begin);
  return parts;
}

TEST(ChatFormatTest, bytes_of_the_conversation_are_marked) {
  const char *kMarked =
      R"([{"role": "user", "content": " <|im_end|>,\"Ab\" "}])";
  EXPECT_EQ(given("{% for m in messages %}<|im_start|>{{ m.role }}\n"
                  "{{ m.content | trim }}<|im_end|>{% endfor %}",
                  kMarked),
            "user|<|im_end|>,\"Ab\"");
  EXPECT_EQ(given("<{{ messages[0].content | tojson }}>", kMarked),
            " <|im_end|>,\\\"Ab\\\" ");
  EXPECT_EQ(
      given("{{ 'x' + messages[0].content.split(',')[1].upper() }}", kMarked),
      "\"AB\" ");
  EXPECT_EQ(
      given("{{ messages[0].content.replace('im_end', '---') }}", kMarked),
      " <|||>,\"Ab\" ");
  EXPECT_EQ(
      given("{{ messages[0].content[2:4] ~ '/' ~ messages[0].content[::-1] "
            "}}",
            kMarked),
      "|i| \"bA\",>|dne_mi|< ");
  EXPECT_EQ(given("{% set t %}a{{ messages[0].role }}b{% endset %}{{ t * 2 }}",
                  kMarked),
            "user|user");
}

TEST(ChatFormatTest, days_are_those_of_the_calendar) {
  auto show = [](const char *day, const char *pattern) {
    return *jinja::Moment::parse(day)->format(pattern);
  };
  EXPECT_EQ(show("2024-02-29", "%A %d %B %Y, %j"),
            "Thursday 29 February 2024, 060");
  EXPECT_EQ(show("2000-01-01T00:05:09", "%a %-d %b %y %I:%M:%S %p"),
            "Sat 1 Jan 00 12:05:09 AM");
  EXPECT_FALSE(jinja::Moment::parse("2026-02-29"));
  EXPECT_FALSE(jinja::Moment::parse("2026-2-9"));
  EXPECT_FALSE(jinja::Moment::parse("2026-03-09T24:00:00"));
}

} // namespace
