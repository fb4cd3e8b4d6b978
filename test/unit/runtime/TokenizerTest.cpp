// The toy tokenizer (makeToyTokenizer): ids 0 to 255 are bytes, 256 "he",
// 257 "ll", 258 "hell", 259 "hello", 260 " w", 261 "or", 262 " wor", 263 e
// acute; 269 "<|end|>" special, 270 "word" a single word.

#include "runtime/src/tokenizer/Tokenizer.h"
#include "test/unit/runtime/toy/ToyArtifact.h"

#include <chrono>
#include <cmath>
#include <gtest/gtest.h>

using namespace effc;
using namespace effc::rt;
using namespace effc::test;
using Tokens = std::vector<int32_t>;

static Result<std::unique_ptr<Tokenizer>> build(artifact::TokenizerT &&table) {
  flatbuffers::FlatBufferBuilder packed;
  artifact::FinishTokenizerBuffer(packed,
                                  artifact::Tokenizer::Pack(packed, &table));
  return Tokenizer::create({packed.GetBufferPointer(), packed.GetSize()});
}

/// The toy tokenizer after `change`.
template <typename Change>
static std::unique_ptr<Tokenizer> toy(Change change) {
  artifact::TokenizerT table = makeToyTokenizer();
  change(table);
  auto made = build(std::move(table));
  EXPECT_TRUE(bool(made)) << made.error().message;
  return std::move(*made);
}
static std::unique_ptr<Tokenizer> toy() {
  return toy([](artifact::TokenizerT &) {});
}

static Tokens encode(const Tokenizer &tokenizer, std::string_view text,
                     Tokenizer::Options options = {}) {
  Result<Tokens> tokens = tokenizer.tokenize(text, options);
  EXPECT_TRUE(bool(tokens));
  return *tokens;
}

static std::string decode(const Tokenizer &tokenizer, const Tokens &tokens,
                          bool skipSpecial = false) {
  Result<std::string> text = tokenizer.detokenize(tokens, skipSpecial);
  EXPECT_TRUE(bool(text));
  return *text;
}

TEST(Tokenizer, MergesWithinPieces) {
  EXPECT_EQ(encode(*toy(), "hello world"), (Tokens{259, 262, 'l', 'd'}));
  EXPECT_EQ(encode(*toy(), "hell o"), (Tokens{258, ' ', 'o'}));
  EXPECT_EQ(encode(*toy(), "\xC3\xA9\xC3\xA8"), (Tokens{263, 0xC3, 0xA8}));
  EXPECT_EQ(encode(*toy(), ""), Tokens{});
}

TEST(Tokenizer, CutsAddedTokensOut) {
  EXPECT_EQ(encode(*toy(), "he<|end|>he word"),
            (Tokens{256, kToyEnd, 256, ' ', kToyPlain}));
  // "words" is no single word, so the merges see it.
  EXPECT_EQ(encode(*toy(), " words"), (Tokens{262, 'd', 's'}));
  Tokenizer::Options plain;
  plain.plain = PlainSpans::all(7);
  EXPECT_EQ(encode(*toy(), "<|end|>", plain).size(), 7u);
}

TEST(Tokenizer, LeavesSpecialTokensAsTextInSpans) {
  Tokenizer::Options options;
  options.plain = PlainSpans({{3, 10}});
  std::string text = "he <|end|><|end|>he";
  Tokens asText = {256, ' '};
  for (char character : std::string("<|end|>"))
    asText.push_back(static_cast<uint8_t>(character));
  asText.insert(asText.end(), {kToyEnd, 256});
  EXPECT_EQ(encode(*toy(), text, options), asText);
  // What the normalizer makes of a span is text too, and the rest is not.
  auto normalizing = toy([](artifact::TokenizerT &table) {
    table.normalizers.push_back(std::make_unique<artifact::NormalizerStepT>());
    table.normalizers.back()->kind = artifact::NormalizerKind::Nfkc;
    for (auto &added : table.added_tokens)
      added->normalized = true;
  });
  EXPECT_EQ(encode(*normalizing, text, options), asText);
  EXPECT_EQ(encode(*normalizing, text),
            (Tokens{256, ' ', kToyEnd, kToyEnd, 256}));
  // U+FF1C is '<' to the normalizer.
  std::string wide = "he \xEF\xBC\x9C|end|><|end|>he";
  options.plain = PlainSpans({{3, 12}});
  EXPECT_EQ(encode(*normalizing, wide, options), asText);
}

