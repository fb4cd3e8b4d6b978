// What a GGUF file of one architecture is to a family: data.
//
// Each family keeps its one importer. A row of keys says which field of
// config.json a key stands for, a row of tensors by which name the family's own
// checkpoints have a tensor, and how its rows lie. What no row can say is said by
// a function that writes fields.
#ifndef EFFC_FRONTEND_GGUF_ARCHITECTURE_H
#define EFFC_FRONTEND_GGUF_ARCHITECTURE_H

#include "frontend/gguf/Model.h"

namespace effc::frontend {

class GgufConfig;

enum class GgufKeyKind {
  Integer,
  Number,
  Boolean,
  /// An integer, or an array that has it for each layer.
  SameInEachLayer,
  /// Read by a function, or without effect.
  Known
};

struct GgufKeyRow {
  /// Without the architecture before: "embedding_length".
  llvm::StringLiteral key;
  /// "hidden_size".
  llvm::StringLiteral field;
  GgufKeyKind kind = GgufKeyKind::Integer;
};

/// What the converter has done to a tensor, which is undone.
enum class GgufRule {
  None,
  /// Of each head, channels that turn together were put side by side: [K/2, 2]
  /// rows, which the family has as [2, K/2].
  Pairs,
  /// Rates of decay were made of their logarithms: -exp(x), or exp(x).
  NegatedExponential,
  Exponential,
  /// A vector was given more dimensions.
  Unflattened,
  /// Channels of heads were laid flat: [H K], which the family has as [H, K].
  FlatHeads,
  /// Something that the model has no use of was added.
  Unused
};

struct GgufTensorRow {
  /// '*' stands for a layer's number. A name without a dot after its last part
  /// ("output_norm") stands for ".weight" and ".bias" behind it.
  llvm::StringLiteral given;
  /// '*' stands for the same. '#' stands for the number of an expert, each of
  /// which is a matrix of the tensor; "{a|b}" for a part of a name each, of which
  /// the tensor has as many along its outermost dimension.
  llvm::StringLiteral name;
  GgufRule rule = GgufRule::None;
  /// A tensor that has to be there for the row to hold.
  llvm::StringLiteral beside = "";
};

struct GgufArchitecture {
  /// `general.architecture`, and `model_type` of config.json.
  llvm::StringLiteral name, modelType;
  llvm::ArrayRef<llvm::ArrayRef<GgufKeyRow>> keys;
  llvm::ArrayRef<llvm::ArrayRef<GgufTensorRow>> tensors;
  /// Writes what the rows do not say; may be null.
  void (*describe)(GgufConfig &config) = nullptr;
  /// Whether weights of norms that are one less in the family's checkpoints are
  /// whole.
  bool wholeNorms = false;
  /// The row of a tensor whose columns the converter has put in another order.
  llvm::StringLiteral otherColumns = "";
};

/// All of them, in the order of their names.
std::vector<const GgufArchitecture *> listGgufArchitectures();

/// Null where none has the name.
const GgufArchitecture *findGgufArchitecture(llvm::StringRef name);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_GGUF_ARCHITECTURE_H
