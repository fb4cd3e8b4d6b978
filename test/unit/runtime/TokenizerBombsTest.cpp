// Small tokenizers that describe work without end. Each is refused, or its text is,
// with the part that takes too much; steps and bytes are counted, no clock is.
// Ids 0 to 255 of the toy tokenizer are bytes, those to 270 its merges and added
// tokens (makeToyTokenizer).

#include "runtime/schema/TokenizerLimits.h"
#include "runtime/src/tokenizer/Tokenizer.h"
#include "test/unit/runtime/toy/ToyArtifact.h"

#include <functional>
#include <gtest/gtest.h>

using namespace effc;
using namespace effc::rt;
using namespace effc::test;
using Table = artifact::TokenizerT;

static Result<std::unique_ptr<Tokenizer>> build(const Table &table) {
  flatbuffers::FlatBufferBuilder packed;
  artifact::FinishTokenizerBuffer(packed,
                                  artifact::Tokenizer::Pack(packed, &table));
  return Tokenizer::create({packed.GetBufferPointer(), packed.GetSize()});
}

static std::string repeated(const std::string &text, size_t times) {
  std::string all;
  for (size_t i = 0; i < times; ++i)
    all += text;
  return all;
}

static void addNormalizer(Table &table, artifact::NormalizerKind kind,
                          std::string pattern = "", std::string content = "") {
  table.normalizers.push_back(std::make_unique<artifact::NormalizerStepT>());
  table.normalizers.back()->kind = kind;
  table.normalizers.back()->pattern = std::move(pattern);
  table.normalizers.back()->content = std::move(content);
}

static void
addSplit(Table &table, std::string pattern,
         artifact::SplitBehavior behavior = artifact::SplitBehavior::Isolated) {
  table.pieces.push_back(std::make_unique<artifact::PieceStepT>());
  table.pieces.back()->split = std::make_unique<artifact::SplitStepT>();
  table.pieces.back()->split->pattern = std::move(pattern);
  table.pieces.back()->split->behavior = behavior;
}

static artifact::DecoderStepT &addDecoder(Table &table,
                                          artifact::DecoderKind kind,
                                          std::string pattern = "",
                                          std::string content = "") {
  table.decoders.push_back(std::make_unique<artifact::DecoderStepT>());
  table.decoders.back()->kind = kind;
  table.decoders.back()->pattern = std::move(pattern);
  table.decoders.back()->content = std::move(content);
  return *table.decoders.back();
}

static void addToken(Table &table, int32_t id, std::string content) {
  table.added_tokens.push_back(std::make_unique<artifact::AddedTokenT>());
  table.added_tokens.back()->id = id;
  table.added_tokens.back()->content = std::move(content);
}

/// A tokenizer of characters: ids by place, the first one for what is unknown.
static Table ofTexts(artifact::ModelKind model,
                     const std::vector<std::string> &texts) {
  Table table;
  table.model = model;
  for (const std::string &text : texts) {
    table.tokens.push_back(std::make_unique<artifact::BytesT>());
    table.tokens.back()->data.assign(text.begin(), text.end());
  }
  table.unknown = 0;
  if (model == artifact::ModelKind::Unigram)
    table.scores.assign(texts.size(), -1.0);
  addDecoder(table, artifact::DecoderKind::Fuse);
  return table;
}

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

namespace {
struct Refused {
  const char *name;
  std::function<void(Table &)> change;
  const char *message; // part of it
};
void PrintTo(const Refused &refused, std::ostream *out) {
  *out << refused.name;
}
class TokenizerBombs : public testing::TestWithParam<Refused> {};
} // namespace

TEST_P(TokenizerBombs, AreRefusedByName) {
  Table table = makeToyTokenizer();
  GetParam().change(table);
  auto made = build(table);
  ASSERT_FALSE(bool(made));
  EXPECT_EQ(made.error().code, EFFC_BAD_DATA);
  EXPECT_NE(made.error().message.find(GetParam().message), std::string::npos)
      << made.error().message;
}

