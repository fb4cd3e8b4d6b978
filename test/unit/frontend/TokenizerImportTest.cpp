#include "frontend/tokenizer/TokenizerImport.h"

#include "frontend/checkpoint/MappedFile.h"
#include "frontend/tokenizer/ByteAlphabet.h"
#include "test/unit/frontend/Outcome.h"

#include "runtime/schema/tokenizer_generated.h"

#include <map>

using namespace effc;
using namespace effc::frontend;
using effc::test::outcome;

namespace {

constexpr int64_t kVocabulary = 300;

/// A byte-level tokenizer of the 256 bytes (ids 0 to 255 by value), "ab" (256)
/// and "abc" (257), to be changed one part at a time.
class TokenizerImportTest : public testing::Test {
protected:
  TokenizerImportTest() {
    for (int byte = 0; byte < 256; ++byte)
      vocabulary[escaped(getByteCharacter(byte))] = std::to_string(byte);
    vocabulary["ab"] = "256";
    vocabulary["abc"] = "257";
  }

  static std::string escaped(const std::string &text) {
    if (text == "\"" || text == "\\")
      return "\\" + text;
    return text;
  }

  std::string text() const {
    std::string tokens;
    for (const auto &[token, id] : vocabulary)
      tokens += (tokens.empty() ? "\"" : ",\"") + token + "\":" + id;
    std::string model = "\"type\":\"BPE\",\"vocab\":{" + tokens + "}";
    for (const auto &[key, value] : options)
      model += ",\"" + key + "\":" + value;
    std::string all = "{\"model\":{" + model + "}";
    for (const auto &[key, value] : parts)
      all += ",\"" + key + "\":" + value;
    return all + "}";
  }

  artifact::TokenizerT import() {
    remarks.clear();
    bytes = llvm::cantFail(
        translateTokenizer(text(), "tokenizer.json", kVocabulary, remarks));
    flatbuffers::Verifier verifier(bytes.data(), bytes.size());
    EXPECT_TRUE(artifact::VerifyTokenizerBuffer(verifier));
    artifact::TokenizerT tokenizer;
    artifact::GetTokenizer(bytes.data())->UnPackTo(&tokenizer);
    return tokenizer;
  }
  std::string importing() {
    return outcome(
        translateTokenizer(text(), "tokenizer.json", kVocabulary, remarks));
  }
  /// What comes of the import with one part replaced.
  std::string importingWith(const std::string &part, const std::string &value) {
    auto kept = parts;
    parts[part] = value;
    std::string found = importing();
    parts = kept;
    return found;
  }
  std::string importingOption(const std::string &key,
                              const std::string &value) {
    auto kept = options;
    options[key] = value;
    std::string found = importing();
    options = kept;
    return found;
  }
  std::string importingToken(const std::string &token, const std::string &id) {
    auto kept = vocabulary;
    vocabulary[token] = id;
    std::string found = importing();
    vocabulary = kept;
    return found;
  }
  static std::string refusal(llvm::StringRef message) {
    return ("tokenizer.json: " + message).str();
  }

  /// Keys of the vocabulary are written as they stand inside JSON's quotes.
  std::map<std::string, std::string> vocabulary;
  std::map<std::string, std::string> options = {
      {"merges", R"(["a b", "ab c"])"}};
  std::map<std::string, std::string> parts = {
      {"version", "\"1.0\""},
      {"added_tokens", "[]"},
      {"normalizer", "null"},
      {"pre_tokenizer",
       R"({"type":"ByteLevel","add_prefix_space":false,"trim_offsets":true,"use_regex":false})"},
      {"post_processor", "null"},
      {"decoder", R"({"type":"ByteLevel"})"}};
  std::vector<uint8_t> bytes;
  std::vector<std::string> remarks;
};

} // namespace

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
  EXPECT_TRUE(tokenizer.byte_tokens.empty()); // the first format's
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
  EXPECT_EQ(importingToken("x1", "300"),
            refusal("expects the id of token 'x1' to be an integer in 0..299, "
                    "but got 300"));
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
  EXPECT_EQ(importingOption("scores", "[NaN]"),
            refusal("model: unknown key 'scores'"));
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
  EXPECT_EQ(unigram(""), refusal("model: expects 'vocab' to be an array of "
                                 "1..300 pieces, but got an array of 0"));
  EXPECT_EQ(
      importingModel(R"({"type":"Unigram","unk_id":1,"vocab":[["a",0]]})"),
      refusal("model: expects 'unk_id' to be an integer in 0..0, but "
              "got 1"));
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
      importingAdded(R"({"id":300,"content":"x1"})"),
      refusal("added token 0: expects 'id' to be an integer in 0..299, but "
              "got 300"));
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
            refusal("added token 0: unknown key 'color'"));
  EXPECT_EQ(importingAdded("7"),
            refusal("added token 0: expects an object, but got 7"));
  EXPECT_EQ(importingAdded(R"({"id":258,"content":"\ud800"})").substr(0, 20),
            "tokenizer.json: line");
  EXPECT_EQ(
      importingWith("added_tokens", "{}"),
      refusal("expects 'added_tokens' to be an array, but got an object"));
}

