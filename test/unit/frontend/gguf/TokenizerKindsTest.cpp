// Tokenizers of GGUF files whose tokens are characters without a byte alphabet: Gemma 4's
// and Sarvam's byte pairs, and PLaMo's scores.
#include "test/unit/frontend/gguf/TokenizerKeys.h"

using namespace effc::frontend;
using namespace effc::test;

namespace {

/// <pad> 0, <eos> 1, <bos> 2, <unk> 3, the bytes from 4 on, then characters and merges.
Keys gemma4() {
  Keys keys;
  keys.model = "gemma4";
  keys.pre.clear();
  for (const char *mark : {"<pad>", "<eos>", "<bos>", "<unk>"})
    keys.add(mark, 3);
  for (int byte = 0; byte < 256; ++byte)
    keys.add(byteToken(byte), 6);
  for (const char *token : {"\u2581", "a", "b", "c", "\n"}) // 260 to 264
    keys.add(token);
  for (const char *token : {"ab", "bc", "\u2581a", "\n\n"}) // 265 to 268
    keys.add(token);
  keys.add("<|turn>", 3); // 269
  keys.merges = {"b c", "\u2581 a", "a b", "\n \n"};
  keys.scores.assign(keys.tokens.size(), -1000);
  keys.ids = {
      {"eos_token_id", 1}, {"bos_token_id", 2}, {"unknown_token_id", 3}};
  return keys;
}

/// The tokens of test/goldens/tokenizer/plamo.json.
Keys plamo(const JsonValue &file) {
  Keys keys;
  keys.model = "plamo2";
  keys.pre = "default";
  for (const JsonValue &value : *file.getObject()->find("tokens")->getArray()) {
    const JsonArray &row = *value.getArray();
    const std::string &type = *row[2].getString();
    keys.add(*row[0].getString(),
             type == "BYTE"      ? 6
             : type == "CONTROL" ? 3
             : type == "UNKNOWN" ? 2
                                 : 1,
             float(*row[1].getNumber()));
  }
  keys.ids = {{"bos_token_id", 1}, {"eos_token_id", 2}, {"eot_token_id", 4}};
  return keys;
}

/// <|plamo:unk|> 0, bos 1, eos 2, then the bytes from 3 on.
Keys smallPlamo() {
  Keys keys;
  keys.model = "plamo2";
  keys.pre = "default";
  keys.add("<|plamo:unk|>", 2);
  keys.add("<|plamo:bos|>", 3);
  keys.add("<|plamo:eos|>", 3);
  for (int byte = 0; byte < 256; ++byte)
    keys.add(byteToken(byte), 6);
  return keys;
}

} // namespace

// The ids that the library `tokenizers` (0.23.3) gives for the same vocabulary with
// Gemma's normalizer, splitter and byte fallback.
TEST_F(GgufTokenizerTest, Gemma4MergesAsTheFileListsThem) {
  make(gemma4());
  EXPECT_EQ(idsOf("abc"), (Ids{2, 261, 266}));
  EXPECT_EQ(idsOf(" abc"), (Ids{2, 267, 266}));
  EXPECT_EQ(idsOf("ab ab"), (Ids{2, 265, 267, 262}));
  EXPECT_EQ(idsOf("a\n\n\nb"), (Ids{2, 261, 268, 264, 262}));
  EXPECT_EQ(idsOf("\u00E9<|turn>a"), (Ids{2, 4 + 0xC3, 4 + 0xA9, 269, 261}));
  EXPECT_EQ(idsOf("d  a"), (Ids{2, 4 + 'd', 260, 267}));
  EXPECT_TRUE(remarks.empty());
  auto text = tokenizer->detokenize(Ids{267, 4 + 0xC3, 4 + 0xA9, 268},
                                    /*skipSpecial=*/false);
  ASSERT_TRUE(text);
  EXPECT_EQ(*text, " a\u00E9\n\n");
}

// 1,700 tokens and the corpus.
TEST_F(GgufTokenizerTest, Gemma4GivesTheLibrarysIdsOfTheCorpus) {
  JsonValue file = readCorpus("gemma.json");
  const JsonObject &model = *file.getObject()->find("model")->getObject();
  std::map<int64_t, std::pair<std::string, int32_t>> tokens;
  for (const JsonMember &member :
       model.find("vocab")->getObject()->getMembers()) {
    llvm::StringRef name = member.key;
    bool isByte = name.size() == 6 && name.starts_with("<0x");
    tokens[*member.value.getInteger()] = {member.key, isByte ? 6 : 1};
  }
  for (const JsonValue &value :
       *file.getObject()->find("added_tokens")->getArray()) {
    const JsonObject &added = *value.getObject();
    tokens[*added.find("id")->getInteger()] = {
        *added.find("content")->getString(),
        added.find("special")->getBoolean() == true ? 3 : 4};
  }
  Keys keys = gemma4();
  keys.tokens.clear();
  keys.types.clear();
  keys.merges.clear();
  for (const auto &[id, token] : tokens) {
    ASSERT_EQ(id, int64_t(keys.tokens.size()));
    keys.add(token.first, token.second);
  }
  keys.scores.clear();
  for (const JsonValue &merge : *model.find("merges")->getArray())
    keys.merges.push_back(*(*merge.getArray())[0].getString() + " " +
                          *(*merge.getArray())[1].getString());
  ASSERT_EQ(keys.tokens[2], "<bos>");
  make(keys);
  EXPECT_GT(compareCorpus("gemma_ids.json", "<no text has this>"), 2000u);
}

