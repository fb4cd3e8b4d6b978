// What the vector registers of an ISA level are, and the sizes of loops and of
// register blocks that follow.
#ifndef EFFC_CODEGEN_HOST_VECTORSHAPE_H
#define EFFC_CODEGEN_HOST_VECTORSHAPE_H

#include "mlir/IR/Operation.h"

#include <cstdint>

namespace effc::host {

struct VectorShape {
  int64_t lanes;     // f32 lanes of a register: the narrowest vector used
  int64_t registers; // how many there are

  /// That of the module's target; of the lowest level where there is none.
  static VectorShape of(mlir::Operation *op);

  /// Rounds up to whole vectors.
  int64_t padded(int64_t columns) const {
    return (columns + lanes - 1) / lanes * lanes;
  }

  /// A run of columns is four vectors: enough independent chains to hide an
  /// FMA's latency, few enough to leave registers for a map.
  int64_t mainLanes() const { return 4 * lanes; }
  /// Where rows come from memory, longer runs mean fewer passes over them, and
  /// registers that spill cost less than a pass.
  int64_t memoryLanes() const { return 8 * lanes; }

  /// Of a product whose lanes run along the contraction: the columns of a
  /// register block of `rows`. Sums in three registers of four leave the others
  /// to the operands; of a single row eight cover the latency of an FMA.
  int64_t contractionColumns(int64_t rows) const {
    return rows == 1 ? 8 : registers * 3 / 4 / rows;
  }
  /// Whether a single row is multiplied by one column of a matrix in memory
  /// after the other, which is the order in which they lie and the fastest to
  /// read: where `bytes` of an addition, which takes an FMA's four cycles, are 8
  /// a cycle. Otherwise the wait for sums is longer than that for memory.
  bool takesOneColumn(int64_t bytes) const { return bytes >= 4 * 8; }
  /// contractionColumns() where elements are unpacked, which takes registers
  /// too.
  int64_t unpackedColumns(int64_t rows) const {
    return rows == 1 ? 4 : registers / 2 / rows;
  }
  /// Of one whose lanes run along the columns, two vectors wide: the rows, so
  /// that sums take half of the registers.
  int64_t broadcastRows() const { return registers / 4; }
};

} // namespace effc::host

#endif // EFFC_CODEGEN_HOST_VECTORSHAPE_H
