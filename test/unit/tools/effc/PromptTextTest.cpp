#include "tools/effc/PromptText.h"

#include <gtest/gtest.h>

using namespace effc::cli;

TEST(PromptText, EscapesStandForBytes) {
  EXPECT_EQ(withoutEscapes(R"(a\nb\tc\rd)"), "a\nb\tc\rd");
  EXPECT_EQ(withoutEscapes(R"(\"\'\\n)"), "\"'\\n");
  EXPECT_EQ(withoutEscapes(R"(\x41\xc3\xa9)"), "A\xc3\xa9");
  EXPECT_EQ(withoutEscapes(""), "");
}

// Formulas and paths are left as they were typed.
TEST(PromptText, OtherBackslashesStay) {
  for (const char *text :
       {R"(\alpha \q)", R"(C:\dir)", R"(end\)", R"(\x4)", R"(\xg1)", R"(\x-1)"})
    EXPECT_EQ(withoutEscapes(text), text);
}
