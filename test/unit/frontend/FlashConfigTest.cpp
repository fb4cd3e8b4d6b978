// What configurations of flash-linear-attention say and its models never read:
// each claim of frontend/families/flash_linear_attention.md on such a key. The
// library is fla-core 0.6.
#include "test/unit/frontend/ConfigImport.h"

#include <fstream>

using namespace effc::frontend;
using namespace effc::test;
using nlohmann::json;

namespace {

/// Starts from configurations that the library has written.
class FlashConfig : public ConfigImport {
protected:
  FlashConfig() : ConfigImport(json()) {}

  void read(const std::string &golden) {
    std::ifstream file(EFFC_GOLDENS "/families/" + golden + "/config.json");
    config = json::parse(file);
  }
  /// The module that a configuration gives; empty, with a failure, where it is
  /// refused.
  std::string moduleOf() {
    std::string outcome = import();
    EXPECT_EQ(outcome, "success");
    std::string text;
    if (outcome != "success")
      return text;
    llvm::raw_string_ostream stream(text);
    module->print(stream);
    return text;
  }
  /// The module with another value of a key.
  std::string moduleWith(const char *key, const json &value) {
    json before = config;
    config[key] = value;
    std::string text = moduleOf();
    config = before;
    return text;
  }
  /// Another value changes nothing, which a remark says.
  void expectIgnored(const char *key, const json &value) {
    SCOPED_TRACE(key);
    std::string module = moduleOf();
    EXPECT_EQ(moduleWith(key, value), module);
    std::string wanted = "config.json: '" + std::string(key) +
                         "' is ignored: it does not change the results";
    EXPECT_EQ(std::count(remarks.begin(), remarks.end(), wanted), 1);
  }
};

} // namespace

TEST_F(FlashConfig, HowKernelsAreFusedMeansNothing) {
  for (const char *golden : {"gla/plain", "retnet/plain", "delta_net/plain",
                             "hgrn2/lower_bounds", "rwkv7/plain"}) {
    SCOPED_TRACE(golden);
    read(golden);
    std::string module = moduleOf();
    EXPECT_EQ(moduleWith("attn_mode", "fused_recurrent"), module);
    for (const char *key : {"fuse_cross_entropy", "fuse_swiglu"})
      if (config.contains(key))
        EXPECT_EQ(moduleWith(key, !config[key].get<bool>()), module) << key;
  }
}

// The two exceptions: the name of the norm's tensor, the length of keys.
TEST_F(FlashConfig, FuseNormDecidesInGlaRetNetAndRwkv7) {
  for (const char *golden : {"gla/plain", "retnet/plain", "rwkv7/plain"}) {
    SCOPED_TRACE(golden);
    read(golden);
    std::string module = moduleOf();
    EXPECT_NE(moduleWith("fuse_norm", !config["fuse_norm"].get<bool>()),
              module);
  }
  read("delta_net/plain");
  std::string module = moduleOf();
  EXPECT_EQ(moduleWith("fuse_norm", !config["fuse_norm"].get<bool>()), module);
}

TEST_F(FlashConfig, GlaWritesGatesThatNobodyReads) {
  read("gla/plain");
  for (const char *key : {"use_gk", "use_gv"})
    for (bool value : {false, true})
      expectIgnored(key, value);
}

TEST_F(FlashConfig, RetNetDoesNotHandItsConvolutionsOn) {
  read("retnet/plain");
  expectIgnored("use_short_conv", true);
  expectIgnored("conv_size", 7);
}

TEST_F(FlashConfig, DeltaNetWritesAnOutputNormThatNobodyReads) {
  read("delta_net/plain");
  expectIgnored("use_output_norm", false);
}

TEST_F(FlashConfig, CombaDoesNotHandItsCorrectionOn) {
  read("comba/plain");
  for (const char *key : {"use_inner_decay", "use_output_correction"})
    expectIgnored(key, false);
  expectIgnored("correction_factor", 0.02);
}