// The first converters wrote a flag that llama.cpp does not follow either.
TEST_F(GgufTokenizerTest, Gemma4BeginsWithItsMark) {
  Keys keys = gemma4();
  keys.flags = {{"add_bos_token", false}, {"add_space_prefix", false}};
  make(keys);
  EXPECT_EQ(idsOf("a"), (Ids{2, 261}));
  EXPECT_EQ(remarks,
            std::vector<std::string>{
                "m.gguf: 'tokenizer.ggml.add_bos_token' is false, as the first "
                "converters of Gemma 4 wrote it: a text begins with bos_token "
                "all the same, as with llama.cpp"});
  keys.flags[0].second = true;
  make(keys);
  EXPECT_EQ(idsOf("a"), (Ids{2, 261}));
  EXPECT_TRUE(remarks.empty());
}

// Sarvam's is of the same kind under another name, and says whether texts begin so.
TEST_F(GgufTokenizerTest, NamesOfWaysToCutSayThatThereIsNoByteAlphabet) {
  Keys keys = gemma4();
  keys.model = "gpt2";
  keys.pre = "sarvam-moe";
  make(keys);
  EXPECT_EQ(idsOf("ab ab\u00E9"), (Ids{265, 267, 262, 4 + 0xC3, 4 + 0xA9}));
  keys.flags = {{"add_bos_token", true}};
  make(keys);
  EXPECT_EQ(idsOf("ab"), (Ids{2, 265}));
}

TEST_F(GgufTokenizerTest, GT5) {
  Keys keys = gemma4();
  keys.merges.clear();
  EXPECT_EQ(refusal(keys), "m.gguf: lacks key 'tokenizer.ggml.merges'");
  keys = gemma4();
  keys.merges[2] = "ab";
  EXPECT_EQ(refusal(keys),
            "m.gguf: expects element 2 of 'tokenizer.ggml.merges' to be two "
            "tokens with a space between, but got 'ab'");
  keys = gemma4();
  keys.tokens[4 + 0xC3] = "<0xXY>";
  keys.types[4 + 0xC3] = 1;
  EXPECT_EQ(refusal(keys), "m.gguf: lacks token '<0xC3>', which stands for a "
                           "byte of a character without a token");
}

// By an independent reading of PLaMo's own code (make_tokenizer_plamo.py). A Unigram
// model of the public library gives other ids for a sixth of these texts.
TEST_F(GgufTokenizerTest, PlamoGivesItsOwnIds) {
  JsonValue file = readTokenizerGolden("plamo.json");
  make(plamo(file));
  const JsonArray &texts = *file.getObject()->find("texts")->getArray(),
                  &ids = *file.getObject()->find("ids")->getArray();
  ASSERT_GT(texts.size(), 2000u);
  ASSERT_EQ(texts.size(), ids.size());
  for (size_t i = 0; i < texts.size(); ++i)
    EXPECT_EQ(idsOf(*texts[i].getString()), readIds(ids[i]))
        << *texts[i].getString();
  for (const JsonValue &value : *file.getObject()->find("decode")->getArray()) {
    const JsonArray &pair = *value.getArray();
    auto text = tokenizer->detokenize(readIds(pair[0]), /*skipSpecial=*/false);
    ASSERT_TRUE(text);
    EXPECT_EQ(*text, *pair[1].getString());
  }
  EXPECT_TRUE(tokenizer->tokenTexts());
}

// Of equal sums the longest first token, then the longest second one.
TEST_F(GgufTokenizerTest, PlamoTakesTheLongestOfEqualSums) {
  Keys keys = smallPlamo();
  keys.add("a", 1, -1);    // 259
  keys.add("aa", 1, -2);   // 260
  keys.add("aab", 1, -4);  // 261
  keys.add("b", 1, -2.5f); // 262
  keys.add("bc", 1, -3);   // 263
  make(keys);
  EXPECT_EQ(idsOf("aaa"), (Ids{1, 260, 259}));
  EXPECT_EQ(idsOf("aab"), (Ids{1, 261})); // -4, and not -4.5
  // aab c: -4 and a byte, -1000; aa bc: -5.
  EXPECT_EQ(idsOf("aabc"), (Ids{1, 260, 263}));
  EXPECT_EQ(idsOf("\u00E9c"), (Ids{1, 3 + 0xC3, 3 + 0xA9, 3 + 'c'}));
  EXPECT_EQ(idsOf(""), (Ids{1}));
}

