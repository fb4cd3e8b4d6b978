// YOCO refuses by name what it would not use, and says in which of its objects.
#include "test/unit/frontend/ConfigImport.h"

using namespace effc::frontend;
using namespace effc::test;
using nlohmann::json;

namespace {

/// Three layers of width 30, of which the first is a gated delta rule.
class YocoTest : public ConfigImport {
protected:
  YocoTest()
      : ConfigImport({{"model_type", "yoco"},
                      {"architectures", {"YOCOForCausalLM"}},
                      {"vocab_size", 61},
                      {"hidden_size", 30},
                      {"intermediate_size", 44},
                      {"num_hidden_layers", 3},
                      {"num_self_decoder_layers", 1},
                      {"initializer_range", 0.02},
                      {"self_decoder_attn",
                       {{"type", "gated_deltanet"},
                        {"num_heads", 2},
                        {"head_dim", 6},
                        {"expand_v", 1.5}}},
                      {"cross_decoder_attn", {{"num_heads", 5}}}}) {}

  json &self = config["self_decoder_attn"],
       &cross = config["cross_decoder_attn"];
};

} // namespace

TEST_F(YocoTest, NamesTheObjectOfAnIgnoredKeyOnce) {
  self["mode"] = "chunk";
  self["initializer_range"] = 0.1;
  ASSERT_EQ(import(), "success");
  for (const char *remark :
       {"config.json: 'initializer_range' is ignored: it does not change the "
        "results",
        "config.json: self_decoder_attn: 'initializer_range' is ignored: it "
        "does not change the results",
        "config.json: self_decoder_attn: 'mode' is ignored: it does not change "
        "the results"})
    EXPECT_EQ(llvm::count(remarks, remark), 1) << remark;
}

TEST_F(YocoTest, RefusesObjectsThatAreMissing) {
  config.erase("self_decoder_attn");
  EXPECT_EQ(import(), "config.json: lacks an object 'self_decoder_attn'");
}

TEST_F(YocoTest, RefusesACrossDecoderThatIsMissing) {
  config["cross_decoder_attn"] = nullptr;
  EXPECT_EQ(import(), "config.json: lacks an object 'cross_decoder_attn'");
}

TEST_F(YocoTest, RefusesUnknownTypesOfLayers) {
  self["type"] = "mamba";
  EXPECT_EQ(import(),
            "config.json: self_decoder_attn: expects 'type' to be "
            "gated_deltanet or gated_retention or swa, but got \"mamba\"");
}

TEST_F(YocoTest, RefusesAttentionBesideItsOwn) {
  config["attn"] = json::object();
  EXPECT_EQ(import(),
            "config.json: expects 'attn' to be null, but got an object");
}

TEST_F(YocoTest, RefusesMoreSelfLayersThanLayers) {
  config["num_self_decoder_layers"] = 4;
  EXPECT_EQ(import(), "config.json: expects 'num_self_decoder_layers' to be an "
                      "integer in 1..3, but got 4");
  config.erase("num_self_decoder_layers");
  EXPECT_EQ(import(),
            "config.json: expects 'num_self_decoder_layers' of at most the 3 "
            "layers, but it is not there, which means 10");
}

TEST_F(YocoTest, RefusesHeadsThatDoNotDivide) {
  cross["num_heads"] = 4;
  EXPECT_EQ(import(), "config.json: cross_decoder_attn: expects 'num_heads' to "
                      "divide 'hidden_size' 30, but got 4");
  cross["num_heads"] = 6;
  cross["num_kv_heads"] = 4;
  EXPECT_EQ(import(), "config.json: cross_decoder_attn: expects 'num_heads' to "
                      "be a multiple of 'num_kv_heads' 4, but got 6");
}

TEST_F(YocoTest, RefusesValuesThatAreNoWholeChannels) {
  self["head_dim"] = 7;
  EXPECT_EQ(import(),
            "config.json: self_decoder_attn: expects 'head_dim' 7 times "
            "'expand_v' to be a whole number, but got 10.5 by 1.5");
}

TEST_F(YocoTest, RefusesUnknownRotations) {
  cross["rope_inv_freq"] = "linear";
  EXPECT_EQ(import(), "config.json: cross_decoder_attn: expects "
                      "'rope_inv_freq' to be fla or yoco, but got \"linear\"");
}

TEST_F(YocoTest, RefusesWindowsWithoutASize) {
  self = {{"type", "swa"}, {"num_heads", 5}};
  EXPECT_EQ(import(), "config.json: self_decoder_attn: lacks 'window_size'");
}

TEST_F(YocoTest, RefusesKeysThatNoLayerReads) {
  cross["window_size"] = 8;
  EXPECT_EQ(import(),
            "config.json: unknown key 'cross_decoder_attn.window_size' is "
            "refused: it may change the model; where nothing depends on it, "
            "--allow cross_decoder_attn.window_size");
}
