// From a GGUF file to a module: what a family says of it, in the file's names.
#include "frontend/Import.h"

#include "dialects/seq/Seq.h"
#include "frontend/weights/Weights.h"
#include "test/unit/frontend/Outcome.h"
#include "test/unit/frontend/TemporaryDirectory.h"
#include "test/unit/frontend/gguf/GgufImage.h"

using namespace effc;
using namespace effc::frontend;
using namespace effc::test;
using Type = GgufValueType;

namespace {

class GgufImportTest : public testing::Test {
protected:
  /// One layer, 2 heads of 4 channels, 1 of keys; 5 tokens, 3 hidden units.
  static GgufBuilder llama() {
    std::vector<float> numbers(64, 0.5f);
    auto some = [&](size_t count) {
      return std::vector<float>(numbers.begin(), numbers.begin() + count);
    };
    GgufBuilder builder = keys();
    builder.floats("token_embd.weight", {8, 5}, some(40))
        .floats("blk.0.attn_norm.weight", {8}, some(8))
        .floats("blk.0.attn_q.weight", {8, 8}, some(64))
        .floats("blk.0.attn_k.weight", {8, 4}, some(32))
        .floats("blk.0.attn_v.weight", {8, 4}, some(32))
        .floats("blk.0.attn_output.weight", {8, 8}, some(64))
        .floats("blk.0.ffn_norm.weight", {8}, some(8))
        .floats("blk.0.ffn_gate.weight", {8, 3}, some(24))
        .floats("blk.0.ffn_down.weight", {3, 8}, some(24));
    builder.floats("blk.0.ffn_up.weight", {8, 3}, some(24));
    return builder;
  }
  static GgufBuilder keys() {
    return GgufBuilder()
        .text("general.architecture", "llama")
        .number("llama.block_count", 1)
        .number("llama.context_length", 64)
        .number("llama.embedding_length", 8)
        .number("llama.feed_forward_length", 3)
        .number("llama.attention.head_count", 2)
        .number("llama.attention.head_count_kv", 1)
        .real("llama.attention.layer_norm_rms_epsilon", 0.5);
  }
  static GgufBuilder whole() {
    return llama().floats("output_norm.weight", {8},
                          std::vector<float>(8, 0.5f));
  }

  llvm::Expected<ImportedModel> import(const GgufBuilder &builder,
                                       const ImportOptions &options = {}) {
    return importModel(context, directory.write("m.gguf", builder.build()),
                       options);
  }
  std::string refusal(const GgufBuilder &builder) {
    return outcome(import(builder));
  }

  mlir::MLIRContext context;
  TemporaryDirectory directory;
};

} // namespace

TEST_F(GgufImportTest, GivesAModule) {
  // It belongs to another model.
  directory.write("generation_config.json", "{\"eos_token_id\": 3}");
  ImportedModel model =
      llvm::cantFail(import(whole()
                                .number("tokenizer.ggml.bos_token_id", 1)
                                .number("tokenizer.ggml.eos_token_id", 2)
                                .number("tokenizer.ggml.eot_token_id", 4)
                                .real("general.sampling.temp", 0.75)
                                .real("general.sampling.min_p", 0.25)));
  EXPECT_EQ(model.generation.bos, 1);
  EXPECT_EQ(model.generation.eos, (std::vector<int32_t>{2, 4}));
  EXPECT_TRUE(model.generation.doSample);
  EXPECT_EQ(model.generation.temperature, 0.75);
  EXPECT_EQ(model.generation.minP, 0.25);
  ASSERT_EQ(model.sources.size(), 1u);
  EXPECT_EQ(model.sources[0].name, "m.gguf");
  EXPECT_NE(llvm::find(model.remarks,
                       "tensor 'blk.0.attn_q.weight' (8x8 F32) is "
                       "@layers.0.attention.query in f32"),
            model.remarks.end());
  auto weight =
      model.module->lookupSymbol<seq::WeightOp>("layers.0.attention.query");
  ASSERT_TRUE(weight);
  EXPECT_EQ(llvm::cantFail(readWeight<float>(weight, *model.checkpoint)).size(),
            64u);
}

TEST_F(GgufImportTest, TakesOtherTypesOfWeights) {
  auto typeOf = [&](const ImportOptions &options) {
    ImportedModel model = llvm::cantFail(import(whole(), options));
    auto weight =
        model.module->lookupSymbol<seq::WeightOp>("layers.0.attention.query");
    return llvm::cast<mlir::RankedTensorType>(weight.getType())
        .getElementType();
  };
  EXPECT_TRUE(typeOf({}).isF32());
  ImportOptions options;
  options.weightsType = "f16";
  EXPECT_TRUE(typeOf(options).isF16());
}

TEST_F(GgufImportTest, TellsAFileByItsStart) {
  std::string path = directory.write("model", whole().build());
  EXPECT_EQ(outcome(importModel(context, path)), "success");
  path = directory.write("short.gguf", "GG");
  EXPECT_EQ(outcome(importModel(context, path)),
            "short.gguf: expects 'GGUF' at the start, but got 'GG'");
}

TEST_F(GgufImportTest, NamesWhatIsMissing) {
  EXPECT_EQ(refusal(llama()), "m.gguf: lacks tensor 'output_norm.weight'");
  EXPECT_EQ(refusal(whole().floats("blk.1.attn_norm.weight", {8},
                                   std::vector<float>(8))),
            "m.gguf: tensor 'blk.1.attn_norm.weight' has no place in the "
            "model");
  EXPECT_EQ(refusal(whole().floats("rope_freqs.weight", {3}, {1, 1, 2})),
            "m.gguf: rope_scaling: expects 'rope_freqs.weight' to have 2 "
            "numbers, one for each pair of channels that turn, but got 3");
  EXPECT_EQ(refusal(whole().number("tokenizer.ggml.bos_token_id", 1 << 25)),
            "m.gguf: expects 'tokenizer.ggml.bos_token_id' to be an integer in "
            "0..16777216, but got 33554432 (u32)");
}

TEST_F(GgufImportTest, NamesTypesThatAreNotRead) {
  // Five rows of one block of IQ2_XXS each, 66 bytes, whose scales are numbers.
  std::string message = refusal(GgufBuilder()
                                    .text("general.architecture", "llama")
                                    .number("llama.block_count", 1)
                                    .number("llama.context_length", 64)
                                    .number("llama.embedding_length", 256)
                                    .number("llama.feed_forward_length", 3)
                                    .number("llama.attention.head_count", 2)
                                    .tensor("token_embd.weight", {256, 5}, 16,
                                            std::string(5 * 66, '\0')));
  EXPECT_EQ(message.find("m.gguf: expects tensor 'token_embd.weight' of F32, "
                         "BF16, F16 or blocks that are read (Q4_0, Q4_1, "),
            0u)
      << message;
  EXPECT_NE(message.find("), but got IQ2_XXS"), std::string::npos) << message;
}

TEST_F(GgufImportTest, RefusesBlocksWithoutNumbers) {
  // The second block of Q8_0 has an infinite scale.
  std::string blocks(6 * 34, '\0');
  blocks[34 + 1] = '\x7c';
  GgufBuilder builder = whole();
  builder.tensor("more", {64, 3}, 8, blocks);
  EXPECT_EQ(
      refusal(builder),
      "m.gguf: tensor 'more': a scale of block 1 (Q8_0) is infinite or no "
      "number: the file is damaged");
}
