// What functions of architectures write that no row says.
#include "test/unit/frontend/gguf/AdaptedFile.h"

using namespace effc::frontend;
using namespace effc::test;
using Type = GgufValueType;

namespace {

class GgufArchitecturesTest : public AdaptedFile {};

} // namespace

// What balances experts tells V3 where no key does; keys of a compressed row and
// values apart tell newer files.
TEST_F(GgufArchitecturesTest, KindsOfDeepSeek) {
  auto deepseek = [&](uint32_t turned, uint32_t experts, bool isOld = false) {
    GgufBuilder builder;
    builder.text("general.architecture", "deepseek2")
        .number("deepseek2.block_count", 1)
        .number("deepseek2.embedding_length", 6)
        .number("deepseek2.attention.head_count", 2)
        .number("deepseek2.attention.key_length", isOld ? 5 : 9)
        .number("deepseek2.attention.value_length", isOld ? 3 : 7)
        .number("deepseek2.rope.dimension_count", turned)
        .number("deepseek2.expert_count", experts)
        .floats("token_embd.weight", {6, 5}, numbers(30));
    if (!isOld)
      builder.number("deepseek2.attention.key_length_mla", 5)
          .number("deepseek2.attention.value_length_mla", 3);
    return builder;
  };
  auto fields = [&](const GgufBuilder &builder) {
    AdaptedGguf adapted = llvm::cantFail(adapt(builder));
    std::string text;
    for (const char *name : {"model_type", "topk_method", "n_group",
                             "topk_group", "qk_nope_head_dim", "v_head_dim"})
      text += field(adapted, name) + " ";
    return text;
  };
  EXPECT_EQ(fields(deepseek(2, 4)),
            "\"deepseek_v2\" \"greedy\" none none 3 3 ");
  EXPECT_EQ(fields(deepseek(2, 4, /*isOld=*/true)),
            "\"deepseek_v2\" \"greedy\" none none 3 3 ");
  EXPECT_EQ(fields(deepseek(2, 4)
                       .number("deepseek2.expert_gating_func", 1)
                       .number("deepseek2.expert_group_count", 4)
                       .number("deepseek2.expert_group_used_count", 2)),
            "\"deepseek_v2\" \"group_limited_greedy\" 4 2 3 3 ");
  EXPECT_EQ(fields(deepseek(2, 4).number("deepseek2.expert_gating_func", 2)),
            "\"deepseek_v3\" none 1 1 3 3 ");
  GgufBuilder balanced =
      deepseek(2, 4).floats("blk.0.exp_probs_b.bias", {4}, {1, 2, 3, 4});
  EXPECT_EQ(fields(balanced), "\"deepseek_v3\" none 1 1 3 3 ");
  AdaptedGguf adapted = llvm::cantFail(
      adapt(balanced.text("deepseek2.rope.scaling.type", "yarn")
                .real("deepseek2.rope.scaling.factor", 4)
                .real("deepseek2.rope.scaling.yarn_log_multiplier", 0.125)
                .floats("blk.0.attn_kv_b.weight", {1}, {1})
                .floats("blk.0.attn_k_b.weight", {1}, {1})));
  const JsonObject *scaling =
      adapted.config.getObject()->find("rope_scaling")->getObject();
  for (const char *name : {"mscale", "mscale_all_dim"})
    EXPECT_EQ(scaling->find(name)->describe(), "1.25");
  EXPECT_EQ(adapted.remarks,
            (std::vector<std::string>{
                "tensor 'blk.0.attn_kv_b.weight' is left aside: the model has "
                "no use of it"}));
  EXPECT_EQ(refusal(deepseek(2, 0)),
            "m.gguf: expects 'deepseek2.expert_count' to be 1 or more: a model "
            "of this architecture without experts is not read");
  EXPECT_EQ(refusal(deepseek(5, 4)),
            "m.gguf: expects 'deepseek2.rope.dimension_count' below "
            "'deepseek2.attention.key_length_mla' 5, but got 5");
  EXPECT_EQ(
      refusal(deepseek(2, 4).number("deepseek2.expert_gating_func", 3)),
      "m.gguf: expects 'deepseek2.expert_gating_func' to be 1 (softmax) or 2 "
      "(sigmoid), but got 3");
}

