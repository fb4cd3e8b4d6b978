// A linear recurrence token by token, as CanonicalQuantities.h writes it.
//
// An item is a block of value channels of one head of one segment: they share
// query, key and decays and never meet. Decode has one token and no loop, so
// that the state passes through registers once. Floor: state read and written
// (decode); 5 K V FLOPs per token and head, 4 without decay, 7 or 9 with a
// rank-one correction (prefill).
#include "passes/seq_to_tile/builders/Builders.h"
#include "passes/seq_to_tile/builders/linear/Recurrence.h"

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
  /// Emits the tokens at `rows`, in order, and stores their results: first all
  /// that does not need the state, then the state's way through all of them,
  /// then what is made of their readings.
  FailureOr<Carried> steps(ArrayRef<Value> rows, Carried before);

private:
  /// A token on its way.
  struct Token {
    Value row;
    TokenMap::Scope scope;
    TokenMap::Tiles q;
    SmallVector<Value> decays, probing;
    TokenMap::Reading reading;
    TileCode::Emitted emitted;
  };
  Token prepare(Value row, Carried &carried);
  SmallVector<Value> probeOf(const Token &token);
  void advance(Token &token, Carried &carried);
  void advanceSum(Token &token, Carried &carried);
  LogicalResult finish(Token &token);
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

// What the state is multiplied by where it is probed. A probe of the decayed
// state is a decayed probe of the state, where the decay does not lie along the
// values: a multiplication for each key instead of one for each element.
SmallVector<Value> Stepper::probeOf(const Token &token) {
  SmallVector<Value> factors = {token.q.probe};
  if (r.linear.getLowRank() != seq::LowRankPair::DecayedState)
    return factors;
  Type type = token.q.probe.getType();
  for (Value decay : token.decays)
    if (decay.getType().isF32() || decay.getType() == type)
      factors[0] = mul({factors[0], decay}, cast<tile::TileType>(type));
    else
      factors.push_back(decay);
  return factors;
}

// What a token needs no matrix for; its maximum follows the one before.
Stepper::Token Stepper::prepare(Value row, Carried &carried) {
  Token token;
  token.row = row;
  token.scope = r.scope(row);
  token.q = r.map.quantities(token.scope);
  if (r.maximum) {
    stabilise(token.q, carried);
    token.reading.maximum = token.q.logGate; // the maximum when it is read
  }
  for (Value decay : {token.q.decay, token.q.valueDecay})
    if (decay)
      token.decays.push_back(r.map.hasFactors ? decay : exp(decay));
  if (token.q.probe)
    token.probing = probeOf(token);
  token.emitted = r.map.leaveScope();
  return token;
}

// The matrix after a token, and what the token reads of it.
void Stepper::advance(Token &token, Carried &carried) {
  const TokenMap::Tiles &q = token.q;
  bool readsBefore = r.linear.getRead() == seq::ReadOrder::BeforeWrite;
  auto read = [&] { token.reading.read = overKeys({carried.matrix, q.query}); };
  if (readsBefore)
    read();
  Value probed;
  if (q.probe) {
    SmallVector<Value> factors = {carried.matrix};
    llvm::append_range(factors, token.probing);
    probed = overKeys(factors);
  }
  carried.matrix = nextMatrix(q, token.decays, carried.matrix, probed);
  // Stored at once, while it is in registers: decoding is the time it takes
  // to read and write the state.
  if (k.isDecode())
    r.store(k, r.matrix, carried.matrix);
  // Read as it is written, in the same pass over its rows.
  if (!readsBefore)
    read();
}

// The sum of keys after a token, and what the token reads of it.
void Stepper::advanceSum(Token &token, Carried &carried) {
  const TokenMap::Tiles &q = token.q;
  Value query = q.sumQuery ? q.sumQuery : q.query;
  auto read = [&] {
    token.reading.denominator = r.sum->type.isBlock()
                                    ? overKeys({carried.sum, query})
                                    : dot(carried.sum, query);
  };
  bool readsBefore = r.linear.getRead() == seq::ReadOrder::BeforeWrite;
  if (readsBefore)
    read();
  carried.sum = nextSum(q, token.decays, carried.sum);
  if (!readsBefore)
    read();
}

