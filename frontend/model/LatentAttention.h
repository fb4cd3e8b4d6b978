// Attention whose keys and values lie in one compressed row for all heads
// (multi-head latent attention, MLA). Source: DeepSeek-AI, DeepSeek-V2,
// arXiv:2405.04434, section 2.1.
#ifndef EFFC_FRONTEND_MODEL_LATENTATTENTION_H
#define EFFC_FRONTEND_MODEL_LATENTATTENTION_H

#include "frontend/model/Attention.h"

namespace effc::frontend {

struct LatentConfig {
  /// H heads; K channels of each query and key that a head's own matrix makes,
  /// R that all heads' keys share, V of each value.
  int64_t heads = 1, keys = 1, shared = 1, values = 1;
  /// L channels of the compressed row.
  int64_t rank = 1;
  /// Channels of a compressed query; 0: queries are of the token itself.
  int64_t queryRank = 0;
  /// Of the compressed rows.
  NormConfig norm;
  /// What the scores of a query's length are multiplied with besides.
  double scoreScale = 1;
  /// Of the products with the compressed rows' matrices and the output's.
  bool bias = false;
  /// How the R channels of queries, and those of the shared keys, are turned.
  RotaryConfig rotary;
  /// The matrix of a sigmoid gate, a number for each head; empty: none. And that
  /// of the output.
  llvm::StringRef headGate = "", output = "o_proj";
};

/// Reads `num_attention_heads`, `qk_nope_head_dim`, `qk_rope_head_dim`,
/// `v_head_dim`, `kv_lora_rank` and `q_lora_rank`, and holds
/// `num_key_value_heads`, which changes nothing, to a divisor. Problems are left in
/// the reader.
LatentConfig readLatentAttention(ConfigReader &reader);

/// Everything from a normalised token [T, D] to the product with the output's
/// matrix. Queries are led into the compressed row's space
/// and results out of it, so that one state keeps a row [L + R] for each token,
/// once for all heads: a key, which begins with its value. Where first tokens
/// stay in sight, values [L] are kept beside the keys. `name` is the layer's,
/// `source` that of its tensors, with a point at the end.
mlir::Value emitLatentAttention(ModelBuilder &model, const LatentConfig &config,
                                const std::string &name,
                                const std::string &source, mlir::Value x);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_MODEL_LATENTATTENTION_H