//===----------------------------------------------------------------------===//
// The pipeline
//===----------------------------------------------------------------------===//

TEST_F(TokenizerImportTest, ByteLevel) {
  EXPECT_TRUE(import().pieces.empty());
  parts["pre_tokenizer"] = R"({"type":"ByteLevel"})";
  artifact::TokenizerT tokenizer = import();
  ASSERT_EQ(tokenizer.pieces.size(), 2u);
  EXPECT_EQ(tokenizer.pieces[0]->kind, artifact::PieceKind::PrefixSpace);
  const artifact::SplitStepT &split = *tokenizer.pieces[1]->split;
  EXPECT_EQ(split.behavior, artifact::SplitBehavior::Isolated);
  EXPECT_EQ(split.pattern,
            "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| "
            "?[^\\p{White_Space}\\p{L}\\p{N}]+|\\p{White_Space}+(?!\\P{White_"
            "Space})|\\p{White_Space}+");
}

TEST_F(TokenizerImportTest, SequenceOfSplits) {
  parts["pre_tokenizer"] =
      R"({"type":"Sequence","pretokenizers":[
           {"type":"Split","pattern":{"Regex":"\\d"},"behavior":"Contiguous","invert":true},
           {"type":"Split","pattern":{"String":"."},"behavior":"Removed","invert":false},
           {"type":"Split","pattern":{"Regex":"x+"},"behavior":"MergedWithPrevious","invert":true},
           {"type":"Digits","individual_digits":true},
           {"type":"Digits","individual_digits":false},
           {"type":"Metaspace","replacement":"_","add_prefix_space":false},
           {"type":"ByteLevel","add_prefix_space":false,"use_regex":false}]})";
  artifact::TokenizerT tokenizer = import();
  using artifact::SplitBehavior;
  const std::tuple<const char *, SplitBehavior, bool> expected[] = {
      {"\\p{Nd}", SplitBehavior::Contiguous, true},
      {"\\.", SplitBehavior::Removed, false},
      {"x+", SplitBehavior::MergedWithPrevious, true},
      {"\\p{x:numeric}", SplitBehavior::Isolated, false},
      {"\\p{x:numeric}", SplitBehavior::Contiguous, false},
      {nullptr, SplitBehavior::Isolated, false}, // the metaspace
      {"\\_", SplitBehavior::MergedWithNext, false}};
  ASSERT_EQ(tokenizer.pieces.size(), std::size(expected));
  for (size_t i = 0; i < std::size(expected); ++i) {
    auto [pattern, behavior, invert] = expected[i];
    if (!pattern) {
      EXPECT_EQ(tokenizer.pieces[i]->kind, artifact::PieceKind::Metaspace);
      EXPECT_EQ(tokenizer.pieces[i]->prepend, artifact::Prepend::Never);
      EXPECT_EQ(tokenizer.pieces[i]->content, "_");
      continue;
    }
    EXPECT_EQ(tokenizer.pieces[i]->split->pattern, pattern);
    EXPECT_EQ(tokenizer.pieces[i]->split->behavior, behavior);
    EXPECT_EQ(tokenizer.pieces[i]->split->invert, invert);
  }
}

