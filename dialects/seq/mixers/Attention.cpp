// seq.attention. Softmax attention with a ring of keys and values, and with
// first tokens that stay. arXiv:1706.03762, arXiv:2309.17453.
#include "dialects/seq/BlockLength.h"
#include "dialects/seq/Seq.h"
#include "dialects/seq/ShapeFormula.h"
#include "dialects/seq/reference/Frame.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace effc::seq;
using namespace effc::seq::reference;

//===- verifier -----------------------------------------------------------===//

// ATT2 and the last clause of ATT7.
static LogicalResult verifyHeads(AttentionOp op, ShapeFormula &shapes) {
  int64_t heads = shapes["H"];
  SmallVector<StringRef> shared = {"G", "J"};
  if (op.getD())
    shared.push_back("N");
  for (StringRef letter : shared)
    if (heads % shapes[letter] != 0) {
      InFlightDiagnostic diagnostic =
          op.emitOpError() << "expects " << letter << " to divide H = " << heads
                           << ", but got " << shapes[letter];
      diagnostic.attachNote()
          << "each "
          << (letter == "G"   ? "key"
              : letter == "J" ? "value"
                              : "number")
          << " head serves as many heads as any other; a projection of another "
             "width was perhaps taken";
      return diagnostic;
    }
  int64_t keys = shapes["G"], values = shapes["J"];
  if (std::max(keys, values) % std::min(keys, values) != 0)
    return op.emitOpError()
           << "expects G and J of which one divides the other, "
              "but got "
           << keys << " and " << values;
  return success();
}

// ATT5, ATT8 and ATT9.
static LogicalResult verifyNumbers(AttentionOp op, int64_t rows) {
  if (op.getWindow() &&
      (int64_t(*op.getWindow()) < 1 || int64_t(*op.getWindow()) > rows)) {
    InFlightDiagnostic diagnostic = op.emitOpError()
                                    << "expects 'window' in 1.." << rows
                                    << ", the W of 'keys', but got "
                                    << int64_t(*op.getWindow());
    diagnostic.attachNote() << "W counts the query's own key; a window that is "
                               "given as a distance has one key more";
    return diagnostic;
  }
  if (!op.getScale().isFinite())
    return op.emitOpError()
           << "expects a finite 'scale', but got " << op.getScaleAttr();
  if (op.getSoftCapAttr() &&
      !(op.getSoftCap()->isFinite() && op.getSoftCap()->convertToDouble() > 0))
    return op.emitOpError() << "expects a finite 'soft_cap' above 0, but got "
                            << op.getSoftCapAttr();
  if (op.getKeep() && (int64_t(*op.getKeep()) < 1 || !op.getD()))
    return op.emitOpError()
           << "expects 'keep' of at least 1 beside a number per key, but got "
           << int64_t(*op.getKeep())
           << (op.getD() ? " with one" : " without one");
  return success();
}

// ATT10 and ATT11.
static LogicalResult verifyFirstTokens(AttentionOp op, ShapeFormula &shapes) {
  int present = bool(op.getSinkQuery()) + bool(op.getSinkKeys()) +
                bool(op.getSinkValues());
  if (present != 0 && present != 3)
    return op.emitOpError() << "expects 'sink_query', 'sink_keys' and "
                               "'sink_values' all present or all absent, but "
                               "got "
                            << present << " of them";
  bool numbers = present && op.getD();
  if (bool(op.getSinkScores()) != numbers)
    return op.emitOpError()
           << "expects 'sink_scores' " << (numbers ? "present" : "absent")
           << (present ? " with" : " without") << " 'sink_keys' and"
           << (op.getD() ? " with" : " without") << " 'd', but got it "
           << (numbers ? "absent" : "present");
  if (!present)
    return success();
  if (!op.getWindow()) {
    InFlightDiagnostic diagnostic =
        op.emitOpError()
        << "expects 'sink_query' beside a 'window', but got none";
    diagnostic.attachNote()
        << "without a window the first tokens never leave sight";
    return diagnostic;
  }
  if (failed(shapes.check("sink_query", op.getSinkQuery(), {"T", "H", "K"})) ||
      failed(shapes.check("sink_keys", op.getSinkKeys(), {"S", "G", "K"})) ||
      failed(shapes.check("sink_values", op.getSinkValues(), {"S", "J", "V"})))
    return failure();
  return numbers ? shapes.check("sink_scores", op.getSinkScores(), {"S", "N"})
                 : success();
}

