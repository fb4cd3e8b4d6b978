// How the tokens of a chunk see one another and the state before it: the
// factors of a linear recurrence's equations (passes/seq/LinearForms.h) that
// depend on its decays.
#ifndef EFFC_PASSES_SEQTOTILE_BUILDERS_CHUNKDECAYS_H
#define EFFC_PASSES_SEQTOTILE_BUILDERS_CHUNKDECAYS_H

#include "passes/seq_to_tile/builders/linear/ChunkTiles.h"

namespace effc {

/// Who reads of whom, C x K each. A token does not read of itself where
/// `strict`, nor, where `exclusive`, of itself and after its own decay.
struct Sight {
  mlir::Value reader, writer;
  bool strict, exclusive;
};

class ChunkDecays {
public:
  virtual ~ChunkDecays() = default;

  /// For each sight the C x C matrix of (reader_i D_ij writer_j), 0 where token
  /// i does not see token j.
  virtual llvm::SmallVector<mlir::Value>
  scores(llvm::ArrayRef<Sight> sights) = 0;
  /// Emits the decays that what follows shares; `reads` says whether the state
  /// before the chunk is read.
  virtual void emitDecays(bool reads) = 0;
  /// D_i reader_i @ S of the state before the chunk, C x V.
  virtual mlir::Value readStart(mlir::Value reader, mlir::Value state,
                                bool exclusive) = 0;
  /// Of writers, C x K, and what they write, C x V, factors of what is left of
  /// it at the chunk's end: the one transposed times the other. After emitDecays.
  virtual std::pair<mlir::Value, mlir::Value> toEnd(mlir::Value writer,
                                                    mlir::Value written) = 0;
  /// What is left of the state before the chunk.
  virtual mlir::Value decayState(mlir::Value state) = 0;
  /// The sum of all tokens' log-decays, after decayState: a number, or a column
  /// of K.
  virtual mlir::Value getTotal() const = 0;
};

/// Of log-decays per head: a column of C. Tokens see strictly where they see
/// exclusively, so decays must be 0 there.
class HeadDecays : public ChunkDecays {
public:
  HeadDecays(ChunkTiles &tiles, mlir::Value decays)
      : tiles(tiles), decays(decays) {}

  llvm::SmallVector<mlir::Value> scores(llvm::ArrayRef<Sight> sights) override;
  void emitDecays(bool reads) override;
  mlir::Value readStart(mlir::Value reader, mlir::Value state,
                        bool exclusive) override;
  std::pair<mlir::Value, mlir::Value> toEnd(mlir::Value writer,
                                            mlir::Value written) override;
  mlir::Value decayState(mlir::Value state) override;
  mlir::Value getTotal() const override { return total; }

private:
  mlir::Value times(tile::TileType type, mlir::Value tile, mlir::Value decay);

  ChunkTiles &tiles;
  mlir::Value decays;      // logarithms
  mlir::Value upTo, after; // decays
  mlir::Value total;       // a logarithm
};

/// Of log-decays per key channel: C x K.
class KeyDecays : public ChunkDecays {
public:
  KeyDecays(ChunkTiles &tiles, mlir::Value decays);

  llvm::SmallVector<mlir::Value> scores(llvm::ArrayRef<Sight> sights) override;
  void emitDecays(bool) override {}
  mlir::Value readStart(mlir::Value reader, mlir::Value state,
                        bool exclusive) override;
  std::pair<mlir::Value, mlir::Value> toEnd(mlir::Value writer,
                                            mlir::Value written) override;
  mlir::Value decayState(mlir::Value state) override;
  mlir::Value getTotal() const override { return total; }

private:
  mlir::Value mask(ChunkTiles::Condition counts);
  mlir::Value sumOver(mlir::Value mask);
  mlir::Value maskToMiddle(int64_t half, bool exclusive);
  mlir::Value scaleToMiddle(const Sight &sight, int64_t half, mlir::Value sum);
  mlir::Value ownScores(const Sight &sight);

  ChunkTiles &tiles;
  mlir::Value decays;
  std::array<mlir::Value, 2> since; // inclusive and exclusive
  mlir::Value until, total;
};

} // namespace effc

#endif // EFFC_PASSES_SEQTOTILE_BUILDERS_CHUNKDECAYS_H
