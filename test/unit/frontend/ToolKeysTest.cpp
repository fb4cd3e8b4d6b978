// What is done about keys of config.json that no family reads: which are
// remarks, which are refused, and that all of them are told of at once.
#include "test/unit/frontend/ConfigImport.h"

#include <algorithm>

using namespace effc::frontend;
using namespace effc::test;
using nlohmann::json;

namespace {

/// A Llama of 2 layers, whose sizes all differ.
class ToolKeysTest : public ConfigImport {
protected:
  ToolKeysTest()
      : ConfigImport({{"model_type", "llama"},
                      {"architectures", {"LlamaForCausalLM"}},
                      {"vocab_size", 40},
                      {"hidden_size", 24},
                      {"intermediate_size", 56},
                      {"num_hidden_layers", 2},
                      {"num_attention_heads", 3},
                      {"max_position_embeddings", 64},
                      {"torch_dtype", "float32"}}) {}

  void expectIgnored(const std::string &key, const json &value) {
    EXPECT_EQ(importWith(key, value), "success") << key << " = " << value;
    EXPECT_TRUE(std::any_of(remarks.begin(), remarks.end(),
                            [&](const std::string &remark) {
                              return remark.find("'" + key + "' is ignored") !=
                                     std::string::npos;
                            }))
        << key;
  }
};

} // namespace

// As transformers (the base class of configurations, 4.30 to 5.24), Unsloth,
// Axolotl, transformers.js, Optimum, PEFT and mergekit write them, and as
// published configurations have them.
TEST_F(ToolKeysTest, WhatToolsWriteIsARemark) {
  const std::pair<const char *, json> kWritten[] = {
      {"_model_name_or_path", "x"},
      {"_name_or_path", "x"},
      {"_commit_hash", nullptr},
      {"add_cross_attention", false},
      {"bad_words_ids", nullptr},
      {"begin_suppress_tokens", nullptr},
      {"chunk_size_feed_forward", 0},
      {"cross_attention_hidden_size", nullptr},
      {"decoder_start_token_id", nullptr},
      {"diversity_penalty", 0.0},
      {"early_stopping", false},
      {"encoder_no_repeat_ngram_size", 0},
      {"exponential_decay_length_penalty", nullptr},
      {"finetuning_task", nullptr},
      {"forced_bos_token_id", nullptr},
      {"forced_eos_token_id", nullptr},
      {"gradient_checkpointing", true},
      {"id2label", {{"0", "LABEL_0"}, {"1", "LABEL_1"}}},
      {"is_decoder", false},
      {"is_llama_config", true},
      {"label2id", {{"LABEL_0", 0}}},
      {"length_penalty", 1.0},
      {"max_length", 20},
      {"min_length", 0},
      {"neftune_noise_alpha", 5.0},
      {"no_repeat_ngram_size", 0},
      {"num_beam_groups", 1},
      {"num_beams", 1},
      {"num_return_sequences", 1},
      {"output_attentions", false},
      {"output_hidden_states", false},
      {"output_scores", false},
      {"prefix", nullptr},
      {"problem_type", nullptr},
      {"pruned_heads", json::object()},
      {"remove_invalid_values", false},
      {"return_dict", true},
      {"return_dict_in_generate", false},
      {"rope_interleaved", false},
      {"sep_token_id", nullptr},
      {"sliding_window", nullptr},
      {"suppress_tokens", nullptr},
      {"task_specific_params", nullptr},
      {"tf_legacy_loss", false},
      {"tie_encoder_decoder", false},
      {"tokenizer_class", nullptr},
      {"torchscript", false},
      {"transformers.js_config", {{"kv_cache_dtype", {{"fp16", "float16"}}}}},
      {"typical_p", 1.0},
      {"unk_token_id", 0},
      {"unsloth_fixed", true},
      {"unsloth_version", "2026.4.4"},
      {"use_bfloat16", false},
      {"use_mrope", false}};
  for (const auto &[key, value] : kWritten)
    expectIgnored(key, value);
}