// ATT12, and that values and their state come together. Values that are a part
// of the keys have the keys' heads, and the result says how many channels.
static LogicalResult verifyValues(AttentionOp op, ShapeFormula &shapes) {
  if (bool(op.getV()) != bool(op.getValues()))
    return op.emitOpError() << "expects 'v' and 'values' both present or both "
                               "absent, but got one of them";
  if (op.getV())
    return success();
  if (op.getD() || op.getSinkQuery())
    return op.emitOpError()
           << "expects 'v' beside " << (op.getD() ? "'d'" : "'sink_query'")
           << ", but got none";
  shapes.bind("J", shapes["G"]);
  if (op.getY().getType().getRank() != 3)
    return success(); // said where 'y' is checked
  int64_t channels = op.getY().getType().getShape().back();
  if (channels > shapes["K"])
    return op.emitOpError() << "expects 'y' of at most K = " << shapes["K"]
                            << " channels without 'v', but got " << channels;
  shapes.bind("V", channels);
  return success();
}

// ATT13.
static LogicalResult verifyBlocks(AttentionOp op, ShapeFormula &shapes) {
  if (bool(op.getBlocks()) != bool(op.getBlock()))
    return op.emitOpError()
           << "expects 'blocks' and 'block' both present or "
              "both absent, but got '"
           << (op.getBlocks() ? "blocks" : "block") << "' alone";
  if (!op.getBlocks())
    return success();
  if (op.getWindow() || op.getKeep())
    return op.emitOpError()
           << "expects no '" << (op.getWindow() ? "window" : "keep")
           << "' beside 'blocks', but got "
           << int64_t(op.getWindow() ? *op.getWindow() : *op.getKeep());
  if (failed(shapes.check("blocks", op.getBlocks(), {"T", "M", "U"})))
    return failure();
  int64_t choosing = shapes["M"];
  if (shapes["H"] % choosing != 0 || choosing % shapes["G"] != 0 ||
      choosing % shapes["J"] != 0)
    return op.emitOpError()
           << "expects M to divide H = " << shapes["H"]
           << " and to be a multiple of G = " << shapes["G"]
           << " and of J = " << shapes["J"] << ", but got " << choosing;
  return verifyBlockLength(op, *op.getBlock());
}

LogicalResult AttentionOp::verify() {
  ShapeFormula shapes(*this);
  if (failed(shapes.check("q", getQ(), {"T", "H", "K"})) ||
      failed(shapes.check("k", getK(), {"T", "G", "K"})) ||
      (getV() && failed(shapes.check("v", getV(), {"T", "J", "V"}))) ||
      failed(shapes.check("positions", getPositions(), {"T"})) ||
      failed(verifyValues(*this, shapes)))
    return failure();
  bool numbers = getKeyScore() != KeyScore::None;
  if (bool(getD()) != numbers || bool(getKeyScores()) != numbers)
    return emitOpError() << "expects 'd' and 'key_scores' both "
                         << (numbers ? "present" : "absent")
                         << " for the key score '"
                         << stringifyKeyScore(getKeyScore()) << "', but got "
                         << bool(getD()) + bool(getKeyScores()) << " of them";
  if (getD() && failed(shapes.check("d", getD(), {"T", "N"})))
    return failure();
  if (failed(verifyHeads(*this, shapes)))
    return failure();
  if ((getSinks() && failed(shapes.check("sinks", getSinks(), {"H"}))) ||
      (getSlopes() && failed(shapes.check("slopes", getSlopes(), {"H"}))) ||
      failed(shapes.check("keys", getKeys(), {"W", "G", "K"})) ||
      (getValues() &&
       failed(shapes.check("values", getValues(), {"W", "J", "V"}))) ||
      (getKeyScores() &&
       failed(shapes.check("key_scores", getKeyScores(), {"W", "N"}))) ||
      failed(verifyNumbers(*this, shapes["W"])) ||
      failed(verifyBlocks(*this, shapes)) ||
      failed(verifyFirstTokens(*this, shapes)))
    return failure();
  size_t next = 1 + getNextStates().size(), states = getStates().size();
  if (next != states)
    return emitOpError() << "expects a next state for each of the " << states
                         << " states, but got " << next;
  return shapes.check("y", getY(), {"T", "H", "V"});
}

//===- what passes know of it ---------------------------------------------===//

