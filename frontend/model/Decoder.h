// The decoder that most public models of attention are: layers of attention and
// of a gated MLP, each behind a norm and beside a residual.
#ifndef EFFC_FRONTEND_MODEL_DECODER_H
#define EFFC_FRONTEND_MODEL_DECODER_H

#include "frontend/model/Attention.h"
#include "frontend/model/Experts.h"
#include "frontend/model/Head.h"
#include "frontend/model/Mlp.h"
#include "frontend/model/TextModel.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace effc::frontend {

/// Where the norms of a layer stand, with f for attention, then for the MLP.
enum class NormPlaces {
  Before, // x + f(norm(x))
  Behind, // x + norm(f(x))
  Both    // x + norm(f(norm(x)))
};

struct DecoderConfig {
  llvm::StringRef family;
  int64_t vocabulary = 1, width = 1;
  /// `max_position_embeddings`.
  int64_t context = 1;
  AttentionConfig attention;
  /// One for each layer.
  std::vector<LayerAttention> layers;
  MlpConfig mlp;
  /// What layers of this pattern have instead of the MLP; none without.
  std::optional<ExpertsConfig> experts;
  ExpertsPattern routes;
  /// What stands before the names of an MLP's or the experts' tensors, and what
  /// these are called.
  std::string feedForward = "mlp.";
  ExpertsNames expertNames;
  NormConfig norm;
  NormPlaces norms = NormPlaces::Before;
  double embeddingScale = 1;
  /// What a mixer or an MLP gives is multiplied with, before it is added.
  double residualScale = 1;
  /// What logits are multiplied with.
  double logitScale = 1;
  std::optional<double> logitCap;
  /// One tensor for queries, keys and values, and one for gates and ups.
  bool fused = false;
  std::string prefix = "model.";
  HeadConfig head;
};

/// What models call by several names.
struct DecoderKeys {
  /// Empty where the family reads its context itself.
  llvm::StringRef context = "max_position_embeddings";
  llvm::StringRef epsilon = "rms_norm_eps";
  /// What stands where this key is missing.
  double epsilonOtherwise = 1e-6;
  /// Empty where no layer has an MLP of that width.
  llvm::StringRef hidden = "intermediate_size";
  /// The channels of a head.
  llvm::StringRef channels = "head_dim";
};

/// Reads what all of these models have: `hidden_size`, `num_hidden_layers`, the
/// attention's heads, `tie_word_embeddings` and what `keys` names. Layers see
/// all keys and do not turn them. Problems are left in the reader.
DecoderConfig readDecoder(ConfigReader &reader, int64_t vocabulary,
                          bool tiedByDefault, const DecoderKeys &keys = {});

/// Accepts keys that change no result, each with a remark: dropout, and what
/// initialises weights.
void ignoreHarmless(ConfigReader &reader, Remarks &remarks,
                    llvm::ArrayRef<llvm::StringRef> more = {});

/// Accepts keys of a nested `text_config` that count outside of it, ids of
/// tokens each with a remark.
void ignoreOuterKeys(ConfigReader &text, Remarks &remarks);

/// A factor of the configuration, 1 where it is missing or null. Problems are
/// left in the reader.
double readFactor(ConfigReader &reader, llvm::StringRef key);

/// What a layer has after its mixer, from a normalised token: experts or an
/// MLP, of the tensors behind `source`.
mlir::Value emitMlpOrExperts(ModelBuilder &model, const DecoderConfig &config,
                             int64_t layer, const std::string &name,
                             const std::string &source, mlir::Value x);

/// What a layer is called in the module and in the file, each with a point at
/// its end.
struct LayerNames {
  std::string name, source;
  LayerNames(const DecoderConfig &config, int64_t layer)
      : name("layers." + std::to_string(layer) + "."),
        source(config.prefix + name) {}
};

/// A layer of any mixer: x + mixer(norm(x)), then x + mlp(norm(x)), each with
/// `residualScale`; the norms are tensors of the layer.
mlir::Value emitNormFirstLayer(
    ModelBuilder &model, const DecoderConfig &config, const LayerNames &names,
    const char *mixerNorm, const char *mlpNorm,
    llvm::function_ref<mlir::Value(mlir::Value)> mixer,
    llvm::function_ref<mlir::Value(mlir::Value)> mlp, mlir::Value x);

/// The positions that growing states are made for: those asked for, else those
/// of the model.
int64_t chooseContext(const FamilyInput &input, int64_t modelContext);

/// What stands around a decoder's layers.
TextModelConfig textModelOf(const DecoderConfig &config,
                            const FamilyInput &input);

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
buildDecoder(const DecoderConfig &config, FamilyInput &input);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_MODEL_DECODER_H
