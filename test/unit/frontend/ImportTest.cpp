#include "frontend/Import.h"

#include "dialects/seq/Seq.h"
#include "frontend/tokenizer/ByteAlphabet.h"
#include "frontend/weights/Weights.h"
#include "runtime/schema/GenerationLimits.h"
#include "test/unit/frontend/Outcome.h"
#include "test/unit/frontend/SentencePieceImage.h"
#include "test/unit/frontend/TinyMamba2.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/Base64.h"

#include <cmath>

using namespace effc;
using namespace effc::frontend;
using namespace effc::test;

namespace {

class ImportTest : public testing::Test {
protected:
  ImportTest() { TinyMamba2().write(directory); }

  llvm::Expected<ImportedModel> import(const ImportOptions &options = {}) {
    return importModel(context, directory.path, options);
  }
  bool hasRemark(const ImportedModel &model, llvm::StringRef remark) {
    return llvm::is_contained(model.remarks, remark);
  }
  Generation generationFrom(llvm::StringRef text) {
    directory.write("generation_config.json", text);
    return llvm::cantFail(import()).generation;
  }
  std::string importingGeneration(llvm::StringRef text) {
    directory.write("generation_config.json", text);
    return outcome(import());
  }

  mlir::MLIRContext context;
  TemporaryDirectory directory;
};

} // namespace

//===----------------------------------------------------------------------===//
// Sources and data
//===----------------------------------------------------------------------===//

TEST_F(ImportTest, ListsItsSources) {
  directory.write("generation_config.json", "{}");
  directory.write("notes.txt", "not read");
  ImportedModel model = llvm::cantFail(import());
  std::vector<std::string> names;
  for (const SourceFile &file : model.sources) {
    names.push_back(file.name);
    uint64_t size = 0;
    EXPECT_FALSE(llvm::sys::fs::file_size(directory.file(file.name), size));
    EXPECT_EQ(file.size, size);
  }
  EXPECT_EQ(names,
            (std::vector<std::string>{"config.json", "generation_config.json",
                                      "model.safetensors"}));
  // The sum is that of the bytes, so it follows them.
  uint64_t before = model.sources[1].checksum;
  directory.write("generation_config.json", "{} ");
  EXPECT_NE(llvm::cantFail(import()).sources[1].checksum, before);
}

TEST_F(ImportTest, RemarksOnEveryTensor) {
  ImportedModel model = llvm::cantFail(import());
  EXPECT_TRUE(hasRemark(
      model, "tensor 'backbone.layers.0.mixer.conv1d.weight' (32x1x3 F32) is "
             "@layers.0.conv in f32, transposed"));
  EXPECT_EQ(llvm::count_if(model.remarks,
                           [](llvm::StringRef remark) {
                             return remark.starts_with("tensor ");
                           }),
            int64_t(TinyMamba2().tensors.size()));
  EXPECT_TRUE(hasRemark(model, "there is no 'tokenizer.json': the model takes "
                               "and gives token ids"));
}

TEST_F(ImportTest, FilesOfSentencePiece) {
  TinyMamba2 tiny; // which has 7 tokens
  std::string bytes = makePiece("<unk>", PieceType::Unknown) +
                      makePiece("<s>", PieceType::Control) +
                      makePiece("</s>", PieceType::Control) +
                      makePiece("\u2581") + makePiece("a");
  directory.write("tokenizer.model", bytes);
  directory.write("tokenizer_config.json", "{}");
  ImportedModel model = llvm::cantFail(import());
  EXPECT_TRUE(model.tokenizer);
  EXPECT_TRUE(llvm::is_contained(model.generation.eos, 2)); // </s>
  EXPECT_TRUE(llvm::any_of(model.sources, [](const SourceFile &source) {
    return source.name == "tokenizer.model";
  }));
  directory.write("tokenizer.model", bytes + "\x0a\x09");
  EXPECT_EQ(
      outcome(import()),
      "tokenizer.model: at byte " + std::to_string(bytes.size() + 2) +
          ": a value of 9 bytes begins here, but only 0 are left: the file "
          "is damaged or cut short, or no SentencePiece model; fetch it "
          "again");
  directory.write("tokenizer.model", bytes);
  // config.json may name the class, too.
  tiny.config["tokenizer_class"] = "\"XGLMTokenizerFast\"";
  tiny.write(directory);
  std::string result = outcome(import());
  EXPECT_NE(result.find("but got 'XGLMTokenizer'"), std::string::npos)
      << result;
  directory.write("tokenizer_config.json",
                  R"({"tokenizer_class": "TokenizersBackend"})");
  EXPECT_TRUE(llvm::cantFail(import()).tokenizer);
}