TEST_F(FlashConfig, SlotAttentionWritesGatesAndBoundsThatNobodyReads) {
  read("gsa/plain");
  for (const char *key : {"use_norm", "use_output_gate"})
    for (bool value : {false, true})
      expectIgnored(key, value);
  for (const char *key : {"clamp_max", "clamp_min"})
    expectIgnored(key, -0.5);
  EXPECT_EQ(importWith("feature_map", "t2r"),
            "config.json: expects 'feature_map' to be swish or relu or "
            "sigmoid, but got "
            "\"t2r\"");
}

TEST_F(FlashConfig, TheDecoderOfAttentionWritesWhatNobodyReads) {
  read("transformer/windows_bf16");
  for (bool value : {false, true})
    expectIgnored("elementwise_affine", value);
  EXPECT_EQ(
      importWith("attn", json::object({{"layers", {1}}, {"num_heads", 2}})),
      "config.json: expects no 'attn' in a model whose layers all "
      "attend, but got an object");
}

// A window is handed to the library's cache alone.
TEST_F(FlashConfig, MobaChoosesBlocksInEveryCall) {
  read("moba/shared_bf16");
  auto isSaid = [&](llvm::StringRef text) {
    return llvm::any_of(
        remarks, [&](llvm::StringRef remark) { return remark.contains(text); });
  };
  llvm::StringRef steps = "the public library's steps attend to all keys";
  std::string module = moduleOf();
  EXPECT_TRUE(isSaid(steps));
  EXPECT_EQ(llvm::StringRef(module).count("seq.choose_blocks"), 2u);
  // 4 heads choose by themselves; 13 blocks of 5 positions hold the context of 64.
  EXPECT_EQ(
      llvm::StringRef(module).count("tensor<?x4x2xi32>, tensor<13x2x6xf32>)"),
      2u);
  EXPECT_EQ(llvm::StringRef(moduleWith("moba_topk", 1)).count("choose_blocks"),
            0u);
  EXPECT_TRUE(isSaid("'moba_topk' of 1 is attention to all keys"));
  EXPECT_FALSE(isSaid(steps));
  expectIgnored("use_flash_moba", true);
  expectIgnored("elementwise_affine", false);
  EXPECT_EQ(importWith("window_size", 9),
            "config.json: expects 'window_size' to be null, but got 9");
  EXPECT_EQ(importWith("moba_topk", 0),
            "config.json: expects 'moba_topk' to be an integer in 1.." +
                std::to_string(kMostContext) + ", but got 0");
  EXPECT_EQ(
      importWith("attn", json::object({{"layers", {1}}, {"num_heads", 2}})),
      "config.json: expects no 'attn' in a model whose layers all choose "
      "blocks, but got an object");
}

// Three blocks are always chosen, and the library's kernel rounds their number up.
TEST_F(FlashConfig, NsaChoosesAPowerOfTwoOfBlocks) {
  read("nsa/plain");
  for (int count : {1, 2, 3, 6})
    EXPECT_EQ(importWith("block_counts", count),
              "config.json: expects 'block_counts' to be a power of two of at "
              "least 4, but got " +
                  std::to_string(count));
  llvm::StringRef shape = "tensor<?x1x8xi32>, tensor<16x1x4xf32>)";
  EXPECT_EQ(llvm::StringRef(moduleWith("block_counts", 8)).count(shape), 2u);
  expectIgnored("elementwise_affine", false);
  // Three branches for each of 2 layers, two without a window.
  auto branches = [](llvm::StringRef module) {
    return module.count("= seq.attention") +
           module.count("= seq.mix_block_means");
  };
  EXPECT_EQ(branches(moduleOf()), 6u);
  EXPECT_EQ(branches(moduleWith("window_size", 0)), 4u);
}

