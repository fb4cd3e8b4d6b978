#include "frontend/tokenizer/TokenizerImport.h"

#include "frontend/checkpoint/MappedFile.h"
#include "test/unit/frontend/ByteTokenizer.h"

using namespace effc;
using namespace effc::frontend;
using effc::test::outcome;

using TokenizerImportTest = ByteTokenizerTest;

//===----------------------------------------------------------------------===//
// The model
//===----------------------------------------------------------------------===//

TEST_F(TokenizerImportTest, Vocabulary) {
  artifact::TokenizerT tokenizer = import();
  ASSERT_EQ(tokenizer.tokens.size(), 258u);
  EXPECT_EQ(tokenizer.tokens[0xe9]->data, std::vector<uint8_t>{0xe9});
  EXPECT_EQ(tokenizer.tokens[' ']->data, std::vector<uint8_t>{' '});
  EXPECT_EQ(tokenizer.tokens[257]->data, (std::vector<uint8_t>{'a', 'b', 'c'}));
  EXPECT_EQ(tokenizer.model, artifact::ModelKind::ByteBpe);
  ASSERT_EQ(tokenizer.byte_symbols.size(), 256u);
  for (int byte = 0; byte < 256; ++byte)
    EXPECT_EQ(tokenizer.byte_symbols[byte], byte);
  ASSERT_EQ(tokenizer.merges.size(), 2u);
  EXPECT_EQ(tokenizer.merges[0].left(), 'a');
  EXPECT_EQ(tokenizer.merges[0].right(), 'b');
  EXPECT_EQ(tokenizer.merges[0].merged(), 256);
  EXPECT_EQ(tokenizer.merges[1].left(), 256);
  EXPECT_EQ(tokenizer.merges[1].merged(), 257);
  EXPECT_FALSE(tokenizer.ignore_merges);
}

TEST_F(TokenizerImportTest, SameTextSameBytes) {
  import();
  std::vector<uint8_t> first = bytes;
  import();
  EXPECT_EQ(bytes, first);
}

TEST_F(TokenizerImportTest, MergesAsArrays) {
  options["merges"] = R"([["a", "b"], ["ab", "c"]])";
  artifact::TokenizerT tokenizer = import();
  ASSERT_EQ(tokenizer.merges.size(), 2u);
  EXPECT_EQ(tokenizer.merges[1].merged(), 257);
}

// The pair (a, b) counts with its last rank, behind (b, c).
TEST_F(TokenizerImportTest, MergesThatOccurTwice) {
  vocabulary["bc"] = "258";
  options["merges"] = R"(["#version: 0.2", "a b", "b c", "a b"])";
  artifact::TokenizerT tokenizer = import();
  ASSERT_EQ(tokenizer.merges.size(), 2u);
  EXPECT_EQ(tokenizer.merges[0].merged(), 258);
  EXPECT_EQ(tokenizer.merges[1].merged(), 256);
}

TEST_F(TokenizerImportTest, MergesThatAreNone) {
  EXPECT_EQ(importingOption("merges", R"(["a b", "ab d"])"),
            refusal("merge 1: its result 'abd' is not in the vocabulary"));
  EXPECT_EQ(importingOption("merges", R"(["a bb"])"),
            refusal("merge 0: token 'bb' is not in the vocabulary"));
  EXPECT_EQ(importingOption("merges", R"(["aa b"])"),
            refusal("merge 0: token 'aa' is not in the vocabulary"));
  EXPECT_EQ(importingOption("merges", R"(["ab"])"),
            refusal("merge 0: expects two tokens, but got \"ab\""));
  EXPECT_EQ(importingOption("merges", R"(["a b c"])"),
            refusal("merge 0: expects two tokens, but got \"a b c\""));
  EXPECT_EQ(importingOption("merges", R"([["a", "b", "c"]])"),
            refusal("merge 0: expects two tokens, but got an array of 3"));
  EXPECT_EQ(importingOption("merges", R"([["a", 1]])"),
            refusal("merge 0: expects two tokens, but got an array of 2"));
  EXPECT_EQ(
      importingOption("merges", "{}"),
      refusal("model: expects 'merges' to be an array, but got an object"));
}

TEST_F(TokenizerImportTest, Ids) {
  EXPECT_EQ(importingToken("x1", "256"),
            refusal("tokens 'ab' and 'x1' both have id 256"));
  // 259 tokens after the model's 300.
  EXPECT_EQ(importingToken("x1", "559"),
            refusal("expects the id of token 'x1' to be an integer in 0..558, "
                    "but got 559"));
  for (const char *id : {"-1", "2147483648", "18446744073709551615", "1.0",
                         "\"1\"", "null", "NaN"})
    EXPECT_EQ(importingToken("x1", id).find(
                  refusal("expects the id of token 'x1' to be an integer")),
              0u)
        << id;
}

