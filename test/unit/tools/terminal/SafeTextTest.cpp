#include "tools/terminal/SafeText.h"

#include <gtest/gtest.h>

using namespace effc::cli;

TEST(SafeText, SpellsOutWhatSteersATerminal) {
  EXPECT_EQ(withoutControls("a\x1b[2Jb"), "a\\x1b[2Jb");
  EXPECT_EQ(withoutControls("\a\b\r\x7f"), "\\x07\\x08\\x0d\\x7f");
  EXPECT_EQ(withoutControls(std::string("a\0b", 3)), "a\\x00b");
  // U+009B opens a sequence as ESC [ does; U+202E turns the order around.
  EXPECT_EQ(withoutControls("\xc2\x9b"
                            "31m"),
            "\\x9b31m");
  EXPECT_EQ(withoutControls("\xe2\x80\xae"
                            "txt"),
            "\\u202etxt");
  EXPECT_EQ(withoutControls("\xe2\x81\xa6"), "\\u2066");
}

TEST(SafeText, LeavesAllElseAsItIs) {
  for (const char *text :
       {"", "lines\nand\ttabs", "Grüße, 你好, 🙂", "\xc2\xa0", "\xe2\x80\xa8",
        "\xff\xfe cut \xe2\x80", "\xc2"})
    EXPECT_EQ(withoutControls(text), text);
}
