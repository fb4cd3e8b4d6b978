// What grammars in GBNF mean, by texts that fit and that do not, and what their
// errors say.
#include "runtime/src/grammar/GbnfReader.h"
#include "test/unit/runtime/grammar/PlainReader.h"

#include <gtest/gtest.h>

using namespace effc::rt;
using namespace effc::rt::grammar;
using namespace effc::test;

namespace {
struct Meaning {
  const char *grammar;
  std::vector<std::string> fit, not_;
};

std::string refusal(std::string_view text) {
  auto rules = readGbnf(text);
  return rules ? "" : rules.error().message;
}
} // namespace

TEST(GbnfReader, ReadsWhatTheFormHas) {
  const Meaning meanings[] = {
      {"root ::= \"yes\" | \"no\"", {"yes", "no"}, {"", "yesno", "y"}},
      {"root ::= [a-c]+ [^a-c]", {"az", "abc\xC3\xA9"}, {"a", "z", "abca"}},
      {"root ::= .{2}", {"ab", "\xC3\xA9\xF0\x9F\x98\x80"}, {"a", "abc"}},
      {"root ::= \"a\"{2,} \"b\"{1,2} \"c\"?",
       {"aab", "aaabbc"},
       {"ab", "aabbb"}},
      {"root ::= \"\\x41\\u00e9\\U0001F600\\n\\\"\\\\\"",
       {"A\xC3\xA9\xF0\x9F\x98\x80\n\"\\"},
       {"A"}},
      {"root ::= [\\]\\-\\^a\\x2F-]", {"]", "-", "^", "a", "/"}, {"\\", "b"}},
      // A dash at the end of a set is one; a caret within, too.
      {"root ::= [+-] [a^]", {"-a", "+^"}, {",a"}},
      {"root ::= (\"a\" | (\"b\" \"c\")* ) \"d\"",
       {"ad", "d", "bcbcd"},
       {"bd"}},
      {"# of numbers\nroot ::= n # one\n  (\",\" n)*\nn ::= [0-9]\n",
       {"1", "1,2,3"},
       {"1,", ","}},
      // A rule goes on over lines up to the next one.
      {"root ::= \"a\"\n  | \"b\" x_1\nx_1 ::=\n\n \"c\"", {"a", "bc"}, {"b"}},
      {"root ::= \"(\" root \")\" | \"x\"", {"x", "((x))"}, {"((x)"}},
      {"root ::= \"\" | \"a\"", {"", "a"}, {"b"}},
      {"root ::= \"ab\"{0} \"c\"", {"c"}, {"abc"}},
      {"root ::= (\"a\"?)* \"b\"", {"b", "aab"}, {"a"}}};
  for (const auto &[grammar, fit, others] : meanings) {
    auto rules = readGbnf(grammar);
    ASSERT_TRUE(rules) << grammar << ": " << rules.error().message;
    for (const std::string &text : fit)
      EXPECT_TRUE(plainFit(*rules, text).isWhole) << grammar << ": " << text;
    for (const std::string &text : others)
      EXPECT_FALSE(plainFit(*rules, text).isWhole) << grammar << ": " << text;
  }
}

TEST(GbnfReader, SaysWhereSomethingIsWrong) {
  const std::pair<const char *, const char *> refusals[] = {
      {"root ::= \"a", "line 1, column 10: expected '\"' at the end of a text"},
      {"root ::= \"a\"\nx ::= [a", "line 2, column 7: expected ']'"},
      {"root ::= x", "line 1, column 10: rule 'x' is not there"},
      {"x ::= \"a\"", "expected a rule 'root'"},
      {"root ::= \"a\"\nroot ::= \"b\"",
       "line 2, column 1: rule 'root' is there a second time"},
      {"root ::= (\"\xC3\xA9\" ", "line 1, column 15: expected ')'"},
      {"root = \"a\"", "line 1, column 6: expected '::='"},
      {"root ::= \"a\"{2,1}", "expected a most of at least 2, but found 1"},
      {"root ::= \"a\"{70000}", "expected at most 65536 repetitions"},
      {"root ::= \"\\q\"", "line 1, column 11: expected one of"},
      {"root ::= \"\\ud800\"", "the escape is none"},
      {"root ::= [z-a]", "line 1, column 11: expected a range"},
      {"root ::= <[12]>", "a token '<...>'"},
      {"root ::= *", "line 1, column 10: expected a text, a set"},
      {"root ::= \"a\" )", "expected a text, a set"},
      {"root ::= root \"a\" | \"b\"",
       "line 1, column 1: rule 'root' begins with itself"},
      {"root ::= []", "a set without characters"},
      {"root ::= \"\xFF\"", "expected UTF-8, but found byte 255"},
      {"", "expected a rule 'root'"}};
  for (const auto &[grammar, message] : refusals)
    EXPECT_NE(refusal(grammar).find(message), std::string::npos)
        << grammar << ": " << refusal(grammar);
}

TEST(GbnfReader, HasLimits) {
  EXPECT_NE(refusal(std::string(kMostTextBytes + 1, ' ')).find("at most"),
            std::string::npos);
  EXPECT_NE(refusal("root ::= " + std::string(70, '(') + "\"a\"" +
                    std::string(70, ')'))
                .find("at most 64 brackets"),
            std::string::npos);
  EXPECT_NE(refusal("root ::= \"a\"" + std::string(70, '*'))
                .find("at most 4 repetitions of each other"),
            std::string::npos);
}
