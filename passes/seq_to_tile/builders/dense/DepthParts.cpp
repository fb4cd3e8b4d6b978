// The second launch of a product whose terms several items share: an item adds up a row's
// sums, or a part of a long row's. Floor: bytes of the sums.
#include "passes/seq_to_tile/builders/dense/DepthParts.h"

#include "dialects/plan/MemoryLayout.h"
#include "passes/kernel_facts/BlockRoom.h"
#include "passes/kernel_facts/SingleRows.h"
#include "passes/seq_to_tile/builders/Builders.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace effc;

Value effc::sumsOfParts(KernelBuilder &k, int64_t outputs, bool written) {
  int64_t columns = llvm::alignTo(outputs, plan::kRowAlignment / sizeof(float));
  return k.scratch(
      {ShapedType::kDynamic, k.getContext().sizes.dense.depthParts, columns},
      written);
}

LogicalResult effc::buildSumOfParts(KernelBuilder &k) {
  Operation *root = k.getRoot();
  const DenseTile &ofItem = k.getContext().sizes.dense;
  emitRemark(root->getLoc())
      << ofItem.depthParts << " items share the terms of a tile of "
      << ofItem.rows << " x " << ofItem.outputs
      << " outputs, since cores would be without one; a further launch adds up "
         "their sums";
  int64_t outputs = DenseShape::of(root).outputs;
  int64_t width =
      std::min(outputs, BlockRoom::of(k.getContext().target).rowElements());
  int64_t runs = llvm::divideCeil(outputs, width);
  k.setItems(k.getContext().lead, 1, runs);
  auto [row, run] = k.divide(k.item(), runs);
  Value first = k.mul(run, width), limit;
  if (outputs % width != 0)
    limit = k.min(k.sub(k.index(outputs), first), k.index(width));
  tile::TileType type = k.rowType(width);
  auto add = [&](Value a, Value b) {
    return k.map(type, {a, b}, [&](OpBuilder &builder, ValueRange e) -> Value {
      return arith::AddFOp::create(builder, k.loc(), e[0], e[1]);
    });
  };
  Value parts = sumsOfParts(k, outputs, /*written=*/false), y;
  for (int64_t i = 0; i < k.getContext().sizes.dense.depthParts; ++i) {
    Value part =
        k.load(parts, {row, k.index(i), first}, {1, 1, width}, type, {}, limit);
    y = y ? add(y, part) : part;
  }
  if (root->getNumOperands() > 2)
    y = add(y, k.load(k.read(root->getOperand(2)), {first}, {width}, type, {},
                      limit));
  return k.finish(
      root->getResult(0), y,
      [&](Value tensor) {
        return k.load(k.read(tensor), {row, first}, {1, width}, type, {},
                      limit);
      },
      [&](unsigned result, Value tile) {
        k.store(tile, k.write(result), {row, first}, {1, width}, {}, limit);
      });
}