// Scores are rounded to ten-thousandths, to even ones: -3.03125 is better than
// -3.0313, and as good as -3.0312.
TEST_F(GgufTokenizerTest, PlamoCountsInTenThousandths) {
  Keys keys = smallPlamo();
  keys.add("x", 1, -1);         // 259
  keys.add("xy", 1, -3.03125f); // 260
  keys.add("yx", 1, -3.0312f);  // 261
  make(keys);
  EXPECT_EQ(idsOf("xyx"), (Ids{1, 260, 259}));
  keys.scores[261] = -3.0311f;
  make(keys);
  EXPECT_EQ(idsOf("xyx"), (Ids{1, 259, 261}));
  // A character costs a thousand as its bytes, and what costs two is no piece.
  keys.scores[261] = -1999;
  make(keys);
  EXPECT_EQ(idsOf("yx"), (Ids{1, 3 + 'y', 259}));
  EXPECT_EQ(idsOf("yxyx"), (Ids{1, 3 + 'y', 260, 259}));
  keys.scores[259] = -1001;
  make(keys);
  EXPECT_EQ(idsOf("yx"), (Ids{1, 261}));
  keys.scores[261] = -2000;
  make(keys);
  EXPECT_EQ(idsOf("yx"), (Ids{1, 3 + 'y', 3 + 'x'}));
}

// No text becomes a byte's token by its name, or what the converter put into gaps; and
// where a mark is to be text it is.
TEST_F(GgufTokenizerTest, PlamosOtherTokensAreNoPieces) {
  Keys keys = smallPlamo();
  keys.add("A", 1, -5);         // 259
  keys.add("[PAD1]", 5, -1000); // 260
  make(keys);
  EXPECT_EQ(idsOf("A<0x41>").size(), 8u);
  EXPECT_EQ(idsOf("[PAD1]").size(), 7u);
  EXPECT_EQ(idsOf("A<|plamo:eos|>A"), (Ids{1, 259, 2, 259}));
  std::string mark = "<|plamo:eos|>";
  auto plain = tokenizer->tokenize(
      mark, {/*addSpecial=*/false, effc::rt::PlainSpans::all(mark.size())});
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->size(), mark.size());
  auto text = tokenizer->detokenize(Ids{259, 3 + 0xC3, 3 + 0xA9, 3 + 0xFF, 260},
                                    /*skipSpecial=*/false);
  ASSERT_TRUE(text);
  EXPECT_EQ(*text, "A\u00E9\uFFFD[PAD1]");
}

// Converters leave the flag out, and released checkpoints' tokenizers put the mark in
// front.
TEST_F(GgufTokenizerTest, PlamoBeginsWithItsMark) {
  Keys keys = smallPlamo();
  make(keys);
  EXPECT_EQ(remarks,
            std::vector<std::string>{
                "m.gguf: a text begins with bos_token, as with released "
                "checkpoints' own tokenizers; the file does not say, and "
                "llama.cpp puts none"});
  keys.flags = {{"add_bos_token", false}};
  make(keys);
  EXPECT_EQ(idsOf("z"), (Ids{3 + 'z'}));
  EXPECT_TRUE(remarks.empty());
}

TEST_F(GgufTokenizerTest, PlamoNeedsBytesAndScores) {
  auto importing = [&](const Keys &keys) {
    auto found = llvm::cantFail(read(keys.build()));
    return outcome(translateTokenizer(found->text, "m.gguf",
                                      int64_t(keys.tokens.size()), remarks,
                                      found->settings));
  };
  Keys keys = smallPlamo();
  keys.add("A", 1, -1000);
  EXPECT_EQ(importing(keys),
            "m.gguf: piece 259: expects a score below 2000 and "
            "not -1000, but got -1000.000000");
  keys.scores[259] = 2000;
  EXPECT_EQ(importing(keys),
            "m.gguf: piece 259: expects a score below 2000 and "
            "not -1000, but got 2000.000000");
  keys = smallPlamo();
  keys.tokens[70] = "C";
  keys.types[70] = 1;
  EXPECT_EQ(importing(keys),
            "m.gguf: expects tokens <0x00> to <0xFF>, for characters without "
            "one, but not all are there");
  keys = smallPlamo();
  keys.scores.clear();
  EXPECT_EQ(refusal(keys), "m.gguf: lacks key 'tokenizer.ggml.scores'");
}
