// The classes Plamo2Model and Plamo3Model of conversion/plamo.py of llama.cpp.
#include "frontend/gguf/architectures/Rows.h"

#include "frontend/checkpoint/Refusal.h"

using namespace effc::frontend;
using Kind = GgufKeyKind;

// Norms behind a mixer or an MLP have no ".weight".
static constexpr GgufTensorRow kPlamoTensors[] = {
    {"token_embd", "model.embed_tokens"},
    {"output_norm", "model.norm"},
    {"output", "lm_head"},
    {"blk.*.attn_norm", "model.layers.layers.*.pre_mixer_norm"},
    {"blk.*.post_attention_norm",
     "model.layers.layers.*.post_mixer_norm.weight"},
    {"blk.*.ffn_norm", "model.layers.layers.*.pre_mlp_norm"},
    {"blk.*.post_ffw_norm", "model.layers.layers.*.post_mlp_norm.weight"},
    {"blk.*.ffn_up", "model.layers.layers.*.mlp.gate_up_proj"},
    {"blk.*.ffn_down", "model.layers.layers.*.mlp.down_proj"},
    {"blk.*.attn_qkv", "model.layers.layers.*.mixer.qkv_proj"},
    {"blk.*.attn_output", "model.layers.layers.*.mixer.o_proj"},
};

//===----------------------------------------------------------------------===//
// PLaMo-2
//===----------------------------------------------------------------------===//

static constexpr GgufKeyRow kPlamo2Keys[] = {
    {"context_length", "max_position_embeddings"},
    {"feed_forward_length", "intermediate_size", Kind::SameInEachLayer},
    {"attention.layer_norm_rms_epsilon", "rms_norm_eps", Kind::Number},
    {"ssm.state_size", "mamba_d_state"},
    {"ssm.conv_kernel", "mamba_d_conv"},
    {"ssm.time_step_rank", "mamba_num_heads"},
    // All heads share one group.
    {"ssm.group_count", "", Kind::Known},
};
// Norms inside of a mixer have no ".weight" either.
static constexpr GgufTensorRow kPlamo2Tensors[] = {
    {"blk.*.attn_q_norm.weight", "model.layers.layers.*.mixer.q_weight"},
    {"blk.*.attn_k_norm.weight", "model.layers.layers.*.mixer.k_weight"},
    {"blk.*.ssm_in", "model.layers.layers.*.mixer.in_proj"},
    {"blk.*.ssm_conv1d", "model.layers.layers.*.mixer.conv1d"},
    {"blk.*.ssm_x", "model.layers.layers.*.mixer.bcdt_proj"},
    {"blk.*.ssm_dt.bias", "model.layers.layers.*.mixer.dt_bias"},
    {"blk.*.ssm_dt", "model.layers.layers.*.mixer.dt_proj"},
    {"blk.*.ssm_dt_norm", "model.layers.layers.*.mixer.dt_norm_weight"},
    {"blk.*.ssm_b_norm", "model.layers.layers.*.mixer.B_norm_weight"},
    {"blk.*.ssm_c_norm", "model.layers.layers.*.mixer.C_norm_weight"},
    {"blk.*.ssm_a", "model.layers.layers.*.mixer.A_log",
     GgufRule::NegatedExponential},
    {"blk.*.ssm_d", "model.layers.layers.*.mixer.D"},
    {"blk.*.ssm_out", "model.layers.layers.*.mixer.out_proj"},
};

/// `mamba_step`, of which the family makes which layers attend: one in the middle
/// of each so many, or of few layers the last.
static void describePlamo2Layers(GgufConfig &config) {
  llvm::SmallVector<bool> attends = describeAttendingLayers(config);
  auto layers = int64_t(attends.size());
  auto fits = [&](int64_t step) {
    for (int64_t layer = 0; layer < layers; ++layer) {
      bool expected =
          layers <= step / 2 ? layer == layers - 1 : layer % step == step / 2;
      if (attends[size_t(layer)] != expected)
        return false;
    }
    return true;
  };
  std::string key = config.keyOf("attention.head_count_kv");
  if (!llvm::is_contained(attends, false))
    return config.setBoolean("mamba_enabled", false, key);
  for (int64_t step = 2; step <= 2 * layers; ++step)
    if (fits(step))
      return config.setInteger("mamba_step", step, key);
  config.getKeys().report("expects " + quote(key) +
                          " to have keys in the middle layer of each so many, "
                          "as the model has them");
}

