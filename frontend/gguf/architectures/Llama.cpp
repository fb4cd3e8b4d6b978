// conversion/llama.py, granite.py and phi.py of llama.cpp.
#include "frontend/gguf/architectures/Rows.h"

#include "frontend/checkpoint/Refusal.h"

using namespace effc::frontend;

static void describePlain(GgufConfig &config) {
  describeHeads(config);
  describeRotary(config);
}

/// Biases of attention have no key: they are there or not.
static void describeLlama(GgufConfig &config) {
  describePlain(config);
  if (config.getModel().find("blk.0.attn_q.bias"))
    config.setBoolean("attention_bias", true, "blk.0.attn_q.bias");
  if (config.getModel().find("blk.0.ffn_up.bias"))
    config.setBoolean("mlp_bias", true, "blk.0.ffn_up.bias");
}

// Experts of Mixtral, whose files have the same architecture.
static constexpr GgufTensorRow kMixtralTensors[] = {
    {"blk.*.ffn_gate_inp", "model.layers.*.block_sparse_moe.gate"},
    {"blk.*.ffn_gate_exps", "model.layers.*.block_sparse_moe.experts.#.w1"},
    {"blk.*.ffn_up_exps", "model.layers.*.block_sparse_moe.experts.#.w3"},
    {"blk.*.ffn_down_exps", "model.layers.*.block_sparse_moe.experts.#.w2"},
};

static void describeLlamaOrMixtral(GgufConfig &config) {
  describeLlama(config);
  std::string key = config.keyOf("expert_count");
  auto count = config.getKeys().getInteger(key, 0, int64_t(1) << 14);
  if (!count || *count == 0) {
    config.getKeys().ignore({config.keyOf("expert_used_count")});
    return;
  }
  config.setText("model_type", "mixtral", key);
  config.setInteger("num_local_experts", *count, key);
  config.copy({"expert_used_count", "num_experts_per_tok"});
}

// Queries, keys and values, and gates and ups, in one tensor as in the family's own
// checkpoints.
static constexpr GgufTensorRow kFusedTensors[] = {
    {"blk.*.attn_qkv", "model.layers.*.self_attn.qkv_proj"},
    {"blk.*.attn_output", "model.layers.*.self_attn.o_proj"},
    {"blk.*.ffn_up", "model.layers.*.mlp.gate_up_proj"},
    {"blk.*.ffn_down", "model.layers.*.mlp.down_proj"},
};

/// Two lists of factors stand for a kind of scaling that no key names. A window of
/// 0 is none.
static void describePhi3(GgufConfig &config) {
  describePlain(config);
  std::string key = config.keyOf("attention.sliding_window");
  if (auto window = config.getKeys().getInteger(key, 0, int64_t(1) << 30);
      window && *window > 0)
    config.setInteger("sliding_window", *window, key);
}

// Granite 4 without a recurrent layer is of the same architecture. What its files
// have beside says nothing: no layer has a state or experts, and the MLP is as wide
// as its tensors.
static constexpr GgufKeyRow kPlainGranite4Keys[] = {
    {"expert_shared_feed_forward_length", "", GgufKeyKind::Known},
    {"ssm.conv_kernel", "", GgufKeyKind::Known},
    {"ssm.state_size", "", GgufKeyKind::Known},
    {"ssm.group_count", "", GgufKeyKind::Known},
    {"ssm.inner_size", "", GgufKeyKind::Known},
    {"ssm.time_step_rank", "", GgufKeyKind::Known},
};

static void describeGranite(GgufConfig &config) {
  describeLlama(config);
  GgufMetadata &keys = config.getKeys();
  for (llvm::StringRef key : {"expert_count", "expert_used_count"})
    keys.getInteger(config.keyOf(key), 0, 0);
  std::string turns = config.keyOf("rope.scaling.finetuned");
  if (keys.getBoolean(turns) == false)
    keys.report("expects " + quote(turns) +
                " to be true, but got false: a Granite that turns nothing is "
                "not read");
}

static constexpr llvm::ArrayRef<GgufKeyRow> kKeys[] = {kDecoderKeys},
                                            kKeysOfGranite[] = {
                                                kDecoderKeys, kGraniteKeys,
                                                kPlainGranite4Keys};
static constexpr llvm::ArrayRef<GgufTensorRow> kPairedTensors[] = {
    kOuterTensors, kPairedAttentionTensors, kMlpTensors, kTwoNorms};

static constexpr llvm::ArrayRef<GgufTensorRow> kOfLlama[] = {
    kOuterTensors, kPairedAttentionTensors, kMlpTensors, kTwoNorms,
    kMixtralTensors};

static constexpr llvm::ArrayRef<GgufTensorRow> kOfPhi3[] = {
    kOuterTensors, kFusedTensors, kTwoNorms};

static constexpr GgufArchitecture kArchitectures[] = {
    {"granite", "granite", kKeysOfGranite, kPairedTensors, describeGranite},
    {"llama", "llama", kKeys, kOfLlama, describeLlamaOrMixtral},
    {"phi3", "phi3", kKeys, kOfPhi3, describePhi3},
};
const llvm::ArrayRef<GgufArchitecture> effc::frontend::kLlamaArchitectures =
    kArchitectures;