TEST_F(TokenizerImportTest, IdGapsHaveNoBytes) {
  vocabulary["xyz"] = "270";
  artifact::TokenizerT tokenizer = import();
  EXPECT_EQ(tokenizer.tokens.size(), 271u);
  EXPECT_TRUE(tokenizer.tokens[265]->data.empty());
  EXPECT_EQ(tokenizer.tokens[270]->data.size(), 3u);
}

// The library loads a checkpoint whose tokenizer has a token more than its
// table; the token is the text's own, and the runtime refuses its use.
TEST_F(TokenizerImportTest, IdsPastTheModel) {
  vocabulary["xyz"] = "300";
  artifact::TokenizerT tokenizer = import();
  EXPECT_EQ(tokenizer.tokens.size(), 301u);
  EXPECT_EQ(remarks.back(),
            "tokenizer.json: ids from 300 to 300 lie past the 300 tokens of "
            "the model: a text that gives one is refused");
}

TEST_F(TokenizerImportTest, EmptyVocabulary) {
  vocabulary.clear();
  options["merges"] = "[]";
  EXPECT_EQ(
      importing(),
      refusal("expects a vocabulary of at least one token, but got none"));
}

// Then the model works on characters, as the library's does.
TEST_F(TokenizerImportTest, MissingBytes) {
  vocabulary.erase(escaped(getByteCharacter(0x80)));
  artifact::TokenizerT tokenizer = import();
  EXPECT_EQ(tokenizer.model, artifact::ModelKind::CharacterBpe);
  EXPECT_EQ(tokenizer.pieces.back()->kind, artifact::PieceKind::ByteCharacters);
  EXPECT_EQ(tokenizer.decoders[0]->kind, artifact::DecoderKind::ByteLevel);
  EXPECT_EQ(remarks,
            (std::vector<std::string>{
                "tokenizer.json: characters without a token are "
                "dropped, as the library does: there is no 'unk_token' "
                "and no token for every byte"}));
  EXPECT_EQ(importingOption("unk_token", "\"xy\""),
            refusal("model: 'unk_token' is 'xy', which is not in the "
                    "vocabulary"));
  options["unk_token"] = "\"ab\"";
  EXPECT_EQ(import().unknown, 256);
  EXPECT_TRUE(remarks.empty());
}

TEST_F(TokenizerImportTest, ModelOptions) {
  EXPECT_EQ(importingOption("unk_token", "\"ab\""), "success");
  EXPECT_EQ(importingOption("unk_token", "\"absent\""), "success");
  EXPECT_EQ(importingOption("byte_fallback", "true"), "success");
  EXPECT_EQ(importingOption("fuse_unk", "true"), "success");
  EXPECT_EQ(importingOption("dropout", "null"), "success");
  EXPECT_EQ(importingOption("dropout", "0.0"), "success");
  EXPECT_EQ(importingOption("dropout", "0.1"),
            refusal("model: expects 'dropout' to be null or 0, but got "
                    "0.10000000000000001"));
  EXPECT_EQ(importingOption("end_of_word_suffix", "\"</w>\""), "success");
  EXPECT_EQ(importingOption("end_of_word_suffix", "1"),
            refusal("model: expects 'end_of_word_suffix' to be a string or "
                    "null, but got 1"));
  EXPECT_EQ(importingOption("continuing_subword_prefix", "\"##\""),
            refusal("merge 0: token 'b' is shorter than "
                    "'continuing_subword_prefix'"));
  EXPECT_EQ(
      importingOption("scores", "[NaN]"),
      refusal(
          "model: unknown key 'scores' is refused: it may change the model"));
}

TEST_F(TokenizerImportTest, Affixes) {
  vocabulary["##b"] = "258";
  vocabulary["c</w>"] = "259";
  options["merges"] = R"(["a ##b"])";
  options["continuing_subword_prefix"] = "\"##\"";
  options["end_of_word_suffix"] = "\"</w>\"";
  artifact::TokenizerT tokenizer = import();
  EXPECT_EQ(tokenizer.model, artifact::ModelKind::CharacterBpe);
  ASSERT_EQ(tokenizer.merges.size(), 1u);
  EXPECT_EQ(tokenizer.merges[0].right(), 258);
  EXPECT_EQ(tokenizer.merges[0].merged(), 256); // "ab", without the prefix
  EXPECT_EQ(tokenizer.subword_prefix, "##");
  EXPECT_EQ(tokenizer.word_suffix, "</w>");
}

