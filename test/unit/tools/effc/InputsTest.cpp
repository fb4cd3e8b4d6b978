#include "tools/effc/Inputs.h"
#include "test/unit/runtime/toy/ToyArtifact.h"
#include "tools/terminal/Failure.h"

#include <gtest/gtest.h>

using namespace effc::cli;
using effc::test::TemporaryFile;

static std::vector<Tokens> readTokens(const std::string &text) {
  TemporaryFile file({text.begin(), text.end()});
  return readTokenFile(file.path(), 100);
}

/// The message without the path.
static std::string refusal(const std::string &text) {
  TemporaryFile file({text.begin(), text.end()});
  try {
    readTokenFile(file.path(), 100);
    return "";
  } catch (const Failure &failure) {
    std::string message = failure.what();
    message.replace(message.find(file.path()), file.path().size(), "FILE");
    return message;
  }
}

TEST(Inputs, ReadsTokenFiles) {
  EXPECT_EQ(readTokens("[[1, 2], [], [99]]"),
            (std::vector<Tokens>{{1, 2}, {}, {99}}));
  EXPECT_EQ(readTokens("[]"), std::vector<Tokens>{});
}

TEST(Inputs, RefusesOtherTokenFiles) {
  EXPECT_EQ(refusal(""), "'FILE' is not JSON: it ends at line 1, column 1");
  EXPECT_EQ(refusal("[[1]"), "'FILE' is not JSON: it ends at line 1, column 5");
  EXPECT_EQ(refusal("[[1],\n"),
            "'FILE' is not JSON: it ends at line 2, column 1");
  EXPECT_EQ(refusal("[[1,2],\n [x]]"),
            "'FILE' is not JSON: it goes wrong at line 2, column 3");
  EXPECT_EQ(refusal("x"),
            "'FILE' is not JSON: it goes wrong at line 1, column 1");
  EXPECT_EQ(refusal("{\"a\": 1}"),
            "'FILE' is not an array of arrays of token ids");
  EXPECT_EQ(refusal("[[1], 2]"),
            "sequence 1 of 'FILE' is not an array of token ids");
  const char *rest = ", not a token of the vocabulary of 100";
  EXPECT_EQ(refusal("[[1, 100]]"),
            "element 1 of sequence 0 of 'FILE' is 100" + std::string(rest));
  EXPECT_EQ(refusal("[[-1]]"),
            "element 0 of sequence 0 of 'FILE' is -1" + std::string(rest));
  EXPECT_EQ(refusal("[[1.5]]"),
            "element 0 of sequence 0 of 'FILE' is 1.5" + std::string(rest));
  EXPECT_EQ(refusal("[[\"\\u0000\"]]"),
            "element 0 of sequence 0 of 'FILE' is \"\\u0000\"" +
                std::string(rest));
  EXPECT_EQ(refusal("[[1e400]]"),
            "'FILE' has a number beyond the range of f64");
  EXPECT_NE(refusal("[[18446744073709551615]]"), "");
}

TEST(Inputs, SurvivesDeepJson) {
  EXPECT_EQ(refusal(std::string(200000, '[')),
            "'FILE' is not JSON: it ends at line 1, column 200001");
  std::string deep = std::string(100000, '[') + std::string(100000, ']');
  EXPECT_EQ(refusal(deep),
            "element 0 of sequence 0 of 'FILE' is an array, not a token "
            "of the vocabulary of 100");
}

TEST(Inputs, ParsesTokenLists) {
  EXPECT_EQ(parseTokenList("7"), Tokens{7});
  EXPECT_EQ(parseTokenList("1,2,30"), (Tokens{1, 2, 30}));
  for (const char *text :
       {"", ",", "1,", "1,,2", "a", "-1", "1;2", "1, 2", "2147483648"})
    EXPECT_THROW(parseTokenList(text), UsageError) << text;
}

TEST(Inputs, ParsesBytes) {
  EXPECT_EQ(parseBytes("1000"), 1000u);
  EXPECT_EQ(parseBytes("2K"), 2048u);
  EXPECT_EQ(parseBytes("1.5GiB"), 1610612736u);
  EXPECT_EQ(parseBytes("3MB"), 3u << 20);
  for (const char *text : {"", "K", "1X", "-1", "nan", "inf", "1e30", "1 K"})
    EXPECT_THROW(parseBytes(text), UsageError) << text;
}

TEST(Inputs, NamesFilesThatCannotBeRead) {
  EXPECT_THROW(readWholeFile("/nonexistent/file"), Failure);
  EXPECT_THROW(readWholeFile("/tmp"), Failure);
}
