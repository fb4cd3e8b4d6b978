// Sets of characters, and what is refused of rules that a text cannot be written by.
#include "runtime/src/grammar/Rules.h"

#include <gtest/gtest.h>

using namespace effc::rt;
using namespace effc::rt::grammar;

using Ranges = std::vector<CodeRange>;

TEST(CharacterSet, IsInOrderAndHasNoSurrogates) {
  CharacterSet set = {{'d', 'f'}, {'a', 'b'}, {'c', 'c'}, {0xD000, 0xE000}};
  EXPECT_EQ(set.ranges(),
            (Ranges{{'a', 'f'}, {0xD000, 0xD7FF}, {0xE000, 0xE000}}));
  EXPECT_EQ(CharacterSet({{0xD800, 0xDFFF}}).ranges(), Ranges());
  EXPECT_TRUE(set.has('e'));
  EXPECT_FALSE(set.has('g'));
}

TEST(CharacterSet, HasAComplementAndWhatIsCommon) {
  CharacterSet set = {{'b', 'y'}};
  EXPECT_EQ(set.complement().ranges(),
            (Ranges{{0, 'a'}, {'z', 0xD7FF}, {0xE000, kMostCodePoint}}));
  EXPECT_EQ(set.complement().complement().ranges(), (Ranges{{'b', 'y'}}));
  EXPECT_EQ(set.common({{'a', 'c'}, {'x', 'z'}}).ranges(),
            (Ranges{{'b', 'c'}, {'x', 'y'}}));
  EXPECT_EQ(CharacterSet().complement().complement().ranges(), Ranges());
}

static std::string refusalOf(const Rules &rules) {
  Check error = checkRules(rules);
  return error ? error->message : "";
}

TEST(RuleChecks, RefuseLeftRecursionByName) {
  Rules rules;
  rules.add("root", sequence({call(1), textOf("x")}), "line 1");
  rules.add("a", choice({textOf("a"), sequence({call(2), textOf("y")})}));
  // What comes first may be nothing.
  rules.add("b", sequence({optional(textOf("b")), call(1)}));
  std::string message = refusalOf(rules);
  EXPECT_NE(message.find("rule 'a' begins with itself by 'b'"),
            std::string::npos)
      << message;
  EXPECT_NE(message.find("left recursion"), std::string::npos);
  // Behind something it is recursion of another kind.
  rules.all[2].body = sequence({textOf("b"), optional(call(1))});
  EXPECT_EQ(refusalOf(rules), "");
}

TEST(RuleChecks, RefuseWhatNoTextFits) {
  Rules rules;
  rules.add("root", choice({textOf("x"), call(1)}));
  rules.add("endless", sequence({textOf("a"), call(1)}), "line 2, column 1");
  EXPECT_EQ(
      refusalOf(rules),
      "line 2, column 1: rule 'endless' comes to itself again whatever is "
      "written, so that no text of an end fits it");
  rules.all[1].body = oneOf({});
  EXPECT_NE(refusalOf(rules).find("a set without characters"),
            std::string::npos);
}

TEST(RuleChecks, AreDoneWithLongChainsInLittleTime) {
  // Each rule calls the next, and the first all of them.
  Rules rules;
  std::vector<Expression> all;
  for (uint32_t i = 1; i < 5000; ++i)
    all.push_back(call(i));
  rules.add("root", sequence(std::move(all)));
  for (uint32_t i = 1; i < 5000; ++i)
    rules.add("r", i + 1 < 5000 ? sequence({textOf("x"), call(i + 1)})
                                : textOf("x"));
  EXPECT_EQ(refusalOf(rules), "");
}