TEST_F(ToolKeysTest, NullIsFalseUnlessAMissingKeyIsTrue) {
  for (const char *key : {"attention_bias", "mlp_bias", "tie_word_embeddings",
                          "is_encoder_decoder", "quantization_config"})
    EXPECT_EQ(importWith(key, nullptr), "success") << key;
  config = {{"model_type", "mamba"},    {"vocab_size", 40},
            {"hidden_size", 24},        {"num_hidden_layers", 1},
            {"torch_dtype", "float32"}, {"use_conv_bias", nullptr}};
  EXPECT_EQ(import(), "config.json: expects 'use_conv_bias' to be true or "
                      "false, but got null");
}

// The same keys where they ask for something.
TEST_F(ToolKeysTest, ValuesThatChangeTheModelAreRefused) {
  for (const char *key :
       {"use_mrope", "rope_interleaved", "add_cross_attention",
        "tie_encoder_decoder", "use_sliding_window"})
    EXPECT_EQ(importWith(key, true),
              "config.json: unsupported key '" + std::string(key) +
                  "' (expects false, but got true) is refused: it may change "
                  "the model; where nothing depends on it, --allow " +
                  key);
  EXPECT_EQ(
      importWith("pruned_heads", {{"0", {1}}}),
      "config.json: unsupported key 'pruned_heads' (expects {} or [], but "
      "got an object) is refused: it may change the model; where "
      "nothing depends on it, --allow pruned_heads");
  config["use_mrope"] = true;
  EXPECT_EQ(importWith("hidden_sise", 7),
            "config.json: unknown or unsupported keys 'hidden_sise' and "
            "'use_mrope' (expects false, but got true) are refused: they may "
            "change the model; where nothing depends on them, --allow "
            "hidden_sise,use_mrope");
}

TEST_F(ToolKeysTest, AllUnknownKeysInOneMessage) {
  config["rope_scaling"] = {
      {"type", "linear"}, {"factor", 2.0}, {"a_third", 1}};
  config["hidden_sise"] = 24;
  config["a_first"] = "x";
  config["a_null"] = nullptr;
  EXPECT_EQ(import(),
            "config.json: unknown keys 'rope_scaling.a_third', 'a_first' and "
            "'hidden_sise' are refused: they may change the model; where "
            "nothing depends on them, --allow "
            "rope_scaling.a_third,a_first,hidden_sise");
  allow = {"a_first", "hidden_sise", "rope_scaling.a_third"};
  EXPECT_EQ(import(), "success");
  EXPECT_NE(std::find(remarks.begin(), remarks.end(),
                      "config.json: 'a_first' is ignored: --allow a_first"),
            remarks.end());
  EXPECT_NE(std::find(remarks.begin(), remarks.end(),
                      "config.json: rope_scaling: 'a_third' is ignored: "
                      "--allow rope_scaling.a_third"),
            remarks.end());
}

// A key that is there is not what another one may have meant.
TEST_F(ToolKeysTest, AMisspeltKeyIsTold) {
  EXPECT_EQ(importWith("atention_bias", true),
            "config.json: unknown key 'atention_bias' (is 'attention_bias' "
            "meant?) is refused: it may change the model; where nothing "
            "depends on it, --allow atention_bias");
}

TEST_F(ToolKeysTest, QuantisedWeightsAreNamed) {
  const std::pair<json, const char *> kKinds[] = {
      {{{"quant_method", "aqlm"}, {"nbits_per_codebook", 16}}, " ('aqlm')"},
      {{{"quant_method", "eetq"}, {"weights", "int8"}}, " ('eetq', 'int8')"},
      {{{"quant_method", "hqq"}, {"nbits", 4}}, " ('hqq', 4 bits)"},
      {{{"bits", 3}, {"group_size", 64}}, " (3 bits)"},
      {json::object(), ""}};
  for (const auto &[value, told] : kKinds)
    EXPECT_EQ(
        importWith("quantization_config", value),
        "config.json: 'quantization_config' says that the weights are "
        "quantised" +
            std::string(told) +
            ", which is not read (what is: auto-round, awq, bitsandbytes, "
            "compressed-tensors, fbgemm_fp8, fp8, gptq, modelopt, mxfp4): take "
            "the unquantised checkpoint from which this one was made, or "
            "write its weights in bf16, f16 or f32; where they are so "
            "already, --allow quantization_config");
  // MLX's key.
  EXPECT_EQ(importWith("quantization", {{"bits", 4}, {"group_size", 64}})
                .find("config.json: 'quantization' says that the weights are "
                      "quantised (4 bits), which is not read"),
            0u);
  // Those that are read are known of their tensors.
  const std::pair<json, const char *> kRead[] = {
      {{{"quant_method", "gptq"}, {"bits", 4}}, "'gptq', 4 bits"},
      {{{"quant_method", "bitsandbytes"}, {"load_in_8bit", true}},
       "'bitsandbytes', 8 bits"},
      {{{"quant_method", "fp8"}, {"fmt", "e4m3"}}, "'fp8', 'e4m3'"}};
  for (const auto &[value, told] : kRead)
    EXPECT_EQ(importWith("quantization_config", value),
              "config.json: 'quantization_config' says that the weights are "
              "quantised (" +
                  std::string(told) +
                  "), but how each is stored is known of tensors alone, and "
                  "there are none: where those of another type may stand for "
                  "them, --allow quantization_config");
  allow = {"quantization_config"};
  EXPECT_EQ(importWith("quantization_config", kKinds[0].first), "success");
}

