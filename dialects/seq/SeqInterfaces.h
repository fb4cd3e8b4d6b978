// The op interfaces and the structs they speak in.
#ifndef EFFC_DIALECTS_SEQ_SEQINTERFACES_H
#define EFFC_DIALECTS_SEQ_SEQINTERFACES_H

#include "dialects/seq/CanonicalQuantities.h"
#include "dialects/seq/SeqAttributes.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"
#include "llvm/Support/Error.h"

namespace effc::seq {

namespace reference {
template <typename S> class Frame;
} // namespace reference

/// What an operand of a stateful op is.
enum class OperandRole {
  Token,     ///< leads with T; varies with the token
  Parameter, ///< belongs to the model
  State,     ///< left by the tokens before
};

/// What a mixer's definition says of an operand.
struct OperandSignature {
  llvm::StringLiteral name;
  /// One per dimension, "THK"; '1' stands for itself.
  llvm::StringLiteral letters;
  OperandRole role;
  bool isOptional;
  /// Of a state; `start` is the value of every element before the first token.
  StateKind kind;
  double start;
  /// Whether the state stays f32, in whatever type other states are stored.
  bool keepsF32 = false;
};

/// One state of a stateful op.
struct StateDescriptor {
  /// Index of the operand that carries the state.
  unsigned operand;
  /// Index of the result that carries its next value.
  unsigned result;
  StateKind kind;
  StateGrowth growth;
  /// Logical shape and element type.
  mlir::RankedTensorType type;
  /// Value of every element before the first token.
  double neutral;
  /// Whether the op must know the token's position to use the state.
  bool positionDependent;
  /// Whether it stays f32, in whatever type other states are stored.
  bool keepsF32 = false;
  /// Of a state that has a row for every so many positions of the longest
  /// context: how many; 0: the context does not decide its size.
  int64_t positionsPerRow = 0;
};

/// Why a mixer is not linear: "'<op>' <reason>".
struct Obstacle {
  mlir::Operation *op = nullptr;
  std::string reason;
};

/// What a mixer of class `retrieval` works with; which of it is there follows
/// from the content in its structure record. E experts or rows, D channels of a
/// token, F hidden units of an expert.
struct RetrievalOperands {
  mlir::Value scores; ///< [T, axes, H, S]
  mlir::Value order;  ///< what is chosen by instead, of one axis; or null
  mlir::Value input;  ///< [T, D]; null for rows
  mlir::Value inner;  ///< neuron: [E, D]; network: [2 F E, D], for each expert
                      ///< its F gates, then its F ups; null for rows
  mlir::Value outer;  ///< row, neuron: [E, D]; network: [E D, F]
};

/// What a mixer of class `window` computes on: token values for the tokens
/// given to its token map, parameters, and which of its states hold past keys.
/// With W the rows of the states' rings:
struct WindowTokens {
  mlir::Value query;      ///< [T, H, K]
  mlir::Value key;        ///< [T, G, K], as it is kept
  mlir::Value value;      ///< [T, J, V]
  mlir::Value positions;  ///< [T] i32, consecutive
  mlir::Value sinks;      ///< [H], or null where the record has none
  mlir::Value slopes;     ///< [H], or null where the record has none
  mlir::Value keyScore;   ///< [T, N], or null where the record has none
  mlir::Value sinkQuery;  ///< [T, H, K], for the keys of the first tokens where
                          ///< the window has passed them; null where none stay
  mlir::Value blocks;     ///< [T, M, U] i32, numbers of the blocks of keys in
                          ///< sight, or null where all are
  unsigned keyState;      ///< index into getStates(): [W, G, K]
  unsigned valueState;    ///< [W, J, V]; that of the keys, as `value` is the
                          ///< key, where keys begin with their values
  unsigned keyScoreState; ///< [W, N]; as keyState where there is none
  unsigned firstSinkState; ///< with `sinkQuery`: keys, values and key scores of
                           ///< the first S tokens, in this order
};

namespace detail {
llvm::SmallVector<mlir::Value> operandsOf(mlir::Operation *op,
                                          OperandRole role);
llvm::SmallVector<mlir::OpResult> tokenResults(mlir::Operation *op);
mlir::LogicalResult verifyStatefulOp(mlir::Operation *op);
/// The role of an operand where tokens come first, then parameters, then
/// states.
OperandRole roleOf(unsigned index, unsigned tokens, unsigned parameters);
mlir::LogicalResult verifyAttributes(mlir::Operation *op);
} // namespace detail

namespace OpTrait {
/// An op has no attributes but its own and those of dialects, whose names have
/// a dot: a misspelt one would be ignored.
template <typename ConcreteType>
class KnownAttributes
    : public mlir::OpTrait::TraitBase<ConcreteType, KnownAttributes> {
public:
  static mlir::LogicalResult verifyTrait(mlir::Operation *op) {
    return detail::verifyAttributes(op);
  }
};

/// Computes each element from the elements at the same place.
template <typename ConcreteType>
class Elementwise : public mlir::OpTrait::TraitBase<ConcreteType, Elementwise> {
};
/// A small relative change of the numbers that vary by token becomes a change that is
/// small beside the largest number of a row, as public models of 16 bits rely on. Not so
/// sums, whose terms may cancel, exponentials, and what decays are made of by taking a
/// logarithm.
template <typename ConcreteType>
class WellConditioned
    : public mlir::OpTrait::TraitBase<ConcreteType, WellConditioned> {};
/// Only renames memory: a slice, a reshape, or a repetition. The first operand is
/// what is read.
template <typename ConcreteType>
class View : public mlir::OpTrait::TraitBase<ConcreteType, View> {};
/// A product of rows with a matrix of weights, the first two operands.
template <typename ConcreteType>
class Dense : public mlir::OpTrait::TraitBase<ConcreteType, Dense> {};
/// A dense product of whole rows: each output sums up a row, none a part of one.
template <typename ConcreteType>
class WholeRows : public mlir::OpTrait::TraitBase<ConcreteType, WholeRows> {};
/// Nothing follows in the kernel: what the op gives is nowhere a tile of its kernel.
template <typename ConcreteType>
class EndsKernel : public mlir::OpTrait::TraitBase<ConcreteType, EndsKernel> {};
/// No kernel encloses the op: a weight, or a kernel itself.
template <typename ConcreteType>
class BetweenKernels
    : public mlir::OpTrait::TraitBase<ConcreteType, BetweenKernels> {};
} // namespace OpTrait

} // namespace effc::seq

#include "dialects/seq/SeqInterfaces.h.inc"

#endif // EFFC_DIALECTS_SEQ_SEQINTERFACES_H
