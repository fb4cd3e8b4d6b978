// The rows of a chunk whose tokens write several times.
//
// Row n t + i is write i of n of token t: write by write a token is what n tokens
// are whose last n - 1 do not decay and of which the last one alone is read. So
// the equations of tokens (RecurrenceChunk.cpp) hold for rows.
//
// Tokens lie in memory as tensors of one write each. Rows are made of them by
// products with matrices of 0 and 1, which are exact, as are tokens' outputs of
// those of their last rows. In a chunk in which numbers overflow, tokens before
// may have none either (0 times infinity), as where corrections are solved.
#ifndef EFFC_PASSES_SEQTOTILE_BUILDERS_TOKENROWS_H
#define EFFC_PASSES_SEQTOTILE_BUILDERS_TOKENROWS_H

#include "passes/seq_to_tile/builders/linear/ChunkTiles.h"

namespace effc {

class TokenRows {
public:
  /// Of so many tokens, which are the rows of `tiles`.
  TokenRows(ChunkTiles &tiles, int64_t tokens, int64_t writes);

  /// Of tokens: T x K, T x V and T.
  const tile::TileType keyType, outType, columnType;

  /// Rows of a tile's type that nothing is written to, for `with`.
  mlir::Value none(tile::TileType type);
  /// Rows, and at those of a write a tile of tokens. The write has had none.
  mlir::Value with(mlir::Value rows, int64_t write, mlir::Value ofTokens);
  /// Columns of tokens, one for each of the first writes, at their rows; 0 at
  /// those of others.
  mlir::Value columnOf(llvm::ArrayRef<mlir::Value> columns);
  /// The last rows of tokens, of C x V, as tokens.
  mlir::Value lastOf(mlir::Value rows);

private:
  /// C x T: 1 where a row is this write of a token.
  mlir::Value places(int64_t write);
  mlir::Value isRowOf(mlir::OpBuilder &b, mlir::Value row, mlir::Value token,
                      int64_t write);
  mlir::Value asRow(mlir::Value column);

  ChunkTiles &tiles;
  int64_t tokens, writes;
};

} // namespace effc

#endif // EFFC_PASSES_SEQTOTILE_BUILDERS_TOKENROWS_H
