// A mixer's token map and read-out, translated to tiles.
//
// The interface builds both as seq ops on [T, ...] tensors. Each dimension of
// each value has a meaning (token, head, group, key or value channel), which
// follows from the canonical quantities back through the ops. A kernel holds
// one head, and one token or a chunk of them, so a value becomes
//
//   dimensions with...   one token       a chunk
//   key channels         column of K     C x K block (K: row)
//   value channels       row of V        C x V block (V: row)
//   neither              scalar          column of C (scalar)
//
//   both                 K x V block     -
//
// and an op on such values a map, which broadcasts as the meanings say. Value
// channels may be cut into blocks, of which a kernel's item holds one. What
// does not vary with the token is computed before the loop over tokens.
#ifndef EFFC_PASSES_SEQTOTILE_BUILDERS_TOKENMAP_H
#define EFFC_PASSES_SEQTOTILE_BUILDERS_TOKENMAP_H

#include "passes/seq_to_tile/KernelBuilder.h"

namespace effc {

class TokenMap {
public:
  enum class Meaning { Token, Head, Group, Key, Value };
  /// What one instance of the map works on.
  struct Scope {
    mlir::Value row;  // first row of the call's tensors
    mlir::Value rows; // limit of a chunk's rows; null for one token
    mlir::Value head, group;
    mlir::Value firstValue; // first value channel of the item's block
    int64_t chunk = 0;      // tokens of a chunk; 0: one token
  };
  /// The canonical quantities (CanonicalQuantities.h) as tiles; absent ones are
  /// null.
  struct Tiles {
    mlir::Value query, key, value, logDecay, valueLogDecay, bonusKey, probe,
        erase, eraseScale, weight, logGate;
  };
  /// What a recurrence has read, as tiles.
  struct Reading {
    mlir::Value read, denominator, maximum;
  };

  /// Builds the map of `mixer`, whose class must be linear. Fails, on the
  /// mixer, when an op has no translation.
  static mlir::FailureOr<TokenMap> create(KernelBuilder &k,
                                          seq::MixerOpInterface mixer);
  TokenMap(TokenMap &&) = default;

  int64_t heads, groups, keyChannels, valueChannels;
  /// Value channels of an item's block; divides `valueChannels`.
  int64_t valueBlock;
  const seq::CanonicalQuantities &getQuantities() const { return canonical; }

  /// Emits what does not vary with the token, for the head of `scope`, whose
  /// row is not used.
  void emitConstants(const Scope &scope);
  /// Emits the canonical quantities of `scope`; what they share is emitted
  /// once.
  Tiles quantities(const Scope &scope);
  /// Emits the mixer's result from what the recurrence has read.
  mlir::Value readOut(const Scope &scope, const Reading &reading);

private:
  using Meanings = llvm::SmallVector<Meaning>;
  TokenMap(KernelBuilder &k) : k(&k) {}
  mlir::LogicalResult assignAll(mlir::Operation *op);
  mlir::LogicalResult assign(mlir::Value value, Meanings meanings);
  Meanings decayMeanings(bool perToken) const;
  bool isConstant(mlir::Value value) const;
  mlir::Value emit(mlir::Value value, const Scope &scope);
  mlir::Value emitOperand(mlir::BlockArgument argument, const Scope &scope);
  mlir::Value emitOp(mlir::Operation *op, const Scope &scope);
  tile::TileType typeOf(const Meanings &meanings, const Scope &scope);
  mlir::Value asType(mlir::Value value, mlir::Value tensor, const Scope &scope);

  KernelBuilder *k;
  std::unique_ptr<mlir::Region> region;
  llvm::SmallVector<mlir::Value>
      operands; // of the mixer, one per block argument
  seq::CanonicalQuantities canonical;
  seq::LinearAttr linear;
  seq::LinearReading reading; // block arguments
  mlir::Value result;
  llvm::DenseMap<mlir::Value, Meanings> meaningOf;
  llvm::DenseMap<mlir::Value, mlir::Value> emitted, constants;
};

} // namespace effc

#endif // EFFC_PASSES_SEQTOTILE_BUILDERS_TOKENMAP_H
