// Invalid runs are replaced as Rust's from_utf8_lossy and Python's "replace"
// do: the expected strings were written down from the Unicode standard, 3.9.

#include "runtime/src/tokenizer/Utf8.h"

#include <gtest/gtest.h>

using namespace effc::rt;

#define FFFD "\xEF\xBF\xBD"

TEST(Utf8, KeepsWhatIsValid) {
  for (std::string text :
       {"", "abc", "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80",
        "\xED\x9F\xBF", "\xEE\x80\x80", "\xF4\x8F\xBF\xBF"})
    EXPECT_EQ(makeValidUtf8(text), text);
  EXPECT_EQ(makeValidUtf8(std::string("a\0b", 3)), std::string("a\0b", 3));
}

TEST(Utf8, ReplacesMaximalRuns) {
  EXPECT_EQ(makeValidUtf8("a\x80z"), "a" FFFD "z");
  // A cut character is one run, the byte after it stands.
  EXPECT_EQ(makeValidUtf8("\xE2\x82z"), FFFD "z");
  EXPECT_EQ(makeValidUtf8("\xF0\x9F\x98z"), FFFD "z");
  // Overlong, surrogate and too large: byte by byte.
  EXPECT_EQ(makeValidUtf8("\xC0\xAF"), FFFD FFFD);
  EXPECT_EQ(makeValidUtf8("\xE0\x80\xAF"), FFFD FFFD FFFD);
  EXPECT_EQ(makeValidUtf8("\xED\xA0\x80"), FFFD FFFD FFFD);
  EXPECT_EQ(makeValidUtf8("\xF4\x90\x80\x80"), FFFD FFFD FFFD FFFD);
  EXPECT_EQ(makeValidUtf8("\xFF\xFE"), FFFD FFFD);
  // A cut end is one run.
  EXPECT_EQ(makeValidUtf8("a\xF0\x9F"), "a" FFFD);
}

TEST(Utf8, StreamsWholeCharacters) {
  Utf8Stream stream;
  EXPECT_EQ(stream.push("a\xE2"), "a");
  EXPECT_EQ(stream.push("\x82"), "");
  EXPECT_EQ(stream.push("\xAC"), "\xE2\x82\xAC");
  EXPECT_EQ(stream.push("\xE2\x82"), "");
  EXPECT_EQ(stream.push("z"), FFFD "z");
  EXPECT_EQ(stream.push("\xF0"), "");
  EXPECT_EQ(stream.finish(), FFFD);
  EXPECT_EQ(stream.finish(), "");
}

// However the bytes are cut, the stream gives what the whole gives.
TEST(Utf8, StreamEqualsWholeAtEveryCut) {
  std::string text =
      "\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\xFFq\xE2\x82\xF0\x9F";
  for (size_t i = 0; i <= text.size(); ++i)
    for (size_t j = i; j <= text.size(); ++j) {
      Utf8Stream stream;
      std::string all;
      for (std::string_view part : {std::string_view(text).substr(0, i),
                                    std::string_view(text).substr(i, j - i),
                                    std::string_view(text).substr(j)})
        all += stream.push(part);
      all += stream.finish();
      EXPECT_EQ(all, makeValidUtf8(text)) << i << " " << j;
    }
}
