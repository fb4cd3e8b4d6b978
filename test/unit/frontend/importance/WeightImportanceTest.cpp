// Which entry of a file of importances is about which matrix.
#include "frontend/importance/WeightImportance.h"

#include "dialects/storage/Formats.h"
#include "test/unit/frontend/gguf/GgufImage.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace effc;
using namespace effc::frontend;
using namespace effc::test;

namespace {

class WeightImportanceTest : public testing::Test {
protected:
  WeightImportanceTest() {
    context.loadDialect<mlir::func::FuncDialect, seq::SeqDialect,
                        storage::StorageDialect>();
  }

  /// A weight of q4_0, or of another type.
  void weight(llvm::StringRef name, llvm::StringRef how, llvm::StringRef shape,
              llvm::StringRef type = "!q4") {
    weights += ("seq.weight @" + name + " " + how + " : tensor<" + shape + "x" +
                type + ">\n")
                   .str();
  }
  /// An entry whose numbers are all `number`.
  void entry(llvm::StringRef name, size_t count, float number) {
    entry(name, std::vector<float>(count, number), 1);
  }
  void entry(llvm::StringRef name, std::vector<float> numbers, size_t rows) {
    auto columns = int64_t(numbers.size() / rows);
    file.floats((name + ".in_sum2").str(), {columns, int64_t(rows)}, numbers)
        .floats((name + ".counts").str(), {1, int64_t(rows)},
                std::vector<float>(rows, 1));
  }

  /// The problem, or "" and `found`.
  std::string find(llvm::StringRef modelType = "llama", bool isGguf = false) {
    std::string q4 = typeText("q4_0"), q8 = typeText("q8_0");
    module = mlir::parseSourceString<mlir::ModuleOp>(
        "!q4 = " + q4 + "\n!q8 = " + q8 + "\nmodule {\n" + weights + forward +
            "}",
        &context);
    EXPECT_TRUE(module);
    std::string bytes = file.build();
    ImportanceFile importances = llvm::cantFail(ImportanceFile::parse(
        llvm::arrayRefFromStringRef(bytes), "texts.gguf"));
    remarks.clear();
    auto result = WeightImportance::find(importances, *module, modelType,
                                         isGguf, remarks);
    if (!result)
      return llvm::toString(result.takeError());
    found = std::move(*result);
    return "";
  }
  std::string typeText(llvm::StringRef name) {
    std::string text;
    llvm::raw_string_ostream(text) << storage::formatOf(name, &context);
    return text;
  }
  std::vector<float> of(llvm::StringRef name) { return found.of(name).vec(); }
  static std::vector<float> all(size_t count, float number) {
    return std::vector<float>(count, number);
  }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  GgufBuilder file;
  std::string weights, forward;
  WeightImportance found;
  Remarks remarks;
};

} // namespace

TEST_F(WeightImportanceTest, IsFoundByTheNamesOfEitherSide) {
  weight("q", "source(\"model.layers.3.self_attn.q_proj.weight\")", "4x32");
  weight("up", "source(\"model.layers.3.mlp.up_proj.weight\")", "4x32");
  weight("head", "source(\"lm_head.weight\")", "4x32", "!q8");
  entry("blk.3.attn_qkv.weight", 32, 2);
  entry("model.layers.3.mlp.up_proj.weight", 32, 3);
  entry("output.weight", 32, 4);
  ASSERT_EQ(find(), "");
  EXPECT_EQ(of("q"), all(32, 2));
  EXPECT_EQ(of("up"), all(32, 3));
  // Rounded without a search, whatever counts.
  EXPECT_EQ(of("head"), all(0, 0));
  EXPECT_EQ(remarks,
            Remarks({"importance of 2 matrices is that of 'texts.gguf'"}));
}

TEST_F(WeightImportanceTest, OfExpertsIsThatOfEach) {
  std::string experts = "source(\"model.layers.0.mlp.experts.0.up_proj.weight\""
                        ") then [\"model.layers.0.mlp.experts.1.up_proj."
                        "weight\"]";
  weight("one_by_one", experts, "2x4x32");
  weight("together", "source(\"blk.0.ffn_down_exps.weight\")", "2x4x32");
  std::vector<float> numbers = all(32, 5), second = all(32, 6);
  numbers.insert(numbers.end(), second.begin(), second.end());
  entry("blk.0.ffn_up_exps.weight", numbers, 2);
  entry("blk.0.ffn_down_exps.weight", numbers, 2);
  ASSERT_EQ(find("qwen3_moe"), "");
  EXPECT_EQ(of("one_by_one"), numbers);
  EXPECT_EQ(of("together"), numbers);
}

