// A linear recurrence token by token, as CanonicalQuantities.h writes it.
//
// An item is a block of value channels of one head of one segment: they share
// query, key and decays and never meet. Decode has one token and no loop, so
// that the state passes through registers once. Floor: state read and written
// (decode); 5 K V FLOPs per token and head, 4 without decay, 7 or 9 with a
// rank-one correction (prefill).
#include "passes/seq_to_tile/builders/Builders.h"
#include "passes/seq_to_tile/builders/Recurrence.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace effc;

namespace {

/// States between tokens; absent ones are null.
struct Carried {
  Value matrix, imaginary, sum, maximum;

  static Carried of(ValueRange values, const Recurrence &r) {
    Carried carried{values[0], {}, {}, {}};
    size_t next = 1;
    if (r.imaginary)
      carried.imaginary = values[next++];
    if (r.sum)
      carried.sum = values[next++];
    if (r.maximum)
      carried.maximum = values[next];
    return carried;
  }
  SmallVector<Value> values() const {
    SmallVector<Value> present;
    for (Value value : {matrix, imaginary, sum, maximum})
      if (value)
        present.push_back(value);
    return present;
  }
};

/// Emits one token after another of one item.
class Stepper {
public:
  Stepper(KernelBuilder &k, Recurrence &r) : k(k), r(r), b(k.ops()) {}

  /// Emits what no token changes.
  void emitConstants();
  FailureOr<Carried> step(Value row, Carried before);

private:
  Value mul(ArrayRef<Value> factors, tile::TileType type) {
    return k.map(type, factors, [&](OpBuilder &inside, ValueRange e) -> Value {
      Value product = e[0];
      for (Value factor : e.drop_front())
        product = arith::MulFOp::create(inside, k.loc(), product, factor);
      return product;
    });
  }
  // exp, of a scalar or of each element.
  Value exp(Value x) {
    if (x.getType().isF32())
      return emitExp(b, k.loc(), x);
    return k.map(cast<tile::TileType>(x.getType()), {x},
                 [&](OpBuilder &inside, ValueRange e) {
                   return emitExp(inside, k.loc(), e[0]);
                 });
  }
  // The sum over key channels of factors that broadcast to the state's block.
  Value overKeys(ArrayRef<Value> factors) {
    return tile::ReduceOp::create(
        b, k.loc(), k.rowType(r.map.getValueBlock()), tile::ReduceKind::Add,
        mul(factors, r.matrix.type), /*over_rows=*/true);
  }
  // The sum over key channels of a product of columns, a scalar.
  Value dot(Value x, Value y) {
    return tile::ReduceOp::create(
        b, k.loc(), b.getF32Type(), tile::ReduceKind::Add,
        mul({x, y}, cast<tile::TileType>(x.getType())),
        /*over_rows=*/false);
  }

  // a b + c d, or a b - c d, of tiles that broadcast to the state's block.
  Value twoProducts(Value a, Value b, Value c, Value d, bool subtract);
  // Both parts of a complex decay.
  std::pair<Value, Value> turn(Value size, Value real, Value imaginary) {
    return {mul({size, real}, r.matrix.type),
            mul({size, imaginary}, r.matrix.type)};
  }
  void stabilise(TokenMap::Tiles &q, Carried &carried);
  FailureOr<Carried> complexStep(Value row, const TokenMap::Scope &scope,
                                 const TokenMap::Tiles &q, Carried before);
  Value nextSum(const TokenMap::Tiles &q, ArrayRef<Value> decays, Value sum);
  Value nextMatrix(const TokenMap::Tiles &q, ArrayRef<Value> decays,
                   Value matrix, Value probed);

  KernelBuilder &k;
  Recurrence &r;
  OpBuilder &b;
  std::pair<Value, Value> turned; // a complex decay that no token changes
};

} // namespace