// Factors are those of NVFP4, but where an architecture has its own.
TEST_F(GgufArchitecturesTest, FactorsOfGemma4) {
  auto gemma = [&] {
    return GgufBuilder()
        .text("general.architecture", "gemma4")
        .number("gemma4.block_count", 1)
        .number("gemma4.embedding_length", 6)
        .number("gemma4.embedding_length_per_layer_input", 0)
        .number("gemma4.attention.key_length", 4)
        .number("gemma4.attention.key_length_swa", 2)
        .number("gemma4.attention.sliding_window", 8)
        .array<uint8_t>("gemma4.attention.sliding_window_pattern", Type::Bool,
                        {0})
        .floats("rope_freqs.weight", {2}, {1, 1e30f})
        .floats("token_embd.weight", {6, 5}, numbers(30));
  };
  AdaptedGguf adapted = llvm::cantFail(
      adapt(gemma()
                .floats("blk.0.ffn_gate_inp.scale", {6}, numbers(6))
                .floats("blk.0.ffn_down_exps.scale", {2}, {3, 4})));
  EXPECT_TRUE(adapted.checkpoint->has("model.layers.0.router.scale"));
  EXPECT_EQ(floatsOf(adapted, "model.layers.0.router.per_expert_scale"),
            (std::vector<float>{3, 4}));
  EXPECT_EQ(field(adapted, "attention_k_eq_v"), "true");
  EXPECT_FALSE(adapted.form.wholeNorms);
  EXPECT_EQ(refusal(gemma().floats("blk.0.ffn_up.scale", {1}, {1})),
            "m.gguf: tensor 'blk.0.ffn_up.scale' is a factor of NVFP4 weights, "
            "which are not read");
}

// Queries that grow make it Ministral 3.
TEST_F(GgufArchitecturesTest, GrowingQueriesOfMinistral) {
  auto mistral = [&] {
    return GgufBuilder()
        .text("general.architecture", "mistral3")
        .number("mistral3.block_count", 1)
        .number("mistral3.embedding_length", 6)
        .floats("token_embd.weight", {6, 5}, numbers(30));
  };
  EXPECT_EQ(field(llvm::cantFail(adapt(mistral())), "model_type"),
            "\"mistral\"");
  GgufBuilder growing =
      mistral().real("mistral3.attention.temperature_scale", 0.5);
  EXPECT_EQ(refusal(growing),
            "m.gguf: expects 'mistral3.rope.scaling.type' to be \"yarn\" "
            "beside 'mistral3.attention.temperature_scale', but got none");
  AdaptedGguf adapted = llvm::cantFail(
      adapt(growing.text("mistral3.rope.scaling.type", "yarn")
                .real("mistral3.rope.scaling.factor", 4)
                .real("mistral3.rope.scaling.yarn_log_multiplier", 0.25)));
  EXPECT_EQ(field(adapted, "model_type"), "\"ministral3\"");
  const JsonObject *scaling =
      adapted.config.getObject()->find("rope_scaling")->getObject();
  EXPECT_EQ(scaling->find("mscale")->describe(), "1.0");
  EXPECT_EQ(scaling->find("mscale_all_dim")->describe(), "0.25");
  EXPECT_EQ(scaling->find("llama_4_scaling_beta")->describe(), "0.5");
}

// The middle layer of each so many attends, or of few the last.
TEST_F(GgufArchitecturesTest, StepsOfPlamo2) {
  auto step = [&](std::vector<int32_t> heads) {
    auto layers = uint32_t(heads.size());
    return adapt(GgufBuilder()
                     .text("general.architecture", "plamo2")
                     .number("plamo2.block_count", layers)
                     .number("plamo2.embedding_length", 6)
                     .number("plamo2.attention.key_length", 4)
                     .array("plamo2.attention.head_count", Type::I32, heads)
                     .array("plamo2.attention.head_count_kv", Type::I32, heads)
                     .number("plamo2.ssm.inner_size", 8)
                     .number("plamo2.ssm.time_step_rank", 2)
                     .floats("token_embd.weight", {6, 5}, numbers(30)));
  };
  auto fieldOf = [&](std::vector<int32_t> heads, const char *name) {
    return field(llvm::cantFail(step(std::move(heads))), name);
  };
  EXPECT_EQ(fieldOf({0, 2, 0, 2}, "mamba_step"), "2");
  EXPECT_EQ(fieldOf({0, 0, 2, 0, 0, 0, 2}, "mamba_step"), "4");
  EXPECT_EQ(fieldOf({0, 0, 2}, "mamba_step"), "4");
  EXPECT_EQ(fieldOf({0, 0, 2, 0}, "hidden_size_per_head"), "4");
  EXPECT_EQ(fieldOf({2, 2}, "mamba_enabled"), "false");
  EXPECT_EQ(outcome(step({2, 0, 0})),
            "m.gguf: expects 'plamo2.attention.head_count_kv' to have keys in "
            "the middle layer of each so many, as the model has them");
}

