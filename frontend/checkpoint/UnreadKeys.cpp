// The table of keys that tools write and no forward pass of a decoder reads.
//
// Sources, by the letter of a row:
//   B  the public library's base configuration (transformers,
//      configuration_utils.py of 4.30, 4.57 and 5.24)
//   G  settings of generation that releases before 5 wrote there too
//      (generation/configuration_utils.py of the same)
//   C  what configuration classes of families hand to training alone: dropout,
//      initial values, auxiliary losses
//   T  fine-tuning: Unsloth, Axolotl, PEFT, TRL, LLaMA-Factory
//   E  export and serving: transformers.js, Optimum, ONNX, vLLM,
//      text-generation-inference, mergekit, llama.cpp's converter
//   V  options of another model that shares a configuration class: harmless
//      with the value that switches them off
#include "frontend/checkpoint/UnreadKeys.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace effc::frontend;

namespace {
struct ToolKey {
  llvm::StringLiteral name;
  char source;
  /// The values with which the key changes nothing, separated by spaces; empty:
  /// any. "[]" and "{}" are an empty array and object.
  llvm::StringLiteral neutral;
};
} // namespace

// In the order of names, so that one is found by bisection and none twice.
static constexpr ToolKey kToolKeys[] = {
    {"activation_dropout", 'C', ""},
    {"adapters", 'T', "{} []"},
    {"add_bos_token", 'E', ""},
    {"add_cross_attention", 'B', "false"},
    {"add_eos_token", 'E', ""},
    {"assistant_token_id", 'B', ""},
    {"attention_dropout", 'C', ""},
    {"attn_implementation", 'B', ""},
    {"attn_pdrop", 'C', ""},
    {"aux_loss_alpha", 'C', ""},
    {"bad_words_ids", 'G', "[]"},
    {"base_model_name_or_path", 'T', ""},
    {"begin_suppress_tokens", 'G', "[]"},
    {"bos_token", 'B', ""},
    {"bos_token_id", 'B', ""},
    {"cache_implementation", 'G', ""},
    {"chat_template", 'E', ""},
    {"chunk_size_feed_forward", 'B', ""},
    {"classifier_bias", 'C', ""},
    {"classifier_dropout", 'C', ""},
    {"cls_token_id", 'B', ""},
    {"cross_attention_hidden_size", 'B', "0"},
    {"decoder_start_token_id", 'B', ""},
    {"diversity_penalty", 'G', "0"},
    {"do_sample", 'G', ""},
    {"dropout", 'C', ""},
    {"dtype", 'B', ""},
    {"early_stopping", 'G', ""},
    {"embd_pdrop", 'C', ""},
    {"encoder_no_repeat_ngram_size", 'G', "0"},
    {"encoder_repetition_penalty", 'G', "1"},
    {"eos_token", 'B', ""},
    {"eos_token_id", 'B', ""},
    {"epsilon_cutoff", 'G', "0"},
    {"eta_cutoff", 'G', "0"},
    {"exponential_decay_length_penalty", 'G', "[]"},
    {"finetuned_from", 'T', ""},
    {"finetuning_task", 'B', ""},
    {"finetuning_type", 'T', ""},
    {"forced_bos_token_id", 'G', ""},
    {"forced_eos_token_id", 'G', ""},
    {"fp16", 'T', ""},
    {"gradient_checkpointing", 'B', ""},
    {"gradient_checkpointing_kwargs", 'T', ""},
    {"hidden_dropout", 'C', ""},
    {"hidden_dropout_prob", 'C', ""},
    {"id2label", 'B', ""},
    {"init_device", 'T', ""},
    {"init_std", 'C', ""},
    {"initializer_range", 'C', ""},
    {"is_decoder", 'B', ""},
    {"is_encoder_decoder", 'B', "false"},
    {"is_llama_config", 'E', ""},
    {"keys_to_ignore_at_inference", 'B', ""},
    {"label2id", 'B', ""},
    {"label_smoothing", 'T', ""},
    {"layerdrop", 'C', "0"},
    {"length_penalty", 'G', ""},
    {"load_in_4bit", 'T', "false"},
    {"load_in_8bit", 'T', "false"},
    {"logits_to_keep", 'B', ""},
    {"loss_type", 'C', ""},
    {"low_cpu_mem_usage", 'T', ""},
    {"mask_token_id", 'B', ""},
    {"max_length", 'G', ""},
    {"max_new_tokens", 'G', ""},
    {"max_seq_len", 'E', ""},
    {"max_sequence_length", 'E', ""},
    {"max_time", 'G', ""},
    {"mergekit_version", 'E', ""},
    {"min_length", 'G', ""},
    {"min_new_tokens", 'G', ""},
    {"min_p", 'G', ""},
    {"mlx_version", 'E', ""},
    {"model_max_length", 'E', ""},
    {"model_name", 'T', ""},
    {"n_special", 'V', "0"},
    {"name_or_path", 'B', ""},
    {"neftune_noise_alpha", 'T', ""},
    {"no_repeat_ngram_size", 'G', "0"},
    {"num_beam_groups", 'G', "1"},
    {"num_beams", 'G', "1"},
    {"num_labels", 'B', ""},
    {"num_logits_to_keep", 'B', ""},
    {"num_nextn_predict_layers", 'V', "0"},
    {"num_return_sequences", 'G', ""},
    {"onnx_export", 'E', ""},
    {"output_attentions", 'B', ""},
    {"output_hidden_states", 'B', ""},
    {"output_logits", 'G', ""},
    {"output_router_logits", 'C', ""},
    {"output_scores", 'G', ""},
    {"pad_token", 'B', ""},
    {"pad_token_id", 'B', ""},
    {"penalty_alpha", 'G', "0"},
    {"predict_special_tokens", 'C', ""},
    {"prefix", 'B', ""},
    {"pretraining_tp", 'C', ""},
    {"problem_type", 'B', ""},
    {"pruned_heads", 'B', "{} []"},
    {"remove_invalid_values", 'G', ""},
    {"renormalize_logits", 'G', ""},
    {"repetition_penalty", 'G', ""},
    {"resid_pdrop", 'C', ""},
    {"return_dict", 'B', ""},
    {"return_dict_in_generate", 'G', ""},
    {"rope_interleaved", 'V', "false"},
    {"router_aux_loss_coef", 'C', ""},
    {"router_jitter_noise", 'C', ""},
    {"sep_token_id", 'B', ""},
    {"sequence_bias", 'G', "[] {}"},
    {"suppress_tokens", 'G', "[]"},
    {"task_specific_params", 'B', ""},
    {"temperature", 'G', ""},
    {"text_model_name_or_path", 'E', ""},
    {"tf_legacy_loss", 'B', ""},
    {"tie_encoder_decoder", 'B', "false"},
    {"tokenizer_class", 'B', ""},
    {"top_k", 'G', ""},
    {"top_p", 'G', ""},
    {"torch_dtype", 'B', ""},
    {"torchscript", 'B', ""},
    {"transformers.js_config", 'E', ""},
    {"transformers_version", 'B', ""},
    {"trust_remote_code", 'E', ""},
    {"typical_p", 'G', "1"},
    {"unk_token_id", 'B', ""},
    {"use_bfloat16", 'B', ""},
    {"use_cache", 'B', ""},
    {"use_flash_attention", 'T', ""},
    {"use_flash_attention_2", 'T', ""},
    {"use_flash_attn", 'T', ""},
    {"use_logn_attn", 'V', "false"},
    {"use_memorry_efficient_attention", 'T', ""},
    {"use_memory_efficient_attention", 'T', ""},
    {"use_mrope", 'V', "false"},
    {"use_sdpa_attention", 'T', ""},
    {"use_sliding_window", 'V', "false"},
    {"use_xformers", 'T', ""},
    {"xla_device", 'B', ""},
};