Value Stepper::twoProducts(Value a, Value b, Value c, Value d, bool subtract) {
  return k.map(
      r.matrix.type, {a, b, c, d},
      [&](OpBuilder &inside, ValueRange e) -> Value {
        Value second = arith::MulFOp::create(inside, k.loc(), e[2], e[3]);
        if (subtract)
          second = arith::NegFOp::create(inside, k.loc(), second);
        return math::FmaOp::create(inside, k.loc(), e[0], e[1], second);
      });
}

void Stepper::emitConstants() {
  r.map.emitConstants(r.scope({}));
  const seq::CanonicalQuantities &q = r.map.getQuantities();
  if (!r.imaginary)
    return;
  Value size = r.map.constant(q.logDecay), real = r.map.constant(q.turn),
        imaginary = r.map.constant(q.turnImaginary);
  if (size && real && imaginary)
    turned = turn(size, real, imaginary);
}

// Refers decay and gate to the running maximum, and gates value and weight.
void Stepper::stabilise(TokenMap::Tiles &q, Carried &carried) {
  Value &decay = q.valueDecay ? q.valueDecay : q.decay;
  bool perValue = bool(q.valueDecay);
  auto combine = [&](ArrayRef<Value> inputs,
                     function_ref<Value(OpBuilder &, ValueRange)> body) {
    return perValue ? k.map(r.maximum->type, inputs, body)
                    : body(b, ValueRange(inputs));
  };
  // Per head the maximum is carried as a row of one element.
  Value before = carried.maximum;
  if (!perValue)
    before = tile::ReduceOp::create(b, k.loc(), b.getF32Type(),
                                    tile::ReduceKind::Max, before,
                                    /*over_rows=*/false);
  Value sum =
      combine({decay, before}, [&](OpBuilder &in, ValueRange e) -> Value {
        return arith::AddFOp::create(in, k.loc(), e[0], e[1]);
      });
  Value after =
      combine({sum, q.logGate}, [&](OpBuilder &in, ValueRange e) -> Value {
        return arith::MaximumFOp::create(in, k.loc(), e[0], e[1]);
      });
  auto minus = [&](Value x) {
    return combine({x, after}, [&](OpBuilder &in, ValueRange e) -> Value {
      return arith::SubFOp::create(in, k.loc(), e[0], e[1]);
    });
  };
  decay = minus(sum);
  Value gate = exp(minus(q.logGate));
  q.value = mul({q.value, gate}, k.rowType(r.map.getValueBlock()));
  q.weight =
      !q.weight ? gate
      : perValue
          ? mul({q.weight, gate}, r.maximum->type)
          : arith::MulFOp::create(b, k.loc(), q.weight, gate).getResult();
  q.logGate =
      r.linear.getRead() == seq::ReadOrder::BeforeWrite ? before : after;
  carried.maximum =
      perValue ? after
               : tile::SplatOp::create(b, k.loc(), r.maximum->type, after)
                     .getResult();
}

Value Stepper::nextSum(const TokenMap::Tiles &q, ArrayRef<Value> decays,
                       Value sum) {
  SmallVector<Value> inputs = {sum, q.sumKey ? q.sumKey : q.key};
  if (q.weight)
    inputs.push_back(q.weight);
  llvm::append_range(inputs, decays);
  return k.map(
      r.sum->type, inputs, [&](OpBuilder &inside, ValueRange e) -> Value {
        Value decayed = e[0];
        for (Value decay : e.drop_front(q.weight ? 3 : 2))
          decayed = arith::MulFOp::create(inside, k.loc(), decayed, decay);
        if (!q.weight)
          return arith::AddFOp::create(inside, k.loc(), decayed, e[1]);
        return math::FmaOp::create(inside, k.loc(), e[1], e[2], decayed);
      });
}