TEST_F(TokenizerImportTest, IgnoreMerges) {
  options["ignore_merges"] = "true";
  vocabulary["\xe4\xb8\x80"] = "258";
  artifact::TokenizerT tokenizer = import();
  EXPECT_TRUE(tokenizer.ignore_merges);
  // No text becomes a token that is not written in the alphabet.
  EXPECT_EQ(tokenizer.outside, std::vector<int32_t>{258});
}

// As the library decodes: characters outside of the alphabet make a token text.
TEST_F(TokenizerImportTest, TokensThatAreNotByteLevel) {
  vocabulary["\xe4\xb8\x80 x"] = "258";
  EXPECT_EQ(import().tokens[258]->data,
            (std::vector<uint8_t>{0xe4, 0xb8, 0x80, ' ', 'x'}));
}

TEST_F(TokenizerImportTest, OtherModels) {
  auto importingModel = [&](llvm::StringRef model) {
    return outcome(translateTokenizer(("{\"model\":" + model +
                                       ",\"decoder\":{\"type\":\"ByteLevel\"},"
                                       "\"pre_tokenizer\":" +
                                       parts["pre_tokenizer"] + "}")
                                          .str(),
                                      "tokenizer.json", kVocabulary, remarks));
  };
  auto unigram = [&](llvm::StringRef pieces) {
    return importingModel(
        ("{\"type\":\"Unigram\",\"unk_id\":0,\"vocab\":[" + pieces + "]}")
            .str());
  };
  EXPECT_EQ(unigram(R"(["a",-1.5],["b",0])"), "success");
  EXPECT_EQ(unigram(R"(["a",NaN])"),
            refusal("piece 0 'a': expects a finite score, but got NaN"));
  EXPECT_EQ(unigram(R"(["a",-1],["b",-Infinity])")
                .find(refusal("piece 1 'b': expects a finite score")),
            0u);
  EXPECT_EQ(unigram(R"(["a"])"),
            refusal("piece 0: expects a token and its score, but got an array "
                    "of 1"));
  EXPECT_EQ(unigram(R"(["a",null])"),
            refusal("piece 0: expects a token and its score, but got an array "
                    "of 2"));
  EXPECT_EQ(unigram(""), refusal("model: expects 'vocab' to be an array of "
                                 "at least one piece, but got an array of 0"));
  EXPECT_EQ(
      importingModel(R"({"type":"Unigram","unk_id":1,"vocab":[["a",0]]})"),
      refusal("model: expects 'unk_id' to be 0, but got 1"));
  EXPECT_EQ(
      importingModel(R"({"type":"WordPiece","unk_token":"u","vocab":{"u":0}})"),
      "success");
  EXPECT_EQ(importingModel(R"({"type":"WordPiece","vocab":{"u":0}})"),
            refusal("model: lacks 'unk_token'"));
  EXPECT_EQ(
      importingModel(R"({"type":"WordLevel","unk_token":"v","vocab":{"u":0}})"),
      refusal("model: 'unk_token' is 'v', which is not in the "
              "vocabulary"));
  EXPECT_EQ(importingModel(R"({"type":"Speller"})"),
            refusal("model 'Speller' is not supported; supported: BPE, "
                    "Unigram, WordLevel, WordPiece"));
  EXPECT_EQ(importingModel(R"({"type":1})"),
            refusal("model: expects 'type' to be a string, but got 1"));
  EXPECT_EQ(importingModel(R"({"vocab":{"a":0},"merges":[]})"), "success");
  EXPECT_EQ(importingModel(R"({"vocab":["a"],"merges":[]})"),
            refusal("model: expects 'vocab' to be an object, but got an array "
                    "of 1"));
  EXPECT_EQ(importingModel(R"({"type":"BPE","vocab":{"a":0}})"),
            refusal("model: expects 'merges' to be an array, but got nothing"));
  EXPECT_EQ(importingModel("[]"),
            refusal("expects 'model' to be an object, but got an array of 0"));
}

// A token of a million characters is only that.
TEST_F(TokenizerImportTest, HugeToken) {
  vocabulary[std::string(1'000'000, 'z')] = "258";
  EXPECT_EQ(import().tokens[258]->data.size(), 1'000'000u);
}

//===----------------------------------------------------------------------===//
// Added tokens
//===----------------------------------------------------------------------===//