/// Norms' weights have 1, 1/5 or 1/5^1.5 added. Layers' windows have no key: the
/// context is the family's as long as all see all keys.
static void describePlamo2(GgufConfig &config) {
  GgufMetadata &keys = config.getKeys();
  describeHeads(config);
  config.rename("head_dim", "hidden_size_per_head");
  describeRotary(config);
  describePlamo2Layers(config);
  config.setInteger("num_attention_heads", config.getHeads(),
                    config.keyOf("attention.head_count"));
  std::string innerKey = config.keyOf("ssm.inner_size");
  int64_t head = readStateSpaceHead(config);
  if (!keys.hasProblem() && head != config.getHeadWidth())
    keys.report("expects " + quote(innerKey) + " to have " +
                llvm::Twine(config.getHeadWidth()) +
                " channels for each head, as keys have, but got " +
                llvm::Twine(head));
}

//===----------------------------------------------------------------------===//
// PLaMo-3
//===----------------------------------------------------------------------===//

static constexpr GgufKeyRow kPlamo3Keys[] = {
    {"attention.sliding_window", "window_size"},
    {"attention.sliding_window_pattern", "sliding_window_pattern"},
    {"rope.freq_base", "rope_theta", Kind::Number},
    {"rope.freq_base_swa", "rope_local_theta", Kind::Number},
};
static constexpr GgufTensorRow kPlamo3Tensors[] = {
    {"blk.*.attn_q_norm", "model.layers.layers.*.mixer.q_norm"},
    {"blk.*.attn_k_norm", "model.layers.layers.*.mixer.k_norm"},
};

/// What the converter makes of `rope_scaling_factor`: YaRN by its usual bounds, whose
/// ramp the family does not round.
static void describePlamo3Scaling(GgufConfig &config) {
  GgufMetadata &keys = config.getKeys();
  std::string kindKey = config.keyOf("rope.scaling.type"),
              factorKey = config.keyOf("rope.scaling.factor"),
              originalKey =
                  config.keyOf("rope.scaling.original_context_length");
  const std::string *kind = keys.getString(kindKey);
  keys.ignore({config.keyOf("rope.scaling.finetuned")});
  if (!kind || *kind == "none")
    return;
  if (*kind != "yarn")
    return keys.report("expects " + quote(kindKey) +
                       " to be none or yarn, but got " + quote(*kind, '"'));
  for (llvm::StringRef key : {factorKey, originalKey})
    if (!keys.has(key))
      keys.report("lacks key " + quote(key));
  config.copy({"rope.scaling.factor", "rope_scaling_factor", Kind::Number});
  config.copy(
      {"rope.scaling.original_context_length", "initial_context_length"});
  keys.getNumber(config.keyOf("rope.scaling.yarn_beta_fast"), 32, 32);
  keys.getNumber(config.keyOf("rope.scaling.yarn_beta_slow"), 1, 1);
}

/// Classes of the authors' differ in what stands for a window or an angle that is
/// missing, so the file has to have them.
static void describePlamo3(GgufConfig &config) {
  GgufMetadata &keys = config.getKeys();
  describeHeads(config);
  for (llvm::StringRef key :
       {"attention.key_length", "attention.sliding_window", "rope.freq_base",
        "rope.freq_base_swa"})
    if (!config.has(key))
      keys.report("lacks key " + quote(config.keyOf(key)));
  keys.getInteger(config.keyOf("rope.dimension_count"), config.getHeadWidth(),
                  config.getHeadWidth());
  describePlamo3Scaling(config);
}

//===----------------------------------------------------------------------===//

static constexpr llvm::ArrayRef<GgufKeyRow> kKeysOf2[] = {kPlamo2Keys},
                                            kKeysOf3[] = {kDecoderKeys,
                                                          kPlamo3Keys};
static constexpr llvm::ArrayRef<GgufTensorRow> kOf2[] = {kPlamoTensors,
                                                         kPlamo2Tensors},
                                               kOf3[] = {kPlamoTensors,
                                                         kPlamo3Tensors};

static constexpr GgufArchitecture kArchitectures[] = {
    {"plamo2", "plamo2", kKeysOf2, kOf2, describePlamo2, /*wholeNorms=*/true},
    {"plamo3", "plamo3", kKeysOf3, kOf3, describePlamo3, /*wholeNorms=*/true},
};
const llvm::ArrayRef<GgufArchitecture> effc::frontend::kPlamoArchitectures =
    kArchitectures;