Value Stepper::nextMatrix(const TokenMap::Tiles &q, ArrayRef<Value> decays,
                          Value matrix, Value probed) {
  // key (x) (value + scale * probed) where the correction lies along the key.
  Value value = q.value;
  if (q.eraseScale)
    value =
        k.map(k.rowType(r.map.getValueBlock()), {q.value, q.eraseScale, probed},
              [&](OpBuilder &inside, ValueRange e) -> Value {
                return math::FmaOp::create(inside, k.loc(), e[1], e[2], e[0]);
              });
  SmallVector<Value> inputs = {matrix, q.key, value};
  llvm::append_range(inputs, decays);
  if (q.erase)
    llvm::append_range(inputs, ArrayRef<Value>{q.erase, probed});
  return k.map(r.matrix.type, inputs,
               [&](OpBuilder &inside, ValueRange e) -> Value {
                 Value next = e[0];
                 for (Value decay : e.slice(3, decays.size()))
                   next = arith::MulFOp::create(inside, k.loc(), next, decay);
                 if (q.erase)
                   next = math::FmaOp::create(inside, k.loc(), e[e.size() - 2],
                                              e.back(), next);
                 return math::FmaOp::create(inside, k.loc(), e[1], e[2], next);
               });
}

// One token: the states after it; stores the token's result.
FailureOr<Carried> Stepper::step(Value row, Carried before) {
  TokenMap::Scope scope = r.scope(row);
  TokenMap::Tiles q = r.map.quantities(scope);
  if (r.imaginary)
    return complexStep(row, scope, q, before);
  Carried after = before;
  if (r.maximum)
    stabilise(q, after);
  SmallVector<Value> decays;
  for (Value decay : {q.decay, q.valueDecay})
    if (decay)
      decays.push_back(r.map.hasFactors ? decay : exp(decay));

  bool readsBefore = r.linear.getRead() == seq::ReadOrder::BeforeWrite;
  TokenMap::Reading reading;
  if (r.maximum)
    reading.maximum = q.logGate; // the maximum at the time of reading
  auto read = [&](Value matrix) { reading.read = overKeys({matrix, q.query}); };
  auto readSum = [&](Value sum) {
    bool perValue = r.sum->type.isBlock();
    Value query = q.sumQuery ? q.sumQuery : q.query;
    reading.denominator = perValue ? overKeys({sum, query}) : dot(sum, query);
  };
  if (readsBefore) {
    read(before.matrix);
    if (r.sum)
      readSum(before.sum);
  }

  Value probed;
  if (q.probe) {
    SmallVector<Value> factors = {before.matrix, q.probe};
    if (r.linear.getLowRank() == seq::LowRankPair::DecayedState)
      llvm::append_range(factors, decays);
    probed = overKeys(factors);
  }
  after.matrix = nextMatrix(q, decays, before.matrix, probed);
  // Stored at once, while it is in registers: decoding is the time it takes
  // to read and write the state.
  if (k.isDecode())
    r.store(k, r.matrix, after.matrix);
  // Read as it is written, in the same pass over its rows.
  if (!readsBefore)
    read(after.matrix);
  if (r.sum) {
    after.sum = nextSum(q, decays, before.sum);
    if (!readsBefore)
      readSum(after.sum);
  }
  if (q.bonusKey) {
    Value weight = dot(q.query, q.bonusKey);
    reading.read =
        k.map(k.rowType(r.map.getValueBlock()), {reading.read, weight, q.value},
              [&](OpBuilder &inside, ValueRange e) -> Value {
                return math::FmaOp::create(inside, k.loc(), e[1], e[2], e[0]);
              });
  }
  if (failed(r.finish(k, row, r.map.readOut(scope, reading))))
    return failure();
  return after;
}

