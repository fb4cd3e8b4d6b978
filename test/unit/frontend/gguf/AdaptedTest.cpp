#include "test/unit/frontend/gguf/AdaptedFile.h"

using namespace effc::frontend;
using namespace effc::test;
using Type = GgufValueType;

namespace {

class AdaptedGgufTest : public AdaptedFile {
protected:
  /// Keys and the table of a model with 2 layers, 3 heads of 4 channels.
  static GgufBuilder llama() {
    return GgufBuilder()
        .text("general.architecture", "llama")
        .number("llama.block_count", 2)
        .number("llama.context_length", 64)
        .number("llama.embedding_length", 12)
        .number("llama.feed_forward_length", 7)
        .number("llama.attention.head_count", 3)
        .number("llama.attention.head_count_kv", 1)
        .real("llama.attention.layer_norm_rms_epsilon", 0.5)
        .floats("token_embd.weight", {12, 5}, numbers(60));
  }
};

} // namespace

TEST_F(AdaptedGgufTest, KeysBecomeFields) {
  AdaptedGguf adapted = llvm::cantFail(
      adapt(llama()
                .number("tokenizer.ggml.bos_token_id", 1)
                .number("tokenizer.ggml.eos_token_id", 2)
                .number("tokenizer.ggml.eot_token_id", 4)
                .real("general.sampling.temp", 0.5)
                .number("general.sampling.mirostat", 2)
                .raw("general.sampling.top_k", Type::I32, gguf(int32_t(9)))));
  EXPECT_EQ(field(adapted, "model_type"), "\"llama\"");
  EXPECT_EQ(field(adapted, "hidden_size"), "12");
  EXPECT_EQ(field(adapted, "vocab_size"), "5");
  EXPECT_EQ(field(adapted, "num_key_value_heads"), "1");
  EXPECT_EQ(field(adapted, "rms_norm_eps"), "0.5");
  EXPECT_EQ(field(adapted, "rope_theta"), "10000.0");
  EXPECT_EQ(field(adapted, "tie_word_embeddings"), "true");
  EXPECT_EQ(field(adapted, "head_dim"), "none");
  EXPECT_EQ(field(adapted, "eos_token_id"), "an array of 2");
  EXPECT_EQ(field(adapted, "temperature"), "0.5");
  EXPECT_EQ(field(adapted, "top_k"), "9");
  EXPECT_EQ(field(adapted, "do_sample"), "true");
  EXPECT_EQ(adapted.remarks,
            (std::vector<std::string>{
                "warning: m.gguf: 'general.sampling.mirostat' is not "
                "followed"}));
  EXPECT_EQ(adapted.say("config.json: expects 'hidden_size' to be even"),
            "m.gguf: expects 'llama.embedding_length' to be even");
}

// A head of 4 rows lies as rows 0, 2, 1, 3: of [2, 2] to [2, 2], turned. Each row
// is a block of Q4_0, 18 bytes.
TEST_F(AdaptedGgufTest, PairsAreUndoneInWholeRows) {
  std::string blocks;
  for (char row = 0; row < 8; ++row)
    blocks += std::string(18, char('a' + row));
  AdaptedGguf adapted = llvm::cantFail(
      adapt(llama().tensor("blk.1.attn_q.weight", {32, 8}, 2, blocks)));
  TensorData data = llvm::cantFail(
      adapted.checkpoint->getData("model.layers.1.self_attn.q_proj.weight"));
  EXPECT_EQ(data.type.getName(), "Q4_0");
  std::string rows;
  for (size_t row = 0; row < 8; ++row)
    rows += char(data.bytes[row * 18 + 17]);
  EXPECT_EQ(rows, "acbdegfh");
  EXPECT_TRUE(data.made);
}

// Heads of 6 channels: the file has [3, 2], the family [2, 3].
TEST_F(AdaptedGgufTest, PairsOfWiderHeads) {
  AdaptedGguf adapted = llvm::cantFail(
      adapt(llama()
                .number("llama.attention.key_length", 6)
                .floats("blk.0.attn_k.bias", {6}, {0, 1, 2, 3, 4, 5})));
  EXPECT_EQ(field(adapted, "head_dim"), "6");
  EXPECT_EQ(floatsOf(adapted, "model.layers.0.self_attn.k_proj.bias"),
            (std::vector<float>{0, 2, 4, 1, 3, 5}));
  EXPECT_EQ(refusal(llama().floats("blk.0.attn_k.bias", {6}, numbers(6))),
            "m.gguf: expects tensor 'blk.0.attn_k.bias' to have whole heads of "
            "an even number of rows, 4, but got shape 6");
}

