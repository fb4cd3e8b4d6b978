// Blocks of keys that only some queries have chosen.
//
// A block of the kernel lies in one block of the mixer. Where none of an item's
// queries has chosen that one, its keys are not read; else those that have not see
// none of its keys. What is left out this way adds nothing, so that bits do not
// depend on which queries share an item. Each block costs as many comparisons as
// queries choose blocks.
#include "passes/seq_to_tile/builders/window/Window.h"

using namespace mlir;
using namespace effc;

ValueRange
WindowKernel::whereChosen(const Queries &queries, KeyBlock block,
                          ValueRange before,
                          function_ref<RunningSoftmax(const KeyBlock &)> mix) {
  Location loc = k.loc();
  Value number = arith::IndexCastOp::create(
      b, loc, b.getI32Type(),
      k.divide(k.mul(block.index, blockKeys), record.getBlock()).first);
  auto type = cast<tile::TileType>(queries.blocks.getType());
  Value hits = k.map(
      type, {queries.blocks}, [&](OpBuilder &builder, ValueRange e) -> Value {
        Value chosen =
            arith::BitcastOp::create(builder, loc, builder.getI32Type(), e[0]);
        Value isHit = arith::CmpIOp::create(
            builder, loc, arith::CmpIPredicate::eq, chosen, number);
        return arith::SelectOp::create(
            builder, loc, isHit, constant(builder, 1), constant(builder, 0));
      });
  auto largest = [&](Type result, Value tile) -> Value {
    return tile::ReduceOp::create(b, loc, result, tile::ReduceKind::Max, tile,
                                  /*over_rows=*/false);
  };
  Value any = hits;
  if (type.getRole() != tile::Role::Row)
    any = block.chosen = largest(columnType, hits);
  any =
      tile::ReduceOp::create(b, loc, b.getF32Type(), tile::ReduceKind::Max, any,
                             /*over_rows=*/type.getRole() != tile::Role::Row);
  Value isSeen = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OGT, any,
                                       k.scalar(0));
  return k.where(isSeen, SmallVector<Value>(before),
                 [&] { return mix(block).values(); });
}