SmallVector<StateDescriptor> AttentionOp::getStates() {
  bool window = getWindow().has_value();
  SmallVector<StateDescriptor> states;
  // States are the last operands, and their next values the last results.
  unsigned firstState = getKeysMutable().getOperandNumber();
  unsigned firstSink = firstState + 1 + bool(getValues()) +
                       bool(getKeyScores()); // they stay as they are written
  for (unsigned operand = firstState; operand < getNumOperands(); ++operand) {
    bool sink = operand >= firstSink;
    states.push_back(
        {operand, /*result=*/operand - firstState + 1,
         window && !sink ? StateKind::Window : StateKind::Growing,
         sink     ? StateGrowth::Fixed
         : window ? StateGrowth::Window
                  : StateGrowth::MaxContext,
         cast<RankedTensorType>((*this)->getOperand(operand).getType()),
         /*neutral=*/0.0, /*positionDependent=*/true});
  }
  return states;
}

OperandRole AttentionOp::getOperandRole(unsigned index) {
  if (index >= getKeysMutable().getOperandNumber())
    return OperandRole::State;
  // Queries for the first tokens, numbers per key and blocks, where there are
  // any, follow the positions.
  unsigned last = getPositionsMutable().getOperandNumber() +
                  (getSinkQuery() ? 1 : 0) + (getD() ? 1 : 0) +
                  (getBlocks() ? 1 : 0);
  return index <= last ? OperandRole::Token : OperandRole::Parameter;
}

StructureAttr AttentionOp::getStructure() {
  int64_t heads = getQ().getType().getDimSize(1);
  auto perHead = [&](Value value) {
    return heads / cast<RankedTensorType>(value.getType()).getDimSize(1);
  };
  return StructureAttr::get(
      getContext(),
      WindowAttr::get(getContext(), getWindow().value_or(0), getScaleAttr(),
                      getSoftCapAttr()
                          ? getSoftCapAttr()
                          : Builder(getContext()).getF64FloatAttr(0),
                      bool(getSinks()), bool(getSlopes()), getKeyScore(),
                      getKeep().value_or(0), perHead(getK()),
                      perHead(getV() ? getV() : getK()), getSinkTokens(),
                      getBlock().value_or(0)));
}

SmallVector<std::pair<StringRef, Value>> AttentionOp::getNamedOperands() {
  SmallVector<std::pair<StringRef, Value>> named = {{"q", getQ()},
                                                    {"k", getK()}};
  for (auto [name, value] : {std::pair<StringRef, Value>("v", getV()),
                             {"sink_query", getSinkQuery()},
                             {"d", getD()},
                             {"blocks", getBlocks()},
                             {"sinks", getSinks()},
                             {"slopes", getSlopes()}})
    if (value)
      named.push_back({name, value});
  return named;
}

WindowTokens AttentionOp::getWindowTokens(ValueRange tokens,
                                          ValueRange parameters) {
  WindowTokens window;
  window.query = tokens[0];
  window.key = tokens[1];
  window.value = getV() ? tokens[2] : window.key;
  tokens = tokens.drop_front(getV() ? 3 : 2);
  window.positions = tokens.front();
  if (getSinkQuery())
    window.sinkQuery = tokens[1];
  if (getBlocks()) {
    window.blocks = tokens.back();
    tokens = tokens.drop_back();
  }
  if (getD())
    window.keyScore = tokens.back();
  if (getSinks())
    window.sinks = parameters.front();
  if (getSlopes())
    window.slopes = parameters.back();
  window.keyState = 0;
  window.valueState = getV() ? 1 : 0;
  window.keyScoreState = getD() ? 2 : 0;
  // The states of the first tokens in the order of those of all.
  window.firstSinkState = getD() ? 3 : 2;
  return window;
}

//===- meaning ------------------------------------------------------------===//