static const Refused kRefused[] = {
    {"spelling_that_explodes",
     [](Table &t) {
       for (int i = 0; i < 8; ++i)
         addNormalizer(t, artifact::NormalizerKind::Replace, "a", "aaaaaaaaaa");
       addToken(t, 260, "a@");
       t.added_tokens.back()->normalized = true;
     },
     "added token 260: the normalizer makes more than"},
    {"spellings_that_add_up",
     [](Table &t) {
       addNormalizer(t, artifact::NormalizerKind::Replace, "a",
                     std::string(60000, 'b'));
       for (int i = 0; i < 200; ++i) {
         addToken(t, 300 + i, "a" + std::to_string(i));
         t.added_tokens.back()->normalized = true;
       }
     },
     "the list of added tokens makes more than"},
    {"tokens_around",
     [](Table &t) {
       t.prepend.assign(4000, 1);
       t.append.assign(97, 2);
     },
     "there are 4097 tokens to put around a text, but at most 4096"},
    {"long_token", [](Table &t) { t.tokens[264]->data.assign(1048577, 'l'); },
     "token 264 has 1048577 bytes, but at most 1048576"},
    {"long_prefix", [](Table &t) { t.subword_prefix.assign(1025, 'p'); },
     "before or behind them has 1025 bytes, but at most 1024"},
    {"long_suffix", [](Table &t) { t.word_suffix.assign(1030, 'p'); },
     "before or behind them has 1030 bytes, but at most 1024"},
    {"many_steps",
     [](Table &t) {
       for (int i = 0; i < 64; ++i) // and the toy's own
         addSplit(t, "x");
     },
     "there are 65 pre-tokenizer steps, but at most 64"},
    {"long_content",
     [](Table &t) {
       addNormalizer(t, artifact::NormalizerKind::Prepend, "",
                     std::string(65537, 'a'));
     },
     "content has 65537 bytes, but at most 65536"},
    {"long_decoder_text",
     [](Table &t) {
       addDecoder(t, artifact::DecoderKind::Replace, "a",
                  std::string(65538, 'a'));
     },
     "text has 65538 bytes, but at most 65536"},
    {"long_metaspace",
     [](Table &t) {
       t.pieces.push_back(std::make_unique<artifact::PieceStepT>());
       t.pieces[0]->kind = artifact::PieceKind::Metaspace;
       t.pieces[0]->content = "mm";
     },
     "replacement has 2 bytes, but one character"},
    {"long_strip",
     [](Table &t) { addDecoder(t, artifact::DecoderKind::Strip, "", "ab"); },
     "a text of 2 bytes, but one character"},
    {"strips_much",
     [](Table &t) {
       addDecoder(t, artifact::DecoderKind::Strip, "", "a").stop = 1048577;
     },
     "strips up to 1048577 characters, but at most 1048576"},
    {"nested_repeats",
     [](Table &t) { addSplit(t, "a" + std::string(65500, '?')); },
     "nested too deeply"},
    {"rounds_of_nothing",
     [](Table &t) { addSplit(t, "(){65535}{65535}{65535}"); },
     "counts multiply to too much"},
    {"possessive_copies",
     [](Table &t) { addSplit(t, "(?:ab)" + repeated("?+", 8000)); },
     "nested too deeply"},
    {"patterns_that_add_up",
     [](Table &t) {
       for (int i = 0; i < 20; ++i)
         addSplit(t, "(?:(?:ab?){90}){90}");
     },
     "the pre-tokenizer makes more than"},
    // The table of merges has 4096 places for 1100 of them; these pairs all begin
    // to look in the first 400 (BytePairMerger.cpp).
    {"merges_that_collide",
     [](Table &t) {
       for (uint64_t left = 0; left < 256 && t.merges.size() < 1200; ++left)
         for (uint64_t right = 0; right < 256 && t.merges.size() < 1200;
              ++right) {
           uint64_t pair = left << 32 | right;
           pair = (pair ^ (pair >> 29)) * 0xBF58476D1CE4E5B9u;
           if (((pair ^ (pair >> 32)) & 4095) < 400)
             t.merges.emplace_back(left, right, 256);
         }
     },
     "merges of the vocabulary take"},
    // Likewise texts, in 4096 places.
    {"texts_that_collide",
     [](Table &t) {
       t.ignore_merges = true;
       for (int i = 0; t.tokens.size() < 1500; ++i) {
         std::string text = "x" + std::to_string(i);
         if ((std::hash<std::string_view>()(text) & 4095) > 400)
           continue;
         t.tokens.push_back(std::make_unique<artifact::BytesT>());
         t.tokens.back()->data.assign(text.begin(), text.end());
       }
     },
     "texts of the vocabulary take"},
};
INSTANTIATE_TEST_SUITE_P(Loading, TokenizerBombs, testing::ValuesIn(kRefused),
                         [](const auto &info) { return info.param.name; });

