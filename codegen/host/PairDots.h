// Products of pairs of bf16 with sums in f32: an instruction of some levels.
#ifndef EFFC_CODEGEN_HOST_PAIRDOTS_H
#define EFFC_CODEGEN_HOST_PAIRDOTS_H

#include "codegen/host/Place.h"
#include "dialects/tile/Tile.h"

namespace effc::host {

/// Twice as many terms as a register has f32 lanes: lane i sums terms 2 i and 2 i + 1.
/// The instruction takes subnormals for zeros (Intel's Software Developer's Manual,
/// volume 2, VDPBF16PS).
class PairDots {
public:
  /// Whether the level of `dot`'s module has the instruction, `dot` may round to bf16,
  /// and its matrix lies in bf16 along the contraction.
  static bool canTake(tile::DotOp dot, const Place &rows, const Place &matrix);

  PairDots(mlir::OpBuilder &b, mlir::Location loc, Memory &memory)
      : b(b), loc(loc), memory(memory), lanes(memory.shape.lanes) {}

  int64_t terms() const { return 2 * lanes; }
  /// The `valid` first of so many terms from `place` on, zeros behind them; of f32 they
  /// are rounded to nearest even.
  mlir::Value load(const stored::ElementPlace &place, mlir::Type element,
                   int64_t valid);
  /// sum + the products of each lane's pairs.
  mlir::Value add(mlir::Value sum, mlir::Value left, mlir::Value right);

private:
  mlir::Value call(llvm::StringRef intrinsic, mlir::Type result,
                   mlir::ValueRange arguments);

  mlir::OpBuilder &b;
  mlir::Location loc;
  Memory &memory;
  int64_t lanes;
};

} // namespace effc::host

#endif // EFFC_CODEGEN_HOST_PAIRDOTS_H
