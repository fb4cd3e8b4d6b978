// PLaMo-2's windows bound its context where public codes differ beyond them, and
// what no public engine runs is refused by name.
#include "dialects/seq/Seq.h"
#include "test/unit/frontend/ConfigImport.h"

using namespace effc::frontend;
using namespace effc::test;
using nlohmann::json;

namespace {

/// Five layers of width 20, of which the second and the fourth attend.
class Plamo2Test : public ConfigImport {
protected:
  Plamo2Test()
      : ConfigImport({{"model_type", "plamo2"},
                      {"architectures", {"Plamo2ForCausalLM"}},
                      {"vocab_size", 61},
                      {"hidden_size", 20},
                      {"intermediate_size", 44},
                      {"num_hidden_layers", 5},
                      {"max_position_embeddings", 512},
                      {"num_attention_heads", 3},
                      {"num_key_value_heads", 1},
                      {"hidden_size_per_head", 8},
                      {"mamba_num_heads", 2},
                      {"mamba_d_state", 9},
                      {"attention_window_size", 96}}) {}

  /// The positions that states which grow have room for.
  int64_t contextWith(const char *key, const json &value) {
    json before = config;
    config[key] = value;
    EXPECT_EQ(import(), "success");
    config = before;
    auto model = (*module)->getAttrOfType<effc::seq::ModelAttr>("seq.model");
    return model ? model.getMaxContext() : -1;
  }

  using Names = std::vector<std::string>;

  /// The numbers of layers that attend.
  Names attendingWith(const char *key, const json &value) {
    contextWith(key, value);
    Names names;
    (*module)->walk([&](effc::seq::AttentionOp op) {
      std::string text;
      llvm::raw_string_ostream(text) << op.getLoc();
      size_t begin = text.find("layers.") + 7;
      names.push_back(text.substr(begin, text.find('.', begin) - begin));
    });
    return names;
  }

  bool isBounded() const {
    for (const std::string &remark : remarks)
      if (remark.find("'attention_window_size' bounds the context by 96: "
                      "public codes differ in what layers see beyond it; with "
                      "--max-context they see all keys") != std::string::npos)
        return true;
    return false;
  }
};

} // namespace

TEST_F(Plamo2Test, AWindowBoundsTheContext) {
  EXPECT_EQ(contextWith("mamba_chunk_size", 16), 96);
  EXPECT_TRUE(isBounded());
  // One layer of the two would still attend in a window.
  EXPECT_EQ(contextWith("full_attention_idx", {3}), 96);
  EXPECT_TRUE(isBounded());
}

TEST_F(Plamo2Test, NoWindowBoundsLayersThatSeeAllKeys) {
  EXPECT_EQ(contextWith("full_attention_idx", {1, 3}), 512);
  EXPECT_FALSE(isBounded());
  EXPECT_EQ(contextWith("attention_window_size", 512), 512);
  EXPECT_FALSE(isBounded());
}

TEST_F(Plamo2Test, WhatNoPublicEngineRunsIsRefused) {
  for (const auto &[key, value] :
       {std::pair<const char *, json>{"rope_local_theta", 1000000},
        {"image_token_id", 7},
        {"linear_type", "fp8"}}) {
    std::string result = importWith(key, value);
    EXPECT_NE(result.find("'" + std::string(key) + "'"), std::string::npos)
        << result;
    EXPECT_NE(result, "success");
  }
  EXPECT_EQ(importWith("linear_type", "normal"), "success");
}

TEST_F(Plamo2Test, SomeLayersAttend) {
  EXPECT_EQ(attendingWith("mamba_step", 2), Names({"1", "3"}));
  EXPECT_EQ(attendingWith("mamba_step", 5), Names({"2"}));
  // Of at most half a step's layers the last one does.
  EXPECT_EQ(attendingWith("mamba_step", 10), Names({"4"}));
  EXPECT_EQ(attendingWith("mamba_enabled", false),
            Names({"0", "1", "2", "3", "4"}));
}
