// Tokenizers in GGUF files give the ids that the same tokenizer gives elsewhere, and
// one test or more per rule of Tokenizer.h, named by its label.
#include "frontend/gguf/PreTokenizers.h"
#include "frontend/tokenizer/ByteAlphabet.h"
#include "test/unit/frontend/gguf/TokenizerKeys.h"

using namespace effc::frontend;
using namespace effc::test;

namespace {

/// Ids 0 to 255 by value, then "ab" and "abc".
Keys byteLevel() {
  Keys keys;
  for (int byte = 0; byte < 256; ++byte)
    keys.add(getByteCharacter(uint8_t(byte)));
  keys.add("ab");
  keys.add("abc");
  keys.merges = {"a b", "ab c"};
  keys.scores.clear();
  return keys;
}

/// <unk> 0, <s> 1, </s> 2, the bytes from 3 on, then pieces of letters.
Keys sentencePiece() {
  Keys keys;
  keys.model = "llama";
  keys.pre.clear();
  keys.add("<unk>", 2);
  keys.add("<s>", 3);
  keys.add("</s>", 3);
  for (int byte = 0; byte < 256; ++byte)
    keys.add(byteToken(byte), 6);
  for (const char *piece : {"\u2581", "a", "b", "c"}) // 259 to 262
    keys.add(piece, 1, -1000);
  keys.add("ab", 1, -2);      // 263
  keys.add("bc", 1, -1);      // 264
  keys.add("\u2581a", 1, -3); // 265
  keys.add("cc", 1, -4);      // 266
  return keys;
}

} // namespace

// A tokenizer of Llama 3's kind, whose ids are those of the library `tokenizers`.
TEST_F(GgufTokenizerTest, GivesTheLibrarysIds) {
  JsonValue file = readCorpus("llama3.json");
  const JsonObject &model = *file.getObject()->find("model")->getObject();
  Keys keys;
  keys.pre = "llama-bpe";
  std::map<int64_t, std::pair<std::string, int32_t>> tokens;
  for (const JsonMember &member :
       model.find("vocab")->getObject()->getMembers())
    tokens[*member.value.getInteger()] = {member.key, 1};
  for (const JsonValue &value :
       *file.getObject()->find("added_tokens")->getArray()) {
    const JsonObject &added = *value.getObject();
    tokens[*added.find("id")->getInteger()] = {
        *added.find("content")->getString(),
        added.find("special")->getBoolean() == true ? 3 : 4};
  }
  for (const auto &[id, token] : tokens) {
    ASSERT_EQ(id, int64_t(keys.tokens.size()));
    keys.add(token.first, token.second);
    if (token.first == "<|begin_of_text|>")
      keys.ids.push_back({"bos_token_id", uint32_t(id)});
  }
  ASSERT_EQ(keys.ids.size(), 1u);
  for (const JsonValue &merge : *model.find("merges")->getArray()) {
    if (const std::string *line = merge.getString())
      keys.merges.push_back(*line);
    else
      keys.merges.push_back(*(*merge.getArray())[0].getString() + " " +
                            *(*merge.getArray())[1].getString());
  }
  make(keys);
  // U+017F is no 's' here, but is to the library's pattern.
  EXPECT_GT(compareCorpus("llama3_ids.json", "'\u017F"), 2000u);
}

TEST_F(GgufTokenizerTest, EveryWayToCutIsTranslated) {
  for (const GgufPreTokenizer &pre : listGgufPreTokenizers()) {
    if (pre.mergesCharacters) // TokenizerKindsTest.cpp
      continue;
    Keys keys = byteLevel();
    keys.pre = pre.name.str();
    keys.flags = {{"add_bos_token", false}};
    make(keys);
    EXPECT_EQ(idsOf("abcab"), (Ids{257, 256})) << pre.name.str();
  }
}

