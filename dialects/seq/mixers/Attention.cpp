// seq.attention. Softmax attention with a ring of keys and values.
// arXiv:1706.03762.
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

LogicalResult AttentionOp::verify() {
  ShapeFormula shapes(*this);
  if (failed(shapes.check("q", getQ(), {"T", "H", "K"})) ||
      failed(shapes.check("k", getK(), {"T", "G", "K"})) ||
      failed(shapes.check("v", getV(), {"T", "J", "V"})) ||
      failed(shapes.check("positions", getPositions(), {"T"})))
    return failure();
  bool numbers = getKeyScore() != KeyScore::None;
  if (bool(getD()) != numbers || bool(getKeyScores()) != numbers ||
      bool(getNextScores()) != numbers)
    return emitOpError() << "expects 'd', 'key_scores' and 'next_scores' all "
                         << (numbers ? "present" : "absent")
                         << " for the key score '"
                         << stringifyKeyScore(getKeyScore()) << "', but got "
                         << bool(getD()) + bool(getKeyScores()) +
                                bool(getNextScores())
                         << " of them";
  if (getD() && failed(shapes.check("d", getD(), {"T", "N"})))
    return failure();
  if (failed(verifyHeads(*this, shapes)))
    return failure();
  if ((getSinks() && failed(shapes.check("sinks", getSinks(), {"H"}))) ||
      (getSlopes() && failed(shapes.check("slopes", getSlopes(), {"H"}))) ||
      failed(shapes.check("keys", getKeys(), {"W", "G", "K"})) ||
      failed(shapes.check("values", getValues(), {"W", "J", "V"})) ||
      (getKeyScores() &&
       failed(shapes.check("key_scores", getKeyScores(), {"W", "N"}))))
    return failure();
  return failed(verifyNumbers(*this, shapes["W"]))
             ? failure()
             : shapes.check("y", getY(), {"T", "H", "V"});
}

//===- what passes know of it ---------------------------------------------===//

SmallVector<StateDescriptor> AttentionOp::getStates() {
  bool window = getWindow().has_value();
  SmallVector<StateDescriptor> states;
  auto add = [&](Value state, Value next, OpOperand &operand) {
    states.push_back({operand.getOperandNumber(),
                      cast<OpResult>(next).getResultNumber(),
                      window ? StateKind::Window : StateKind::Growing,
                      window ? StateGrowth::Window : StateGrowth::MaxContext,
                      cast<RankedTensorType>(state.getType()), /*neutral=*/0.0,
                      /*positionDependent=*/true});
  };
  add(getKeys(), getNextKeys(), getKeysMutable());
  add(getValues(), getNextValues(), getValuesMutable());
  if (getKeyScores())
    add(getKeyScores(), getNextScores(), *getKeyScoresMutable().begin());
  return states;
}

OperandRole AttentionOp::getOperandRole(unsigned index) {
  if (index >= getKeysMutable().getOperandNumber())
    return OperandRole::State;
  // The numbers per key, where there are any, follow the positions.
  unsigned last = getPositionsMutable().getOperandNumber() + (getD() ? 1 : 0);
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
                      getKeep().value_or(0), perHead(getK()), perHead(getV())));
}

WindowTokens AttentionOp::getWindowTokens(ValueRange tokens,
                                          ValueRange parameters) {
  WindowTokens window;
  window.query = tokens[0];
  window.key = tokens[1];
  window.value = tokens[2];
  window.positions = tokens[3];
  if (getD())
    window.keyScore = tokens[4];
  if (getSinks())
    window.sinks = parameters.front();
  if (getSlopes())
    window.slopes = parameters.back();
  window.keyState = 0;
  window.valueState = 1;
  window.keyScoreState = getD() ? 2 : 0;
  return window;
}

//===- meaning ------------------------------------------------------------===//

namespace {
/// The rings, as they are token by token.
template <typename S> struct Rings {
  Tensor<S> keys, values, numbers;

  int64_t rows() const { return keys.getDim(0); }
  /// Writes row `t` of the tokens' tensor into row `row` of a ring.
  static void write(Tensor<S> &ring, int64_t row, const Tensor<S> &tokens,
                    int64_t t) {
    int64_t size = ring.size() / ring.getDim(0);
    llvm::copy(tokens.elements().slice(t * size, size),
               ring.elements().begin() + row * size);
  }
};
} // namespace