TEST_F(ImportTest, VocabulariesOfOtherKinds) {
  // A token for each byte, and one of two.
  TinyMamba2 tiny;
  tiny.config["vocab_size"] = "257";
  tiny.tensors["backbone.embeddings.weight"].shape = {257, 6};
  tiny.tensors["lm_head.weight"].shape = {257, 6};
  tiny.write(directory);
  std::string bytes;
  for (int byte = 0; byte < 256; ++byte)
    bytes += llvm::encodeBase64(std::string(1, char(byte))) + " " +
             std::to_string(byte) + "\n";
  directory.write("a.tiktoken", bytes + "QUI= 256\n");
  directory.write("tokenizer_config.json", R"({"pat_str": ".+"})");
  ImportedModel model = llvm::cantFail(import());
  EXPECT_TRUE(model.tokenizer);
  EXPECT_EQ(model.sources[0].name, "a.tiktoken");
  EXPECT_EQ(model.sources.back().name, "tokenizer_config.json");
  directory.write("a.tiktoken", bytes + "QUI= 99999\n");
  std::string result = outcome(import());
  EXPECT_NE(result.find("a.tiktoken"), std::string::npos) << result;
  EXPECT_NE(result.find("99999"), std::string::npos) << result;
}

// Taps [C, 1, W] of 3 channels and 2 taps are read as [W, C].
TEST_F(ImportTest, TransposesWeights) {
  SafetensorsBuilder builder;
  std::string bytes;
  for (float value : {1.0f, 2.0f, 3.0f, 4.0f, 5.0f, 6.0f})
    bytes.append(reinterpret_cast<const char *>(&value), 4);
  builder.add("taps", "F32", {3, 1, 2}, bytes);
  directory.write("model.safetensors", builder.build());
  auto checkpoint = llvm::cantFail(Checkpoint::open(directory.path));
  context.loadDialect<seq::SeqDialect>();
  mlir::OpBuilder builderOfOps(&context);
  auto module = mlir::OwningOpRef<mlir::ModuleOp>(
      mlir::ModuleOp::create(builderOfOps.getUnknownLoc()));
  builderOfOps.setInsertionPointToEnd(module->getBody());
  auto weight = seq::WeightOp::create(
      builderOfOps, builderOfOps.getUnknownLoc(), "taps", "taps",
      mlir::RankedTensorType::get({2, 3}, builderOfOps.getF32Type()),
      /*further=*/nullptr, /*stored=*/nullptr, /*rows=*/nullptr,
      /*derived=*/nullptr, /*transposed=*/true, /*computed=*/nullptr);
  EXPECT_EQ(llvm::cantFail(readWeight<double>(weight, *checkpoint)),
            (std::vector<double>{1, 3, 5, 2, 4, 6}));
}

// Two blocks of three outputs, which the checkpoint has as rows of inputs.
TEST_F(ImportTest, TransposedBlocksAreRead) {
  SafetensorsBuilder builder;
  std::string bytes;
  for (int i = 1; i <= 12; ++i) {
    float value = i;
    bytes.append(reinterpret_cast<const char *>(&value), 4);
  }
  builder.add("gate", "F32", {2, 2, 3}, bytes);
  directory.write("model.safetensors", builder.build());
  auto checkpoint = llvm::cantFail(Checkpoint::open(directory.path));
  context.loadDialect<seq::SeqDialect>();
  mlir::OpBuilder builderOfOps(&context);
  auto module = mlir::OwningOpRef<mlir::ModuleOp>(
      mlir::ModuleOp::create(builderOfOps.getUnknownLoc()));
  builderOfOps.setInsertionPointToEnd(module->getBody());
  auto weightOf = [&](llvm::ArrayRef<int64_t> shape) {
    return seq::WeightOp::create(
        builderOfOps, builderOfOps.getUnknownLoc(), "gate", "gate",
        mlir::RankedTensorType::get(shape, builderOfOps.getF32Type()),
        /*further=*/nullptr, /*stored=*/nullptr, /*rows=*/nullptr,
        /*derived=*/nullptr, /*transposed=*/true, /*computed=*/nullptr);
  };
  EXPECT_EQ(
      llvm::cantFail(readWeight<double>(weightOf({2, 3, 2}), *checkpoint)),
      (std::vector<double>{1, 4, 2, 5, 3, 6, 7, 10, 8, 11, 9, 12}));
  EXPECT_EQ(llvm::toString(checkWeight(weightOf({3, 2, 2}), *checkpoint)),
            "model.safetensors: expects tensor 'gate' of shape 3x2x2, but "
            "got 2x2x3");
}