TEST(Tokenizer, AddsThePostProcessorsTokens) {
  auto tokenizer = toy([](artifact::TokenizerT &table) {
    table.prepend = {1, 2};
    table.append = {3};
  });
  EXPECT_EQ(encode(*tokenizer, "he"), (Tokens{1, 2, 256, 3}));
  EXPECT_EQ(encode(*tokenizer, ""), (Tokens{1, 2, 3}));
  Tokenizer::Options bare;
  bare.addSpecial = false;
  EXPECT_EQ(encode(*tokenizer, "he", bare), Tokens{256});
}

TEST(Tokenizer, PutsASpaceBeforeEachText) {
  auto tokenizer = toy([](artifact::TokenizerT &table) {
    auto space = std::make_unique<artifact::PieceStepT>();
    space->kind = artifact::PieceKind::PrefixSpace;
    table.pieces.insert(table.pieces.begin(), std::move(space));
  });
  EXPECT_EQ(encode(*tokenizer, "wor<|end|>wor wor"),
            (Tokens{262, kToyEnd, 262, 262}));
  EXPECT_EQ(encode(*tokenizer, " wor"), Tokens{262});
  EXPECT_EQ(encode(*tokenizer, ""), Tokens{});
}

TEST(Tokenizer, IgnoresMergesForWholePieces) {
  // "helloo" is a token that no merge makes: 264 in the toy's unused range.
  auto change = [](bool ignore) {
    return [ignore](artifact::TokenizerT &table) {
      std::string text = "helloo";
      table.tokens[264]->data.assign(text.begin(), text.end());
      table.ignore_merges = ignore;
    };
  };
  EXPECT_EQ(encode(*toy(change(true)), "helloo hello"),
            (Tokens{264, ' ', 259}));
  EXPECT_EQ(encode(*toy(change(false)), "helloo"), (Tokens{259, 'o'}));
}

TEST(Tokenizer, SplitsInStepsRemovingOrInverting) {
  auto withSplits =
      [](std::vector<std::tuple<const char *, bool, bool>> steps) {
        return toy([&](artifact::TokenizerT &table) {
          table.pieces.clear();
          for (auto [pattern, removed, invert] : steps) {
            auto step = makeToySplit(pattern);
            if (removed)
              step->split->behavior = artifact::SplitBehavior::Removed;
            step->split->invert = invert;
            table.pieces.push_back(std::move(step));
          }
        });
      };
  // Cut between h and e, nothing merges to "he".
  EXPECT_EQ(encode(*withSplits({{"h", false, false}}), "he"),
            (Tokens{'h', 'e'}));
  // Removed: the separators are gone.
  EXPECT_EQ(encode(*withSplits({{"-", true, false}}), "he-ll--"),
            (Tokens{256, 257}));
  // Removed and inverted: what lies between the matches is gone.
  EXPECT_EQ(encode(*withSplits({{"[a-z]+", true, true}}), "1he2ll"),
            (Tokens{256, 257}));
  // Two steps: the second sees the pieces of the first.
  EXPECT_EQ(
      encode(*withSplits({{"-", true, false}, {"(?<![^\\n])h", false, false}}),
             "he-he"),
      (Tokens{'h', 'e', 'h', 'e'}));
}

TEST(Tokenizer, ReadsInvalidTextAsReplacementCharacters) {
  EXPECT_EQ(encode(*toy(), "a\xFFz"), (Tokens{'a', 0xEF, 0xBF, 0xBD, 'z'}));
}

TEST(Tokenizer, NamesAByteThatHasNoToken) {
  auto tokenizer =
      toy([](artifact::TokenizerT &table) { table.byte_symbols[0x7A] = -1; });
  Result<Tokens> tokens = tokenizer->tokenize("az", {});
  ASSERT_FALSE(bool(tokens));
  EXPECT_EQ(tokens.error().message,
            "the vocabulary has no token for byte 0x7A");
  EXPECT_EQ(encode(*tokenizer, "a"), Tokens{'a'});
}

TEST(Tokenizer, DecodesToTheBytes) {
  auto tokenizer = toy();
  for (std::string text :
       {"hello world", "\xC3\xA9 \xF0\x9F\x98\x80", "<|end|>word", " a  b\n"})
    EXPECT_EQ(decode(*tokenizer, encode(*tokenizer, text)), text);
  EXPECT_EQ(decode(*tokenizer, {kToyEnd, 256, kToyPlain}, true), "heword");
  EXPECT_EQ(decode(*tokenizer, {100000, -5, 265}), "");
}

