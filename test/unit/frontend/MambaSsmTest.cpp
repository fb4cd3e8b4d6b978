// The layout of the package `mamba_ssm`: its keys, defaults and names.
#include "dialects/seq/Seq.h"
#include "frontend/Import.h"
#include "test/unit/frontend/Outcome.h"
#include "test/unit/frontend/TinyMamba2.h"

using namespace effc;
using namespace effc::frontend;
using namespace effc::test;

namespace {

/// The tensors of TinyMamba2 (D = 6, 12 inner channels of 4 heads of 3, K = 5,
/// G = 2, W = 3, one layer, 7 rows) under this layout's names and config.json:
/// 5 tokens padded to a multiple of 7.
class MambaSsmTest : public testing::Test {
protected:
  MambaSsmTest() {
    tiny.tensors["backbone.embedding.weight"] =
        tiny.tensors["backbone.embeddings.weight"];
    tiny.tensors.erase("backbone.embeddings.weight");
    tiny.tensors.erase("lm_head.weight");
    tiny.config = {{"d_model", "6"},           {"d_intermediate", "0"},
                   {"n_layer", "1"},           {"vocab_size", "5"},
                   {"attn_layer_idx", "[]"},   {"attn_cfg", "{}"},
                   {"rms_norm", "true"},       {"residual_in_fp32", "true"},
                   {"fused_add_norm", "true"}, {"pad_vocab_size_multiple", "7"},
                   {"tie_embeddings", "true"}};
  }

  void write() {
    std::string text;
    for (const auto &[key, value] : mixer)
      text += (text.empty() ? "{\"" : ", \"") + key + "\": " + value;
    TinyMamba2 whole = tiny;
    if (!whole.config.count("ssm_cfg"))
      whole.config["ssm_cfg"] = text + "}";
    whole.write(directory);
  }
  std::string importing() {
    write();
    return outcome(importModel(context, directory.path));
  }
  ImportedModel import() {
    write();
    return llvm::cantFail(importModel(context, directory.path));
  }
  std::string importingWith(const std::string &key, const std::string &value) {
    auto kept = tiny.config;
    tiny.config[key] = value;
    std::string found = importing();
    tiny.config = kept;
    return found;
  }
  std::string importingWithMixer(const std::string &key,
                                 const std::string &value) {
    auto kept = mixer;
    mixer[key] = value;
    std::string found = importing();
    mixer = kept;
    return found;
  }
  static bool hasRemark(const ImportedModel &model, llvm::StringRef remark) {
    return llvm::is_contained(model.remarks, remark);
  }

  mlir::MLIRContext context;
  TemporaryDirectory directory;
  TinyMamba2 tiny;
  std::map<std::string, std::string> mixer = {
      {"layer", "\"Mamba2\""}, {"d_state", "5"}, {"d_conv", "3"},
      {"headdim", "3"},        {"ngroups", "2"}, {"chunk_size", "256"}};
};

} // namespace

TEST_F(MambaSsmTest, BuildsTheModel) {
  ImportedModel model = import();
  auto description =
      (*model.module)->getAttrOfType<seq::ModelAttr>("seq.model");
  EXPECT_EQ(description.getFamily(), "mamba2");
  EXPECT_EQ(description.getVocabulary(), 7);
  EXPECT_EQ(description.getWidth(), 6);
  auto table = model.module->lookupSymbol<seq::WeightOp>("embeddings");
  EXPECT_EQ(table.getSource(), "backbone.embedding.weight");
  int ssds = 0;
  model.module->walk([&](seq::SsdOp op) {
    ++ssds;
    auto state = llvm::cast<mlir::RankedTensorType>(op.getState().getType());
    EXPECT_EQ(state.getShape(), (llvm::ArrayRef<int64_t>{4, 5, 3}));
  });
  EXPECT_EQ(ssds, 1);
  EXPECT_TRUE(hasRemark(model, "config.json: 'vocab_size' 5 is padded to 7: "
                               "logits have as many columns, of which the last "
                               "2 name no token"));
  EXPECT_TRUE(hasRemark(model, "config.json: ssm_cfg: 'chunk_size' is ignored: "
                               "it does not change the results"));
}

