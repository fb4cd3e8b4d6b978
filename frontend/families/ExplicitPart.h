// The parts that blocks of the explicit layout are made of.
#ifndef EFFC_FRONTEND_FAMILIES_EXPLICITPART_H
#define EFFC_FRONTEND_FAMILIES_EXPLICITPART_H

#include "frontend/model/Attention.h"
#include "frontend/model/ModelBuilder.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <functional>

namespace effc::frontend {

/// An object of the configuration, and what it means something in.
struct PartInput {
  ConfigReader &reader;
  FamilyInput &input;
  /// Where the object lies: "config.json: blocks[0].parts[1]".
  std::string path;
  /// D, and the positions that the model is for.
  int64_t width, context;
};

/// Emits a part, from the normalised token [T, D] to what the residual takes.
/// `at` is the beginning of its weights' names, in the checkpoint too, with a
/// point at the end.
using EmitPart = std::function<mlir::Value(
    ModelBuilder &model, const std::string &at, mlir::Value x)>;

/// Reads the part that the key 'part' names. Problems are left in the reader.
EmitPart readPart(PartInput &in);

/// The same of a recurrence in the table of them; none where `name` is not one.
EmitPart readRecurrence(PartInput &in, llvm::StringRef name);
/// What there is besides, for messages.
std::string listRecurrences();

/// Reads the object at `key` with `read`, which gets it instead of the object
/// around it, and refuses keys that it did not ask for. False where the key is
/// missing or null.
bool readInner(PartInput &in, llvm::StringRef key,
               llvm::function_ref<void(PartInput &inner)> read);

/// The string at `key`, one of `names`, as its number; `otherwise` where the
/// key is missing. Problems are left in the reader.
size_t readName(ConfigReader &reader, llvm::StringRef key,
                llvm::ArrayRef<llvm::StringRef> names, size_t otherwise);

/// A norm, or none.
struct NormChoice {
  bool present = true;
  bool hasWeight = true;
  NormConfig config;
};

/// Reads the norm at `key`: an object, null for none, or nothing for
/// `otherwise`.
NormChoice readNorm(PartInput &in, llvm::StringRef key, NormChoice otherwise);

/// The norm of each of `groups` groups of channels, by the weight `name`.
mlir::Value emitNorm(ModelBuilder &model, const std::string &name,
                     mlir::Value x, const NormChoice &norm, int64_t groups = 1);

/// How queries and keys learn of positions.
struct PositionChoice {
  enum Kind { None, Rotary, CosineSine } kind = None;
  RotaryConfig rotary;
};

/// Reads the object at 'positions' for queries of `keys` channels.
PositionChoice readPositions(PartInput &in, int64_t keys);

/// How `positions` turns; nothing is where it is of another kind.
LayerAttention rotaryLayer(const std::string &at,
                           const PositionChoice &positions);

/// x [T, H, K] after its positions: turned, or twice as many channels. `at` is
/// the part's.
mlir::Value emitPositions(ModelBuilder &model, const std::string &at,
                          const PositionChoice &positions, mlir::Value x);

/// A function of each element of an operand, or of each head's channels.
struct FeatureChoice {
  enum Kind { Plain, Exp, Softplus, Tanh, EluPlusOne, Taylor } kind = Plain;
  seq::Nonlinearity function = seq::Nonlinearity::Identity;
};

/// Reads the function at `key`; `Taylor` only of what has keys in `heads`.
FeatureChoice readFeature(ConfigReader &reader, llvm::StringRef key,
                          bool heads = false);

/// f(x) of x [T, ...]; for `Taylor`, x is [T, H, K].
mlir::Value emitFeature(ModelBuilder &model, const std::string &name,
                        mlir::Value x, const FeatureChoice &feature);

/// The dimensions after T.
llvm::ArrayRef<int64_t> innerShape(mlir::Value x);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_FAMILIES_EXPLICITPART_H