TEST(Tokenizer, TakesAMegabyteInOnePiece) {
  std::string text(1 << 20, 'l');
  auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(encode(*toy(), text), Tokens(1 << 19, 257));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

TEST(Tokenizer, TakesATextFullOfSpecialTokens) {
  std::string text;
  for (int i = 0; i < 100000; ++i)
    text += "<|end|>";
  EXPECT_EQ(encode(*toy(), text), Tokens(100000, kToyEnd));
}

/// A second for a megabyte in one piece, whatever it holds; tests run beside
/// others and under sanitizers, hence five.
static void expectQuick(const Tokenizer &tokenizer, const std::string &text) {
  auto start = std::chrono::steady_clock::now();
  Result<Tokens> tokens = tokenizer.tokenize(text, {});
  EXPECT_TRUE(bool(tokens)) << tokens.error().message;
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
}

static std::vector<std::string> megabytes() {
  std::string random;
  uint32_t state = 1;
  for (int i = 0; i < 1 << 20; ++i) {
    state = state * 1664525 + 1013904223;
    random += static_cast<char>(state >> 24);
  }
  std::string marks = "a";
  for (int i = 0; i < 1 << 19; ++i)
    marks += i % 3 ? "\xCC\x81" : "\xCC\xA3"; // of two classes
  return {std::string(1 << 20, 'l'), std::string(1 << 20, ' '), random, marks,
          std::string(1 << 20, '\0')};
}

TEST(Tokenizer, TakesAMegabyteOfAnything) {
  auto normalizing = toy([](artifact::TokenizerT &table) {
    table.normalizers.push_back(std::make_unique<artifact::NormalizerStepT>());
    table.normalizers.back()->kind = artifact::NormalizerKind::Nfkc;
  });
  for (const std::string &text : megabytes()) {
    expectQuick(*toy(), text);
    expectQuick(*normalizing, text);
  }
}

TEST(Tokenizer, TakesAMegabyteThroughUnigram) {
  auto tokenizer = toy([](artifact::TokenizerT &table) {
    table.model = artifact::ModelKind::Unigram;
    table.byte_symbols.clear();
    table.merges.clear();
    table.pieces.clear();
    table.added_tokens.clear();
    for (int byte = 0x80; byte < 0x100; ++byte)
      table.tokens[byte]->data.clear();
    table.scores.assign(table.tokens.size(), -1.0);
    // A token as long as they come, so that all starts look far ahead.
    table.tokens[256]->data.assign(64, 'l');
    table.unknown = 0;
    table.decoders[0]->kind = artifact::DecoderKind::Fuse;
  });
  for (const std::string &text : megabytes())
    expectQuick(*tokenizer, text);
}

/// The toy's bytes, of which no text is made but as a last resort, and three tokens.
static void searchBackwards(artifact::TokenizerT &table) {
  table.model = artifact::ModelKind::BackwardUnigram;
  table.byte_fallback = table.byte_symbols;
  table.byte_symbols.clear();
  table.merges.clear();
  table.pieces.clear();
  table.added_tokens.clear();
  table.scores.assign(table.tokens.size(), NAN);
  table.unknown_score = -100;
  struct {
    int32_t id;
    std::string text;
    double score;
  } pieces[] = {{256, "h", -1}, {257, "hh", -1}, {258, "hhi", -2}};
  for (const auto &[id, text, score] : pieces) {
    table.tokens[id]->data.assign(text.begin(), text.end());
    table.scores[id] = score;
  }
}

TEST(Tokenizer, SearchesFromTheEnd) {
  auto tokenizer = toy(searchBackwards);
  // hh h and h hh are -2 both.
  EXPECT_EQ(encode(*tokenizer, "hhh"), (Tokens{257, 256}));
  EXPECT_EQ(encode(*tokenizer, "hhhhi"), (Tokens{257, 258}));
  EXPECT_EQ(encode(*tokenizer, "ihhi\xC3\xA9"), (Tokens{'i', 258, 0xC3, 0xA9}));
  EXPECT_EQ(encode(*tokenizer, ""), Tokens{});
  EXPECT_EQ(decode(*tokenizer, {257, 0xC3, 0xA9, 0xFF, 258}),
            "hh\xC3\xA9\xEF\xBF\xBDhhi");
  for (const std::string &text : megabytes())
    expectQuick(*tokenizer, text);
}

TEST(Tokenizer, RefusesALongTextBeforeItReadsIt) {
  // Only the size is looked at: there is no such text.
  Result<Tokens> tokens =
      toy()->tokenize({"x", (size_t(1) << 31) + 5}, Tokenizer::Options());
  ASSERT_FALSE(bool(tokens));
  EXPECT_EQ(tokens.error().code, EFFC_INVALID_ARGUMENT);
  EXPECT_EQ(tokens.error().message,
            "a text of 2147483653 bytes is longer than 1073741824");
}

/// The message with which the changed toy tokenizer is refused.
template <typename Change> static std::string refusal(Change change) {
  artifact::TokenizerT table = makeToyTokenizer();
  change(table);
  auto made = build(std::move(table));
  return made ? "" : made.error().message;
}

TEST(Tokenizer, RefusesTablesThatContradictThemselves) {
  using Table = artifact::TokenizerT;
  EXPECT_EQ(refusal([](Table &t) { t.byte_symbols.pop_back(); }),
            "there are tokens for 255 bytes, but 256 are expected");
  EXPECT_EQ(refusal([](Table &t) { t.byte_symbols.clear(); }),
            "there are tokens for 0 bytes, but 256 are expected");
  EXPECT_EQ(refusal([](Table &t) { t.unknown = 271; }),
            "the unknown token is 271, but the vocabulary has 271");
  EXPECT_EQ(refusal([](Table &t) { t.model = artifact::ModelKind(9); }),
            "the model is of unknown kind 9");
  EXPECT_EQ(refusal([](Table &t) { t.model = artifact::ModelKind::WordLevel; }),
            "token 128 is not UTF-8");
  EXPECT_EQ(refusal([](Table &t) {
              t.ignore_merges = true;
              t.outside = {271};
            }),
            "id 271 is outside a vocabulary of 271");
  EXPECT_EQ(refusal([](Table &t) {
              t.normalizers.push_back(
                  std::make_unique<artifact::NormalizerStepT>());
              t.normalizers[0]->kind = artifact::NormalizerKind(77);
            }),
            "a normalizer is of unknown kind 77");
  EXPECT_EQ(refusal([](Table &t) {
              t.normalizers.push_back(
                  std::make_unique<artifact::NormalizerStepT>());
              t.normalizers[0]->kind = artifact::NormalizerKind::Charsmap;
              t.normalizers[0]->charsmap = {8, 0, 0, 0, 1};
            }),
            "a charsmap of 5 bytes says that its trie has 8");
  EXPECT_EQ(refusal([](Table &t) {
              t.pieces.push_back(std::make_unique<artifact::PieceStepT>());
            }),
            "a split step has no pattern");
  EXPECT_EQ(refusal([](Table &t) { t.decoders.clear(); }),
            "there is no decoder step");
  EXPECT_EQ(refusal([](Table &t) {
              t.decoders.clear();
              for (auto kind : {artifact::DecoderKind::Fuse,
                                artifact::DecoderKind::ByteFallback}) {
                t.decoders.push_back(
                    std::make_unique<artifact::DecoderStepT>());
                t.decoders.back()->kind = kind;
              }
            }),
            "a decoder step of kind 2 comes after tokens were fused");
  EXPECT_EQ(refusal([](Table &t) { t.byte_symbols[3] = 271; }),
            "a byte's token is 271, but the vocabulary has 271");
  EXPECT_EQ(refusal([](Table &t) { t.byte_symbols[3] = -2; }),
            "a byte's token is -2, but the vocabulary has 271");
  EXPECT_EQ(
      refusal([](Table &t) { t.merges.emplace_back(1, 2, 300); }),
      "a merge of 1 and 2 to 300 names a token past the vocabulary of 271");
  EXPECT_EQ(refusal([](Table &t) { t.added_tokens[0]->content.clear(); }),
            "added token 269 has 0 bytes, but 1 to 65536 are expected");
  EXPECT_EQ(refusal([](Table &t) { t.added_tokens[0]->content = "\xFF"; }),
            "added token 269 is not UTF-8");
  EXPECT_EQ(refusal([](Table &t) { t.added_tokens[0]->id = -1; }),
            "an added token has id -1");
  EXPECT_EQ(refusal([](Table &t) { t.prepend = {-7}; }),
            "the tokens to prepend contain id -7");
  EXPECT_NE(refusal([](Table &t) {
              t.pieces[0]->split->pattern = "[a";
            }).find("is wrong at"),
            std::string::npos);
  EXPECT_EQ(refusal([](Table &t) {
              t.pieces[0]->split->behavior = artifact::SplitBehavior(5);
            }),
            "a split step is of unknown behaviour 5");
}

TEST(Tokenizer, RefusesSearchesFromTheEndWithoutBytesOrScores) {
  auto refusalOf = [](auto change) {
    return refusal([&](artifact::TokenizerT &table) {
      searchBackwards(table);
      change(table);
    });
  };
  using Table = artifact::TokenizerT;
  EXPECT_EQ(refusalOf([](Table &t) { t.byte_fallback[7] = -1; }),
            "not every byte has a token to fall back to");
  EXPECT_EQ(refusalOf([](Table &t) { t.byte_fallback.clear(); }),
            "not every byte has a token to fall back to");
  EXPECT_EQ(refusalOf([](Table &t) { t.unknown_score = NAN; }),
            "the score of unknown characters is not finite");
  EXPECT_EQ(refusalOf([](Table &t) { t.scores[257] = INFINITY; }),
            "a score is infinite");
  // What is a piece is text; so is each token where the decoder takes texts.
  EXPECT_EQ(refusalOf([](Table &t) { t.scores[0x80] = -1; }),
            "token 128 is not UTF-8");
  EXPECT_EQ(refusalOf([](Table &t) {
              t.decoders[0]->kind = artifact::DecoderKind::Fuse;
            }),
            "token 128 is not UTF-8");
}

TEST(Tokenizer, RefusesWhatIsNoFlatbuffer) {
  std::vector<uint8_t> bytes(64, 0xAB);
  auto made = Tokenizer::create(bytes);
  ASSERT_FALSE(bool(made));
  EXPECT_EQ(made.error().message, "not a well-formed flatbuffer \"EFFT\"");
  EXPECT_FALSE(bool(Tokenizer::create({})));
}

TEST(Tokenizer, HoldsChatTemplatesAndWhatTheyName) {
  auto tokenizer = toy([](artifact::TokenizerT &table) {
    addChatTemplate(table, "default", "{{ messages }}\n");
    addChatTemplate(table, "tool_use", "");
    addNamedToken(table, "eos_token", "<|end|>");
  });
  ASSERT_EQ(tokenizer->templates().size(), 2u);
  EXPECT_EQ(tokenizer->templates()[0].name, "default");
  EXPECT_EQ(tokenizer->templates()[0].source, "{{ messages }}\n");
  EXPECT_EQ(tokenizer->templates()[1].name, "tool_use");
  ASSERT_TRUE(tokenizer->namedToken("eos_token"));
  EXPECT_EQ(*tokenizer->namedToken("eos_token"), "<|end|>");
  EXPECT_FALSE(tokenizer->namedToken("bos_token"));
  EXPECT_TRUE(toy()->templates().empty());
}

TEST(Tokenizer, RefusesWrongChatTemplates) {
  auto refusal = [](auto change) {
    artifact::TokenizerT table = makeToyTokenizer();
    change(table);
    auto made = build(std::move(table));
    return made ? std::string("accepted") : made.error().message;
  };
  EXPECT_EQ(refusal([](auto &table) {
              addChatTemplate(table, "a", "x");
              addChatTemplate(table, "a", "y");
            }),
            "two chat templates are called 'a'");
  EXPECT_EQ(refusal([](auto &table) { addChatTemplate(table, "", "x"); }),
            "a chat template has a name of 0 bytes, but 1 to 256 are expected, "
            "none of them zero");
  EXPECT_EQ(refusal([](auto &table) {
              addChatTemplate(table, "a", std::string((1 << 20) + 1, 'x'));
            }),
            "the chat template 'a' has 1048577 bytes, but at most 1048576 are "
            "expected");
  EXPECT_EQ(refusal([](auto &table) {
              for (int i = 0; i < 65; ++i)
                addChatTemplate(table, std::to_string(i), "x");
            }),
            "there are 65 chat templates and 0 tokens that they name, but at "
            "most 64 of each are expected");
  EXPECT_EQ(refusal([](auto &table) {
              addNamedToken(table, "bos_token", "a");
              addNamedToken(table, "bos_token", "b");
            }),
            "two tokens are called 'bos_token'");
}