// The library's ids where its splitter is the one that each model has of its own.
TEST_F(GgufTokenizerTest, WaysToCutGiveTheLibrarysIds) {
  JsonValue base = readTokenizerGolden("mixed_tokenizer.json");
  const JsonObject &model = *base.getObject()->find("model")->getObject();
  std::map<int64_t, std::string> tokens;
  for (const JsonMember &member :
       model.find("vocab")->getObject()->getMembers())
    tokens[*member.value.getInteger()] = member.key;
  Keys keys;
  for (const auto &[id, token] : tokens) {
    ASSERT_EQ(id, int64_t(keys.tokens.size()));
    keys.add(token);
  }
  for (const JsonValue &merge : *model.find("merges")->getArray())
    keys.merges.push_back(*(*merge.getArray())[0].getString() + " " +
                          *(*merge.getArray())[1].getString());
  keys.scores.clear();
  keys.flags = {{"add_bos_token", false}};
  JsonValue recorded = readTokenizerGolden("gguf_splits.json");
  const JsonArray &texts = *recorded.getObject()->find("texts")->getArray();
  const JsonArray &rows = *recorded.getObject()->find("rows")->getArray();
  ASSERT_EQ(rows.size(), 9u);
  for (const JsonValue &row : rows) {
    keys.pre = *row.getObject()->find("name")->getString();
    make(keys);
    const JsonArray &ids = *row.getObject()->find("ids")->getArray();
    ASSERT_EQ(ids.size(), texts.size());
    for (size_t i = 0; i < ids.size(); ++i)
      EXPECT_EQ(idsOf(*texts[i].getString()), readIds(ids[i]))
          << keys.pre << ": " << texts[i].describe();
  }
}

// Kimi's files may have none: any two tokens that make one are merged, the one of
// the lowest id first.
TEST_F(GgufTokenizerTest, MergesByRank) {
  Keys keys = byteLevel();
  keys.add("bc");  // 258, after ab
  keys.add("zz");  // 259
  keys.add("zzz"); // 260
  keys.merges.clear();
  keys.pre = "kimi-k2";
  make(keys);
  EXPECT_EQ(idsOf("abc"), (Ids{257}));
  EXPECT_EQ(idsOf("xabcx"), (Ids{'x', 257, 'x'}));
  EXPECT_EQ(idsOf("bcbab"), (Ids{258, 'b', 256}));
  EXPECT_EQ(idsOf("zzzzz"), (Ids{259, 260}));
}

TEST_F(GgufTokenizerTest, FlagsAndKindsSayWhatStandsAroundAText) {
  Keys keys = byteLevel();
  keys.ids = {{"bos_token_id", 'x'}, {"eos_token_id", 'y'}};
  make(keys);
  EXPECT_EQ(idsOf("ab"), (Ids{256}));
  keys.flags = {{"add_bos_token", true}, {"add_eos_token", true}};
  make(keys);
  EXPECT_EQ(idsOf("ab"), (Ids{'x', 256, 'y'}));
  keys.flags.clear();
  keys.pre = "llama-bpe"; // texts begin with it by themselves
  make(keys);
  EXPECT_EQ(idsOf("ab"), (Ids{'x', 256}));
}

// Control tokens and a user's are looked for in the text as it is.
TEST_F(GgufTokenizerTest, TokensOfOtherTypesAreAdded) {
  Keys keys = byteLevel();
  keys.add("<|im_end|>", 3); // 258
  keys.add("<ab>", 4);       // 259
  keys.add("<unused>", 5);   // 260
  make(keys);
  EXPECT_EQ(idsOf("ab<|im_end|><ab>"), (Ids{256, 258, 259}));
  EXPECT_EQ(idsOf("<unused>").size(), 8u);
  EXPECT_EQ(described->ends, (Ids{258}));
}

// The pair whose sum has the best score comes first, wherever it stands.
TEST_F(GgufTokenizerTest, ScoresOrderMerges) {
  Keys keys = sentencePiece();
  make(keys);
  EXPECT_EQ(idsOf("abc"), (Ids{1, 265, 264})); // <s>, _a, bc
  EXPECT_EQ(idsOf("ab ab"), (Ids{1, 259, 263, 259, 263}));
  EXPECT_EQ(idsOf("\u00E9"), (Ids{1, 259, 3 + 0xC3, 3 + 0xA9}));
  EXPECT_EQ(idsOf(" a"), (Ids{1, 259, 265}));
  keys.flags = {{"add_space_prefix", false}, {"add_bos_token", false}};
  make(keys);
  EXPECT_EQ(idsOf("abc"), (Ids{260, 264}));
  EXPECT_EQ(idsOf("ab ab"), (Ids{263, 259, 263}));
  keys.scores[264] = -5; // of bc: now that of ab is better
  make(keys);
  EXPECT_EQ(idsOf("abc"), (Ids{263, 262}));
}