// What no packer writes: one table in many places.
static std::string loadingShared(uint32_t tokens, uint32_t steps) {
  namespace art = artifact;
  using flatbuffers::Offset;
  flatbuffers::FlatBufferBuilder packed;
  std::vector<uint8_t> charsmap(200000, 'a');
  std::fill_n(charsmap.begin(), 4, 0); // of an empty trie
  auto step = art::CreateNormalizerStep(packed, art::NormalizerKind::Charsmap,
                                        0, 0, packed.CreateVector(charsmap));
  auto token = art::CreateBytes(
      packed, packed.CreateVector(std::vector<uint8_t>(100000, 'l')));
  auto normalizers = packed.CreateVector(std::vector(steps, step));
  auto texts = packed.CreateVector(std::vector(tokens, token));
  auto decoder = art::CreateDecoderStep(packed, art::DecoderKind::Bytes);
  auto decoders = packed.CreateVector(&decoder, 1);
  auto noMerges = packed.CreateVectorOfStructs(std::vector<art::Merge>());
  auto noAdded = packed.CreateVector(std::vector<Offset<art::AddedToken>>());
  art::TokenizerBuilder builder(packed);
  builder.add_tokens(texts);
  builder.add_decoders(decoders);
  builder.add_merges(noMerges);
  builder.add_added_tokens(noAdded);
  builder.add_normalizers(normalizers);
  builder.add_model(art::ModelKind::WordLevel);
  builder.add_unknown(0);
  art::FinishTokenizerBuffer(packed, builder.Finish());
  auto made = Tokenizer::create({packed.GetBufferPointer(), packed.GetSize()});
  return made ? "loaded" : made.error().message;
}

TEST(SharedTokenizerParts, AreCountedAsOftenAsTheyAreNamed) {
  // 64 bytes for each of 300,000 are 24 MB with what is free: a text of 100,000
  // may be there 230 times, a charsmap of 200,000 more often than steps are.
  EXPECT_EQ(loadingShared(200, 64), "loaded");
  EXPECT_EQ(loadingShared(400, 1).substr(0, 30),
            "the vocabulary makes more than");
}

//===----------------------------------------------------------------------===//
// Encoding
//===----------------------------------------------------------------------===//

/// "", or the message with which `text` is refused.
static std::string encoding(const Table &table, const std::string &text) {
  auto made = build(table);
  if (!made)
    return "not loaded: " + made.error().message;
  auto tokens = (*made)->tokenize(text, {});
  if (tokens)
    return "";
  EXPECT_EQ(tokens.error().code, EFFC_BAD_DATA);
  return tokens.error().message;
}

static Table toyWith(const std::function<void(Table &)> &change) {
  Table table = makeToyTokenizer();
  change(table);
  return table;
}

TEST(EncodingBombs, NormalizersThatMultiply) {
  Table table = toyWith([](Table &t) {
    for (int i = 0; i < 8; ++i)
      addNormalizer(t, artifact::NormalizerKind::Replace, "a", "aaaaaaaaaa");
  });
  EXPECT_EQ(encoding(table, "a"),
            "the normalizer makes more than 4194336 bytes of a text of 1 byte: "
            "4194304, and 32 for each byte, are expected to do");
  EXPECT_EQ(encoding(table, "b"), "");
  // Bytes past ASCII become two characters' each time.
  Table doubling = toyWith([](Table &t) {
    for (int i = 0; i < 40; ++i)
      addNormalizer(t, artifact::NormalizerKind::ByteCharacters);
  });
  EXPECT_EQ(encoding(doubling, "\xC3\xA9").substr(0, 30),
            "the normalizer makes more than");
}