LogicalResult Stepper::finish(Token &token) {
  const TokenMap::Tiles &q = token.q;
  r.map.resumeScope(std::move(token.emitted));
  if (q.bonusKey) {
    Value weight = dot(q.query, q.bonusKey);
    token.reading.read = k.map(
        k.rowType(r.map.getValueBlock()), {token.reading.read, weight, q.value},
        [&](OpBuilder &inside, ValueRange e) -> Value {
          return math::FmaOp::create(inside, k.loc(), e[1], e[2], e[0]);
        });
  }
  return r.finish(k, token.row, r.map.readOut(token.scope, token.reading));
}

FailureOr<Carried> Stepper::steps(ArrayRef<Value> rows, Carried carried) {
  if (r.imaginary) {
    assert(rows.size() == 1 && "complex states take one token at a time");
    TokenMap::Scope scope = r.scope(rows[0]);
    return complexStep(rows[0], scope, r.map.quantities(scope), carried);
  }
  SmallVector<Token, 2> tokens;
  for (Value row : rows)
    tokens.push_back(prepare(row, carried));
  for (Token &token : tokens)
    advance(token, carried);
  if (r.sum)
    for (Token &token : tokens)
      advanceSum(token, carried);
  for (Token &token : tokens)
    if (failed(finish(token)))
      return failure();
  return carried;
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

// How many tokens a pass over the state takes on the host: with two, each
// element is loaded and stored once for both, and what their gates wait for
// overlaps. What a token probes the state for it must know before it writes, so
// that two would be passes of their own all the same.
static int64_t tokensTogether(const KernelBuilder &k, const Recurrence &r) {
  bool oneByOne = k.isGpu() || r.imaginary || r.map.keyChannels == 1 ||
                  r.map.getQuantities().probe;
  return oneByOne ? 1 : 2;
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
    return stepper.steps({r.segment.getFirstRow()}, states);
  // The tokens from `first` to `end`, `together` at a time.
  auto loopOver = [&](Value first, Value end,
                      int64_t together) -> LogicalResult {
    auto loop = scf::ForOp::create(b, k.loc(), first, end, k.index(together),
                                   states.values());
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    SmallVector<Value> rows;
    for (int64_t i = 0; i < together; ++i) {
      Value token = i == 0 ? loop.getInductionVar()
                           : k.add(loop.getInductionVar(), k.index(i));
      rows.push_back(k.add(r.segment.getFirstRow(), token));
    }
    FailureOr<Carried> next =
        stepper.steps(rows, Carried::of(loop.getRegionIterArgs(), r));
    if (failed(next))
      return failure();
    scf::YieldOp::create(b, k.loc(), next->values());
    states = Carried::of(loop.getResults(), r);
    return success();
  };
  Value length = r.segment.getLength(), done = k.index(0);
  if (int64_t together = tokensTogether(k, r); together > 1) {
    done = k.mul(k.divide(length, together).first, together);
    if (failed(loopOver(k.index(0), done, together)))
      return failure();
  }
  if (failed(loopOver(done, length, 1)))
    return failure();
  r.store(k, r.matrix, states.matrix);
  if (r.imaginary)
    r.store(k, *r.imaginary, states.imaginary);
  return states;
}

// Value channels of an item. Four vectors of 32 lanes: query, key and decays
// are read once for them. Where parameters have numbers for each element of a
// state, nothing is shared, and all of them come by for each token: on the host
// so many that they stay in the first cache.
static int64_t valueBlockOf(KernelBuilder &k, seq::MixerOpInterface mixer) {
  constexpr int64_t kShared = 128, kCachedElements = 8192;
  auto stateful = cast<seq::StatefulOpInterface>(mixer.getOperation());
  ArrayRef<int64_t> state = stateful.getStates().front().type.getShape();
  int64_t ofElements =
      llvm::count_if(mixer->getOperandTypes(), [&](Type operand) {
        auto tensor = dyn_cast<RankedTensorType>(operand);
        return tensor && tensor.getShape() == state;
      });
  int64_t states = llvm::count_if(
      stateful.getStates(), [&](const seq::StateDescriptor &descriptor) {
        return descriptor.kind == seq::StateKind::Matrix;
      });
  if (k.isGpu() || ofElements == states || state.size() != 3)
    return kShared;
  return std::clamp<int64_t>(kCachedElements / (ofElements * state[1]), 8,
                             kShared);
}

LogicalResult effc::buildRecurrenceStep(KernelBuilder &k) {
  auto mixer = cast<seq::MixerOpInterface>(k.getCore());
  FailureOr<Recurrence> begun =
      beginRecurrence(k, mixer, /*chunked=*/false, valueBlockOf(k, mixer));
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