// A space stands in front of each part between tokens of a user.
TEST_F(GgufTokenizerTest, PartsOfATextBeginWithSpaces) {
  Keys keys = sentencePiece();
  keys.add("[x]", 4); // 267
  keys.add("  ", 4);  // 268
  make(keys);
  EXPECT_EQ(idsOf("a[x]a"), (Ids{1, 265, 267, 265}));
  EXPECT_EQ(idsOf("a  a"), (Ids{1, 265, 268, 265}));
}

TEST_F(GgufTokenizerTest, UnigramTakesTheBestSum) {
  Keys keys;
  keys.model = "t5";
  keys.pre.clear();
  keys.add("<pad>", 3);
  keys.add("</s>", 3);
  keys.add("<unk>", 2);
  keys.add("\u2581", 1, -3);  // 3
  keys.add("a", 1, -3);       // 4
  keys.add("b", 1, -3);       // 5
  keys.add("ab", 1, -4);      // 6
  keys.add("\u2581a", 1, -4); // 7
  keys.add("ba", 1, -2);      // 8
  make(keys);
  // _ ab: -7; _a b: -7, of equal ones that of the longer last piece.
  EXPECT_EQ(idsOf("aba"), (Ids{7, 8, 1}));
  EXPECT_EQ(idsOf("a  ba"), (Ids{7, 3, 8, 1}));
}

// Longest tokens first; id 0 ends a text, and what is unused is none.
TEST_F(GgufTokenizerTest, LongestTokensFirst) {
  Keys keys;
  keys.model = "rwkv";
  keys.pre.clear();
  keys.add("<s>", 3);
  for (int byte = 0; byte < 256; ++byte) { // 1 to 256
    char text[8];
    snprintf(text, sizeof(text), "\\x%02x", byte);
    keys.add(byte == '\t' ? "\\t" : byte == '\\' ? "\\\\" : text);
  }
  keys.add("ab");        // 257
  keys.add("abc\\n");    // 258
  keys.add("\u00E9\\'"); // 259
  keys.add("[PAD260]", 5);
  make(keys);
  EXPECT_EQ(idsOf("abc\nabcab"), (Ids{258, 257, 'c' + 1, 257}));
  EXPECT_EQ(idsOf("\u00E9'\t\\"), (Ids{259, 10, '\\' + 1}));
  EXPECT_EQ(idsOf("[PAD260]").size(), 8u);
  keys.tokens[257] = "a\\q";
  EXPECT_EQ(refusal(keys),
            "m.gguf: expects token 257 'a\\q' as Python writes bytes");
}

TEST_F(GgufTokenizerTest, FilesWithoutTokenizer) {
  EXPECT_FALSE(llvm::cantFail(read(GgufBuilder())));
  for (const char *name : {"none", "no_vocab"}) {
    EXPECT_FALSE(
        llvm::cantFail(read(GgufBuilder().text("tokenizer.ggml.model", name))));
    EXPECT_EQ(remarks,
              std::vector<std::string>{"m.gguf: there is no tokenizer: the "
                                       "model takes and gives token ids"});
  }
}

// The whole file of the public library counts alone.
TEST_F(GgufTokenizerTest, AWholeTokenizerCounts) {
  Keys keys = byteLevel();
  keys.pre = "mystery";
  keys.texts = {{"huggingface.json", "{\"model\": 1}"}};
  auto found = llvm::cantFail(read(keys.build()));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->text, "{\"model\": 1}");
}

TEST_F(GgufTokenizerTest, TemplatesAreKeptAndMarksLeftAside) {
  Keys keys = byteLevel();
  keys.texts = {{"chat_template", "{{ x }}"},
                {"chat_template.tools", "{{ y }}"}};
  keys.ids = {{"fim_pre_token_id", 3}, {"mask_token_id", 4}};
  make(keys);
  ASSERT_EQ(described->settings.chatTemplates.size(), 2u);
  EXPECT_EQ(described->settings.chatTemplates[0].name, "default");
  EXPECT_EQ(described->settings.chatTemplates[0].source, "{{ x }}");
  EXPECT_EQ(described->settings.chatTemplates[1].name, "tools");
  EXPECT_EQ(described->settings.chatTemplates[1].source, "{{ y }}");
}