// Releases 5 of the library write one spelling of rotary settings, older tools
// the other; both may stand there as long as they agree.
TEST_F(ToolKeysTest, BothSpellingsOfRotarySettings) {
  config["rope_parameters"] = {{"rope_type", "default"},
                               {"rope_theta", 10000.0}};
  EXPECT_EQ(importWith("rope_scaling", nullptr), "success");
  EXPECT_EQ(importWith("rope_scaling", {{"type", "default"}}), "success");
  EXPECT_EQ(importWith("rope_theta", 10000), "success");
  EXPECT_EQ(importWith("rope_theta", 5e5),
            "config.json: rope_parameters: expects 'rope_theta' to be "
            "'rope_theta' of config.json, 500000, but got 10000");
  EXPECT_EQ(
      importWith("rope_scaling", {{"type", "linear"}, {"factor", 2.0}}),
      "config.json: 'rope_parameters' and 'rope_scaling' say different "
      "things: 'rope_type' is \"default\" in the one and \"linear\" in the "
      "other");
  config["rope_parameters"] = {
      {"rope_type", "linear"}, {"rope_theta", 1e4}, {"factor", 2}};
  EXPECT_EQ(importWith("rope_scaling", {{"type", "linear"}, {"factor", 2.0}}),
            "success");
}

// All that the class of Rodimus' authors saves (configuration_rodimus.py of
// codefuse-ai/rodimus), with its own values: what the checkpoints that come with
// that code have in their configurations.
TEST_F(ToolKeysTest, AllKeysOfTheAuthorsRodimus) {
  config = {{"architectures", {"RodimusForCausalLM"}},
            {"auto_map",
             {{"AutoConfig", "configuration_rodimus.RodimusConfig"},
              {"AutoModelForCausalLM", "modeling_rodimus.RodimusForCausalLM"}}},
            {"model_type", "rodimus"},
            {"block_type", "rodimus_plus"},
            {"d_model", 24},
            {"n_layer", 2},
            {"vocab_size", 61},
            {"norm_epsilon", 1e-5},
            {"initializer_range", 0.02},
            {"rescale_prenorm_residual", true},
            {"residual_in_fp32", true},
            {"use_fast_path", true},
            {"use_fused_cross_entropy", false},
            {"use_fused_swiglu", true},
            {"dropout", 0.0},
            {"activation_dropout", 0.0},
            {"attention_dropout", 0.0},
            {"mixer_cfg",
             {{"d_conv", 4},
              {"expand_ratio", 1.5},
              {"mem_size", 7},
              {"input_gate_low_rank", 5}}},
            {"attn_cfg",
             {{"num_heads", 3},
              {"num_heads_k", 1},
              {"num_heads_v", 3},
              {"window_size", 18}}},
            {"max_position_embeddings", 64},
            {"pad_token_id", nullptr},
            {"bos_token_id", 0},
            {"eos_token_id", 0},
            {"tie_word_embeddings", false},
            {"use_cache", true},
            {"use_scale_embedding", false},
            {"use_norm_embedding", false},
            {"no_weight_decay_on_bias", true},
            {"no_weight_decay_on_norm", true},
            {"no_weight_decay_on_embedding", true},
            {"torch_dtype", "bfloat16"},
            {"transformers_version", "4.46.3"}};
  EXPECT_EQ(import(), "success");
}