namespace {
/// Keys, values and numbers of some tokens, as they are token by token. There
/// may be no values: then keys begin with them.
template <typename S> struct Rows {
  Tensor<S> keys, values, numbers;

  int64_t count() const { return keys.getDim(0); }
  const Tensor<S> &mixed() const { return values.size() ? values : keys; }
  /// Writes token `t` of the operands into row `row`.
  void write(int64_t row, AttentionOp op, Frame<S> &frame, int64_t t) {
    copy(keys, row, frame[op.getK()], t);
    if (op.getV())
      copy(values, row, frame[op.getV()], t);
    if (op.getD())
      copy(numbers, row, frame[op.getD()], t);
  }

private:
  static void copy(Tensor<S> &into, int64_t row, const Tensor<S> &tokens,
                   int64_t t) {
    int64_t size = into.size() / into.getDim(0);
    llvm::copy(tokens.elements().slice(t * size, size),
               into.elements().begin() + row * size);
  }
};

/// What a query may see: the window's ring or a table, and the first tokens,
/// which stay.
template <typename S> struct Kept {
  Rows<S> ring, first;
  int64_t firstCount = 0;
};

/// A key in sight of a query, whose distance is counted in places of a cache
/// where the window has passed it by.
template <typename S> struct Seen {
  const Rows<S> *rows;
  int64_t row, distance;
  bool isFirst; // one of the first tokens, which the window has passed
};
} // namespace

/// The numbers of the blocks that a token's head has chosen; none: all are seen.
using Chosen = std::optional<ArrayRef<int32_t>>;

// The keys that count for a query at position `p`, in the order of their
// positions.
template <typename S>
static SmallVector<Seen<S>> visible(AttentionOp op, const Kept<S> &kept,
                                    int64_t p, int64_t numberHead,
                                    Chosen chosen) {
  int64_t window = op.getWindow().value_or(p + 1);
  SmallVector<Seen<S>> keys;
  int64_t place = std::min(p, kept.firstCount + window - 1);
  for (int64_t j = 0; j < kept.firstCount && j <= p - window; ++j)
    keys.push_back({&kept.first, j, j - place, /*isFirst=*/true});
  for (int64_t j = std::max<int64_t>(0, p - window + 1); j <= p; ++j)
    if (!chosen || llvm::is_contained(*chosen, j / int64_t(*op.getBlock())))
      keys.push_back({&kept.ring, j % kept.ring.count(), j - p, false});
  if (!op.getKeep() || keys.size() <= *op.getKeep())
    return keys;
  auto number = [&](const Seen<S> &key) {
    return key.rows->numbers(key.row, numberHead);
  };
  auto earlier = [](const Seen<S> &a, const Seen<S> &b) {
    return a.distance < b.distance;
  };
  llvm::sort(keys, [&](const Seen<S> &a, const Seen<S> &b) {
    return number(a) != number(b) ? number(a) > number(b) : earlier(a, b);
  });
  keys.resize(*op.getKeep());
  llvm::sort(keys, earlier);
  return keys;
}

// What a number per key makes of a score.
template <typename S> static S withNumber(KeyScore kind, S score, S number) {
  switch (kind) {
  case KeyScore::None:
    return score;
  case KeyScore::Bias:
    return score + number;
  case KeyScore::Scale:
    return score * number;
  case KeyScore::Threshold:
    return number < S(1) ? -std::numeric_limits<S>::infinity() : score;
  }
  llvm_unreachable("a key score of no kind");
}

// Positions must follow one another, and end inside a table that is no ring.
static llvm::Error checkPositions(AttentionOp op,
                                  const Tensor<int32_t> &positions) {
  for (int64_t t = 0; t < positions.size(); ++t) {
    if (positions(t) < 0 || (t > 0 && positions(t) != positions(t - 1) + 1))
      return fail("expects 'positions' of at least 0, each one more than the "
                  "one before, but got " +
                  Twine(positions(t)) + " for token " + Twine(t));
    int64_t rows = op.getKeys().getType().getDimSize(0);
    if (!op.getWindow() && positions(t) >= rows)
      return fail("expects 'positions' below " + Twine(rows) +
                  ", the W of 'keys', but got " + Twine(positions(t)));
  }
  return llvm::Error::success();
}