// Names say that a turn ends, but for <|end|> between the parts of an answer.
TEST_F(GgufTokenizerTest, NamesOfEnds) {
  Keys keys = byteLevel();
  keys.add("<|end|>", 3); // 258
  keys.add("</s>", 4);    // a user's, as of Gemma
  make(keys);
  EXPECT_EQ(described->ends, (Ids{258}));
  keys.add("<|return|>", 3); // 260
  keys.add("<|call|>", 3);   // 261
  make(keys);
  EXPECT_EQ(described->ends, (Ids{260, 261}));
}

namespace {

/// As the converter of llama.cpp writes a vocabulary of BERT: U+2581 in front of words,
/// and no "##" in front of the rest.
Keys wordPieces() {
  Keys keys;
  keys.model = "bert";
  keys.pre.clear();
  for (const char *mark : {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"})
    keys.add(mark, 3);
  for (const char *token :
       {"[unused0]", "the",    "play",      "##ing",  "##ed",    "cafe", "un",
        "##aff",     "##able", "##s",       ",",      ".",       "!",    "'",
        "\u4F60",    "\u597D", "Caf\u00E9", "Play",   "a",       "##a",  "[",
        "]",         "unused", "##0",       "\u2581", "##\u2581"}) {
    llvm::StringRef own = token;
    keys.add(own.consume_front("##") ? own.str() : "\u2581" + own.str());
  }
  keys.scores.clear();
  keys.ids = {{"unknown_token_id", 1},   {"cls_token_id", 2},
              {"seperator_token_id", 3}, {"padding_token_id", 0},
              {"mask_token_id", 4},      {"token_type_count", 2}};
  return keys;
}

} // namespace

// The ids that the library `tokenizers` (0.23.3) gives for the same vocabulary in its own
// form, with BertNormalizer, BertPreTokenizer and [CLS] and [SEP] around a text.
TEST_F(GgufTokenizerTest, WordPiecesGiveTheLibrarysIds) {
  Keys keys = wordPieces();
  make(keys);
  EXPECT_EQ(idsOf("the playing, played plays."),
            (Ids{2, 6, 7, 8, 15, 7, 9, 7, 14, 16, 3}));
  EXPECT_EQ(idsOf("Caf\u00E9 CAFE caf\u00E9s!"),
            (Ids{2, 10, 10, 10, 14, 17, 3}));
  EXPECT_EQ(idsOf("unaffable\tthe\u3000the"), (Ids{2, 11, 12, 13, 6, 6, 3}));
  EXPECT_EQ(idsOf("\u4F60\u597Dthe\u4F60"), (Ids{2, 19, 20, 6, 19, 3}));
  EXPECT_EQ(idsOf("the [MASK] played"), (Ids{2, 6, 4, 7, 9, 3}));
  // What looks like a mark but is none is cut like any text.
  EXPECT_EQ(idsOf("[unused0] x"), (Ids{2, 25, 27, 28, 26, 1, 3}));
  EXPECT_EQ(idsOf("Play Caf\u00E9"), (Ids{2, 7, 10, 3}));
  EXPECT_EQ(idsOf(""), (Ids{2, 3}));
  EXPECT_EQ(idsOf("the's \u2581"), (Ids{2, 6, 18, 1, 29, 3}));
  // A word of more than 100 characters is none.
  EXPECT_EQ(idsOf(std::string(100, 'a')).size(), 102u);
  EXPECT_EQ(idsOf(std::string(101, 'a')), (Ids{2, 1, 3}));
  auto text = tokenizer->detokenize(Ids{6, 7, 8, 15, 7, 9, 7, 14, 16},
                                    /*skipSpecial=*/false);
  ASSERT_TRUE(text);
  EXPECT_EQ(*text, "the playing, played plays.");
  // The older converter left all marks as they are.
  ASSERT_EQ(keys.tokens[5], "\u2581[unused0]");
  keys.tokens[5] = "[unused0]";
  make(keys);
  EXPECT_EQ(idsOf("[unused0] x"), (Ids{2, 25, 27, 28, 26, 1, 3}));
  EXPECT_EQ(described->tokens[5], "[unused0]");
  EXPECT_EQ(described->tokens[8], "##ing");
}

// The same of 2,500 pieces and the corpus.
TEST_F(GgufTokenizerTest, WordPiecesGiveTheLibrarysIdsOfTheCorpus) {
  JsonValue file = readCorpus("bert.json");
  std::map<int64_t, std::string> tokens;
  for (const JsonMember &member : file.getObject()
                                      ->find("model")
                                      ->getObject()
                                      ->find("vocab")
                                      ->getObject()
                                      ->getMembers())
    tokens[*member.value.getInteger()] = member.key;
  Keys keys = wordPieces();
  keys.tokens.clear();
  keys.types.clear();
  for (const auto &[id, name] : tokens) {
    ASSERT_EQ(id, int64_t(keys.tokens.size()));
    llvm::StringRef own = name;
    if (id < 5)
      keys.add(name, 3);
    else if (!own.consume_front("##"))
      keys.add("\u2581" + name);
    // The converter makes words of these.
    else if (own.starts_with("\u2581") && own != "\u2581")
      keys.add("\u2581[unused" + std::to_string(id) + "]");
    else
      keys.add(own.str());
  }
  keys.scores.clear();
  make(keys);
  EXPECT_GT(compareCorpus("bert_ids.json", "\u2581"), 1900u);
}

// What a file says of capitals and of what stands around a text; recorded likewise.
TEST_F(GgufTokenizerTest, KeysSayWhatWordPiecesKeep) {
  Keys keys = wordPieces();
  keys.flags = {{"normalizer.lowercase", false}};
  make(keys);
  EXPECT_EQ(idsOf("Caf\u00E9 CAFE caf\u00E9s!"), (Ids{2, 21, 1, 1, 17, 3}));
  EXPECT_EQ(idsOf("Play Caf\u00E9"), (Ids{2, 22, 21, 3}));
  keys.flags = {{"normalizer.strip_accents", false}};
  make(keys);
  EXPECT_EQ(idsOf("Caf\u00E9 CAFE caf\u00E9s!"), (Ids{2, 1, 10, 1, 17, 3}));
  keys.flags = {{"add_bos_token", false}, {"add_sep_token", false}};
  make(keys);
  EXPECT_EQ(idsOf("the"), (Ids{6}));
  // Where no key has them they are 101 and 102.
  keys.flags.clear();
  keys.ids = {{"unknown_token_id", 1}};
  EXPECT_EQ(refusal(keys),
            "m.gguf: names no token for 'tokenizer.ggml.cls_token_id'");
  while (keys.tokens.size() < 101)
    keys.add("\u2581w" + std::to_string(keys.tokens.size()));
  keys.add("[BEGIN]", 3);
  keys.add("[END]", 3);
  keys.scores.clear();
  make(keys);
  EXPECT_EQ(idsOf("the"), (Ids{101, 6, 102}));
  // Other kinds know nothing of capitals.
  keys = byteLevel();
  keys.flags = {{"normalizer.lowercase", true}};
  EXPECT_NE(refusal(keys).find("unknown key "
                               "'tokenizer.ggml.normalizer.lowercase'"),
            std::string::npos);
  // Two tokens may not have one name.
  keys = wordPieces();
  keys.tokens[8] = "\u2581##ed";
  EXPECT_EQ(refusal(keys), "m.gguf: token 9 '##ed' is token 8 as well");
}

constexpr const char *kWayOn =
    ": how texts are cut is not known; give the tokenizer beside it with "
    "--tokenizer DIR, or none with --no-tokenizer";

TEST_F(GgufTokenizerTest, UnknownKindsAreNamed) {
  Keys keys = byteLevel();
  keys.model = "hybriddna";
  EXPECT_EQ(
      refusal(keys),
      "m.gguf: tokenizer 'hybriddna' is not supported; supported: gpt2, "
      "llama, t5, rwkv, bert, gemma4, plamo2, none; give it beside the file "
      "with --tokenizer DIR, or leave it out with --no-tokenizer");
  keys = byteLevel();
  keys.pre = "default";
  std::string found = refusal(keys);
  EXPECT_TRUE(llvm::StringRef(found).starts_with(
      "m.gguf: tokenizer.ggml.pre 'default' is not supported; supported: "
      "gpt-2, "))
      << found;
  EXPECT_TRUE(llvm::StringRef(found).ends_with(kWayOn)) << found;
  keys.pre.clear();
  EXPECT_EQ(refusal(keys), std::string("m.gguf: lacks key "
                                       "'tokenizer.ggml.pre'") +
                               kWayOn);
  keys = byteLevel();
  keys.texts = {{"ggml.mystery", "x"}};
  EXPECT_EQ(refusal(keys),
            "m.gguf: unknown key 'tokenizer.ggml.mystery' may change the "
            "tokens of a text: give the tokenizer beside it with --tokenizer "
            "DIR, or none with --no-tokenizer");
}

TEST_F(GgufTokenizerTest, GT1) {
  Keys keys = byteLevel();
  keys.tokens[7] = "";
  EXPECT_EQ(refusal(keys), "m.gguf: token 7 is empty");
  keys = byteLevel();
  keys.tokens[257] = "ab";
  EXPECT_EQ(refusal(keys), "m.gguf: token 257 'ab' is token 256 as well");
  keys = byteLevel();
  keys.tokens[256] = "a\xFF";
  EXPECT_EQ(refusal(keys), "m.gguf: token 256 'a\\xff' is not UTF-8");
  keys = byteLevel();
  keys.types.pop_back();
  EXPECT_NE(refusal(keys).find("tokenizer.ggml.token_type"), std::string::npos);
  keys = sentencePiece();
  keys.scores.pop_back();
  EXPECT_NE(refusal(keys).find("tokenizer.ggml.scores"), std::string::npos);
  keys.scores.push_back(NAN);
  EXPECT_NE(refusal(keys).find("tokenizer.ggml.scores"), std::string::npos);
  keys.scores.clear();
  EXPECT_EQ(refusal(keys), "m.gguf: lacks key 'tokenizer.ggml.scores'");
  EXPECT_EQ(outcome(read(GgufBuilder().text("tokenizer.ggml.model", "llama"))),
            "m.gguf: lacks key 'tokenizer.ggml.tokens'");
}

TEST_F(GgufTokenizerTest, GT2) {
  for (int32_t type : {0, 7, 9, -1}) {
    Keys keys = byteLevel();
    keys.types[3] = type;
    EXPECT_NE(refusal(keys).find("tokenizer.ggml.token_type"),
              std::string::npos)
        << type;
  }
  for (const char *name : {"<0xZZ>", "<0x1>", "<0x-1>", "0x41", "<0x041>"}) {
    Keys keys = sentencePiece();
    keys.tokens[5] = name;
    EXPECT_EQ(refusal(keys), "m.gguf: expects token 5 '" + std::string(name) +
                                 "' of type byte to be called <0xNN>");
  }
}

TEST_F(GgufTokenizerTest, GT3) {
  for (const char *merge : {"ab", "a ", " a", ""}) {
    Keys keys = byteLevel();
    keys.merges[1] = merge;
    EXPECT_EQ(refusal(keys),
              "m.gguf: expects element 1 of 'tokenizer.ggml.merges' to be two "
              "tokens with a space between, but got '" +
                  std::string(merge) + "'");
  }
  Keys keys = byteLevel();
  keys.merges.clear();
  EXPECT_EQ(refusal(keys), "m.gguf: lacks key 'tokenizer.ggml.merges'");
}

TEST_F(GgufTokenizerTest, GT4) {
  for (const char *key : {"bos_token_id", "eos_token_id", "unknown_token_id",
                          "eot_token_id", "padding_token_id"}) {
    Keys keys = byteLevel();
    keys.ids = {{key, 258}};
    std::string found = refusal(keys);
    EXPECT_NE(found.find("'tokenizer.ggml." + std::string(key) + "'"),
              std::string::npos)
        << found;
    EXPECT_NE(found.find("258"), std::string::npos) << found;
  }
}