// Two tensors a and b of 4x2, whose elements are 1 to 8 and 11 to 18.
TEST_F(ImportTest, WeightsAreMadeOfTensors) {
  SafetensorsBuilder builder;
  for (int first : {1, 11}) {
    std::string bytes;
    for (int i = 0; i < 8; ++i) {
      auto value = float(first + i);
      bytes.append(reinterpret_cast<const char *>(&value), 4);
    }
    builder.add(first == 1 ? "a" : "b", "F32", {4, 2}, bytes);
  }
  builder.add("zeros", "F32", {4, 2}, std::string(32, '\0'));
  directory.write("model.safetensors", builder.build());
  auto checkpoint = llvm::cantFail(Checkpoint::open(directory.path));
  context.loadDialect<mlir::func::FuncDialect, seq::SeqDialect>();
  auto read = [&](llvm::StringRef text) {
    auto module = mlir::parseSourceString<mlir::ModuleOp>(
        ("seq.weight @w " + text).str(), mlir::ParserConfig(&context));
    seq::WeightOp weight = *module->getOps<seq::WeightOp>().begin();
    if (llvm::Error error = checkWeight(weight, *checkpoint))
      return std::make_pair(llvm::toString(std::move(error)),
                            std::vector<double>());
    auto numbers = llvm::cantFail(readWeight<double>(weight, *checkpoint));
    // What the artifact's writer takes are the same numbers.
    if (!weight.isOneTensor()) {
      GatheredWeight gathered =
          llvm::cantFail(gatherWeight(weight, *checkpoint));
      std::vector<double> written =
          decode<double>(gathered.type.getElement(), gathered.bytes);
      EXPECT_EQ(written.size(), numbers.size());
      // Two by two where it is turned.
      constexpr size_t kTurned[] = {0, 2, 1, 3};
      for (size_t i = 0; i < numbers.size(); ++i)
        EXPECT_EQ(written[weight.getTransposed() ? kTurned[i] : i],
                  double(float(numbers[i])));
    }
    return std::make_pair(std::string(), numbers);
  };
  using Numbers = std::vector<double>;
  EXPECT_EQ(read(R"(source("a") then ["b"] : tensor<8x2xf32>)").second,
            (Numbers{1, 2, 3, 4, 5, 6, 7, 8, 11, 12, 13, 14, 15, 16, 17, 18}));
  EXPECT_EQ(read(R"(source("a") stored [4, 2] : tensor<8xf32>)").second,
            (Numbers{1, 2, 3, 4, 5, 6, 7, 8}));
  // Two groups of two rows, the second of each.
  EXPECT_EQ(read(R"(source("a") rows(#seq.row_groups<offset = 1, size = 1,
                    stride = 2, count = 2>) : tensor<2x2xf32>)")
                .second,
            (Numbers{3, 4, 7, 8}));
  EXPECT_EQ(read(R"(source("a") rows(#seq.row_groups<offset = 1, size = 1,
                    stride = 2, count = 2>) transposed : tensor<2x2xf32>)")
                .second,
            (Numbers{3, 7, 4, 8}));
  EXPECT_EQ(read(R"(source("a") derived(#seq.derivation<rule =
                    negated_exponential>) : tensor<4x2xf32>)")
                .second[2],
            -std::exp(3.0));
  // Each head's 2 numbers for 3 value channels.
  EXPECT_EQ(read(R"(source("a") stored [4, 2] derived(#seq.derivation<rule =
                    repeated>) : tensor<4x3x2xf32>)")
                .second[7],
            4);
  // The softmax of 1, 3, 5, 7 without its first share, up to layer 2.
  double all = std::exp(-6.0) + std::exp(-4.0) + std::exp(-2.0) + 1;
  EXPECT_NEAR(read(R"(source("a") stored [4, 2] derived(#seq.derivation<rule =
                      lower_bound, layer = 2>) : tensor<2xf32>)")
                  .second[0],
              (std::exp(-4.0) + std::exp(-2.0)) / all, 1e-15);
  // Of parameters that are all zero, each of 4 layers keeps a quarter more.
  for (int layer : {0, 1, 2, 3}) {
    std::string bound =
        R"(source("zeros") stored [4, 2] derived(#seq.derivation<
                           rule = lower_bound, layer = )" +
        std::to_string(layer) + ">) : tensor<2xf32>";
    EXPECT_EQ(read(bound).second, (Numbers{layer / 4.0, layer / 4.0}));
  }
  EXPECT_EQ(read(R"(source("a") then ["c"] : tensor<8x2xf32>)").first,
            "model.safetensors: lacks tensor 'c'");
  EXPECT_EQ(read(R"(source("b") rows(#seq.row_groups<offset = 1, size = 1,
                    stride = 2, count = 3>) : tensor<3x2xf32>)")
                .first,
            "model.safetensors: expects tensor 'b' of shape 6x2, but got 4x2");
}