// Tokens are those of the padded table, so that its owner's ids fit.
TEST_F(MambaSsmTest, PadsTheVocabulary) {
  directory.write("generation_config.json", R"({"eos_token_id": 6})");
  EXPECT_EQ(importing(), "success");
  directory.write("generation_config.json", R"({"eos_token_id": 7})");
  EXPECT_TRUE(hasRemark(import(), "generation_config.json: 'eos_token_id' 7 is "
                                  "left aside: the model has 7 tokens"));
  directory.write("generation_config.json", "{}");
  EXPECT_EQ(importingWith("pad_vocab_size_multiple", "1"),
            "model.safetensors: expects tensor 'backbone.embedding.weight' of "
            "shape 5x6, but got 7x6");
  EXPECT_EQ(importingWith("pad_vocab_size_multiple", "16777216"),
            "model.safetensors: expects tensor 'backbone.embedding.weight' of "
            "shape 16777216x6, but got 7x6");
  EXPECT_EQ(importingWith("vocab_size", "16777216"),
            "config.json: expects at most 16777216 rows of embeddings, but "
            "'vocab_size' rounded up to 'pad_vocab_size_multiple' gives "
            "16777222");
  EXPECT_EQ(importingWith("pad_vocab_size_multiple", "0"),
            "config.json: expects 'pad_vocab_size_multiple' to be an integer "
            "in 1..16777216, but got 0");
}

// Its module's: 128 keys, 4 taps, 64 channels per head, one group; and 8 for
// the padding of its configuration.
TEST_F(MambaSsmTest, MissingKeysHaveThePackagesDefaults) {
  mixer = {{"layer", "\"Mamba2\""}};
  tiny.config.erase("pad_vocab_size_multiple");
  tiny.config["d_model"] = "32"; // one head
  // z, x: 64 each; B, C: 128 each; one dt.
  tiny.tensors = {
      {"backbone.embedding.weight", {"F16", {8, 32}}},
      {"backbone.layers.0.norm.weight", {"F16", {32}}},
      {"backbone.layers.0.mixer.in_proj.weight", {"F16", {385, 32}}},
      {"backbone.layers.0.mixer.conv1d.weight", {"F16", {320, 1, 4}}},
      {"backbone.layers.0.mixer.conv1d.bias", {"F16", {320}}},
      {"backbone.layers.0.mixer.dt_bias", {"F16", {1}}},
      {"backbone.layers.0.mixer.A_log", {"F16", {1}}},
      {"backbone.layers.0.mixer.D", {"F16", {1}}},
      {"backbone.layers.0.mixer.norm.weight", {"F16", {64}}},
      {"backbone.layers.0.mixer.out_proj.weight", {"F16", {32, 64}}},
      {"backbone.norm_f.weight", {"F16", {32}}}};
  for (const char *key :
       {"d_intermediate", "attn_layer_idx", "attn_cfg", "rms_norm",
        "residual_in_fp32", "fused_add_norm", "tie_embeddings"})
    tiny.config.erase(key);
  ImportedModel model = import();
  auto table = model.module->lookupSymbol<seq::WeightOp>("embeddings");
  EXPECT_TRUE(llvm::cast<mlir::RankedTensorType>(table.getType())
                  .getElementType()
                  .isF16());
}

TEST_F(MambaSsmTest, MissingKeys) {
  for (const char *key : {"d_model", "n_layer", "vocab_size"}) {
    auto kept = tiny.config;
    tiny.config.erase(key);
    EXPECT_EQ(importing(), "config.json: lacks '" + std::string(key) + "'");
    tiny.config = kept;
  }
  write();
  std::string text = R"({"d_model": 6, "n_layer": 1, "vocab_size": 5})";
  directory.write("config.json", text);
  EXPECT_EQ(outcome(importModel(context, directory.path)),
            "config.json: lacks 'model_type'");
}

TEST_F(MambaSsmTest, Heads) {
  EXPECT_EQ(importingWithMixer("headdim", "5"),
            "config.json: ssm_cfg: expects 'headdim' to divide expand * "
            "d_model = 2 * 6 into at most 65536 heads, but got 5");
  EXPECT_EQ(importingWithMixer("ngroups", "3"),
            "config.json: ssm_cfg: expects the number of heads to be a "
            "multiple of 'ngroups', but got 4 and 3");
  EXPECT_EQ(importingWithMixer("d_ssm", "7"),
            "config.json: ssm_cfg: expects 'headdim' to divide 'd_ssm' 7 into "
            "at most 65536 heads, but got 3");
  EXPECT_EQ(importingWithMixer("d_ssm", "13"),
            "config.json: ssm_cfg: expects 'd_ssm' to be an integer in 1..12, "
            "but got 13");
  // 2 (12 + 10) rows, and one for each of 2 heads.
  EXPECT_EQ(importingWithMixer("d_ssm", "6"),
            "model.safetensors: expects tensor "
            "'backbone.layers.0.mixer.in_proj.weight' of shape 46x6, but got "
            "48x6");
  EXPECT_EQ(importingWithMixer("d_ssm", "null"), "success");
  EXPECT_EQ(importingWithMixer("d_ssm", "12"), "success");
  for (const char *key : {"d_state", "d_conv", "headdim", "ngroups", "expand"})
    for (const char *value : {"0", "-1", "2147483648", "\"8\"", "8.5", "null"})
      EXPECT_EQ(importingWithMixer(key, value)
                    .find("config.json: ssm_cfg: expects '" + std::string(key) +
                          "' to be an integer in "),
                0u)
          << key << " " << value;
}

