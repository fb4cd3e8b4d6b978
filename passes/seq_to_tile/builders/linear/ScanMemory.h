// What the pieces of a sequence leave one another between the two launches of a
// scan.
//
// Two stretches of tokens, one after the other, with decays P1, P2 and states
// S1, S2 that each makes from nothing, are one with P2 P1 and P2 S1 + S2; a
// normaliser's sum likewise. With a running maximum m states are scaled by e^-m,
// and decays are logarithms a:
//
//   m = max(a2 + m1, m2),   S = e^(a2 + m1 - m) S1 + e^(m2 - m) S2
//
// A place holds these for each head: a state as it is, K rows of V, what lies
// along the values as a row, along the keys as a column behind the values, and
// a number of a head as one for each block of values.
#ifndef EFFC_PASSES_SEQTOTILE_BUILDERS_SCANMEMORY_H
#define EFFC_PASSES_SEQTOTILE_BUILDERS_SCANMEMORY_H

#include "passes/seq_to_tile/builders/linear/Carried.h"
#include "passes/seq_to_tile/builders/linear/Recurrence.h"

namespace effc {

class ScanMemory {
public:
  /// Of so many places; for the launch that fills it, `written`, or for the
  /// next one.
  ScanMemory(KernelBuilder &k, const Recurrence &r, int64_t places,
             bool written);

  /// What a piece that starts from nothing has before its first token: what
  /// changes no other stretch.
  Carried nothing() const;
  /// The state before the call, and what nothing does to it.
  Carried ofSequence() const;
  /// Leaves what a piece has made at a place.
  void keep(mlir::Value place, const Carried &piece);
  /// The state behind pieces at the places [from, to), of which the first has
  /// what was before it in its own; nothing where there are none.
  Carried sum(mlir::Value from, mlir::Value to);

private:
  /// Where a part of a place lies, and as what.
  struct Part {
    mlir::Value Carried::*member;
    tile::TileType type; ///< null: an f32
    int64_t row = 0, column = 0;
    double neutral = 0;
  };
  void add(mlir::Value Carried::*member, mlir::Type type, double neutral);
  llvm::SmallVector<mlir::Value> at(const Part &part, mlir::Value place) const;
  llvm::SmallVector<int64_t> sizesOf(const Part &part) const;
  /// An f32 in a place.
  tile::TileType storedType(const Part &part) const;
  Carried load(mlir::Value place);
  Carried behind(const Carried &before, const Carried &piece);

  KernelBuilder &k;
  const Recurrence &r;
  llvm::SmallVector<Part> parts;
  int64_t rows = 0, columns;
  mlir::Value view;
};

} // namespace effc

#endif // EFFC_PASSES_SEQTOTILE_BUILDERS_SCANMEMORY_H