TEST_F(ImportTest, RefusesAnotherDirectoryForACheckpoint) {
  ImportOptions options;
  options.weightsFrom = "elsewhere";
  EXPECT_EQ(outcome(import(options)), "weights are read from the checkpoint '" +
                                          directory.path +
                                          "': no other directory can be given");
}

//===----------------------------------------------------------------------===//
// Generation
//===----------------------------------------------------------------------===//

TEST_F(ImportTest, GenerationIsNeutralByDefault) {
  Generation generation = llvm::cantFail(import()).generation;
  EXPECT_EQ(generation.bos, std::nullopt);
  EXPECT_EQ(generation.pad, std::nullopt);
  EXPECT_TRUE(generation.eos.empty());
  EXPECT_FALSE(generation.doSample);
  EXPECT_EQ(generation.temperature, 1);
  EXPECT_EQ(generation.topK, 0u);
  EXPECT_EQ(generation.topP, 1);
}

TEST_F(ImportTest, GenerationFromItsFile) {
  Generation generation = generationFrom(
      R"({"bos_token_id": 1, "pad_token_id": 2, "eos_token_id": [3, 4, 3],
          "do_sample": true, "temperature": 0.7, "top_k": 50, "top_p": 0.9,
          "transformers_version": "5", "use_cache": true})");
  EXPECT_EQ(generation.bos, 1);
  EXPECT_EQ(generation.pad, 2);
  EXPECT_EQ(generation.eos, (std::vector<int32_t>{3, 4}));
  EXPECT_TRUE(generation.doSample);
  EXPECT_EQ(generation.temperature, 0.7);
  EXPECT_EQ(generation.topK, 50u);
  EXPECT_EQ(generation.topP, 0.9);
}

TEST_F(ImportTest, GenerationFallsBackToTheConfig) {
  TinyMamba2 tiny;
  tiny.config["bos_token_id"] = "1";
  tiny.config["eos_token_id"] = "5";
  tiny.config["pad_token_id"] = "-1";
  tiny.write(directory);
  Generation generation =
      generationFrom(R"({"eos_token_id": 2, "top_k": null})");
  EXPECT_EQ(generation.bos, 1);
  EXPECT_EQ(generation.pad, std::nullopt);
  // Ends add up.
  EXPECT_EQ(generation.eos, (std::vector<int32_t>{5, 2}));
  generation =
      generationFrom(R"({"eos_token_id": null, "bos_token_id": null})");
  EXPECT_EQ(generation.bos, std::nullopt);
  EXPECT_EQ(generation.eos, std::vector<int32_t>{5});
}

// Ends add up, and where files differ a remark says so.
TEST_F(ImportTest, GenerationRemarksOnEndsThatDiffer) {
  TinyMamba2 tiny;
  tiny.config["eos_token_id"] = "[5, 3]";
  tiny.write(directory);
  auto remarksOn = [&](llvm::StringRef text) {
    directory.write("generation_config.json", text);
    std::string found;
    for (const std::string &remark : llvm::cantFail(import()).remarks)
      if (llvm::StringRef(remark).contains("eos_token_id"))
        found += remark;
    return found;
  };
  EXPECT_EQ(remarksOn(R"({"eos_token_id": [2, 5]})"),
            "generation ends at each 'eos_token_id' of two files that differ: "
            "5, 3 of config.json, 2, 5 of generation_config.json");
  EXPECT_EQ(remarksOn(R"({"eos_token_id": [3, 5]})"), "");
  EXPECT_EQ(remarksOn(R"({})"), "");
}

