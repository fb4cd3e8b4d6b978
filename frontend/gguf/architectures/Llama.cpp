// conversion/llama.py, mistral3.py, granite.py and phi.py of llama.cpp.
#include "frontend/gguf/architectures/Rows.h"

#include "frontend/checkpoint/Refusal.h"

#include <cmath>

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

/// The format's own library takes 1 for `mscale`. Queries grow by the logarithm of
/// how often the original context has passed.
static void describeMinistralYarn(GgufConfig &config, GgufConfig &scaling) {
  GgufMetadata &keys = config.getKeys();
  std::string key = config.keyOf("rope.scaling.yarn_log_multiplier"),
              shareKey = config.keyOf("rope.scaling.attn_factor");
  if (auto all = keys.getNumber(key, 0, 1e3); all && *all > 0) {
    if (keys.has(shareKey))
      keys.report("expects no " + quote(shareKey) + " beside " + quote(key));
    scaling.setNumber("mscale", 1, key);
    scaling.setNumber("mscale_all_dim", *all, key);
  }
  std::string growthKey = config.keyOf("attention.temperature_scale");
  if (auto growth = keys.getNumber(growthKey, 0, 1e6); growth && *growth > 0)
    scaling.setNumber("llama_4_scaling_beta", *growth, growthKey);
}

/// Ministral 3, or without growing queries Mistral Small 3, which is of Mistral's
/// family.
static void describeMistral3(GgufConfig &config) {
  GgufMetadata &keys = config.getKeys();
  describeHeads(config);
  describeRotary(config, {.describeYarn = describeMinistralYarn});
  std::string key = config.keyOf("attention.temperature_scale"),
              kindKey = config.keyOf("rope.scaling.type");
  auto growth = keys.getNumber(key, 0, 1e6);
  if (!growth || *growth == 0)
    return config.setText("model_type", "mistral", key);
  const std::string *kind = keys.getString(kindKey);
  if (!kind || *kind != "yarn")
    keys.report("expects " + quote(kindKey) + " to be \"yarn\" beside " +
                quote(key) + ", but got " +
                (kind ? quote(*kind, '"') : std::string("none")));
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

//===----------------------------------------------------------------------===//
// Granite with windows
//===----------------------------------------------------------------------===//

static constexpr GgufKeyRow kGraniteSwaKeys[] = {
    {"attention.sliding_window", "sliding_window"},
};
static constexpr GgufTensorRow kSinks[] = {
    {"blk.*.attn_sinks.weight", "model.layers.*.self_attn.sinks"},
};

/// Which layers have the window, and which turn: all without a list.
static void describeGraniteSwa(GgufConfig &config) {
  describeLlama(config);
  GgufMetadata &keys = config.getKeys();
  for (llvm::StringRef key : {"expert_count", "expert_used_count"})
    keys.getInteger(config.keyOf(key), 0, 0);
  // As the format's own library has it.
  if (!config.has("attention.scale"))
    config.setNumber("attention_multiplier",
                     1 / std::sqrt(double(config.getHeadWidth())),
                     config.keyOf("attention.scale"));
  auto layers = uint64_t(config.getLayers() + config.getFurtherLayers());
  std::string windowKey = config.keyOf("attention.sliding_window"),
              kindsKey = config.keyOf("attention.sliding_window_pattern"),
              turnsKey = config.keyOf("attention.rope_pattern");
  for (const std::string &key : {windowKey, kindsKey})
    if (!keys.has(key))
      keys.report("lacks key " + quote(key));
  if (auto slides = keys.getBooleans(kindsKey, layers)) {
    std::vector<llvm::StringRef> kinds;
    for (int64_t layer = 0; layer < config.getLayers(); ++layer)
      kinds.push_back((*slides)[size_t(layer)] ? "sliding_attention"
                                               : "full_attention");
    config.setTexts("layer_types", kinds, kindsKey);
  }
  if (auto turns = keys.getBooleans(turnsKey, layers)) {
    double theta = keys.getNumber(config.keyOf("rope.freq_base"), 1e-6, 1e15)
                       .value_or(1e4);
    JsonArray thetas;
    for (int64_t layer = 0; layer < config.getLayers(); ++layer)
      thetas.push_back(JsonValue((*turns)[size_t(layer)] ? theta : 0.0));
    config.set("layer_rope_theta", JsonValue(std::move(thetas)), turnsKey);
  }
}

//===----------------------------------------------------------------------===//

static constexpr llvm::ArrayRef<GgufKeyRow>
    kKeys[] = {kDecoderKeys},
    kKeysOfGranite[] = {kDecoderKeys, kGraniteKeys, kPlainGranite4Keys},
    kKeysOfGraniteSwa[] = {kDecoderKeys, kGraniteKeys, kGraniteSwaKeys};
static constexpr llvm::ArrayRef<GgufTensorRow> kPairedTensors[] = {
    kOuterTensors, kPairedAttentionTensors, kMlpTensors, kTwoNorms};

static constexpr llvm::ArrayRef<GgufTensorRow> kOfLlama[] = {
    kOuterTensors, kPairedAttentionTensors, kMlpTensors, kTwoNorms,
    kMixtralTensors};

static constexpr llvm::ArrayRef<GgufTensorRow> kOfGraniteSwa[] = {
    kOuterTensors, kPairedAttentionTensors, kMlpTensors, kTwoNorms, kSinks};

static constexpr llvm::ArrayRef<GgufTensorRow> kOfPhi3[] = {
    kOuterTensors, kFusedTensors, kTwoNorms};

static constexpr GgufArchitecture kArchitectures[] = {
    {"granite", "granite", kKeysOfGranite, kPairedTensors, describeGranite},
    {"granite_swa", "granite_swa", kKeysOfGraniteSwa, kOfGraniteSwa,
     describeGraniteSwa},
    {"llama", "llama", kKeys, kOfLlama, describeLlamaOrMixtral},
    {"mistral3", "ministral3", kKeys, kPairedTensors, describeMistral3},
    {"phi3", "phi3", kKeys, kOfPhi3, describePhi3},
};
const llvm::ArrayRef<GgufArchitecture> effc::frontend::kLlamaArchitectures =
    kArchitectures;
