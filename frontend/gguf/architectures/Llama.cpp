// conversion/llama.py, qwen.py and phi.py of llama.cpp.
#include "frontend/gguf/architectures/Rows.h"

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

static constexpr llvm::ArrayRef<GgufKeyRow> kKeys[] = {kDecoderKeys};
static constexpr llvm::ArrayRef<GgufTensorRow> kPairedTensors[] = {
    kOuterTensors, kPairedAttentionTensors, kMlpTensors, kTwoNorms};

static constexpr GgufArchitecture kArchitectures[] = {
    {"llama", "llama", kKeys, kPairedTensors, describeLlama},
};
const llvm::ArrayRef<GgufArchitecture> effc::frontend::kLlamaArchitectures =
    kArchitectures;