// What every token passes is called so beside experts alone, and gates by the kind
// of their layer.
TEST_F(WeightImportanceTest, IsFoundByWhicheverNameTheFileHas) {
  for (const char *part : {"", "_shexp"}) {
    weights.clear();
    file = GgufBuilder();
    weight("up", "source(\"model.layers.3.shared_mlp.up_proj.weight\")",
           "4x32");
    weight("down", "source(\"model.layers.3.shared_mlp.output_linear.weight\")",
           "4x64");
    entry(std::string("blk.3.ffn_up") + part + ".weight", 32, 2);
    entry(std::string("blk.3.ffn_down") + part + ".weight", 64, 3);
    ASSERT_EQ(find("granitemoehybrid", /*isGguf=*/true), "");
    EXPECT_EQ(of("up"), all(32, 2)) << part;
    EXPECT_EQ(of("down"), all(64, 3)) << part;
  }
  weights.clear();
  file = GgufBuilder();
  weight("delta", "source(\"model.layers.0.attention.g_proj.weight\")", "4x32");
  weight("latent", "source(\"model.layers.1.attention.g_proj.weight\")",
         "4x32");
  weight("none", "source(\"model.layers.2.attention.g_proj.weight\")", "4x32");
  entry("blk.0.ssm_g_a.weight", 32, 4);
  entry("blk.1.attn_gate.weight", 32, 5);
  ASSERT_EQ(find("bailing_hybrid"), "");
  EXPECT_EQ(of("delta"), all(32, 4));
  EXPECT_EQ(of("latent"), all(32, 5));
  EXPECT_EQ(remarks,
            Remarks({"importance of 2 matrices is that of 'texts.gguf'",
                     "fallback: matrix 'none' is rounded without importance, "
                     "since 'texts.gguf' has none of it"}));
}

// Granite's checkpoints hold gates and ups in one tensor, of which the file has two.
TEST_F(WeightImportanceTest, OfJoinedTensorsIsThatOfAPart) {
  for (const char *part : {"", "_shexp"}) {
    weights.clear();
    file = GgufBuilder();
    weight("in", "source(\"model.layers.3.shared_mlp.input_linear.weight\")",
           "6x32");
    entry(std::string("blk.3.ffn_gate") + part + ".weight", 32, 2);
    entry(std::string("blk.3.ffn_up") + part + ".weight", 32, 2);
    ASSERT_EQ(find("granitemoehybrid"), "");
    EXPECT_EQ(of("in"), all(32, 2)) << part;
  }
}

// All experts' matrices in one tensor of two dimensions: three experts with two hidden
// units. A number of matrices that is not theirs is that of another model.
TEST_F(WeightImportanceTest, OfExpertsInOneTensorIsThatOfEach) {
  forward =
      "func.func @forward(%x: tensor<?x32xf32>, %logits: tensor<?x3xf32>) -> "
      "tensor<?x32xf32> {\n"
      "  %out = seq.parameter @out : tensor<96x32x!q4>\n"
      "  %hidden = seq.parameter @wide : tensor<192x32x!q4>\n"
      "  %y = seq.routed_experts %x, %logits parameters(%hidden, %out) "
      "{top_k = 2 : i64, nonlinearity = #seq.nonlinearity<silu>} : "
      "(tensor<?x32xf32>, tensor<?x3xf32>), (tensor<192x32x!q4>, "
      "tensor<96x32x!q4>)\n"
      "  return %y : tensor<?x32xf32>\n}\n";
  auto declare = [&](llvm::StringRef in, llvm::StringRef out) {
    weights.clear();
    weight("wide", ("source(\"" + in + "\")").str(), "192x32");
    weight("out", ("source(\"" + out + "\")").str(), "96x32");
  };
  std::vector<float> first = all(32, 5), second = all(32, 6);
  first.insert(first.end(), second.begin(), second.end());
  second = all(32, 7);
  first.insert(first.end(), second.begin(), second.end());
  second = std::vector<float>(first.rbegin(), first.rend());
  entry("blk.0.ffn_gate_exps.weight", first, 3);
  entry("blk.0.ffn_down_exps.weight", second, 3);
  std::string granite = "model.layers.0.block_sparse_moe.";
  declare(granite + "input_linear.weight", granite + "output_linear.weight");
  ASSERT_EQ(find("granitemoehybrid"), "");
  EXPECT_EQ(of("wide"), first);
  EXPECT_EQ(of("out"), second);
  std::string qwen = "model.layers.0.mlp.experts.";
  declare(qwen + "gate_up_proj", qwen + "down_proj");
  ASSERT_EQ(find("qwen3_moe"), "");
  EXPECT_EQ(of("wide"), first);
  EXPECT_EQ(of("out"), second);
  file = GgufBuilder();
  entry("blk.0.ffn_down_exps.weight", all(64, 1), 2);
  EXPECT_EQ(find("qwen3_moe"),
            "texts.gguf: expects 32 numbers for 'blk.0.ffn_down_exps.weight', "
            "or as many for each of 3 matrices, which are the columns of "
            "'out', but got 64: the file is of another model");
}

