// A layer's softmax attention: its numbers, and the ops from a normalised token
// to what is added to the residual.
#ifndef EFFC_FRONTEND_MODEL_ATTENTION_H
#define EFFC_FRONTEND_MODEL_ATTENTION_H

#include "frontend/model/ModelBuilder.h"
#include "frontend/model/RotaryConfig.h"

namespace effc::frontend {

struct AttentionConfig {
  /// H, G, K: heads, heads of keys and values, channels of each.
  int64_t heads = 1, keyHeads = 1, keys = 1;
  double scale = 1;
  std::optional<double> softCap;
  bool inputBias = false, outputBias = false;
  /// A norm of each query's and key's channels before they are turned.
  std::optional<NormConfig> headNorm;
  /// The same over the channels of all queries, and of all keys.
  std::optional<NormConfig> wideNorm;
  /// Whether scores fall with the distance, by slopes that follow from the
  /// number of heads (ALiBi).
  bool slopes = false;
  /// Whether a sigmoid gate follows each head's result. Its rows lie behind
  /// those of the head's queries.
  bool gated = false;
  /// Whether a sigmoid gate of its own matrix, a number for each head, follows
  /// the head's result.
  bool headGate = false;
  /// Whether each head has the logit of a key without a value.
  bool sinkLogits = false;

  int64_t inner() const { return heads * keys; }
  int64_t keyWidth() const { return keyHeads * keys; }
};

/// What may differ from layer to layer.
struct LayerAttention {
  /// Keys in sight of a query, its own included; 0: all.
  int64_t window = 0;
  /// The first tokens, which stay in sight when the window has passed them.
  int64_t sinks = 0;
  RotaryConfig rotary;
  /// Under which its frequencies are declared.
  std::string frequencies = "frequencies";
};

/// The tensors of a layer, and the name under which its ops are known.
struct AttentionNames {
  std::string name, source;
  llvm::StringRef query = "q_proj", key = "k_proj", value = "v_proj",
                  output = "o_proj";
  /// One tensor [queries; keys; values] instead of three.
  llvm::StringRef fused = "";
  /// Whether these three come in turn for each head.
  bool inTurn = false;
  /// Whether matrices lie as [inputs, outputs].
  bool transposed = false;
  llvm::StringRef queryNorm = "q_norm", keyNorm = "k_norm";
  llvm::StringRef sinkLogits = "sinks", headGate = "gate_proj";
};

/// Reads `num_attention_heads`, `num_key_value_heads` and `head_dim`, or what
/// `channels` calls it, for a model of `width`: the latter two may be missing
/// or null. Problems are left in the reader.
AttentionConfig readAttention(ConfigReader &reader, int64_t width,
                              llvm::StringRef channels = "head_dim");

/// The same of the key `heads`, for a model whose keys and values have as many
/// heads and whose heads share `width` evenly, which is that of the key
/// `widthKey`.
AttentionConfig readEqualHeads(ConfigReader &reader, llvm::StringRef heads,
                               int64_t width, llvm::StringRef widthKey);

/// What a token's projections give, each [T, channels]; there may be no gate.
struct AttentionInputs {
  mlir::Value query, key, value, gate;
};

/// Those of normalised tokens x [T, D], with the norms of queries and keys that
/// `config` has.
AttentionInputs projectToHeads(ModelBuilder &model,
                               const AttentionConfig &config,
                               const AttentionNames &names, mlir::Value x);

/// Everything from a normalised token [T, D] to the product with the output's
/// matrix.
mlir::Value emitAttention(ModelBuilder &model, const AttentionConfig &config,
                          const LayerAttention &layer,
                          const AttentionNames &names, mlir::Value x);

/// x [T, H, K], turned by its position, or by `last` where that is less.
mlir::Value turn(ModelBuilder &model, const llvm::Twine &name,
                 const LayerAttention &layer, mlir::Value x,
                 std::optional<int64_t> last = std::nullopt);

/// Keys and values of tokens that several layers read: each layer's op takes
/// the states from the one before, keeps the same token once more and hands
/// them on. Whoever emits the layers sets them as next states behind the last.
struct SharedKeys {
  /// Under which the states are declared.
  std::string name;
  mlir::Value keys, values;
  /// The states as the call has them first.
  mlir::Value firstKeys = {}, firstValues = {};
};

/// What few models have besides queries, keys and values; all may be absent.
struct AttentionExtras {
  /// [H]
  mlir::Value slopes;
  /// Logits of keys without a value, [H].
  mlir::Value sinkLogits;
  /// A number for each key, [T, N], what it does to the key's scores, and how
  /// many keys of the largest are attended to.
  mlir::Value numbers;
  seq::KeyScore effect = seq::KeyScore::None;
  std::optional<int64_t> keep;
  /// The numbers of the blocks that a token chooses, [T, M, U], and how many
  /// positions a block has; such a layer has no window.
  mlir::Value blocks;
  int64_t block = 0;
  /// How many first tokens stay in sight, and the queries for their keys.
  int64_t sinks = 0;
  mlir::Value sinkQuery;
  /// Where there are no values: the first channels of a key that are its own.
  int64_t valuesOfKeys = 0;
  /// States of other layers too; of these there are keys and values alone.
  SharedKeys *shared = nullptr;
};

/// The layer, with the sinks and the window that the model's user asks for
/// where it would see more keys than both. `name` is the layer's.
LayerAttention streamed(ModelBuilder &model, llvm::StringRef name,
                        LayerAttention layer);

/// Sets `extras` for the sinks of a layer, if it has any: `query` is not
/// turned.
void addSinks(ModelBuilder &model, const std::string &name,
              const LayerAttention &layer, mlir::Value query,
              AttentionExtras &extras);

/// The attention itself, with the states of its keys and values: [T, H, V] from
/// queries, keys and values [T, H, K], [T, G, K], [T, J, V], or without values
/// from keys that begin with them.
mlir::Value attend(ModelBuilder &model, const std::string &name,
                   const AttentionConfig &config, int64_t window,
                   mlir::Value query, mlir::Value key, mlir::Value value,
                   const AttentionExtras &extras = {});

} // namespace effc::frontend

#endif // EFFC_FRONTEND_MODEL_ATTENTION_H
