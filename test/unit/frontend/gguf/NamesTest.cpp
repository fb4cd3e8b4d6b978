#include "frontend/gguf/Names.h"

#include <gtest/gtest.h>

using namespace effc::frontend;

namespace {

constexpr GgufTensorRow kRows[] = {
    {"token_embd", "model.embed_tokens"},
    {"blk.*.attn_q", "model.layers.*.q_proj", GgufRule::Pairs},
    {"blk.*.ssm_a", "model.layers.*.A_log"},
    {"blk.*.ffn_up_exps", "model.layers.*.experts.#.up"},
    {"blk.*.lerp.weight", "model.layers.*.x_{r|kk|v}"},
    {"blk.*.out", "model.layers.*.linear_out", GgufRule::None,
     "blk.*.qkv.weight"},
    {"blk.*.out", "model.layers.*.softmax_out"},
    {"blk.*.gate", "model.layers.*.g_proj"},
    {"blk.*.gate_a", "model.layers.*.g_proj", GgufRule::None,
     "blk.*.gate_b.weight"},
    {"blk.*.gate_old", "model.layers.*.g_proj"},
};
constexpr llvm::ArrayRef<GgufTensorRow> kTables[] = {kRows};
constexpr GgufArchitecture kArchitecture = {"toy", "toy_model", {}, kTables};

std::string nameOf(llvm::StringRef given, llvm::StringRef there = "") {
  auto match = matchGgufName(kArchitecture, given, [&](llvm::StringRef name) {
    return name == there;
  });
  return match ? match->nameOf(3) : "none";
}

} // namespace

TEST(GgufNamesTest, FollowPatterns) {
  EXPECT_EQ(nameOf("token_embd.weight"), "model.embed_tokens.weight");
  EXPECT_EQ(nameOf("blk.12.attn_q.weight"), "model.layers.12.q_proj.weight");
  EXPECT_EQ(nameOf("blk.0.attn_q.bias"), "model.layers.0.q_proj.bias");
  EXPECT_EQ(nameOf("blk.7.ssm_a"), "model.layers.7.A_log");
  EXPECT_EQ(nameOf("blk.7.ffn_up_exps.weight"),
            "model.layers.7.experts.3.up.weight");
  EXPECT_EQ(nameOf("blk.7.lerp.weight"), "model.layers.7.x_{r|kk|v}");
  for (const char *other :
       {"blk.attn_q.weight", "blk.1.attn_q.scale", "blk.1x.attn_q.weight",
        "a.blk.1.attn_q.weight", "blk.1.attn_q.weight.weight", "", "blk."})
    EXPECT_EQ(nameOf(other), "none") << other;
}

// The same name of the file stands for two of the family's.
TEST(GgufNamesTest, DependOnOtherTensors) {
  EXPECT_EQ(nameOf("blk.2.out.weight", "blk.2.qkv.weight"),
            "model.layers.2.linear_out.weight");
  EXPECT_EQ(nameOf("blk.2.out.weight", "blk.3.qkv.weight"),
            "model.layers.2.softmax_out.weight");
}

TEST(GgufNamesTest, HaveParts) {
  auto match = matchGgufName(kArchitecture, "blk.5.lerp.weight",
                             [](llvm::StringRef) { return false; });
  ASSERT_TRUE(match);
  EXPECT_EQ(match->nameParts(), (std::vector<std::string>{
                                    "model.layers.5.x_r", "model.layers.5.x_kk",
                                    "model.layers.5.x_v"}));
}

TEST(GgufNamesTest, LeadBack) {
  auto given = [](llvm::StringRef name) {
    return givenNameOf(kArchitecture, name,
                       [](llvm::StringRef) { return false; });
  };
  EXPECT_EQ(given("model.layers.12.q_proj.bias"), "blk.12.attn_q.bias");
  EXPECT_EQ(given("model.layers.7.experts.31.up.weight"),
            "blk.7.ffn_up_exps.weight");
  EXPECT_EQ(given("model.layers.7.x_kk"), "blk.7.lerp.weight");
  EXPECT_EQ(given("model.layers.7.x_k"), "");
  EXPECT_EQ(given("hidden_size"), "");
}

// The same name of the family's stands for several of the file.
TEST(GgufNamesTest, LeadBackToWhatIsThere) {
  auto given = [](std::vector<llvm::StringRef> there) {
    return givenNameOf(
        kArchitecture, "model.layers.4.g_proj.weight",
        [&](llvm::StringRef name) { return llvm::is_contained(there, name); });
  };
  EXPECT_EQ(given({}), "blk.4.gate.weight");
  EXPECT_EQ(given({"blk.4.gate.weight"}), "blk.4.gate.weight");
  EXPECT_EQ(given({"blk.4.gate_old.weight"}), "blk.4.gate_old.weight");
  // Another layer's, or another tensor of the same.
  EXPECT_EQ(given({"blk.5.gate_old.weight", "blk.4.gate_old.bias"}),
            "blk.4.gate.weight");
  // A row that holds beside another tensor alone.
  EXPECT_EQ(given({"blk.4.gate_a.weight", "blk.4.gate_old.weight"}),
            "blk.4.gate_old.weight");
  EXPECT_EQ(given({"blk.4.gate_a.weight", "blk.4.gate_b.weight",
                   "blk.4.gate_old.weight"}),
            "blk.4.gate_a.weight");
}

TEST(GgufNamesTest, AreSaidInMessages) {
  llvm::StringMap<std::string> fields;
  fields["hidden_size"] = "toy.embedding_length";
  auto say = [&](llvm::StringRef message) {
    return sayInGgufNames(
        message, kArchitecture, fields,
        [](llvm::StringRef name) { return name == "blk.2.gate_old.weight"; },
        "m.gguf");
  };
  EXPECT_EQ(say("config.json: expects 'hidden_size' to be 3, not "
                "'model.layers.1.q_proj.weight'"),
            "m.gguf: expects 'toy.embedding_length' to be 3, not "
            "'blk.1.attn_q.weight'");
  EXPECT_EQ(say("lacks tensor 'model.layers.1.g_proj.weight'; it has "
                "'model.layers.2.g_proj.weight'"),
            "lacks tensor 'blk.1.gate.weight'; it has 'blk.2.gate_old.weight'");
  // Other names and an open quote stay as they are.
  EXPECT_EQ(say("'a' and 'hidden_size"), "'a' and 'hidden_size");
  EXPECT_EQ(say("hidden_size"), "hidden_size");
}