TEST_F(TokenizerImportTest, PreTokenizersThatAreNotSupported) {
  auto importingPre = [&](const char *value) {
    return importingWith("pre_tokenizer", value);
  };
  EXPECT_EQ(importingPre("null"), "success");
  EXPECT_EQ(importingPre(R"({"type":"UnicodeScripts"})"),
            refusal("pre_tokenizer 'UnicodeScripts' is not supported; "
                    "supported: none, BertPreTokenizer, ByteLevel, "
                    "CharDelimiterSplit, Digits, Metaspace, Punctuation, "
                    "Sequence, Split, Whitespace, WhitespaceSplit"));
  EXPECT_EQ(importingPre("[]"),
            refusal("expects 'pre_tokenizer' to be an object "
                    "or null, but got an array of 0"));
  EXPECT_EQ(importingPre(R"({"kind":"ByteLevel"})"),
            refusal("pre_tokenizer: expects 'type' to be a string, but got "
                    "nothing"));
  EXPECT_EQ(importingPre(R"({"type":"ByteLevel","lossy":true})"),
            refusal("pre_tokenizer 'ByteLevel': unknown key 'lossy'"));
  EXPECT_EQ(importingPre(R"({"type":"CharDelimiterSplit","delimiter":"ab"})"),
            refusal("pre_tokenizer 'CharDelimiterSplit': expects 'delimiter' "
                    "to be one character"));
  EXPECT_EQ(importingPre(R"({"type":"Metaspace","replacement":""})"),
            refusal("pre_tokenizer 'Metaspace': expects 'replacement' to be "
                    "one character"));
  EXPECT_EQ(importingPre(R"({"type":"Metaspace","replacement":"_",
                             "prepend_scheme":"last"})"),
            refusal("pre_tokenizer 'Metaspace': expects 'prepend_scheme' to be "
                    "always, first or never, but got 'last'"));
  EXPECT_EQ(importingPre(R"({"type":"Metaspace","replacement":"_",
                             "prepend_scheme":"first",
                             "add_prefix_space":false})"),
            refusal("pre_tokenizer 'Metaspace': 'add_prefix_space' is false, "
                    "but 'prepend_scheme' is 'first'"));
  std::string digits;
  for (int i = 0; i < 65; ++i)
    digits += (i == 0 ? "" : ",") + std::string("{\"type\":\"Digits\"}");
  EXPECT_EQ(importingWith("pre_tokenizer",
                          "{\"type\":\"Sequence\",\"pretokenizers\":[" +
                              digits + "]}"),
            refusal("pre_tokenizer 'Digits': expects at most 64 steps"));
}

TEST_F(TokenizerImportTest, SplitsThatAreNotSupported) {
  auto importingSplit = [&](llvm::StringRef fields) {
    return importingWith("pre_tokenizer",
                         ("{\"type\":\"Split\"," + fields + "}").str());
  };
  EXPECT_EQ(importingSplit(R"("pattern":{"Regex":"a"},"behavior":"Kept")"),
            refusal("pre_tokenizer 'Split': behavior 'Kept' is not supported; "
                    "supported: Isolated, Removed, MergedWithPrevious, "
                    "MergedWithNext, Contiguous"));
  EXPECT_EQ(importingSplit(R"("pattern":{"Regex":"a"})"),
            refusal("pre_tokenizer 'Split': lacks 'behavior'"));
  EXPECT_EQ(importingSplit(R"("pattern":{"Regex":"(a"},"behavior":"Isolated")"),
            refusal("pre_tokenizer 'Split': pattern '(a': missing closing "
                    "parenthesis"));
  EXPECT_EQ(
      importingSplit(R"("pattern":{"Regex":"\\w"},"behavior":"Isolated")"),
      refusal("pre_tokenizer 'Split': pattern '\\w': '\\w' is not "
              "supported"));
  EXPECT_EQ(
      importingSplit(R"("pattern":"a","behavior":"Isolated")"),
      refusal("pre_tokenizer 'Split': expects 'pattern' to be {\"Regex\": "
              "string} or {\"String\": string}, but got \"a\""));
  EXPECT_EQ(
      importingSplit(R"("pattern":{"String":""},"behavior":"Isolated")"),
      refusal("pre_tokenizer 'Split': expects a pattern of 1..65536 bytes, "
              "but got 0"));
}

TEST_F(TokenizerImportTest, Normalizers) {
  parts["normalizer"] = R"({"type":"Sequence","normalizers":[
      {"type":"Strip","strip_left":true,"strip_right":false},
      {"type":"NFC"},{"type":"Replace","pattern":{"String":" "},"content":"_"},
      {"type":"Prepend","prepend":"_"},{"type":"StripAccents"},
      {"type":"BertNormalizer","clean_text":false,
       "handle_chinese_chars":false,"strip_accents":null,"lowercase":true}]})";
  using artifact::NormalizerKind;
  std::vector<NormalizerKind> kinds;
  artifact::TokenizerT tokenizer = import();
  for (const auto &step : tokenizer.normalizers)
    kinds.push_back(step->kind);
  EXPECT_EQ(kinds,
            (std::vector<NormalizerKind>{
                NormalizerKind::StripLeft, NormalizerKind::Nfc,
                NormalizerKind::Replace, NormalizerKind::Prepend,
                NormalizerKind::StripAccents, NormalizerKind::Nfd,
                NormalizerKind::StripNonspacing, NormalizerKind::Lowercase}));
}

