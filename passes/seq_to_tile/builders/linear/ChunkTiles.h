// The tiles of a chunk of C tokens, and what is computed on them.
#ifndef EFFC_PASSES_SEQTOTILE_BUILDERS_CHUNKTILES_H
#define EFFC_PASSES_SEQTOTILE_BUILDERS_CHUNKTILES_H

#include "passes/seq_to_tile/builders/linear/Recurrence.h"

namespace effc {

class ChunkTiles {
public:
  ChunkTiles(KernelBuilder &k, const Recurrence &r, int64_t chunk);

  KernelBuilder &k;
  mlir::OpBuilder &b;
  const int64_t chunk;
  /// K x V, C x V, C x C, C x K and C.
  const tile::TileType stateType, outType, scoreType, keyType, columnType;

  mlir::Value zeros(tile::TileType type);
  /// Each element times the exponential of another tile's, or of a scalar.
  mlir::Value scaled(tile::TileType type, mlir::Value tile,
                     mlir::Value exponent);
  /// The tile of all tokens, of what may not vary with the token.
  mlir::Value perToken(mlir::Value tile, tile::TileType type);
  /// Zero for the elements of rows at and past `rows`.
  mlir::Value maskRows(mlir::Value tile, mlir::Value rows);

  /// A condition on an element's row and column, inside a map.
  using Condition = llvm::function_ref<mlir::Value(
      mlir::OpBuilder &, mlir::Value row, mlir::Value column)>;
  /// The elements of `yes` where the condition holds, else those of `no`;
  /// either may be a scalar.
  mlir::Value where(tile::TileType type, Condition condition, mlir::Value yes,
                    mlir::Value no);
};

/// Tokens are halved again and again: of 2 `half` neighbours on the chunk's
/// grid the later ones read what the earlier ones write. Two tokens meet at one
/// `half` alone, the highest bit in which their numbers differ. Whether row and
/// column are such a pair.
mlir::Value emitMeetAt(mlir::OpBuilder &builder, mlir::Location loc,
                       int64_t half, mlir::Value row, mlir::Value column);
/// Whether a token is one of the later ones.
mlir::Value emitIsLater(mlir::OpBuilder &builder, mlir::Location loc,
                        int64_t half, mlir::Value token);

/// (1 - lower)^-1 of the C x C matrix whose elements below the diagonal are
/// those of `lower`; all others count as 0 (UnitLowerInverse.cpp).
mlir::Value emitUnitLowerInverse(ChunkTiles &tiles, mlir::Value lower);

} // namespace effc

#endif // EFFC_PASSES_SEQTOTILE_BUILDERS_CHUNKTILES_H
