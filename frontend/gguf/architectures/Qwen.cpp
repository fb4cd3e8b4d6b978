// conversion/qwen.py and phi.py of llama.cpp.
#include "frontend/gguf/architectures/Rows.h"

using namespace effc::frontend;
using Kind = GgufKeyKind;

static void describePlain(GgufConfig &config) {
  describeHeads(config);
  describeRotary(config);
}

static void describeQwen3(GgufConfig &config) {
  describePlain(config);
  if (config.getModel().find("blk.0.attn_q.bias"))
    config.setBoolean("attention_bias", true, "blk.0.attn_q.bias");
}

/// Whether the shares of the experts taken sum up to 1 is said by a key, or by
/// the architecture.
static void describeShares(GgufConfig &config, bool otherwise) {
  config.setBoolean("norm_topk_prob", otherwise,
                    config.keyOf("expert_weights_norm"));
  config.copy({"expert_weights_norm", "norm_topk_prob", Kind::Boolean});
}

static void describeQwen2Moe(GgufConfig &config) {
  describePlain(config);
  describeShares(config, false);
  describeDenseLayers(config);
}

static void describeQwen3Moe(GgufConfig &config) {
  describeQwen3(config);
  describeShares(config, true);
  describeDenseLayers(config);
}

static constexpr llvm::ArrayRef<GgufKeyRow> kKeys[] = {kDecoderKeys},
                                            kMoeKeys[] = {kDecoderKeys,
                                                          kExpertKeys};
static constexpr llvm::ArrayRef<GgufTensorRow>
    kTensors[] = {kOuterTensors, kAttentionTensors, kMlpTensors, kTwoNorms},
    kMoeTensors[] = {kOuterTensors, kAttentionTensors, kExpertTensors,
                     kMlpTensors, kTwoNorms};

static constexpr GgufArchitecture kArchitectures[] = {
    {"qwen2", "qwen2", kKeys, kTensors, describePlain},
    {"qwen2moe", "qwen2_moe", kMoeKeys, kMoeTensors, describeQwen2Moe},
    {"qwen3", "qwen3", kKeys, kTensors, describeQwen3},
    {"qwen3moe", "qwen3_moe", kMoeKeys, kMoeTensors, describeQwen3Moe},
};
const llvm::ArrayRef<GgufArchitecture> effc::frontend::kQwenArchitectures =
    kArchitectures;
