#include "passes/seq_to_tile/builders/linear/TokenSteps.h"

#include "passes/seq_to_tile/builders/linear/RunningMaximum.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace effc;

Value TokenSteps::mul(ArrayRef<Value> factors, tile::TileType type) {
  return k.map(type, factors, [&](OpBuilder &inside, ValueRange e) -> Value {
    Value product = e[0];
    for (Value factor : e.drop_front())
      product = arith::MulFOp::create(inside, k.loc(), product, factor);
    return product;
  });
}

Value TokenSteps::overKeys(ArrayRef<Value> factors) {
  return tile::ReduceOp::create(
      b, k.loc(), k.rowType(r.map.getValueBlock()), tile::ReduceKind::Add,
      mul(factors, r.matrix.type), /*over_rows=*/true);
}

Value TokenSteps::dot(Value x, Value y) {
  return tile::ReduceOp::create(b, k.loc(), b.getF32Type(),
                                tile::ReduceKind::Add,
                                mul({x, y}, cast<tile::TileType>(x.getType())),
                                /*over_rows=*/false);
}

std::pair<Value, Value> TokenSteps::turn(Value size, Value real,
                                         Value imaginary) {
  return {mul({size, real}, r.matrix.type),
          mul({size, imaginary}, r.matrix.type)};
}

Value effc::emitTwoProducts(KernelBuilder &k, tile::TileType type, Value a,
                            Value b, Value c, Value d, bool subtract) {
  return k.map(
      type, {a, b, c, d}, [&](OpBuilder &inside, ValueRange e) -> Value {
        Value second = arith::MulFOp::create(inside, k.loc(), e[2], e[3]);
        if (subtract)
          second = arith::NegFOp::create(inside, k.loc(), second);
        return math::FmaOp::create(inside, k.loc(), e[0], e[1], second);
      });
}

void TokenSteps::emitConstants() {
  r.map.emitConstants(r.scope({}));
  const seq::CanonicalQuantities &q = r.map.getQuantities();
  if (!r.imaginary)
    return;
  Value size = r.map.constant(q.logDecay), real = r.map.constant(q.turn),
        imaginary = r.map.constant(q.turnImaginary);
  if (size && real && imaginary)
    turned = turn(size, real, imaginary);
}

// The decays of the tokens so far, where a piece leaves them.
void TokenSteps::addDecays(const TokenMap::Tiles &q, Carried &carried) {
  auto combined = [&](OpBuilder &inside, Value x, Value y) -> Value {
    if (r.map.hasFactors)
      return arith::MulFOp::create(inside, k.loc(), x, y);
    return arith::AddFOp::create(inside, k.loc(), x, y);
  };
  auto addTo = [&](Value &total, Value decay) {
    if (!total)
      return;
    if (auto type = dyn_cast<tile::TileType>(total.getType()))
      total = k.map(type, {total, decay}, [&](OpBuilder &in, ValueRange e) {
        return combined(in, e[0], e[1]);
      });
    else
      total = combined(b, total, decay);
  };
  addTo(carried.decay, q.decay);
  addTo(carried.valueDecay, q.valueDecay);
}

// Refers decay and gate to the running maximum, and gates value and weight.
void TokenSteps::stabilise(TokenMap::Tiles &q, Carried &carried) {
  Value &decay = q.valueDecay ? q.valueDecay : q.decay;
  bool perValue = bool(q.valueDecay);
  RunningMaximum maximum =
      RunningMaximum::of(k, carried.maximum, decay, q.logGate, perValue);
  decay = maximum.logKept;
  Value gate = emitExponential(k, maximum.logAdded);
  q.value = mul({q.value, gate}, k.rowType(r.map.getValueBlock()));
  q.weight =
      !q.weight ? gate
      : perValue
          ? mul({q.weight, gate}, r.maximum->type)
          : arith::MulFOp::create(b, k.loc(), q.weight, gate).getResult();
  q.logGate = readsBefore() ? maximum.before : maximum.after;
  carried.maximum = maximum.carried;
}