// One head of one token.
template <typename S>
static void mix(AttentionOp op, Frame<S> &frame, const Kept<S> &kept, int64_t t,
                int64_t h, int64_t p, Tensor<S> &y) {
  const Tensor<S> &q = frame[op.getQ()];
  const Rows<S> &ring = kept.ring;
  int64_t heads = q.getDim(1);
  int64_t keyHead = h / (heads / ring.keys.getDim(1));
  int64_t valueHead = h / (heads / ring.mixed().getDim(1));
  int64_t numberHead = op.getD() ? h / (heads / ring.numbers.getDim(1)) : 0;
  S scale = S(op.getScale().convertToDouble());
  Chosen chosen;
  if (op.getBlocks()) {
    const Tensor<int32_t> &blocks = frame.getIndices(op.getBlocks());
    int64_t groups = blocks.getDim(1), count = blocks.getDim(2);
    chosen = blocks.elements().slice(
        (t * groups + h / (heads / groups)) * count, count);
  }
  SmallVector<Seen<S>> keys = visible(op, kept, p, numberHead, chosen);
  SmallVector<S> scores;
  S largest = op.getSinks() ? frame[op.getSinks()](h)
                            : -std::numeric_limits<S>::infinity();
  for (const Seen<S> &key : keys) {
    const Tensor<S> &query = key.isFirst ? frame[op.getSinkQuery()] : q;
    S score = 0;
    for (int64_t c = 0; c < q.getDim(2); ++c)
      score += query(t, h, c) * key.rows->keys(key.row, keyHead, c);
    score *= scale;
    if (op.getSoftCap()) {
      S cap = S(op.getSoftCap()->convertToDouble());
      score = cap * std::tanh(score / cap);
    }
    if (op.getSlopes())
      score += frame[op.getSlopes()](h) * S(key.distance);
    if (op.getD())
      score = withNumber(op.getKeyScore(), score,
                         key.rows->numbers(key.row, numberHead));
    scores.push_back(score);
    largest = std::max(largest, score);
  }
  if (largest == -std::numeric_limits<S>::infinity())
    return; // nothing in sight: y stays 0
  S total = op.getSinks() ? std::exp(frame[op.getSinks()](h) - largest) : S(0);
  for (S &score : scores)
    total += score = std::exp(score - largest);
  for (auto [key, weight] : llvm::zip_equal(keys, scores))
    for (int64_t c = 0; c < y.getDim(2); ++c)
      y(t, h, c) += weight / total * key.rows->mixed()(key.row, valueHead, c);
}

template <typename S>
static llvm::Error evaluate(AttentionOp op, Frame<S> &frame) {
  const Tensor<S> &q = frame[op.getQ()], &k = frame[op.getK()];
  const Tensor<int32_t> &positions = frame.getIndices(op.getPositions());
  if (llvm::Error error = expectSameRows("q", q, "k", k))
    return error;
  if (op.getV())
    if (llvm::Error error = expectSameRows("q", q, "v", frame[op.getV()]))
      return error;
  if (llvm::Error error = expectSameRows("q", q, "positions", positions))
    return error;
  if (op.getSinkQuery())
    if (llvm::Error error =
            expectSameRows("q", q, "sink_query", frame[op.getSinkQuery()]))
      return error;
  if (op.getD())
    if (llvm::Error error = expectSameRows("q", q, "d", frame[op.getD()]))
      return error;
  if (op.getBlocks())
    if (llvm::Error error =
            expectSameRows("q", q, "blocks", frame.getIndices(op.getBlocks())))
      return error;
  if (llvm::Error error = checkPositions(op, positions))
    return error;

  auto read = [&](Value keys, Value values, Value numbers) -> Rows<S> {
    return {frame[keys], values ? frame[values] : Tensor<S>(),
            numbers ? frame[numbers] : Tensor<S>()};
  };
  Kept<S> kept{read(op.getKeys(), op.getValues(), op.getKeyScores()), {}};
  if ((kept.firstCount = op.getSinkTokens()))
    kept.first = read(op.getSinkKeys(), op.getSinkValues(), op.getSinkScores());
  Tensor<S> y(
      {q.getDim(0), q.getDim(1), op.getY().getType().getShape().back()});
  for (int64_t t = 0; t < q.getDim(0); ++t) {
    int64_t p = positions(t);
    kept.ring.write(p % kept.ring.count(), op, frame, t);
    if (p < kept.firstCount)
      kept.first.write(p, op, frame, t);
    for (int64_t h = 0; h < q.getDim(1); ++h)
      mix(op, frame, kept, t, h, p, y);
  }
  frame.set(op.getY(), std::move(y));
  frame.set(op.getNextKeys(), std::move(kept.ring.keys));
  SmallVector<Tensor<S> *> others;
  if (op.getV())
    others.push_back(&kept.ring.values);
  if (op.getD())
    others.push_back(&kept.ring.numbers);
  if (op.getSinkQuery())
    others.append({&kept.first.keys, &kept.first.values});
  if (op.getSinkScores())
    others.push_back(&kept.first.numbers);
  for (auto [next, tensor] : llvm::zip_equal(op.getNextStates(), others))
    frame.set(next, std::move(*tensor));
  return llvm::Error::success();
}
EFFC_SEQ_REFERENCE(AttentionOp)