TEST_F(TokenizerImportTest, NormalizersThatAreNotSupported) {
  EXPECT_EQ(importingWith("normalizer", R"({"type":"Romanize"})"),
            refusal("normalizer 'Romanize' is not supported; supported: none, "
                    "ByteLevel, Lowercase, NFC, NFD, NFKC, NFKD, Nmt, "
                    "StripAccents, BertNormalizer, Precompiled, Prepend, "
                    "Replace, Sequence, Strip"));
  auto charsmap = [&](llvm::StringRef value) {
    return importingWith("normalizer", ("{\"type\":\"Precompiled\","
                                        "\"precompiled_charsmap\":" +
                                        value + "}")
                                           .str());
  };
  EXPECT_EQ(charsmap("\"AAAAAA==\""), "success"); // an empty trie, no texts
  EXPECT_EQ(charsmap("null"), "success");
  EXPECT_EQ(charsmap("\"CAAAAA==\""),
            refusal("normalizer 'Precompiled': a charsmap of 4 bytes cannot "
                    "hold a trie of 8"));
  EXPECT_EQ(charsmap("\"AAAAAP8=\""),
            refusal("normalizer 'Precompiled': the replacements of the "
                    "charsmap are not UTF-8"));
  EXPECT_EQ(charsmap("\"!\"").find(
                refusal("normalizer 'Precompiled': 'precompiled_charsmap' is "
                        "not base64")),
            0u);
}

TEST_F(TokenizerImportTest, Decoders) {
  auto sequence = [&](llvm::StringRef steps) {
    return importingWith(
        "decoder",
        ("{\"type\":\"Sequence\",\"decoders\":[" + steps + "]}").str());
  };
  EXPECT_EQ(importingWith("decoder", "null"), "success");
  EXPECT_EQ(importingWith("decoder", R"({"type":"CTC"})"),
            refusal("decoder 'CTC' is not supported; supported: none, "
                    "BPEDecoder, ByteFallback, ByteLevel, Fuse, Metaspace, "
                    "Replace, Sequence, Strip, WordPiece"));
  EXPECT_EQ(sequence(R"({"type":"ByteLevel"})"), "success");
  EXPECT_EQ(sequence(R"({"type":"Fuse"},{"type":"Strip","content":" ",
                         "start":1,"stop":0})"),
            "success");
  EXPECT_EQ(sequence(R"({"type":"Fuse"},{"type":"ByteFallback"})"),
            refusal("decoder 'ByteFallback' is not supported after a step that "
                    "fuses tokens"));
  EXPECT_EQ(sequence(R"({"type":"Replace","pattern":{"Regex":"a"},
                         "content":""})"),
            refusal("decoder 'Replace': expects 'pattern' to be {\"String\": "
                    "text}, but got an object"));
  EXPECT_EQ(sequence(R"({"type":"Strip","content":"ab","start":1,"stop":0})"),
            refusal("decoder 'Strip': expects 'content' to be one character"));
}

TEST_F(TokenizerImportTest, PostProcessors) {
  parts["post_processor"] =
      R"({"type":"Sequence","processors":[
           {"type":"ByteLevel","trim_offsets":false},
           {"type":"TemplateProcessing",
            "single":[{"SpecialToken":{"id":"<s>","type_id":0}},
                      {"Sequence":{"id":"A","type_id":0}},
                      {"SpecialToken":{"id":"</s>","type_id":0}}],
            "pair":[],
            "special_tokens":{"<s>":{"id":"<s>","ids":[1],"tokens":["<s>"]},
                              "</s>":{"id":"</s>","ids":[2,3],"tokens":[]}}}]})";
  artifact::TokenizerT tokenizer = import();
  EXPECT_EQ(tokenizer.prepend, std::vector<int32_t>{1});
  EXPECT_EQ(tokenizer.append, (std::vector<int32_t>{2, 3}));
}