TEST(EncodingBombs, PreTokenizersThatMultiply) {
  Table table = toyWith([](Table &t) {
    for (int i = 0; i < 40; ++i) {
      t.pieces.push_back(std::make_unique<artifact::PieceStepT>());
      t.pieces.back()->kind = artifact::PieceKind::ByteCharacters;
    }
  });
  EXPECT_EQ(encoding(table, "\xC3\xA9").substr(0, 33),
            "the pre-tokenizer makes more than");
}

// Each piece alone would be in order: the budget is one for all of them.
TEST(EncodingBombs, PatternsThatBacktrackOnEachPiece) {
  Table table = toyWith([](Table &t) {
    addSplit(t, " ", artifact::SplitBehavior::Removed);
    addSplit(t, "(?:a|a)*b");
  });
  std::string piece(19, 'a');
  EXPECT_EQ(encoding(table, piece), "");
  EXPECT_EQ(
      encoding(table, repeated(piece + " ", 300)),
      "the pre-tokenizer takes more than the 70180864 steps that a text of "
      "6000 bytes may: 67108864, and 512 for each byte");
}

TEST(EncodingBombs, CountsThatFailAtEachPlace) {
  Table table = toyWith([](Table &t) { addSplit(t, "a{60000}b"); });
  EXPECT_EQ(encoding(table, std::string(65000, 'a')).substr(0, 33),
            "the pre-tokenizer takes more than");
}

TEST(EncodingBombs, LongTokensOfUnigram) {
  Table table = ofTexts(artifact::ModelKind::Unigram,
                        {"a", std::string(100000, 'a') + "b"});
  EXPECT_EQ(encoding(table, std::string(120000, 'a')).substr(0, 25),
            "the model takes more than");
  EXPECT_EQ(encoding(table, std::string(5000, 'a')), "");
}

TEST(EncodingBombs, LongTokensOfBackwardUnigram) {
  Table table = ofTexts(artifact::ModelKind::BackwardUnigram,
                        {"a", std::string(100000, 'a') + "b"});
  table.scores.assign(2, -1.0);
  table.byte_fallback.assign(256, 0);
  EXPECT_EQ(encoding(table, std::string(120000, 'a')).substr(0, 25),
            "the model takes more than");
  EXPECT_EQ(encoding(table, std::string(5000, 'a')), "");
}

TEST(EncodingBombs, LongTokensOfWordPiece) {
  Table table = ofTexts(artifact::ModelKind::WordPiece,
                        {"a", std::string(20000, 'a') + "b"});
  table.longest_word = UINT32_MAX;
  EXPECT_EQ(encoding(table, std::string(40000, 'a')).substr(0, 25),
            "the model takes more than");
  EXPECT_EQ(encoding(table, std::string(5000, 'a')), "");
}

TEST(EncodingBombs, PrefixesOfEachCharacter) {
  Table table = ofTexts(artifact::ModelKind::CharacterBpe, {"q", "r"});
  table.subword_prefix.assign(1000, 'p');
  table.byte_fallback.assign(256, 1);
  EXPECT_EQ(encoding(table, std::string(60000, 'a')).substr(0, 25),
            "the model makes more than");
  EXPECT_EQ(encoding(table, std::string(100, 'a')), "");
}