TEST_F(FlashConfig, HeadsOfNsaFollowFromTheLibrarysDefaults) {
  read("nsa/plain");
  config.erase("num_kv_heads");
  std::string module = moduleOf();
  EXPECT_EQ(moduleWith("num_kv_heads", 4), module);
  EXPECT_NE(moduleWith("num_kv_heads", nullptr), module);
  EXPECT_EQ(moduleWith("num_kv_heads", 16),
            moduleWith("num_kv_heads", nullptr));
  EXPECT_EQ(importWith("num_heads", 18),
            "config.json: expects 'num_heads' to be a multiple of 4 where "
            "'num_kv_heads' is not given, but got 18");
  EXPECT_EQ(importWith("num_kv_heads", 3),
            "config.json: expects 'num_kv_heads' to divide 'num_heads' 16, but "
            "got 3");
}

// Slots that are not counted are as many as the channels of a key.
TEST_F(FlashConfig, SlotsAreKeysWhereNoNumberSaysHowMany) {
  read("gsa/plain");
  config["num_slots"] = nullptr;
  std::string module = moduleOf();
  EXPECT_EQ(moduleWith("num_slots", 10), module);
  EXPECT_NE(moduleWith("num_slots", 9), module);
}

// Layers of attention turn by 1e4 whatever theta is written for them.
TEST_F(FlashConfig, LightNetDoesNotHandItsThetaOn) {
  read("lightnet/convolutions_bf16");
  config["attn"] = {{"layers", {1}}, {"num_heads", 4}, {"rope_theta", 300.0}};
  std::string module = moduleOf();
  auto isSaid = [&] {
    return llvm::any_of(remarks, [](const std::string &remark) {
      return remark.find("'rope_theta' is ignored") != std::string::npos;
    });
  };
  EXPECT_TRUE(isSaid());
  config["attn"]["rope_theta"] = 1e4;
  EXPECT_EQ(moduleOf(), module);
  EXPECT_FALSE(isSaid());
}

// Of 30 channels: 3 heads of 7 key channels, or what follows from either number.
TEST_F(FlashConfig, HeadsOfLightNetFollowFromTheirChannels) {
  read("lightnet/plain");
  config.erase("num_heads");
  EXPECT_EQ(importWith("expand_ratio", 7),
            "config.json: expects 'hidden_size' to be a multiple of the heads "
            "4, but got 30");
  std::string given = moduleWith("expand_ratio", 10);
  config["num_heads"] = 3;
  EXPECT_EQ(moduleWith("expand_ratio", nullptr), given);
  config["num_heads"] = nullptr;
  EXPECT_EQ(importWith("expand_ratio", nullptr),
            "config.json: lacks 'expand_ratio' and 'num_heads'");
}

TEST_F(FlashConfig, SambaDoesNotHandItsBiasOn) {
  read("samba/plain");
  std::string module = moduleOf();
  EXPECT_EQ(moduleWith("use_conv_bias", !config["use_conv_bias"].get<bool>()),
            module);
}

// The mixer is called without `norm_eps`: only the norms around it follow.
TEST_F(FlashConfig, TheNormOfHgrn2KeepsItsEpsilon) {
  read("hgrn2/lower_bounds");
  std::string module = moduleWith("norm_eps", 0.25);
  size_t own = 0, around = 0;
  for (size_t at = 0; (at = module.find("eps = ", at)) != std::string::npos;
       ++at) {
    own += module.compare(at, 18, "eps = 1.000000e-05") == 0;
    around += module.compare(at, 18, "eps = 2.500000e-01") == 0;
  }
  size_t layers = config["num_hidden_layers"];
  EXPECT_EQ(own, layers);
  EXPECT_EQ(around, 2 * layers + 1);
}