TEST_F(TokenizerImportTest, PostProcessorsThatAreNotSupported) {
  auto importingTemplate = [&](llvm::StringRef single, llvm::StringRef ids) {
    return importingWith("post_processor",
                         ("{\"type\":\"TemplateProcessing\",\"single\":[" +
                          single +
                          "],\"pair\":[],\"special_tokens\":{\"s\":{"
                          "\"ids\":" +
                          ids + "}}}")
                             .str());
  };
  const char *a = R"({"Sequence":{"id":"A"}})";
  const char *b = R"({"Sequence":{"id":"B"}})";
  const char *s = R"({"SpecialToken":{"id":"s"}})";
  const char *t = R"({"SpecialToken":{"id":"t"}})";
  std::string where = "post_processor 'TemplateProcessing': ";
  EXPECT_EQ(importingTemplate(s, "[1]"),
            refusal(where + "expects 'single' to hold the sequence A once, but "
                            "got it 0 times"));
  EXPECT_EQ(importingTemplate((llvm::Twine(a) + "," + a).str(), "[1]"),
            refusal(where + "expects 'single' to hold the sequence A once, but "
                            "got it 2 times"));
  EXPECT_EQ(importingTemplate(b, "[1]"),
            refusal(where + "expects 'single' to hold special tokens and the "
                            "sequence A"));
  EXPECT_EQ(importingTemplate((llvm::Twine(t) + "," + a).str(), "[1]"),
            refusal(where + "special token 't' has no 'ids'"));
  for (const char *id : {"259", "300", "-1", "4294967297", "\"1\""})
    EXPECT_EQ(importingTemplate((llvm::Twine(s) + "," + a).str(),
                                ("[" + llvm::Twine(id) + "]").str()),
              refusal(where +
                      "expects the ids of special token 's' to be in the "
                      "vocabulary, but got " +
                      id));
  EXPECT_EQ(importingWith("post_processor", R"({"type":"BertProcessing"})"),
            refusal("post_processor 'BertProcessing': expects 'cls' to be a "
                    "token and its id in the vocabulary, but got nothing"));
  EXPECT_EQ(importingWith("post_processor",
                          R"({"type":"RobertaProcessing","cls":["a",97],
                              "sep":["x",300]})"),
            refusal("post_processor 'RobertaProcessing': expects 'sep' to be a "
                    "token and its id in the vocabulary, but got an array of "
                    "2"));
  EXPECT_EQ(importingWith("post_processor", R"({"type":"Speller"})"),
            refusal("post_processor 'Speller' is not supported; supported: "
                    "none, BertProcessing, ByteLevel, RobertaProcessing, "
                    "Sequence, TemplateProcessing"));
}

TEST_F(TokenizerImportTest, TruncationAndPaddingAreLeftAside) {
  parts["truncation"] = R"({"max_length":5})";
  parts["padding"] = R"({"strategy":"BatchLongest"})";
  import();
  EXPECT_EQ(remarks,
            (std::vector<std::string>{
                "tokenizer.json: 'truncation' is ignored: it applies on "
                "request only",
                "tokenizer.json: 'padding' is ignored: it applies on "
                "request only"}));
}

TEST_F(TokenizerImportTest, UnknownParts) {
  EXPECT_EQ(importingWith("speller", "{}"), refusal("unknown key 'speller'"));
}

TEST_F(TokenizerImportTest, Recorded) {
  for (const char *file :
       {"sample/tokenizer.json", "tokenizer/mixed_tokenizer.json"}) {
    bytes =
        llvm::cantFail(importTokenizer(std::string(EFFC_GOLDENS) + "/" + file,
                                       "tokenizer.json", 2048, remarks));
    flatbuffers::Verifier verifier(bytes.data(), bytes.size());
    EXPECT_TRUE(artifact::VerifyTokenizerBuffer(verifier));
    EXPECT_EQ(outcome(importTokenizer(std::string(EFFC_GOLDENS) + "/" + file,
                                      "tokenizer.json", 1000, remarks))
                  .find(refusal("expects the id of token")),
              0u);
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