// The token with which tokenizer_config.json ends a text ends a generation.
TEST_F(ImportTest, GenerationEndsWhereTheTokenizerDoes) {
  TinyMamba2 tiny;
  tiny.config["vocab_size"] = "258";
  tiny.config["eos_token_id"] = "7";
  for (const char *name : {"backbone.embeddings.weight", "lm_head.weight"})
    tiny.tensors[name].shape = {258, 6};
  tiny.write(directory);
  std::string vocabulary;
  for (int byte = 0; byte < 256; ++byte) {
    std::string token = getByteCharacter(byte);
    vocabulary += std::string(byte ? "," : "") + "\"" +
                  (token == "\"" || token == "\\" ? "\\" : "") + token +
                  "\":" + std::to_string(byte);
  }
  directory.write(
      "tokenizer.json",
      R"({"added_tokens": [)"
      R"({"id": 256, "content": "<turn>", "special": true, "single_word": false,
          "lstrip": false, "rstrip": false, "normalized": false},
         {"id": 257, "content": "<pad>", "special": true, "single_word": false,
          "lstrip": false, "rstrip": false, "normalized": false}],
          "model": {"type": "BPE", "vocab": {)" +
          vocabulary + R"(}, "merges": []}})");
  constexpr llvm::StringLiteral kRemark =
      "generation ends at token 256 '<turn>' as well, the 'eos_token' of the "
      "tokenizer, which neither config.json nor generation_config.json names";
  directory.write("tokenizer_config.json", R"({"eos_token": "<turn>"})");
  ImportedModel model = llvm::cantFail(import());
  EXPECT_EQ(model.generation.eos, (std::vector<int32_t>{7, 256}));
  EXPECT_TRUE(hasRemark(model, kRemark));
  // Named already: nothing is added, nothing said.
  directory.write("generation_config.json", R"({"eos_token_id": [7, 256]})");
  ImportedModel named = llvm::cantFail(import());
  EXPECT_EQ(named.generation.eos, (std::vector<int32_t>{7, 256}));
  EXPECT_FALSE(hasRemark(named, kRemark));
  // A tokenizer that names none adds none.
  directory.write("generation_config.json", "{}");
  directory.write("tokenizer_config.json", R"({"pad_token": "<pad>"})");
  EXPECT_EQ(llvm::cantFail(import()).generation.eos, std::vector<int32_t>{7});
}

TEST_F(ImportTest, GenerationFollowsPenaltyAndStops) {
  Generation generation = generationFrom(
      R"({"repetition_penalty": 1.25, "min_p": 0.5, "stop_strings": ["a", "bc"]})");
  EXPECT_EQ(generation.repeatPenalty, 1.25);
  EXPECT_EQ(generation.minP, 0.5);
  EXPECT_EQ(generation.stops, (std::vector<std::string>{"a", "bc"}));
  generation = generationFrom(
      R"({"repetition_penalty": null, "min_p": null, "stop_strings": "x"})");
  EXPECT_EQ(generation.repeatPenalty, 1);
  EXPECT_EQ(generation.minP, 0);
  EXPECT_EQ(generation.stops, std::vector<std::string>{"x"});
}

// What is accepted here is what the loader accepts: the ends of each range, as
// f32, which a file keeps.
TEST_F(ImportTest, GenerationIsWithinTheLoadersRanges) {
  for (
      const char *text :
      {R"({"temperature": 0, "top_p": 0.0, "min_p": 0, "repetition_penalty": 1e-30})",
       R"({"temperature": 1e6, "top_p": 1, "min_p": 1, "repetition_penalty": 1e6})"}) {
    Generation generation = generationFrom(text);
    EXPECT_TRUE(artifact::isTemperature(float(generation.temperature)));
    EXPECT_TRUE(artifact::isTopP(float(generation.topP)));
    EXPECT_TRUE(artifact::isMinP(float(generation.minP)));
    EXPECT_TRUE(artifact::isRepeatPenalty(float(generation.repeatPenalty)));
  }
  // Nothing is left of it in f32.
  EXPECT_EQ(importingGeneration(R"({"repetition_penalty": 1e-60})")
                .find("generation_config.json: expects 'repetition_penalty' to "
                      "be a number above 0 and up to 1e+06, but got "),
            0u);
}