TEST_F(WeightImportanceTest, IsFoundUnderOtherPrefixes) {
  weight("down", "source(\"h.2.mlp.dense_4h_to_h.weight\")", "4x32");
  weight("up", "source(\"model.language_model.layers.2.mlp.up_proj.weight\")",
         "4x32");
  weight("q", "source(\"model.layers.4.mixer.q_proj.weight\")", "4x32");
  entry("blk.2.ffn_down.weight", 32, 2);
  entry("blk.2.ffn_up.weight", 32, 3);
  entry("blk.4.attn_q.weight", 32, 4);
  ASSERT_EQ(find("bloom"), "");
  EXPECT_EQ(of("down"), all(32, 2));
  EXPECT_EQ(of("up"), all(32, 3));
  ASSERT_EQ(find("nemotron_h"), "");
  EXPECT_EQ(of("q"), all(32, 4));
}

// As effc names what has no other name, such as heads' blocks, which are a part of a
// tensor.
TEST_F(WeightImportanceTest, IsFoundByTheWeightsOwnName) {
  weight("layers.1.attention.key",
         "source(\"model.layers.1.self_attn.kv_b_proj.weight\")", "2x4x32");
  std::vector<float> numbers = all(32, 5), second = all(32, 6);
  numbers.insert(numbers.end(), second.begin(), second.end());
  entry("layers.1.attention.key", numbers, 2);
  ASSERT_EQ(find("deepseek_v3"), "");
  EXPECT_EQ(of("layers.1.attention.key"), numbers);
  file = GgufBuilder();
  entry("layers.1.attention.key", all(96, 5), 3);
  EXPECT_EQ(
      find("deepseek_v3"),
      "texts.gguf: expects 32 numbers for 'layers.1.attention.key', or as "
      "many for each of 2 matrices, which are the columns of "
      "'layers.1.attention.key', but got 96: the file is of another "
      "model");
}

TEST_F(WeightImportanceTest, IsMissedByName) {
  weight("q", "source(\"model.layers.0.self_attn.q_proj.weight\")", "4x32");
  weight("k", "source(\"model.layers.0.self_attn.k_proj.weight\")", "4x32");
  entry("blk.0.attn_q.weight", 32, 2);
  ASSERT_EQ(find(), "");
  EXPECT_EQ(remarks,
            Remarks({"importance of 1 matrices is that of 'texts.gguf'",
                     "fallback: matrix 'k' is rounded without importance, "
                     "since 'texts.gguf' has none of it"}));
}

// The converter of Qwen 3.5 puts columns in another order, which a checkpoint does
// not have.
TEST_F(WeightImportanceTest, IsNotTakenForOtherColumns) {
  weight("out", "source(\"model.layers.0.linear_attn.out_proj.weight\")",
         "4x32");
  weight("up", "source(\"model.layers.0.mlp.up_proj.weight\")", "4x32");
  entry("blk.0.ssm_out.weight", 32, 2);
  entry("blk.0.ffn_up.weight", 32, 2);
  ASSERT_EQ(find("qwen3_5_text"), "");
  EXPECT_EQ(of("out"), all(0, 0));
  ASSERT_EQ(find("qwen3_5_text", /*isGguf=*/true), "");
  EXPECT_EQ(of("out"), all(32, 2));
  ASSERT_EQ(find("qwen3_next"), "");
  EXPECT_EQ(of("out"), all(32, 2));
}

TEST_F(WeightImportanceTest, OfAnotherModelIsRefused) {
  weight("q", "source(\"model.layers.0.self_attn.q_proj.weight\")", "4x32");
  entry("blk.0.attn_q.weight", 33, 2);
  EXPECT_EQ(find(), "texts.gguf: expects 32 numbers for 'blk.0.attn_q.weight', "
                    "which are the columns of 'q', but got 33: the file is of "
                    "another model");
  file = GgufBuilder();
  entry("blk.0.attn_k.weight", 32, 2);
  EXPECT_EQ(find(), "texts.gguf: has no matrix of this model: it has "
                    "'blk.0.attn_k.weight' and the like, the model 'q'");
  weights.clear();
  weight("q", "source(\"model.layers.0.self_attn.q_proj.weight\")", "4x32",
         "!q8");
  EXPECT_EQ(find(), "importance changes nothing: no matrix gets a type whose "
                    "rounding heeds it, as q4_k does and q8_0 does not "
                    "(--weights-type)");
}