// One token of a recurrence of complex numbers, whose output is a real part.
FailureOr<Carried> Stepper::complexStep(Value row, const TokenMap::Scope &scope,
                                        const TokenMap::Tiles &q,
                                        Carried before) {
  auto [decay, decayImaginary] =
      turned.first ? turned : turn(q.decay, q.turn, q.turnImaginary);
  auto written = [&](Value kept, Value key) {
    return k.map(r.matrix.type, {key, q.value, kept},
                 [&](OpBuilder &inside, ValueRange e) -> Value {
                   return math::FmaOp::create(inside, k.loc(), e[0], e[1],
                                              e[2]);
                 });
  };
  Carried after = before;
  after.matrix = written(twoProducts(decay, before.matrix, decayImaginary,
                                     before.imaginary, /*subtract=*/true),
                         q.key);
  after.imaginary = written(twoProducts(decay, before.imaginary, decayImaginary,
                                        before.matrix, /*subtract=*/false),
                            q.keyImaginary);
  if (k.isDecode()) {
    r.store(k, r.matrix, after.matrix);
    r.store(k, *r.imaginary, after.imaginary);
  }
  bool readsBefore = r.linear.getRead() == seq::ReadOrder::BeforeWrite;
  const Carried &seen = readsBefore ? before : after;
  TokenMap::Reading reading;
  reading.read = tile::ReduceOp::create(
      b, k.loc(), k.rowType(r.map.getValueBlock()), tile::ReduceKind::Add,
      twoProducts(q.query, seen.matrix, q.queryImaginary, seen.imaginary,
                  /*subtract=*/true),
      /*over_rows=*/true);
  if (failed(r.finish(k, row, r.map.readOut(scope, reading))))
    return failure();
  return after;
}

// All tokens of a block of value channels, whose state is stored; from states
// before the call to those after it.
static FailureOr<Carried> passOver(KernelBuilder &k, Recurrence &r,
                                   Carried states) {
  OpBuilder &b = k.ops();
  Stepper stepper(k, r);
  stepper.emitConstants();
  states.matrix = r.load(k, r.matrix);
  if (r.imaginary)
    states.imaginary = r.load(k, *r.imaginary);
  if (k.isDecode())
    return stepper.step(r.segment.getFirstRow(), states);
  auto loop = scf::ForOp::create(b, k.loc(), k.index(0), r.segment.getLength(),
                                 k.index(1), states.values());
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    FailureOr<Carried> next =
        stepper.step(k.add(r.segment.getFirstRow(), loop.getInductionVar()),
                     Carried::of(loop.getRegionIterArgs(), r));
    if (failed(next))
      return failure();
    scf::YieldOp::create(b, k.loc(), next->values());
  }
  Carried last = Carried::of(loop.getResults(), r);
  r.store(k, r.matrix, last.matrix);
  if (r.imaginary)
    r.store(k, *r.imaginary, last.imaginary);
  return last;
}

LogicalResult effc::buildRecurrenceStep(KernelBuilder &k) {
  auto mixer = cast<seq::MixerOpInterface>(k.getCore());
  // Four vectors of 32 lanes: query, key and decays are read once for them.
  constexpr int64_t kValueBlock = 128;
  FailureOr<Recurrence> begun =
      beginRecurrence(k, mixer, /*chunked=*/false, kValueBlock);
  if (failed(begun))
    return failure();
  Recurrence &r = *begun;
  OpBuilder &b = k.ops();
  OpBuilder::InsertionGuard guard(b);
  Carried shared;
  if (r.sum)
    shared.sum = r.load(k, *r.sum);
  if (r.maximum)
    shared.maximum = r.load(k, *r.maximum);
  scf::ForOp overBlocks;
  if (r.blocksInside > 1) {
    overBlocks =
        scf::ForOp::create(b, k.loc(), k.index(0), k.index(r.blocksInside),
                           k.index(1), shared.values());
    b.setInsertionPointToStart(overBlocks.getBody());
    r.setFirstValue(k.mul(overBlocks.getInductionVar(), r.map.getValueBlock()));
  }
  FailureOr<Carried> last = passOver(k, r, shared);
  if (failed(last))
    return failure();
  last->matrix = last->imaginary = {};
  if (overBlocks) {
    if (SmallVector<Value> values = last->values(); !values.empty())
      scf::YieldOp::create(b, k.loc(), values);
    b.setInsertionPointAfter(overBlocks);
    ValueRange results = overBlocks.getResults();
    if (r.sum)
      last->sum = results.front();
    if (r.maximum)
      last->maximum = results.back();
  }
  if (r.sum)
    r.store(k, *r.sum, last->sum);
  if (r.maximum)
    r.store(k, *r.maximum, last->maximum);
  return success();
}