TEST_F(ImportTest, GenerationOutOfRange) {
  // Past the table, such as a padding token that only the tokenizer has, an id
  // is loaded by the library; past every vocabulary it is a mistake.
  EXPECT_EQ(importingGeneration(R"({"eos_token_id": 7})"), "success");
  EXPECT_EQ(
      importingGeneration(R"({"eos_token_id": 16777216})"),
      "generation_config.json: expects 'eos_token_id' to be a token id in "
      "0..6, but got 16777216");
  EXPECT_EQ(
      importingGeneration(R"({"eos_token_id": [1, "2"]})"),
      "generation_config.json: expects 'eos_token_id' to be a token id in "
      "0..6, but got \"2\"");
  EXPECT_EQ(
      importingGeneration(R"({"bos_token_id": -2})"),
      "generation_config.json: expects 'bos_token_id' to be a token id in "
      "0..6, but got -2");
  EXPECT_EQ(importingGeneration(R"({"temperature": NaN})"),
            "generation_config.json: expects 'temperature' to be a number in "
            "0..1e+06, but got NaN");
  EXPECT_EQ(importingGeneration(R"({"top_k": -1})"),
            "generation_config.json: expects 'top_k' to be an integer in "
            "0..2147483647, but got -1");
  EXPECT_EQ(
      importingGeneration(R"({"top_p": 1.5})"),
      "generation_config.json: expects 'top_p' to be a number in 0..1, but "
      "got 1.5");
  EXPECT_EQ(importingGeneration("[]"),
            "generation_config.json: expects an object, but got an array of 0");
  EXPECT_EQ(importingGeneration(R"({"min_p": -0.5})"),
            "generation_config.json: expects 'min_p' to be a number in 0..1, "
            "but got -0.5");
  for (const char *penalty : {"0", "-1", "\"high\""})
    EXPECT_EQ(importingGeneration(
                  "{\"repetition_penalty\": " + std::string(penalty) + "}"),
              "generation_config.json: expects 'repetition_penalty' to be a "
              "number above 0 and up to 1e+06, but got " +
                  std::string(penalty));
  EXPECT_EQ(importingGeneration(R"({"stop_strings": ["a", ""]})"),
            "generation_config.json: expects 'stop_strings' to be texts of 1 "
            "to 1024 bytes, none of them zero, but got \"\"");
}

TEST_F(ImportTest, GenerationRemarksOnWhatItDrops) {
  directory.write(
      "generation_config.json",
      R"({"no_repeat_ngram_size": 2, "num_beams": null, "max_length": 7,
                      "num_beam_groups": 1, "bad_words_ids": [[3]]})");
  ImportedModel model = llvm::cantFail(import());
  EXPECT_TRUE(hasRemark(model, "generation_config.json: 'max_length' is left "
                               "aside: effc run -n says how many tokens"));
  for (std::string key : {"no_repeat_ngram_size", "num_beams", "bad_words_ids"})
    EXPECT_EQ(hasRemark(model, "warning: generation_config.json: '" + key +
                                   "' is not followed"),
              key.starts_with("no_") || key.starts_with("bad_"));
}

//===----------------------------------------------------------------------===//
// Modules in text
//===----------------------------------------------------------------------===//

namespace {

constexpr llvm::StringLiteral kModule = R"(
module attributes {seq.model = #seq.model<family = "mine", vocabulary = 7, width = 6, max_context = 0>} {
  seq.weight @table source("backbone.embeddings.weight") : tensor<7x6xf32>
  func.func @forward(%tokens: tensor<?xi32>, %rows: tensor<?xi32>) -> tensor<?x7xf32> {
    %w = seq.parameter @table : tensor<7x6xf32>
    %x = seq.embedding %tokens, %w : (tensor<?xi32>, tensor<7x6xf32>) -> tensor<?x6xf32>
    %y = seq.select_rows %x, %rows : (tensor<?x6xf32>, tensor<?xi32>) -> tensor<?x6xf32>
    %logits = seq.lm_head %y, %w : (tensor<?x6xf32>, tensor<7x6xf32>) -> tensor<?x7xf32>
    return %logits : tensor<?x7xf32>
  }
})";