TEST_F(MambaSsmTest, TimeStepLimit) {
  mixer["dt_limit"] = "[0.25, 0.5]";
  ImportedModel model = import();
  model.module->walk([&](seq::SsdOp op) {
    EXPECT_EQ(op.getDtMinAttr().getValueAsDouble(), 0.25);
    EXPECT_EQ(op.getDtMaxAttr().getValueAsDouble(), 0.5);
  });
  EXPECT_EQ(importingWithMixer("dt_limit", "[0.0, Infinity]"), "success");
  EXPECT_NE(importingWithMixer("dt_limit", "[1, 0]"), "success");
}

TEST_F(MambaSsmTest, OtherModels) {
  std::string where = "config.json: ssm_cfg: ";
  EXPECT_EQ(
      importingWithMixer("layer", "\"Mamba4\""),
      where +
          "layer 'Mamba4' is not supported; supported: Mamba1, Mamba2, Mamba3");
  EXPECT_EQ(importingWithMixer("layer", "2"),
            where + "expects 'layer' to be a string, but got 2");
  // Without a name it is the package's first mixer, which has no such keys.
  mixer.erase("layer");
  EXPECT_EQ(importing(),
            "config.json: unknown keys 'ssm_cfg.chunk_size', 'ssm_cfg.headdim' "
            "and 'ssm_cfg.ngroups' are refused: they may change the model; "
            "where nothing depends on them, --allow "
            "ssm_cfg.chunk_size,ssm_cfg.headdim,ssm_cfg.ngroups");
  mixer["layer"] = "\"Mamba2\"";
  // Then the gated norm's weight belongs to nothing.
  EXPECT_EQ(importingWithMixer("rmsnorm", "false"),
            "model.safetensors: tensor 'backbone.layers.0.mixer.norm.weight' "
            "has no place in the model");
  EXPECT_EQ(importingWithMixer("D_has_hdim", "true"),
            "model.safetensors: expects tensor 'backbone.layers.0.mixer.D' of "
            "shape 12, but got 4");
  EXPECT_EQ(
      importingWithMixer("process_group", "1"),
      "config.json: unknown key 'ssm_cfg.process_group' is refused: it may "
      "change the model; where nothing depends on it, --allow "
      "ssm_cfg.process_group");
  EXPECT_EQ(importingWith("attn_layer_idx", "[3]"),
            "config.json: expects 'attn_layer_idx' to be numbers of layers in "
            "0..0, but got 3");
  EXPECT_EQ(importingWith("attn_layer_idx", "[0]"),
            "config.json: attn_cfg: lacks 'num_heads'");
  EXPECT_EQ(importingWith("d_intermediate", "-1"),
            "config.json: expects 'd_intermediate' to be an integer in "
            "0..1048576, but got -1");
  EXPECT_EQ(importingWith("rms_norm", "false"),
            "model.safetensors: lacks tensor 'backbone.layers.0.norm.bias'");
  EXPECT_EQ(importingWith("ssm_cfg", "[]"),
            "config.json: expects 'ssm_cfg' to be an object, but got an array "
            "of 0");
  EXPECT_EQ(importingWith("norm_epsilon", "1e-5"),
            "config.json: unknown key 'norm_epsilon' is refused: it may change "
            "the model; where nothing depends on it, --allow norm_epsilon");
}

TEST_F(MambaSsmTest, Heads_TiedAndNot) {
  tiny.tensors["lm_head.weight"] = {"F32", {7, 6}, 1};
  ImportedModel model = import();
  EXPECT_FALSE(model.module->lookupSymbol<seq::WeightOp>("lm_head"));
  EXPECT_TRUE(hasRemark(model, "tensor 'lm_head.weight' is left aside: it "
                               "equals 'backbone.embedding.weight', to which "
                               "it is tied"));
  // The package would load one of them over the other.
  tiny.tensors["lm_head.weight"].fill = 2;
  EXPECT_EQ(importing(),
            "config.json: expects 'lm_head.weight' to equal "
            "'backbone.embedding.weight', to which 'tie_embeddings' ties it, "
            "but they differ");
  tiny.config["tie_embeddings"] = "false";
  ImportedModel untied = import();
  EXPECT_TRUE(untied.module->lookupSymbol<seq::WeightOp>("lm_head"));
}