Value TokenSteps::nextSum(const TokenMap::Tiles &q, ArrayRef<Value> decays,
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

Value TokenSteps::nextMatrix(const TokenMap::Tiles &q, ArrayRef<Value> decays,
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
SmallVector<Value> TokenSteps::probeOf(const Token &token) {
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
TokenSteps::Token TokenSteps::prepare(Value row, Carried &carried) {
  Token token;
  token.row = row;
  token.scope = r.scope(row);
  token.q = r.map.quantities(token.scope);
  addDecays(token.q, carried);
  if (r.maximum) {
    stabilise(token.q, carried);
    token.reading.maximum = token.q.logGate; // the maximum when it is read
  }
  for (Value decay : {token.q.decay, token.q.valueDecay})
    if (decay)
      token.decays.push_back(r.map.hasFactors ? decay
                                              : emitExponential(k, decay));
  if (token.q.probe)
    token.probing = probeOf(token);
  token.emitted = r.map.leaveScope();
  return token;
}

// The matrix after a token, and what the token reads of it.
void TokenSteps::advance(Token &token, Carried &carried) {
  const TokenMap::Tiles &q = token.q;
  auto read = [&](bool now) {
    if (now && givesOutputs)
      token.reading.read = overKeys({carried.matrix, q.query});
  };
  read(readsBefore());
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
  read(!readsBefore());
}

// The sum of keys after a token, and what the token reads of it.
void TokenSteps::advanceSum(Token &token, Carried &carried) {
  const TokenMap::Tiles &q = token.q;
  Value query = q.sumQuery ? q.sumQuery : q.query;
  auto read = [&](bool now) {
    if (now && givesOutputs)
      token.reading.denominator = r.sum->type.isBlock()
                                      ? overKeys({carried.sum, query})
                                      : dot(carried.sum, query);
  };
  read(readsBefore());
  carried.sum = nextSum(q, token.decays, carried.sum);
  read(!readsBefore());
}

LogicalResult TokenSteps::finish(Token &token) {
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

// All that does not need the state comes first, then the state's way through
// all tokens, then what is made of their readings.
FailureOr<Carried> TokenSteps::steps(ArrayRef<Value> rows, Carried carried) {
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
  if (givesOutputs)
    for (Token &token : tokens)
      if (failed(finish(token)))
        return failure();
  return carried;
}

// One token of a recurrence of complex numbers, whose output is a real part.
FailureOr<Carried> TokenSteps::complexStep(Value row,
                                           const TokenMap::Scope &scope,
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
  after.matrix = written(emitTwoProducts(k, r.matrix.type, decay, before.matrix,
                                         decayImaginary, before.imaginary,
                                         /*subtract=*/true),
                         q.key);
  after.imaginary = written(emitTwoProducts(k, r.matrix.type, decay,
                                            before.imaginary, decayImaginary,
                                            before.matrix, /*subtract=*/false),
                            q.keyImaginary);
  if (after.decay) {
    after.decay =
        emitTwoProducts(k, r.matrix.type, decay, before.decay, decayImaginary,
                        before.decayImaginary, /*subtract=*/true);
    after.decayImaginary =
        emitTwoProducts(k, r.matrix.type, decay, before.decayImaginary,
                        decayImaginary, before.decay, /*subtract=*/false);
  }
  if (k.isDecode()) {
    r.store(k, r.matrix, after.matrix);
    r.store(k, *r.imaginary, after.imaginary);
  }
  if (!givesOutputs)
    return after;
  const Carried &seen = readsBefore() ? before : after;
  TokenMap::Reading reading;
  reading.read = tile::ReduceOp::create(
      b, k.loc(), k.rowType(r.map.getValueBlock()), tile::ReduceKind::Add,
      emitTwoProducts(k, r.matrix.type, q.query, seen.matrix, q.queryImaginary,
                      seen.imaginary,
                      /*subtract=*/true),
      /*over_rows=*/true);
  if (failed(r.finish(k, row, r.map.readOut(scope, reading))))
    return failure();
  return after;
}

FailureOr<Carried> TokenSteps::onlyStep(Carried before) {
  return steps({r.segment.getFirstRow()}, before);
}

// How many tokens go together. On the host, with two each element of a state is
// loaded and stored once for both, and what their gates wait for overlaps. On a
// GPU the numbers of all of them are on their way at once, where a thread has
// registers for them: a state of one key channel is a row. What a token probes
// the state for it must know before it writes, so that two would be passes of
// their own all the same.
int64_t TokenSteps::tokensTogether() const {
  if (r.imaginary || r.map.getQuantities().probe)
    return 1;
  if (!k.isGpu())
    return r.map.keyChannels == 1 ? 1 : 2;
  return r.map.keyChannels == 1 ? 8 : 2;
}

// The tokens in [from, to), whose number is a multiple of `together`.
LogicalResult TokenSteps::loopOver(Value from, Value to, int64_t together,
                                   Carried &carried) {
  auto loop = scf::ForOp::create(b, k.loc(), from, to, k.index(together),
                                 carried.values());
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> rows;
  for (int64_t i = 0; i < together; ++i) {
    Value token = i == 0 ? loop.getInductionVar()
                         : k.add(loop.getInductionVar(), k.index(i));
    rows.push_back(k.add(r.segment.getFirstRow(), token));
  }
  FailureOr<Carried> next = steps(rows, carried.with(loop.getRegionIterArgs()));
  if (failed(next))
    return failure();
  scf::YieldOp::create(b, k.loc(), next->values());
  carried = carried.with(loop.getResults());
  return success();
}

FailureOr<Carried> TokenSteps::stepsOver(Value from, Value to,
                                         Carried carried) {
  if (int64_t together = tokensTogether(); together > 1) {
    bool fromStart = matchPattern(from, m_Zero());
    Value count = fromStart ? to : k.sub(to, from);
    Value whole = k.mul(k.divide(count, together).first, together);
    Value done = fromStart ? whole : k.add(from, whole);
    if (failed(loopOver(from, done, together, carried)))
      return failure();
    from = done;
  }
  if (failed(loopOver(from, to, 1, carried)))
    return failure();
  return carried;
}
