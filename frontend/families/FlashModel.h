// What the models of flash-linear-attention share: the names of a layer's
// parts, layers of softmax attention between the others, and the keys of how
// kernels are fused, which mean nothing here.
#ifndef EFFC_FRONTEND_FAMILIES_FLASHMODEL_H
#define EFFC_FRONTEND_FAMILIES_FLASHMODEL_H

#include "frontend/model/Attention.h"
#include "frontend/model/Mlp.h"
#include "frontend/model/TextModel.h"

#include <functional>

namespace effc::frontend {

struct FlashConfig {
  llvm::StringRef family;
  int64_t vocabulary = 1, width = 1, layers = 1;
  int64_t context = 1;
  MlpConfig mlp;
  NormConfig norm;
  HeadConfig head;
  /// For each layer of softmax attention, how it attends.
  std::map<int64_t, std::pair<AttentionConfig, LayerAttention>> attention;
  /// Whether the family's own mixers keep keys of all positions.
  bool keepsKeys = false;
};

/// What a family's layer emits. `name` and `source` are those of the layer's
/// mixer, with a point at the end; `x` is normalised.
using FlashMixer = std::function<mlir::Value(
    ModelBuilder &model, const std::string &name, const std::string &source,
    mlir::Value x, int64_t layer)>;

/// The library's rule for an MLP whose width nothing gives: two thirds of
/// `ratio` times the model's, up to the next multiple of 256.
int64_t widthOfMlp(int64_t width, double ratio);

/// Reads the keys that all of these models have. `ratio` is the default of
/// `hidden_ratio`. Problems are left in the reader.
FlashConfig readFlash(FamilyInput &input, double ratio);

/// How a layer attends, by the keys of `reader`: the whole configuration, or an
/// object of `attn`. Problems are left in the reader.
std::pair<AttentionConfig, LayerAttention>
readFlashAttention(ConfigReader &reader, FamilyInput &input,
                   const FlashConfig &config);

/// `width`, which is that of the key `widthKey`, times the number at `key`,
/// which must give a multiple of `heads`: the channels of each head. Problems
/// are left in the reader.
int64_t readHeadChannels(ConfigReader &reader, llvm::StringRef key,
                         double otherwise, int64_t width, int64_t heads,
                         llvm::StringRef widthKey = "hidden_size");

/// Refuses any value of `key` but the ones given, as strings that JSON writes.
void requireOneOf(ConfigReader &reader, llvm::StringRef key,
                  llvm::ArrayRef<llvm::StringRef> accepted);

/// The heads of keys and values, `num_kv_heads`, of which each serves as many
/// of the `heads` of queries; as many where nothing says so.
int64_t readKeyHeads(ConfigReader &reader, int64_t heads);

/// x [T, heads * channels] with each head `times` times in a row, for mixers
/// whose queries do not share what they read.
mlir::Value repeatHeads(ModelBuilder &model, const std::string &name,
                        mlir::Value x, int64_t heads, int64_t times);

/// elu(x) + 1: e^x below 0, x + 1 above.
mlir::Value eluPlusOne(ModelBuilder &model, const std::string &name,
                       mlir::Value x);

/// Each head of x [T, H C] divided by a number [T, 1] that follows from it:
/// `bound` of the sum of what `measure` makes of its channels [T, C].
mlir::Value divideHeads(ModelBuilder &model, const std::string &name,
                        mlir::Value x, int64_t heads,
                        llvm::function_ref<mlir::Value(mlir::Value)> measure,
                        llvm::function_ref<mlir::Value(mlir::Value)> bound);

/// The same number for each element of `like` [T, C].
mlir::Value repeatNumber(ModelBuilder &model, const std::string &name,
                         double number, mlir::Value like);

/// A projection by `source` + `tensor`, then, where `taps` is not 0, the short
/// convolution of that name.
mlir::Value projectAndConvolve(ModelBuilder &model, const std::string &name,
                               const std::string &source, llvm::StringRef part,
                               mlir::Value x, int64_t rows, int64_t taps,
                               seq::Activation activation);

/// A norm of each head, with a weight of `source`.weight where `affine`, and a gate
/// after it.
mlir::Value normAndGate(ModelBuilder &model, const std::string &name,
                        const std::string &source, mlir::Value x, int64_t heads,
                        double epsilon, mlir::Value gate,
                        seq::Nonlinearity activation, bool affine = true);

/// Reads `elementwise_affine`, whose null is false, as to the library.
bool readAffine(ConfigReader &reader);

/// The layer's softmax attention.
mlir::Value emitFlashAttention(ModelBuilder &model, const FlashConfig &config,
                               const std::string &name,
                               const std::string &source, mlir::Value x,
                               int64_t layer);

/// What stands around the layers of these models.
TextModelConfig textOf(const FlashConfig &config, const FamilyInput &input);

/// A layer `attn_norm`, `attn`, `mlp_norm`, `mlp` around `mixer`, from
/// normalised tokens. `name` and `source` are the layer's, with a point at the
/// end.
mlir::Value
emitFlashLayer(ModelBuilder &model, const FlashConfig &config,
               const std::string &name, const std::string &source,
               mlir::Value x,
               llvm::function_ref<mlir::Value(mlir::Value normed)> mixer);

/// The model of layers `attn_norm`, `attn`, `mlp_norm`, `mlp`.
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
buildFlash(const FlashConfig &config, FamilyInput &input,
           const FlashMixer &mixer);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_FAMILIES_FLASHMODEL_H