/// What a tool begins all its keys with: Unsloth writes its version and marks.
static constexpr llvm::StringLiteral kToolPrefixes[] = {"unsloth_", "axolotl_"};

static constexpr bool isSorted() {
  for (size_t i = 1; i < std::size(kToolKeys); ++i)
    if (std::string_view(kToolKeys[i - 1].name) >=
        std::string_view(kToolKeys[i].name))
      return false;
  return true;
}
static_assert(isSorted(), "the table is in the order of its names");

static bool is(const JsonValue &value, llvm::StringRef text) {
  if (text == "[]")
    return value.getArray() && value.getArray()->empty();
  if (text == "{}")
    return value.getObject() && value.getObject()->getMembers().empty();
  if (text == "true" || text == "false")
    return value.getBoolean() == (text == "true");
  double number = 0;
  return !text.getAsDouble(number) && value.getNumber() == number;
}

UnreadKey effc::frontend::judgeUnreadKey(llvm::StringRef key,
                                         const JsonValue &value, bool isWhole) {
  if (value.isNull())
    return {"null asks for nothing", ""};
  if (key.starts_with("_"))
    return {"a name that begins with '_' is a note", ""};
  if (!isWhole)
    return {};
  constexpr llvm::StringLiteral kReason = "it does not change the results";
  if (llvm::any_of(kToolPrefixes, [&](llvm::StringRef prefix) {
        return key.starts_with(prefix);
      }))
    return {kReason.str(), ""};
  const ToolKey *found = llvm::lower_bound(
      kToolKeys, key, [](const ToolKey &row, llvm::StringRef name) {
        return llvm::StringRef(row.name) < name;
      });
  if (found == std::end(kToolKeys) || found->name != key)
    return {};
  if (found->neutral.empty())
    return {kReason.str(), ""};
  auto values = llvm::split(found->neutral, ' ');
  if (llvm::any_of(values,
                   [&](llvm::StringRef text) { return is(value, text); }))
    return {kReason.str(), ""};
  return {"", llvm::join(values, " or ")};
}

std::vector<llvm::StringRef> effc::frontend::listToolKeys() {
  std::vector<llvm::StringRef> names;
  for (const ToolKey &row : kToolKeys)
    names.push_back(row.name);
  return names;
}
