// What single tokens add to a text: the texts of tokens one after another are what
// the decoder makes of all, for each chain of steps that public tokenizers have.

#include "runtime/src/tokenizer/Tokenizer.h"
#include "runtime/src/tokenizer/Utf8.h"
#include "test/unit/runtime/toy/ToyArtifact.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>

using namespace effc;
using namespace effc::rt;
using namespace effc::test;

namespace {
struct Step {
  artifact::DecoderKind kind;
  const char *pattern = "", *content = "";
  uint32_t start = 0;
  artifact::Prepend prepend = artifact::Prepend::Never;
};

/// The toy's tokenizer with other texts and another decoder.
Result<std::unique_ptr<Tokenizer>> make(const std::vector<std::string> &texts,
                                        const std::vector<Step> &steps) {
  artifact::TokenizerT table = makeToyTokenizer();
  for (size_t i = 0; i < texts.size(); ++i)
    table.tokens[i]->data.assign(texts[i].begin(), texts[i].end());
  table.decoders.clear();
  for (const Step &step : steps) {
    table.decoders.push_back(std::make_unique<artifact::DecoderStepT>());
    artifact::DecoderStepT &made = *table.decoders.back();
    made.kind = step.kind;
    made.pattern = step.pattern;
    made.content = step.content;
    made.start = step.start;
    made.prepend = step.prepend;
  }
  table.model = artifact::ModelKind::ByteBpe;
  flatbuffers::FlatBufferBuilder packed;
  packed.Finish(artifact::Tokenizer::Pack(packed, &table),
                artifact::TokenizerIdentifier());
  return Tokenizer::create({packed.GetBufferPointer(), packed.GetSize()});
}

using Kind = artifact::DecoderKind;
const char *const kMark = "\xE2\x96\x81"; // U+2581
} // namespace

TEST(TokenTexts, AreWhatTheDecoderAdds) {
  const std::vector<Step> chains[] = {
      {{.kind = Kind::Bytes}},
      // Llama 2, Gemma, and the older form of both.
      {{.kind = Kind::Replace, .pattern = kMark, .content = " "},
       {.kind = Kind::ByteFallback},
       {.kind = Kind::Fuse},
       {.kind = Kind::Strip, .content = " ", .start = 1}},
      {{.kind = Kind::Replace, .pattern = kMark, .content = " "},
       {.kind = Kind::ByteFallback},
       {.kind = Kind::Fuse}},
      {{.kind = Kind::Metaspace,
        .content = kMark,
        .prepend = artifact::Prepend::Always}}};
  std::mt19937 random(1);
  for (const std::vector<Step> &steps : chains) {
    std::vector<std::string> texts(256);
    bool takesBytes = steps[0].kind == Kind::Bytes;
    for (size_t i = 0; i < texts.size(); ++i)
      texts[i] = std::string(1, static_cast<char>('a' + i % 26));
    texts[1] = takesBytes ? " x" : std::string(kMark) + "x";
    texts[2] = takesBytes ? " " : kMark;
    texts[3] = takesBytes ? "y z" : "y" + std::string(kMark) + "z";
    texts[4] = "\xC3\xA9";
    if (steps.size() > 1 || takesBytes) {
      texts[5] = takesBytes ? "\xC3" : "<0xC3>";
      texts[6] = takesBytes ? "\xA9" : "<0xA9>";
    }
    auto tokenizer = make(texts, steps);
    ASSERT_TRUE(tokenizer) << tokenizer.error().message;
    auto found = (*tokenizer)->tokenTexts();
    ASSERT_TRUE(found) << found.error().message;
    const TokenTexts &tokens = **found;
    EXPECT_EQ(tokens.of(kToyEnd), "") << "a special token";
    EXPECT_EQ(tokens.of(kToyPlain), "word");
    for (int round = 0; round < 2000; ++round) {
      std::vector<int32_t> ids(1 + random() % 6);
      for (int32_t &id : ids)
        id = static_cast<int32_t>(random() % (random() % 2 ? 8 : 250));
      // Of a decoder that drops a first space, tokens with spaces within are none.
      if (std::any_of(ids.begin(), ids.end(),
                      [&](int32_t id) { return tokens.of(id).empty(); }))
        continue;
      std::string sum(tokens.ofFirst(ids[0]));
      for (size_t i = 1; i < ids.size(); ++i)
        sum += tokens.of(ids[i]);
      // Bytes that are no character are shown in other ways.
      if (makeValidUtf8(sum) != sum)
        continue;
      auto whole = (*tokenizer)->detokenize(ids, /*skipSpecial=*/true);
      ASSERT_TRUE(whole);
      ASSERT_EQ(sum, *whole);
    }
  }
}

TEST(TokenTexts, AreRefusedWhereTheyDependOnNeighbours) {
  const std::vector<Step> chains[] = {
      {{.kind = Kind::WordPiece, .content = "##"}},
      {{.kind = Kind::Spaces}},
      {{.kind = Kind::WordSuffix, .content = "</w>"}},
      {{.kind = Kind::Fuse},
       {.kind = Kind::Replace, .pattern = "ab", .content = "c"}}};
  for (const std::vector<Step> &steps : chains) {
    std::vector<std::string> texts;
    for (int i = 0; i < 256; ++i)
      texts.push_back(std::string(1, static_cast<char>('a' + i % 26)));
    auto tokenizer = make(texts, steps);
    ASSERT_TRUE(tokenizer) << tokenizer.error().message;
    auto found = (*tokenizer)->tokenTexts();
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().code, EFFC_UNSUPPORTED);
  }
}

TEST(TokenTexts, LieInTheOrderOfTheirBytes) {
  std::vector<std::string> texts = {"b",   "ab", "",   "a",
                                    "abc", " a", "ab", "\xFF"};
  TokenTexts tokens(texts, true);
  std::string walked;
  for (size_t at = 0; at < tokens.nodes().size(); ++at) {
    const TokenTexts::Node &node = tokens.nodes()[at];
    walked += std::string(node.depth, '.') + static_cast<char>(node.byte);
    for (int32_t token : tokens.tokensAt(at))
      walked += std::to_string(token);
  }
  EXPECT_EQ(walked, ". ..a5.a3..b16...c4.b0.\xFF"
                    "7");
  EXPECT_EQ(tokens.spaceNode(), 0u);
  EXPECT_EQ(tokens.nodes()[2].end, 5u) << "behind all that begin with a";
  EXPECT_EQ(tokens.mostDepth(), 3u);
  EXPECT_EQ(tokens.ofFirst(5), "a");
  EXPECT_EQ(tokens.of(99), "");
}