TEST(EncodingBombs, ReplacementsOfACharsmap) {
  // A trie of one unit for "a" (Darts: label, offset, whether a value follows):
  // root with offset 1, its child "a" at 1 ^ 'a', and the value behind it.
  std::vector<uint32_t> trie(256, 0);
  trie[0] = 1u << 10;
  size_t child = 1 ^ 'a';
  trie[child] = 'a' | 1u << 8 | 2u << 10;
  trie[child ^ 2] = 0; // the replacement's start
  auto charsmap = [&](size_t bytes) {
    return toyWith([&](Table &t) {
      addNormalizer(t, artifact::NormalizerKind::Charsmap);
      std::vector<uint8_t> &all = t.normalizers.back()->charsmap;
      for (uint32_t number : {uint32_t(4 * trie.size())})
        for (int i = 0; i < 4; ++i)
          all.push_back(number >> 8 * i & 0xFF);
      for (uint32_t unit : trie)
        for (int i = 0; i < 4; ++i)
          all.push_back(unit >> 8 * i & 0xFF);
      all.insert(all.end(), bytes, 'z');
    });
  };
  auto short_ = build(charsmap(3));
  ASSERT_TRUE(bool(short_));
  EXPECT_EQ(*(*short_)->tokenize("bab", {}),
            (std::vector<int32_t>{'b', 'z', 'z', 'z', 'b'}));
  EXPECT_EQ(encoding(charsmap(50000), std::string(1000, 'a')).substr(0, 30),
            "the normalizer makes more than");
}

// Once steps for each byte of a token at each byte of the text: 8e9.
TEST(EncodingBombs, LongAddedTokensAreNoneAnyMore) {
  Table table = toyWith(
      [](Table &t) { addToken(t, 264, std::string(65000, 'a') + "b"); });
  EXPECT_EQ(encoding(table, std::string(120000, 'a')), "");
  auto made = build(table);
  EXPECT_EQ(*(*made)->tokenize(std::string(65001, 'a') + "b", {}),
            (std::vector<int32_t>{'a', 264}));
}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

/// "", or the message with which the tokens are refused, at once and one by one.
static std::string decoding(const Table &table, std::vector<int32_t> tokens) {
  auto made = build(table);
  if (!made)
    return "not loaded: " + made.error().message;
  auto text = (*made)->detokenize(tokens, false);
  DecodeStream stream(**made, false);
  std::string streamed, failure;
  for (int32_t token : tokens)
    if (auto more = stream.push(token))
      streamed += *more;
    else if (failure.empty())
      failure = more.error().message;
  auto rest = stream.finish();
  if (!rest && failure.empty())
    failure = rest.error().message;
  EXPECT_EQ(text ? "" : text.error().message, failure);
  if (text) {
    EXPECT_EQ(*text, streamed + std::string(*rest));
  }
  // The stream is as new.
  EXPECT_TRUE(bool(stream.push(-1)));
  EXPECT_TRUE(bool(stream.finish()));
  return failure;
}

TEST(DecodingBombs, ReplacementsThatMultiply) {
  Table table = ofTexts(artifact::ModelKind::WordLevel, {"a", "b"});
  for (int i = 0; i < 12; ++i)
    addDecoder(table, artifact::DecoderKind::Replace, "a", "aaaaaaaaaa");
  EXPECT_EQ(decoding(table, {0}),
            "the decoder makes more than 16778240 bytes of a row of 1 token: "
            "16777216, and 1024 for each token, are expected to do");
  EXPECT_EQ(decoding(table, {1, 1}), "");
}

TEST(DecodingBombs, LongTokens) {
  Table table =
      ofTexts(artifact::ModelKind::WordLevel, {"a", std::string(1 << 20, 'b')});
  EXPECT_EQ(decoding(table, std::vector<int32_t>(15, 1)), "");
  EXPECT_EQ(decoding(table, std::vector<int32_t>(17, 1)).substr(0, 27),
            "the decoder makes more than");
}

// Once each token was compared with all that waits: 3e9 steps for either.
TEST(DecodingBombs, WhatWaitsIsNotLookedAtAgain) {
  Table replace = ofTexts(artifact::ModelKind::WordLevel, {"a", "b"});
  addDecoder(replace, artifact::DecoderKind::Replace,
             std::string(60000, 'a') + "b", "!");
  EXPECT_EQ(decoding(replace, std::vector<int32_t>(100000, 0)), "");
  Table strip = ofTexts(artifact::ModelKind::WordLevel, {"a", "b"});
  addDecoder(strip, artifact::DecoderKind::Strip, "", "a").stop = 1 << 20;
  EXPECT_EQ(decoding(strip, std::vector<int32_t>(100000, 0)), "");
}