TEST_F(TokenizerImportTest, AddedTokens) {
  parts["added_tokens"] =
      R"([{"id":258,"content":"<|end|>","single_word":false,"lstrip":false,
           "rstrip":true,"normalized":false,"special":true},
          {"id":256,"content":"ab","single_word":true,"lstrip":true,
           "rstrip":false,"normalized":true,"special":false}])";
  artifact::TokenizerT tokenizer = import();
  ASSERT_EQ(tokenizer.added_tokens.size(), 2u);
  const artifact::AddedTokenT &end = *tokenizer.added_tokens[0];
  EXPECT_EQ(end.id, 258);
  EXPECT_EQ(end.content, "<|end|>");
  EXPECT_TRUE(end.special && end.right_strip);
  EXPECT_FALSE(end.left_strip || end.single_word || end.normalized);
  const artifact::AddedTokenT &word = *tokenizer.added_tokens[1];
  EXPECT_TRUE(word.single_word && word.left_strip && word.normalized);
  EXPECT_FALSE(word.special || word.right_strip);
  EXPECT_EQ(tokenizer.tokens[258]->data.size(), 7u);
}

TEST_F(TokenizerImportTest, AddedTokensThatAreNone) {
  auto importingAdded = [&](llvm::StringRef tokens) {
    return importingWith("added_tokens", ("[" + tokens + "]").str());
  };
  EXPECT_EQ(
      importingAdded(R"({"id":258,"content":""})"),
      refusal("added token 0: expects 'content' to be a string of 1..65536 "
              "bytes"));
  EXPECT_EQ(
      importingAdded(R"({"id":559,"content":"x1"})"),
      refusal("added token 0: expects 'id' to be an integer in 0..558, but "
              "got 559"));
  EXPECT_EQ(importingAdded(R"({"content":"x1"})"),
            refusal("added token 0: lacks 'id'"));
  EXPECT_EQ(importingAdded(R"({"id":255,"content":"x1"})"),
            refusal("added token 0 'x1' has id 255, which is that of token "
                    "'\xc3\xbf'"));
  EXPECT_EQ(
      importingAdded(R"({"id":258,"content":"ab"})"),
      refusal("added token 0 'ab' has id 258, but the vocabulary gives it "
              "256"));
  EXPECT_EQ(
      importingAdded(R"({"id":258,"content":"x1"},{"id":258,"content":"x1"})"),
      refusal("added token 'x1' occurs twice"));
  // The library does not read the id of a new token, it counts.
  EXPECT_EQ(importingAdded(R"({"id":260,"content":"x1"})"),
            refusal("added token 0 'x1' has id 260, but the library numbers it "
                    "258"));
  EXPECT_EQ(
      importingAdded(R"({"id":258,"content":"x1"},{"id":258,"content":"x2"})"),
      refusal("added token 1 'x2' has id 258, which is that of token "
              "'x1'"));
  EXPECT_EQ(importingAdded(R"({"id":258,"content":"x1","special":1})"),
            refusal("added token 0: expects 'special' to be true or false, but "
                    "got 1"));
  EXPECT_EQ(importingAdded(R"({"id":258,"content":"x1","color":1})"),
            refusal("added token 0: unknown key 'color' is refused: it may "
                    "change the model"));
  EXPECT_EQ(importingAdded("7"),
            refusal("added token 0: expects an object, but got 7"));
  EXPECT_EQ(importingAdded(R"({"id":258,"content":"\ud800"})").substr(0, 20),
            "tokenizer.json: line");
  EXPECT_EQ(
      importingWith("added_tokens", "{}"),
      refusal("expects 'added_tokens' to be an array, but got an object"));
}

TEST_F(TokenizerImportTest, Recorded) {
  for (const char *file :
       {"sample/tokenizer.json", "tokenizer/mixed_tokenizer.json"}) {
    bytes =
        llvm::cantFail(importTokenizer(std::string(EFFC_GOLDENS) + "/" + file,
                                       "tokenizer.json", 2048, remarks));
    flatbuffers::Verifier verifier(bytes.data(), bytes.size());
    EXPECT_TRUE(artifact::VerifyTokenizerBuffer(verifier));
    EXPECT_NE(outcome(importTokenizer(std::string(EFFC_GOLDENS) + "/" + file,
                                      "tokenizer.json", 1000, remarks))
                  .find("of the model: the file belongs to another one"),
              std::string::npos);
  }
}

// Every prefix of a file, and flips of single bits: refused or read.
TEST_F(TokenizerImportTest, SurvivesDamage) {
  std::string whole = text();
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_NE(
        outcome(translateTokenizer(whole.substr(0, size), "tokenizer.json",
                                   kVocabulary, remarks)),
        "success");
  for (size_t bit = 0; bit < whole.size() * 8; bit += 5) {
    std::string damaged = whole;
    damaged[bit / 8] ^= char(1 << (bit % 8));
    outcome(
        translateTokenizer(damaged, "tokenizer.json", kVocabulary, remarks));
  }
}
