// A matrix of blocks as its kernel hands it on: unpacked, in another type. An item is a
// row, or a part of a long one. Floor: bytes of the blocks and of the result.
#include "passes/kernel_facts/BlockRoom.h"
#include "passes/seq_to_tile/builders/Builders.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace effc;

LogicalResult effc::buildUnpacked(KernelBuilder &k) {
  Operation *yield = k.getSourceBody().getTerminator();
  Value matrix = yield->getNumOperands() == 1 ? yield->getOperand(0) : Value();
  auto type = matrix ? dyn_cast<RankedTensorType>(matrix.getType())
                     : RankedTensorType();
  if (!k.isGpu() || !type || type.getRank() != 2 || !type.hasStaticShape())
    return yield->emitOpError(
        "ends a kernel without ops, which has code only for a "
        "matrix of blocks on a GPU");
  int64_t width = type.getShape().back();
  int64_t size =
      std::min(width, BlockRoom::of(k.getContext().target).rowElements());
  int64_t runs = llvm::divideCeil(width, size);
  k.setItems(tile::Count::One, 1, type.getShape().front() * runs);
  auto [row, run] = k.divide(k.item(), runs);
  Value column = k.mul(run, size), limit;
  if (width % size != 0)
    limit = k.min(k.sub(k.index(width), column), k.index(size));
  Value tile = k.load(k.read(matrix), {row, column}, {1, size}, k.rowType(size),
                      {}, limit);
  k.store(tile, k.write(0), {row, column}, {1, size}, {}, limit);
  return success();
}
