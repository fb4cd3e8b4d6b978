// What stands around a tokenizer's model: translated, or refused by its name.
#include "test/unit/frontend/ByteTokenizer.h"

using namespace effc;
using namespace effc::frontend;

using TokenizerPartsTest = ByteTokenizerTest;

TEST_F(TokenizerPartsTest, ByteLevel) {
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

TEST_F(TokenizerPartsTest, SequenceOfSplits) {
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

TEST_F(TokenizerPartsTest, PreTokenizersThatAreNotSupported) {
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
            refusal("pre_tokenizer 'ByteLevel': unknown key 'lossy' is "
                    "refused: it may change the model"));
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

TEST_F(TokenizerPartsTest, SplitsThatAreNotSupported) {
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
      importingSplit(R"("pattern":{"Regex":"\\h"},"behavior":"Isolated")"),
      refusal("pre_tokenizer 'Split': pattern '\\h': '\\h' is not "
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

TEST_F(TokenizerPartsTest, Normalizers) {
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

TEST_F(TokenizerPartsTest, NormalizersThatAreNotSupported) {
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

TEST_F(TokenizerPartsTest, Decoders) {
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

TEST_F(TokenizerPartsTest, PostProcessors) {
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

TEST_F(TokenizerPartsTest, PostProcessorsThatAreNotSupported) {
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

TEST_F(TokenizerPartsTest, TruncationAndPaddingAreLeftAside) {
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

TEST_F(TokenizerPartsTest, UnknownParts) {
  EXPECT_EQ(
      importingWith("speller", "{}"),
      refusal("unknown key 'speller' is refused: it may change the model"));
}