TEST_F(AdaptedGgufTest, ExpertsAreMatricesOfOneTensor) {
  GgufBuilder builder = GgufBuilder()
                            .text("general.architecture", "qwen3moe")
                            .number("qwen3moe.block_count", 1)
                            .number("qwen3moe.embedding_length", 3)
                            .floats("token_embd.weight", {3, 5}, numbers(15));
  AdaptedGguf adapted = llvm::cantFail(adapt(GgufBuilder(builder).floats(
      "blk.0.ffn_up_exps.weight", {3, 2, 4}, numbers(24))));
  EXPECT_EQ(floatsOf(adapted, "model.layers.0.mlp.experts.2.up_proj.weight"),
            (std::vector<float>{12, 13, 14, 15, 16, 17}));
  // Gates over ups in one tensor: of each expert's 4 rows the last two.
  adapted = llvm::cantFail(adapt(GgufBuilder(builder).floats(
      "blk.0.ffn_gate_up_exps.weight", {3, 4, 2}, numbers(24))));
  EXPECT_EQ(floatsOf(adapted, "model.layers.0.mlp.experts.1.up_proj.weight"),
            (std::vector<float>{18, 19, 20, 21, 22, 23}));
  EXPECT_EQ(floatsOf(adapted, "model.layers.0.mlp.experts.0.gate_proj.weight"),
            (std::vector<float>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(
      refusal(GgufBuilder(builder).floats("blk.0.ffn_up_exps.weight", {3, 2},
                                          numbers(6))),
      "m.gguf: expects tensor 'blk.0.ffn_up_exps.weight' to have a matrix "
      "for each expert, but got shape 2x3");
}

// 12 rows of queries, 4 of keys, 4 of values, of one number each.
TEST_F(AdaptedGgufTest, FusedHeadsAreTakenApart) {
  AdaptedGguf adapted = llvm::cantFail(
      adapt(llama().floats("blk.0.attn_qkv.weight", {1, 20}, numbers(20))));
  EXPECT_EQ(floatsOf(adapted, "model.layers.0.self_attn.q_proj.weight"),
            (std::vector<float>{0, 2, 1, 3, 4, 6, 5, 7, 8, 10, 9, 11}));
  EXPECT_EQ(floatsOf(adapted, "model.layers.0.self_attn.k_proj.weight"),
            (std::vector<float>{12, 14, 13, 15}));
  EXPECT_EQ(floatsOf(adapted, "model.layers.0.self_attn.v_proj.weight"),
            (std::vector<float>{16, 17, 18, 19}));
  EXPECT_EQ(
      refusal(llama().floats("blk.0.attn_qkv.weight", {1, 24}, numbers(24))),
      "m.gguf: expects tensor 'blk.0.attn_qkv.weight' to have 20 rows of "
      "queries, keys and values, but got shape 24x1");
  EXPECT_EQ(refusal(llama()
                        .floats("blk.0.attn_qkv.weight", {1, 20}, numbers(20))
                        .floats("blk.0.attn_v.weight", {1, 4}, numbers(4))),
            "m.gguf: two tensors are 'blk.0.attn_v.weight' of the model");
}

// -exp(x) of 0, 1 and -2.
TEST_F(AdaptedGgufTest, RatesBecomeLogarithms) {
  GgufBuilder builder = GgufBuilder()
                            .text("general.architecture", "mamba2")
                            .number("mamba2.block_count", 1)
                            .number("mamba2.embedding_length", 3)
                            .number("mamba2.ssm.inner_size", 6)
                            .number("mamba2.ssm.time_step_rank", 3)
                            .floats("token_embd.weight", {3, 5}, numbers(15));
  AdaptedGguf adapted = llvm::cantFail(adapt(GgufBuilder(builder).floats(
      "blk.0.ssm_a", {1, 3}, {-1, -2.7182817f, -0.13533528f})));
  std::vector<float> logs = floatsOf(adapted, "backbone.layers.0.mixer.A_log");
  ASSERT_EQ(logs.size(), 3u);
  EXPECT_EQ(logs[0], 0);
  EXPECT_NEAR(logs[1], 1, 1e-7);
  EXPECT_NEAR(logs[2], -2, 2e-7);
  EXPECT_EQ(field(adapted, "head_dim"), "2");
  adapted = llvm::cantFail(
      adapt(GgufBuilder(builder).floats("blk.0.ssm_a", {1, 3}, {-1, 0, -2})));
  EXPECT_EQ(outcome(adapted.say(
                adapted.checkpoint->getData("backbone.layers.0.mixer.A_log")
                    .takeError())),
            "m.gguf: expects tensor 'blk.0.ssm_a' to have finite numbers below "
            "0, but "
            "got 0.000000");
}

// exp(x) of 0 and 1.
TEST_F(AdaptedGgufTest, RatesAboveZeroBecomeLogarithms) {
  GgufBuilder builder = GgufBuilder()
                            .text("general.architecture", "bailingmoe3")
                            .number("bailingmoe3.block_count", 1)
                            .number("bailingmoe3.embedding_length", 3)
                            .number("bailingmoe3.attention.key_length_mla", 4)
                            .number("bailingmoe3.rope.dimension_count", 2)
                            .floats("token_embd.weight", {3, 5}, numbers(15));
  constexpr llvm::StringLiteral kName = "model.layers.0.attention.A_log";
  AdaptedGguf adapted = llvm::cantFail(adapt(
      GgufBuilder(builder).floats("blk.0.ssm_a", {1, 2}, {1, 2.7182817f})));
  std::vector<float> logs = floatsOf(adapted, kName);
  ASSERT_EQ(logs.size(), 2u);
  EXPECT_EQ(logs[0], 0);
  EXPECT_NEAR(logs[1], 1, 1e-7);
  adapted = llvm::cantFail(
      adapt(GgufBuilder(builder).floats("blk.0.ssm_a", {1, 2}, {1, -2})));
  EXPECT_EQ(
      outcome(adapted.say(adapted.checkpoint->getData(kName).takeError())),
      "m.gguf: expects tensor 'blk.0.ssm_a' to have finite numbers above "
      "0, but got -2.000000");
}

TEST_F(AdaptedGgufTest, LayersThatPredictFurtherTokensAreLeftAside) {
  AdaptedGguf adapted = llvm::cantFail(
      adapt(llama()
                .number("llama.nextn_predict_layers", 1)
                .floats("blk.0.attn_norm.weight", {2}, {1, 2})
                .floats("blk.1.attn_norm.weight", {2}, {3, 4})
                .floats("blk.1.nextn.eh_proj.weight", {1}, {5})));
  EXPECT_EQ(field(adapted, "num_hidden_layers"), "1");
  EXPECT_TRUE(adapted.checkpoint->has("model.layers.0.input_layernorm.weight"));
  EXPECT_FALSE(
      adapted.checkpoint->has("model.layers.1.input_layernorm.weight"));
  ASSERT_EQ(adapted.remarks.size(), 1u);
  EXPECT_EQ(adapted.remarks[0],
            "2 tensors are left aside: they are of layers that predict further "
            "tokens ('llama.nextn_predict_layers')");
}

// Gates are called by the kind of their layer.
TEST_F(AdaptedGgufTest, MessagesSayWhatTheFileHas) {
  AdaptedGguf adapted = llvm::cantFail(
      adapt(GgufBuilder()
                .text("general.architecture", "bailingmoe3")
                .number("bailingmoe3.block_count", 2)
                .number("bailingmoe3.embedding_length", 3)
                .number("bailingmoe3.attention.key_length_mla", 4)
                .number("bailingmoe3.rope.dimension_count", 2)
                .floats("token_embd.weight", {3, 5}, numbers(15))
                .floats("blk.0.ssm_g_a.weight", {3, 2}, numbers(6))
                .floats("blk.1.attn_gate.weight", {3, 2}, numbers(6))));
  EXPECT_EQ(adapted.say("'model.layers.0.attention.g_proj.weight' is not "
                        "'model.layers.1.attention.g_proj.weight'"),
            "'blk.0.ssm_g_a.weight' is not 'blk.1.attn_gate.weight'");
}

TEST_F(AdaptedGgufTest, TensorsWithoutAPlaceKeepTheirNames) {
  AdaptedGguf adapted =
      llvm::cantFail(adapt(llama().floats("blk.0.attn_rot_embd", {1}, {1})));
  adapted.checkpoint->take("model.embed_tokens.weight");
  EXPECT_EQ(outcome(adapted.checkpoint->checkAllRead()),
            "m.gguf: tensor 'blk.0.attn_rot_embd' has no place in the model");
}

TEST_F(AdaptedGgufTest, Refusals) {
  EXPECT_EQ(refusal(GgufBuilder()), "m.gguf: lacks key 'general.architecture'");
  EXPECT_EQ(refusal(GgufBuilder().number("general.architecture", 1)),
            "m.gguf: expects 'general.architecture' to be a string, but got 1 "
            "(u32)");
  std::string unknown =
      refusal(GgufBuilder().text("general.architecture", "clip"));
  EXPECT_EQ(unknown.find("m.gguf: architecture 'clip' is not supported; "
                         "supported: arwkv7, bailingmoe2, bailingmoe3, "),
            0u)
      << unknown;
  EXPECT_EQ(
      refusal(llama().number("general.quantization_version", 1)),
      "m.gguf: expects 'general.quantization_version' to be 2, but got 1: "
      "convert the model again");
  EXPECT_EQ(
      refusal(llama().number("llama.expert_shared_count", 8)),
      "m.gguf: unknown key 'llama.expert_shared_count' is refused: it may "
      "change the model; where nothing depends on it, --allow "
      "llama.expert_shared_count");
  EXPECT_EQ(refusal(llama().number("llama.expert_shared_count", 8),
                    {"llama.expert_shared_count"}),
            "success");
  EXPECT_EQ(refusal(llama().number("llama.a\n", 8)),
            "m.gguf: unknown key 'llama.a\\x0a' is refused: it may change the "
            "model");
  EXPECT_EQ(refusal(llama().floats("blk.0.ffn_up.scale", {1}, {1})),
            "m.gguf: tensor 'blk.0.ffn_up.scale' is a factor of NVFP4 weights, "
            "which are not read");
  EXPECT_EQ(refusal(llama().floats("blk.0.ffn_up.input_scale", {1}, {1})),
            "m.gguf: tensor 'blk.0.ffn_up.input_scale' is a factor of NVFP4 "
            "weights, which are not read");
  EXPECT_EQ(refusal(llama().flag("llama.attention.causal", false)),
            "m.gguf: expects 'llama.attention.causal' to be true, but got "
            "false: the model does not generate");
}

TEST_F(AdaptedGgufTest, SizesOfKeys) {
  auto with = [&](auto change) {
    GgufBuilder builder;
    builder.text("general.architecture", "llama")
        .number("llama.embedding_length", 12);
    change(builder);
    return refusal(builder.floats("token_embd.weight", {12, 5}, numbers(60)));
  };
  EXPECT_EQ(with([](GgufBuilder &) {}),
            "m.gguf: lacks key 'llama.block_count'");
  for (uint32_t count : {0u, 1000000u})
    EXPECT_EQ(
        with([&](GgufBuilder &b) { b.number("llama.block_count", count); }),
        "m.gguf: expects 'llama.block_count' to be an integer in 1..1024, but "
        "got " +
            std::to_string(count) + " (u32)");
  EXPECT_EQ(
      with([](GgufBuilder &b) {
        b.number("llama.block_count", 2).real("llama.attention.head_count", 3);
      }),
      "m.gguf: expects 'llama.attention.head_count' to be an integer in "
      "0..1048576, but got 3 (f32)");
  EXPECT_EQ(
      with([](GgufBuilder &b) {
        b.number("llama.block_count", 2)
            .array<uint32_t>("llama.attention.head_count_kv", Type::U32,
                             {1, 1, 1});
      }),
      "m.gguf: expects 'llama.attention.head_count_kv' to be an array of 2 "
      "integers, but got an array of 3 u32");
  EXPECT_EQ(with([](GgufBuilder &b) {
              b.number("llama.block_count", 2)
                  .array<uint32_t>("llama.attention.head_count", Type::U32,
                                   {1, 3});
            }),
            "m.gguf: expects 'llama.attention.head_count' to be the same for "
            "each layer, but got 1 and 3");
  EXPECT_EQ(with([](GgufBuilder &b) {
              b.number("llama.block_count", 2)
                  .number("llama.attention.key_length", 6)
                  .number("llama.attention.value_length", 8);
            }),
            "m.gguf: expects 'llama.attention.value_length' to be 6, the "
            "channels of a key, but got 8");
}

TEST_F(AdaptedGgufTest, Rotations) {
  auto scaling = [&](const GgufBuilder &builder) {
    AdaptedGguf adapted = llvm::cantFail(adapt(builder));
    const JsonValue *object = adapted.config.getObject()->find("rope_scaling");
    std::string text;
    if (object)
      for (const JsonMember &member : object->getObject()->getMembers())
        text += member.key + " " + member.value.describe() + "; ";
    return text;
  };
  EXPECT_EQ(scaling(llama()), "");
  EXPECT_EQ(scaling(llama()
                        .text("llama.rope.scaling.type", "none")
                        .real("llama.rope.scaling.factor", 4)),
            "");
  EXPECT_EQ(scaling(llama().real("llama.rope.scale_linear", 4)),
            "rope_type \"linear\"; factor 4.0; ");
  EXPECT_EQ(scaling(llama().real("llama.rope.scaling.factor", 4)),
            "rope_type \"linear\"; factor 4.0; ");
  EXPECT_EQ(
      scaling(llama().floats("rope_freqs.weight", {2}, {1, 4})),
      "rope_type \"longrope\"; short_factor an array of 2; long_factor an "
      "array of 2; attention_factor 1.0; ");
  // 2 (0.1 ln 4 + 1)
  EXPECT_EQ(
      scaling(llama()
                  .text("llama.rope.scaling.type", "yarn")
                  .real("llama.rope.scaling.factor", 4)
                  .number("llama.rope.scaling.original_context_length", 16)
                  .real("llama.rope.scaling.attn_factor", 2)),
      "rope_type \"yarn\"; factor 4.0; original_max_position_embeddings "
      "16; attention_factor 2.2772588722239782; ");
  EXPECT_EQ(
      refusal(llama().text("llama.rope.scaling.type", "su")),
      "m.gguf: expects 'llama.rope.scaling.type' to be none, linear, yarn "
      "or longrope, but got \"su\"");
  EXPECT_EQ(refusal(llama().text("llama.rope.scaling.type", "longrope")),
            "m.gguf: lacks tensor 'rope_factors_long.weight', which "
            "'llama.rope.scaling.type' \"longrope\" asks for");
  EXPECT_EQ(refusal(llama()
                        .text("llama.rope.scaling.type", "yarn")
                        .floats("rope_freqs.weight", {2}, {1, 4})),
            "m.gguf: expects no scaling beside tensor 'rope_freqs.weight', but "
            "got 'llama.rope.scaling.type' \"yarn\"");
  EXPECT_EQ(refusal(llama().tensor("rope_freqs.weight", {32}, 2,
                                   std::string(18, '\0'))),
            "m.gguf: expects tensor 'rope_freqs.weight' of F32, F16 or BF16, "
            "but got Q4_0");
}

// A file says by a list which layers have a window, or by a period.
TEST_F(AdaptedGgufTest, WindowsOfGemma) {
  auto gemma = [&] {
    return GgufBuilder()
        .text("general.architecture", "gemma3")
        .number("gemma3.block_count", 7)
        .number("gemma3.embedding_length", 12)
        .number("gemma3.attention.head_count", 3)
        .number("gemma3.attention.key_length", 8)
        .floats("token_embd.weight", {12, 5}, numbers(60));
  };
  auto kinds = [&](const GgufBuilder &builder) {
    AdaptedGguf adapted = llvm::cantFail(adapt(builder));
    EXPECT_TRUE(adapted.form.wholeNorms);
    std::string text;
    for (const JsonValue &kind :
         *adapted.config.getObject()->find("layer_types")->getArray())
      text += (*kind.getString())[0];
    return text + " " + field(adapted, "rope_local_base_freq") + " " +
           field(adapted, "query_pre_attn_scalar");
  };
  EXPECT_EQ(kinds(gemma().number("gemma3.attention.sliding_window", 4)),
            "sssssfs 10000.0 8.0");
  EXPECT_EQ(kinds(gemma()
                      .number("gemma3.attention.sliding_window", 4)
                      .number("gemma3.attention.sliding_window_pattern", 3)
                      .real("gemma3.rope.freq_base_swa", 500)),
            "ssfssfs 500.0 8.0");
  EXPECT_EQ(kinds(gemma()
                      .number("gemma3.attention.sliding_window", 4)
                      .real("gemma3.attention.scale", 0.5)
                      .array<uint8_t>("gemma3.attention.sliding_window_pattern",
                                      Type::Bool, {1, 0, 1, 1, 0, 0, 1})),
            "sfssffs 10000.0 4.0");
  EXPECT_EQ(kinds(gemma()), "fffffff 10000.0 8.0");
}

// Layers that attend and layers with experts have to have a period.
TEST_F(AdaptedGgufTest, PeriodsOfJamba) {
  auto jamba = [&](std::vector<int32_t> heads) {
    return GgufBuilder()
        .text("general.architecture", "jamba")
        .number("jamba.block_count", 4)
        .number("jamba.embedding_length", 6)
        .number("jamba.ssm.inner_size", 12)
        .number("jamba.attention.head_count", 2)
        .array("jamba.attention.head_count_kv", Type::I32, heads)
        .floats("token_embd.weight", {6, 5}, numbers(30));
  };
  AdaptedGguf adapted = llvm::cantFail(adapt(jamba({0, 1, 0, 1})));
  EXPECT_EQ(field(adapted, "attn_layer_period"), "2");
  EXPECT_EQ(field(adapted, "attn_layer_offset"), "1");
  EXPECT_EQ(field(adapted, "num_experts"), "1");
  EXPECT_EQ(refusal(jamba({0, 1, 0, 0})), "success");
  EXPECT_EQ(
      refusal(jamba({1, 1, 0, 1})),
      "m.gguf: expects 'jamba.attention.head_count_kv' to single out every "
      "so many layers, but layer 2 breaks the period of 1");
  EXPECT_EQ(
      refusal(jamba({0, 1, 0, 2})),
      "m.gguf: expects 'jamba.attention.head_count_kv' to be the same for "
      "each layer that has any, but got 1 and 2");
}

// Queries and keys turn unless a key that speaks of training says otherwise.
TEST_F(AdaptedGgufTest, SwitchesOfGranite4) {
  auto granite = [] {
    return GgufBuilder()
        .text("general.architecture", "granitehybrid")
        .number("granitehybrid.block_count", 2)
        .number("granitehybrid.embedding_length", 6)
        .number("granitehybrid.feed_forward_length", 9)
        .number("granitehybrid.ssm.inner_size", 12)
        .number("granitehybrid.ssm.time_step_rank", 3)
        .number("granitehybrid.attention.head_count", 2)
        .number("granitehybrid.attention.key_length", 4)
        .array<int32_t>("granitehybrid.attention.head_count_kv", Type::I32,
                        {0, 1})
        .floats("token_embd.weight", {6, 5}, numbers(30));
  };
  AdaptedGguf adapted = llvm::cantFail(adapt(granite()));
  EXPECT_EQ(field(adapted, "position_embedding_type"), "\"rope\"");
  EXPECT_EQ(field(adapted, "attention_multiplier"), "0.5");
  EXPECT_EQ(field(adapted, "shared_intermediate_size"), "9");
  EXPECT_EQ(field(adapted, "mamba_d_head"), "4");
  EXPECT_EQ(field(adapted, "mamba_expand"), "2");
  AdaptedGguf still = llvm::cantFail(
      adapt(granite()
                .flag("granitehybrid.rope.scaling.finetuned", false)
                .real("granitehybrid.rope.freq_base", 500)
                .number("granitehybrid.expert_count", 4)
                .number("granitehybrid.expert_shared_feed_forward_length", 7)));
  EXPECT_EQ(field(still, "position_embedding_type"), "\"nope\"");
  EXPECT_EQ(field(still, "rope_theta"), "none");
  EXPECT_EQ(field(still, "intermediate_size"), "9");
  EXPECT_EQ(field(still, "shared_intermediate_size"), "7");
}

// The head's factor is in no key, and that of the table of embeddings is another.
TEST_F(AdaptedGgufTest, TiedHeadsOfFalconH1) {
  auto falcon = [] {
    return GgufBuilder()
        .text("general.architecture", "falcon-h1")
        .number("falcon-h1.block_count", 1)
        .number("falcon-h1.embedding_length", 6)
        .number("falcon-h1.ssm.inner_size", 12)
        .number("falcon-h1.ssm.time_step_rank", 3)
        .floats("token_embd.weight", {6, 5}, numbers(30));
  };
  AdaptedGguf adapted = llvm::cantFail(
      adapt(falcon()
                .floats("output.weight", {6, 5}, numbers(30))
                .floats("blk.0.ssm_norm.weight", {6, 2}, numbers(12))));
  EXPECT_EQ(field(adapted, "mamba_rms_norm"), "true");
  EXPECT_EQ(field(adapted, "mamba_norm_before_gate"), "false");
  EXPECT_EQ(field(adapted, "mamba_conv_bias"), "false");
  EXPECT_EQ(floatsOf(adapted, "model.layers.0.mamba.norm.weight"), numbers(12));
  EXPECT_EQ(refusal(falcon()),
            "m.gguf: lacks tensor 'output.weight': the file does not say by "
            "which factor the head differs from the table of embeddings; "
            "compile the checkpoint that it was made from");
}
