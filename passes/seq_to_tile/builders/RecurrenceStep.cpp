// A linear recurrence token by token:
//
//   S = exp(log_decay) S + k (x) v;   o = q S
//
// An item is one head of one segment; decode has one token and no loop, so that
// the state passes through registers once. Floor: state read and written
// (decode), 5 K V FLOPs per token and head (prefill).
#include "passes/seq_to_tile/builders/Builders.h"
#include "passes/seq_to_tile/builders/Recurrence.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace effc;

LogicalResult effc::buildRecurrenceStep(KernelBuilder &k) {
  auto mixer = cast<seq::MixerOpInterface>(k.getCore());
  FailureOr<Recurrence> recurrence = beginRecurrence(k, mixer);
  if (failed(recurrence))
    return failure();
  auto &[map, item, mixed, stateType] = *recurrence;
  int64_t values = item.valueChannels;
  OpBuilder &b = k.ops();

  // One token: returns the next state, stores the token's result.
  auto step = [&](Value row, Value state) -> FailureOr<Value> {
    TokenMap::Scope scope{row, {}, item.head, item.group, /*chunk=*/0};
    TokenMap::Tiles q = map.quantities(scope);
    Value decay = emitExp(b, k.loc(), q.logDecay);
    Value next = k.map(
        stateType, {state, decay, q.key, q.value},
        [&](OpBuilder &builder, ValueRange e) -> Value {
          Value decayed = arith::MulFOp::create(builder, k.loc(), e[0], e[1]);
          return math::FmaOp::create(builder, k.loc(), e[2], e[3], decayed);
        });
    // Stored at once, while it is in registers: decoding is the time it takes
    // to read and write the state.
    if (k.isDecode())
      item.storeState(k, next);
    Value weighted =
        k.map(stateType, {next, q.query},
              [&](OpBuilder &builder, ValueRange e) -> Value {
                return arith::MulFOp::create(builder, k.loc(), e[0], e[1]);
              });
    Value read = tile::ReduceOp::create(b, k.loc(), k.rowType(values),
                                        tile::ReduceKind::Add, weighted,
                                        /*over_rows=*/true);
    Value y = map.readOut(scope, read);
    auto at = [&]() -> SmallVector<Value> {
      return {row, item.head, k.index(0)};
    };
    SmallVector<int64_t> sizes = {1, 1, values};
    if (failed(k.finish(
            mixed, y,
            [&](Value tensor) {
              return k.load(k.read(tensor), at(), sizes, k.rowType(values));
            },
            [&](unsigned result, Value tile) {
              k.store(tile, k.write(result), at(), sizes);
            })))
      return failure();
    return next;
  };

  Value state = item.loadState(k);
  if (k.isDecode())
    return step(item.segment.getFirstRow(), state);
  auto loop = scf::ForOp::create(b, k.loc(), k.index(0),
                                 item.segment.getLength(), k.index(1), state);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    FailureOr<Value> next =
        step(k.add(item.segment.getFirstRow(), loop.getInductionVar()),
             loop.getRegionIterArg(0));
    if (failed(next))
      return failure();
    scf::YieldOp::create(b, k.loc(), *next);
  }
  item.storeState(k, loop.getResult(0));
  return success();
}
