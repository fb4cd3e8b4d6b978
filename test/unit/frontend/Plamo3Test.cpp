// PLaMo-3's windows: which layers have one, what is said where public codes count
// its keys otherwise, and what is refused.
#include "dialects/seq/Seq.h"
#include "test/unit/frontend/ConfigImport.h"

using namespace effc::frontend;
using namespace effc::test;
using nlohmann::json;

namespace {

/// Five layers of width 20, of which the third sees all keys.
class Plamo3Test : public ConfigImport {
protected:
  Plamo3Test()
      : ConfigImport({{"model_type", "plamo3"},
                      {"architectures", {"Plamo3ForCausalLM"}},
                      {"vocab_size", 61},
                      {"hidden_size", 20},
                      {"intermediate_size", 44},
                      {"num_hidden_layers", 5},
                      {"max_position_embeddings", 512},
                      {"num_attention_heads", 3},
                      {"num_key_value_heads", 1},
                      {"head_dim", 8},
                      {"rope_theta", 150000},
                      {"window_size", 96},
                      {"sliding_window_pattern", 3}}) {}

  /// What each layer sees, 0 for all keys.
  std::vector<int64_t> windows() {
    EXPECT_EQ(import(), "success");
    std::vector<int64_t> found;
    (*module)->walk([&](effc::seq::AttentionOp op) {
      found.push_back(op.getWindow().value_or(0));
    });
    return found;
  }
};

} // namespace

TEST_F(Plamo3Test, TheLastOfEachSoManyLayersSeesAllKeys) {
  EXPECT_EQ(windows(), (std::vector<int64_t>{96, 96, 0, 96, 96}));
  // The older name of the key.
  config.erase("window_size");
  config["sliding_window"] = 80;
  EXPECT_EQ(windows(), (std::vector<int64_t>{80, 80, 0, 80, 80}));
}

TEST_F(Plamo3Test, WhereCodesCountKeysOtherwiseARemarkSaysSo) {
  auto isSaid = [&] {
    EXPECT_EQ(import(), "success");
    return llvm::any_of(remarks, [](const std::string &remark) {
      return remark.find("sees one key more") != std::string::npos;
    });
  };
  EXPECT_TRUE(isSaid());
  config["rope_scaling_factor"] = 1;
  EXPECT_FALSE(isSaid());
}

TEST_F(Plamo3Test, WindowsThatAreWrittenTwiceAgree) {
  EXPECT_EQ(importWith("interleaved_sliding_window", {96, 96, nullptr, 96, 96}),
            "success");
  for (const json &other : {json({96, 96, nullptr, 96, 95}),
                            json({96, 96, 96, 96, 96}), json({96})}) {
    std::string result = importWith("interleaved_sliding_window", other);
    EXPECT_NE(result.find("expects 'interleaved_sliding_window' to be the "
                          "windows that follow from other keys"),
              std::string::npos)
        << result;
  }
}

TEST_F(Plamo3Test, AFactorNeedsTheContextItStretches) {
  EXPECT_EQ(importWith("rope_scaling_factor", 8),
            "config.json: lacks 'initial_context_length'");
  EXPECT_NE(importWith("initial_context_length", 64), "success");
  config["initial_context_length"] = 64;
  EXPECT_EQ(importWith("rope_scaling_factor", 8), "success");
}

TEST_F(Plamo3Test, WhatPublicEnginesDoNotRunIsRefused) {
  for (const auto &[key, value] :
       {std::pair<const char *, json>{"scale_embedding", true},
        {"attention_bias", true},
        {"image_token_id", 7},
        {"rope_scaling", {{"type", "linear"}, {"factor", 2}}},
        {"hidden_activation", "gelu"},
        {"linear_type", "fp8"}}) {
    std::string result = importWith(key, value);
    EXPECT_NE(result.find("'" + std::string(key) + "'"), std::string::npos)
        << result;
    EXPECT_NE(result, "success");
  }
}