// SambaMLP is called with `hidden_ratio` alone: the multiple of 256 from
// 2/3 * 12 * ratio on.
TEST_F(FlashConfig, IntermediateSizeOfSambaIsThatOfMamba) {
  read("samba/plain");
  // Declarations name where a tensor comes from before its type.
  auto declared = [](llvm::StringRef module, const std::string &source) {
    return module.count("." + source + "xbf16>");
  };
  std::string module = moduleWith("intermediate_size", 40);
  EXPECT_EQ(declared(module, "mixer.out_proj.weight\") : tensor<12x40"), 2u);
  EXPECT_EQ(declared(module, "mlp.down_proj.weight\") : tensor<12x256"), 3u);
  module = moduleWith("hidden_ratio", 33);
  EXPECT_EQ(declared(module, "mixer.out_proj.weight\") : tensor<12x44"), 2u);
  EXPECT_EQ(declared(module, "mlp.down_proj.weight\") : tensor<12x512"), 3u);
}

TEST_F(FlashConfig, SafeGateAsksForABoundAndMeansNoMore) {
  read("kda/bounded");
  std::string module = moduleOf();
  EXPECT_EQ(moduleWith("safe_gate", false), module);
  EXPECT_NE(moduleWith("lower_bound", -4.0), module);
  read("kda/plain");
  EXPECT_EQ(importWith("safe_gate", true),
            "config.json: expects 'lower_bound' beside 'safe_gate', but got "
            "none");
}

// Six heads of queries of 18 / 6 keys and 30 / 6 values, whatever share them.
TEST_F(FlashConfig, SharedKeysLeaveAStateForEachHeadOfQueries) {
  read("gla/shared_keys_bounded");
  for (const json &shared : {json(2), json(3), json(nullptr)}) {
    SCOPED_TRACE(shared.dump());
    std::string module = moduleWith("num_kv_heads", shared);
    EXPECT_NE(module.find("6x3x5xf32"), std::string::npos);
    EXPECT_EQ(module.find("2x3x5xf32"), std::string::npos);
    EXPECT_EQ(module.find("3x3x5xf32"), std::string::npos);
  }
}

TEST_F(FlashConfig, ResidualsOfAttentionAreRefused) {
  for (const char *golden : {"gla/plain", "retnet/plain", "delta_net/plain"}) {
    read(golden);
    EXPECT_EQ(
        importWith("attnres_block_size", 4),
        "config.json: expects 'attnres_block_size' to be null, but got 4");
  }
}

TEST_F(FlashConfig, ValuesOfOneWidthAreAskedOfRwkv7) {
  read("rwkv7/plain");
  EXPECT_EQ(importWith("value_dim", {24, 24, 24}),
            "config.json: expects 'value_dim' to have a number for each of 2 "
            "layers, but got 3");
  EXPECT_EQ(importWith("value_dim", {24, 20}),
            "config.json: expects 'value_dim' to be the same multiple of "
            "'num_heads' 4 in all layers, but got 20");
  EXPECT_EQ(importWith("value_dim", {22, 22}),
            "config.json: expects 'value_dim' to be the same multiple of "
            "'num_heads' 4 in all layers, but got 22");
  EXPECT_EQ(importWith("value_dim", {48, 48}), "success");
}

// Releases of the library write one or the other.
TEST_F(FlashConfig, TheRankOfMambasStepsHasTwoNames) {
  read("mamba/flash_bf16");
  std::string module = moduleOf();
  json rank = config["dt_rank"];
  config.erase("dt_rank");
  for (const char *key : {"floor", "init_scheme", "max", "min", "scale"}) {
    std::string old = "dt_" + std::string(key);
    if (!config.contains(old))
      continue;
    config["time_step_" + std::string(key)] = config[old];
    config.erase(old);
  }
  config["time_step_rank"] = rank;
  EXPECT_EQ(moduleOf(), module);
  config["dt_rank"] = rank;
  EXPECT_EQ(import(), "config.json: unknown key 'dt_rank' is refused: it may "
                      "change the model; where nothing depends on it, --allow "
                      "dt_rank");
}