class ModuleTest : public ImportTest {
protected:
  std::string importing(llvm::StringRef text, ImportOptions options = {}) {
    return outcome(
        importModel(context, directory.write("m.mlir", text), options));
  }
  std::string replaced(llvm::StringRef from, llvm::StringRef to) {
    auto [before, after] = kModule.split(from);
    EXPECT_NE(before.size(), kModule.size());
    return (before + to + after).str();
  }
};

} // namespace

TEST_F(ModuleTest, WithoutWeights) {
  ImportedModel model =
      llvm::cantFail(importModel(context, directory.write("m.mlir", kModule)));
  EXPECT_FALSE(model.checkpoint);
  EXPECT_FALSE(model.tokenizer);
  EXPECT_TRUE(model.module->lookupSymbol<seq::WeightOp>("table"));
  ASSERT_EQ(model.sources.size(), 1u);
  EXPECT_EQ(model.sources[0].name, "m.mlir");
}

TEST_F(ModuleTest, WithWeights) {
  ImportOptions options;
  options.weightsFrom = directory.path;
  directory.write("generation_config.json", R"({"eos_token_id": 3})");
  ImportedModel model = llvm::cantFail(
      importModel(context, directory.write("m.mlir", kModule), options));
  ASSERT_TRUE(model.checkpoint);
  EXPECT_EQ(outcome(model.checkpoint->getData("backbone.embeddings.weight")),
            "success");
  EXPECT_TRUE(
      hasRemark(model, "tensor 'lm_head.weight' is not used by the module"));
  EXPECT_EQ(model.generation.eos, std::vector<int32_t>{3});
  EXPECT_EQ(model.sources.size(), 3u);
}

TEST_F(ModuleTest, WeightsThatDoNotFit) {
  ImportOptions options;
  options.weightsFrom = directory.path;
  EXPECT_EQ(
      importing(replaced("backbone.embeddings.weight", "nothing"), options),
      "model.safetensors: lacks tensor 'nothing'");
  EXPECT_EQ(
      importing(
          replaced("backbone.embeddings.weight", "backbone.norm_f.weight"),
          options),
      "model.safetensors: expects tensor 'backbone.norm_f.weight' of shape "
      "7x6, but got 6");
}

TEST_F(ModuleTest, TextThatDoesNotParse) {
  std::string path = directory.file("m.mlir");
  EXPECT_EQ(importing("module {\n  seq.nothing\n}").find(path + ":2:3: "), 0u);
  EXPECT_EQ(
      importing(replaced("tensor<7x6xf32>\n  func", "tensor<7x5xf32>\n  func"))
          .find(path + ":"),
      0u);
  EXPECT_NE(importing("not a module"), "success");
  // A note on the likely cause stands behind the message.
  EXPECT_NE(
      importing(replaced("tensor<7x6xf32>\n  func", "tensor<7x5xf32>\n  func"))
          .find(" (the weight is declared here, line "),
      std::string::npos);
}

TEST_F(ModuleTest, ModulesThatAreNoModel) {
  std::string begin = directory.file("m.mlir") + ":1:1: ";
  EXPECT_EQ(importing("module {}"),
            begin + "expects a module with 'seq.model'");
  EXPECT_EQ(importing(replaced("@forward", "@backward")),
            directory.file("m.mlir") +
                ":4:3: 'func.func' 'backward' is no part of a model: expects "
                "weights and one function, '@forward'");
  EXPECT_EQ(
      importing("module attributes {seq.model = #seq.model<family = \"f\", "
                "vocabulary = 3, width = 2, max_context = 0>} {}"),
      begin + "expects a function '@forward'");
}

TEST_F(ModuleTest, FilesThatAreNone) {
  std::string path = directory.file("missing.mlir");
  EXPECT_EQ(outcome(importModel(context, path)),
            "cannot open '" + path + "': no such file or directory");
  std::string text = directory.write("README.md", "# A model");
  EXPECT_EQ(outcome(importModel(context, text)),
            "expects '" + text +
                "' to be a checkpoint's directory, a GGUF file or a .mlir "
                "file, but got another file");
  ImportOptions options;
  options.weightsType = "f32";
  EXPECT_EQ(importing(kModule, options),
            "a module states the types of its weights: no other type can be "
            "given");
}
