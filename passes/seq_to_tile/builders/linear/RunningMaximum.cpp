#include "passes/seq_to_tile/builders/linear/RunningMaximum.h"

using namespace mlir;
using namespace effc;

Value RunningMaximum::numberOf(KernelBuilder &k, Value carried) {
  return tile::ReduceOp::create(k.ops(), k.loc(), k.ops().getF32Type(),
                                tile::ReduceKind::Max, carried,
                                /*over_rows=*/false);
}

RunningMaximum RunningMaximum::of(KernelBuilder &k, Value carriedBefore,
                                  Value logDecay, Value own, bool perValue) {
  OpBuilder &b = k.ops();
  auto type = cast<tile::TileType>(carriedBefore.getType());
  auto combine = [&](ArrayRef<Value> inputs,
                     function_ref<Value(OpBuilder &, ValueRange)> body) {
    return perValue ? k.map(type, inputs, body) : body(b, ValueRange(inputs));
  };
  RunningMaximum maximum;
  maximum.before = perValue ? carriedBefore : numberOf(k, carriedBefore);
  Value decayed = combine(
      {logDecay, maximum.before}, [&](OpBuilder &in, ValueRange e) -> Value {
        return arith::AddFOp::create(in, k.loc(), e[0], e[1]);
      });
  maximum.after =
      combine({decayed, own}, [&](OpBuilder &in, ValueRange e) -> Value {
        return arith::MaximumFOp::create(in, k.loc(), e[0], e[1]);
      });
  auto below = [&](Value log) {
    return combine({log, maximum.after},
                   [&](OpBuilder &in, ValueRange e) -> Value {
                     return arith::SubFOp::create(in, k.loc(), e[0], e[1]);
                   });
  };
  maximum.logKept = below(decayed);
  maximum.logAdded = below(own);
  maximum.carried =
      perValue
          ? maximum.after
          : tile::SplatOp::create(b, k.loc(), type, maximum.after).getResult();
  return maximum;
}