// The positions that count for a query at position `p`, in order.
template <typename S>
static SmallVector<int64_t> visible(AttentionOp op, const Rings<S> &rings,
                                    int64_t p, int64_t numberHead) {
  int64_t first = op.getWindow()
                      ? std::max<int64_t>(0, p - int64_t(*op.getWindow()) + 1)
                      : 0;
  SmallVector<int64_t> positions;
  for (int64_t j = first; j <= p; ++j)
    positions.push_back(j);
  if (!op.getKeep() || positions.size() <= *op.getKeep())
    return positions;
  auto number = [&](int64_t j) {
    return rings.numbers(j % rings.rows(), numberHead);
  };
  llvm::sort(positions, [&](int64_t a, int64_t b) {
    return number(a) != number(b) ? number(a) > number(b) : a < b;
  });
  positions.resize(*op.getKeep());
  llvm::sort(positions);
  return positions;
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
static void mix(AttentionOp op, Frame<S> &frame, const Rings<S> &rings,
                int64_t t, int64_t h, int64_t p, Tensor<S> &y) {
  const Tensor<S> &q = frame[op.getQ()];
  int64_t heads = q.getDim(1), W = rings.rows();
  int64_t keyHead = h / (heads / rings.keys.getDim(1));
  int64_t valueHead = h / (heads / rings.values.getDim(1));
  int64_t numberHead = op.getD() ? h / (heads / rings.numbers.getDim(1)) : 0;
  S scale = S(op.getScale().convertToDouble());
  SmallVector<int64_t> positions = visible(op, rings, p, numberHead);
  SmallVector<S> scores;
  S largest = op.getSinks() ? frame[op.getSinks()](h)
                            : -std::numeric_limits<S>::infinity();
  for (int64_t j : positions) {
    S score = 0;
    for (int64_t c = 0; c < q.getDim(2); ++c)
      score += q(t, h, c) * rings.keys(j % W, keyHead, c);
    score *= scale;
    if (op.getSoftCap()) {
      S cap = S(op.getSoftCap()->convertToDouble());
      score = cap * std::tanh(score / cap);
    }
    if (op.getSlopes())
      score += frame[op.getSlopes()](h) * S(j - p);
    if (op.getD())
      score =
          withNumber(op.getKeyScore(), score, rings.numbers(j % W, numberHead));
    scores.push_back(score);
    largest = std::max(largest, score);
  }
  if (largest == -std::numeric_limits<S>::infinity())
    return; // nothing in sight: y stays 0
  S total = op.getSinks() ? std::exp(frame[op.getSinks()](h) - largest) : S(0);
  for (S &score : scores)
    total += score = std::exp(score - largest);
  for (auto [j, weight] : llvm::zip_equal(positions, scores))
    for (int64_t c = 0; c < y.getDim(2); ++c)
      y(t, h, c) += weight / total * rings.values(j % W, valueHead, c);
}

template <typename S>
static llvm::Error evaluate(AttentionOp op, Frame<S> &frame) {
  const Tensor<S> &q = frame[op.getQ()], &k = frame[op.getK()],
                  &v = frame[op.getV()];
  const Tensor<int32_t> &positions = frame.getIndices(op.getPositions());
  if (llvm::Error error = expectSameRows("q", q, "k", k))
    return error;
  if (llvm::Error error = expectSameRows("q", q, "v", v))
    return error;
  if (llvm::Error error = expectSameRows("q", q, "positions", positions))
    return error;
  if (op.getD())
    if (llvm::Error error = expectSameRows("q", q, "d", frame[op.getD()]))
      return error;
  if (llvm::Error error = checkPositions(op, positions))
    return error;

  Rings<S> rings{frame[op.getKeys()], frame[op.getValues()],
                 op.getD() ? frame[op.getKeyScores()] : Tensor<S>()};
  Tensor<S> y({q.getDim(0), q.getDim(1), v.getDim(2)});
  for (int64_t t = 0; t < q.getDim(0); ++t) {
    int64_t p = positions(t), row = p % rings.rows();
    Rings<S>::write(rings.keys, row, k, t);
    Rings<S>::write(rings.values, row, v, t);
    if (op.getD())
      Rings<S>::write(rings.numbers, row, frame[op.getD()], t);
    for (int64_t h = 0; h < q.getDim(1); ++h)
      mix(op, frame, rings, t, h, p, y);
  }
  frame.set(op.getY(), std::move(y));
  frame.set(op.getNextKeys(), std::move(rings.keys));
  frame.set(op.getNextValues(), std::move(rings.values));
  if (op.getD())
    frame.set(op.getNextScores(), std::move(rings.numbers));
  return llvm::Error::success();
}
EFFC_SEQ_REFERENCE(AttentionOp)