// Stretched positions are said by the model's own keys; what is missing is not guessed.
TEST_F(GgufArchitecturesTest, PositionsOfPlamo3) {
  auto plamo = [&](llvm::StringRef without = "") {
    GgufBuilder builder;
    builder.text("general.architecture", "plamo3")
        .number("plamo3.block_count", 1)
        .number("plamo3.embedding_length", 6)
        .number("plamo3.attention.head_count", 2)
        .number("plamo3.attention.head_count_kv", 1)
        .number("plamo3.attention.key_length", 4)
        .floats("token_embd.weight", {6, 5}, numbers(30));
    if (without != "window")
      builder.number("plamo3.attention.sliding_window", 9);
    builder.real("plamo3.rope.freq_base", 800);
    if (without != "angle")
      builder.real("plamo3.rope.freq_base_swa", 90);
    return builder;
  };
  AdaptedGguf plain = llvm::cantFail(adapt(plamo()));
  EXPECT_EQ(field(plain, "head_dim"), "4");
  EXPECT_EQ(field(plain, "window_size"), "9");
  EXPECT_EQ(field(plain, "rope_theta"), "800.0");
  EXPECT_EQ(field(plain, "rope_local_theta"), "90.0");
  EXPECT_EQ(field(plain, "rope_scaling_factor"), "none");
  EXPECT_TRUE(plain.form.wholeNorms);
  auto stretched = [&](float fast) {
    return plamo()
        .text("plamo3.rope.scaling.type", "yarn")
        .real("plamo3.rope.scaling.factor", 4)
        .number("plamo3.rope.scaling.original_context_length", 12)
        .real("plamo3.rope.scaling.yarn_beta_fast", fast)
        .real("plamo3.rope.scaling.yarn_beta_slow", 1);
  };
  AdaptedGguf yarn = llvm::cantFail(adapt(stretched(32)));
  EXPECT_EQ(field(yarn, "rope_scaling_factor"), "4.0");
  EXPECT_EQ(field(yarn, "initial_context_length"), "12");
  EXPECT_EQ(field(yarn, "rope_scaling"), "none");
  EXPECT_NE(refusal(stretched(16)).find("'plamo3.rope.scaling.yarn_beta_fast'"),
            std::string::npos);
  EXPECT_EQ(refusal(plamo().text("plamo3.rope.scaling.type", "linear")),
            "m.gguf: expects 'plamo3.rope.scaling.type' to be none or yarn, "
            "but got \"linear\"");
  EXPECT_EQ(refusal(plamo("window")),
            "m.gguf: lacks key 'plamo3.attention.sliding_window'");
  EXPECT_EQ(refusal(plamo("angle")),
            "m.gguf: lacks key 'plamo3.rope.freq_base_swa'");
}

// What the converter has no key for is as most models have it, and said.
TEST_F(GgufArchitecturesTest, AssumptionsOfGpt) {
  AdaptedGguf gpt2 = llvm::cantFail(
      adapt(GgufBuilder()
                .text("general.architecture", "gpt2")
                .number("gpt2.block_count", 1)
                .number("gpt2.embedding_length", 6)
                .floats("token_embd.weight", {6, 5}, numbers(30))));
  EXPECT_EQ(field(gpt2, "activation_function"), "\"gelu_new\"");
  EXPECT_EQ(field(gpt2, "scale_attn_weights"), "true");
  EXPECT_EQ(field(gpt2, "scale_attn_by_inverse_layer_idx"), "false");
  EXPECT_EQ(gpt2.remarks,
            (std::vector<std::string>{
                "m.gguf: no key says 'activation_function' of config.json: it "
                "is taken to be \"gelu_new\"",
                "m.gguf: no key says 'scale_attn_weights' of config.json: it "
                "is taken to be true",
                "m.gguf: no key says 'scale_attn_by_inverse_layer_idx' of "
                "config.json: it is taken to be false"}));
  auto neox = [&] {
    return GgufBuilder()
        .text("general.architecture", "gptneox")
        .number("gptneox.block_count", 1)
        .number("gptneox.embedding_length", 6)
        .number("gptneox.attention.head_count", 1)
        .number("gptneox.rope.dimension_count", 3)
        .floats("token_embd.weight", {6, 5}, numbers(30));
  };
  const std::string activation =
      "m.gguf: no key says 'hidden_act' of config.json: it is taken to be "
      "\"gelu\"";
  AdaptedGguf pythia = llvm::cantFail(adapt(neox()));
  EXPECT_EQ(field(pythia, "rotary_emb_base"), "10000.0");
  EXPECT_EQ(field(pythia, "rotary_pct"), "0.5");
  EXPECT_EQ(field(pythia, "hidden_act"), "\"gelu\"");
  EXPECT_EQ(pythia.remarks,
            (std::vector<std::string>{
                "m.gguf: no key says 'rotary_emb_base' of config.json: it is "
                "taken to be 10000.0",
                activation}));
  AdaptedGguf other =
      llvm::cantFail(adapt(neox().real("gptneox.rope.freq_base", 500)));
  EXPECT_EQ(field(other, "rotary_emb_base"), "500.0");
  EXPECT_EQ(other.remarks, (std::vector<std::string>{activation}));
}
