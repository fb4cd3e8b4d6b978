// A mixer's token map and read-out, translated to tiles.
//
// The interface builds both as seq ops on [T, ...] tensors, whose dimensions
// are those that the canonical quantities say: tokens, heads or groups of them,
// key channels (rows of a tile) and value channels (columns, of which a
// kernel's item may have a block). What does not vary with the token is
// computed before the loop over tokens.
#ifndef EFFC_PASSES_SEQTOTILE_BUILDERS_TOKENMAP_H
#define EFFC_PASSES_SEQTOTILE_BUILDERS_TOKENMAP_H

#include "passes/seq_to_tile/builders/TileCode.h"

#include <optional>
#include <string>

namespace effc {

class TokenMap {
public:
  using Scope = TileCode::Scope;
  /// The canonical quantities (CanonicalQuantities.h) as tiles; absent ones are
  /// null. Decays are factors in a time loop without a stabiliser, else
  /// logarithms.
  struct Tiles {
    mlir::Value query, key, value, decay, valueDecay, bonusKey, probe, erase,
        eraseScale, weight, logGate, sumQuery, sumKey, turn, turnImaginary,
        queryImaginary, keyImaginary;
  };
  /// What a recurrence has read, as tiles.
  struct Reading {
    mlir::Value read, denominator, maximum;
  };

  /// An op of a map that has no translation, and why.
  struct Obstacle {
    mlir::Operation *op;
    std::string reason;
    std::string str() const;
  };
  /// Builds the map of `mixer`, whose class must be linear, for single tokens
  /// or for chunks. Fails, on the mixer, when an op has no translation.
  static mlir::FailureOr<TokenMap>
  create(KernelBuilder &k, seq::MixerOpInterface mixer, bool chunked);
  /// What `create` would fail for, as text, without a diagnostic; none: nothing.
  static std::optional<std::string>
  findObstacle(KernelBuilder &k, seq::MixerOpInterface mixer, bool chunked);
  TokenMap(TokenMap &&) = default;

  int64_t heads, groups, keyChannels, valueChannels;
  /// Whether decays are factors: the exponentials of the canonical quantities'
  /// log-decays stand in their places then.
  bool hasFactors = false;
  const seq::CanonicalQuantities &getQuantities() const { return canonical; }
  /// Value channels of an item's block; divides `valueChannels`.
  int64_t getValueBlock() const { return code.valueBlock; }
  void setValueBlock(int64_t block) { code.valueBlock = block; }

  /// Says that the kernel computes what it loads of a token operand.
  void setComputed(mlir::Value tensor, TileCode::Compute compute) {
    code.setComputed(tensor, std::move(compute));
  }

  /// Emits what does not vary with the token, for the head of `scope`, whose
  /// row is not used.
  void emitConstants(const Scope &scope);
  /// What emitConstants made of a canonical quantity, of a type that broadcasts
  /// to the quantity's; null where it varies with the token.
  mlir::Value constant(mlir::Value quantity) const;
  /// Emits the canonical quantities of `scope`; what they share is emitted
  /// once.
  Tiles quantities(const Scope &scope);
  /// Emits those of a write behind the first, by its number in the canonical
  /// quantities, in the scope of the last call of `quantities`.
  seq::LaterWrite laterWrite(size_t number, const Scope &scope);
  /// Leaves a scope whose read-out comes after other tokens' quantities, and
  /// goes on with it.
  TileCode::Emitted leaveScope() { return code.leaveScope(); }
  void resumeScope(TileCode::Emitted of) { code.resumeScope(std::move(of)); }
  /// Emits the mixer's result from what the recurrence has read.
  mlir::Value readOut(const Scope &scope, const Reading &reading);

private:
  using Along = TileCode::Along;
  using Axes = TileCode::Axes;
  TokenMap(KernelBuilder &k) : code(k) {}
  /// The map as ops of `seq`, and along which axes its values are wanted.
  static mlir::FailureOr<TokenMap>
  describe(KernelBuilder &k, seq::MixerOpInterface mixer, bool chunked);
  std::optional<Obstacle> findObstacle();
  void assignAxes(mlir::Value result);
  Axes decayAxes() const;

  TileCode code;
  std::unique_ptr<mlir::Region> region;
  seq::CanonicalQuantities canonical;
  seq::LinearAttr linear;
  seq::LinearReading reading; // block arguments
  /// What is asked for, and along which axes; null values are absent.
  struct Wanted {
    mlir::Value value;
    Axes axes;
  };
  mlir::Value emit(const Wanted &quantity, const Scope &scope);
  static constexpr size_t kFields = 17, // of Tiles
      kWriteFields = 4;                 // of a later write
  /// The fields of Tiles, then those of each later write.
  llvm::SmallVector<Wanted, kFields> wanted;
  Wanted output;
};

} // namespace effc

#endif // EFFC_PASSES_SEQTOTILE_BUILDERS_TOKENMAP_H
