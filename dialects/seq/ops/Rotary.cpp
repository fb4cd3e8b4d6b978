// seq.rotary and seq.cosine_sine: positions as angles.
#include "dialects/seq/Seq.h"
#include "dialects/seq/ShapeFormula.h"
#include "dialects/seq/reference/Frame.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace effc::seq;
using namespace effc::seq::reference;

// The product of 31 and, in f32, 24 bits is exact in the 64 of a long double,
// whatever the precision of the evaluation.
template <typename S>
static std::pair<S, S> cosineAndSine(int32_t position, S frequency) {
  auto angle = static_cast<long double>(position) * frequency;
  return {S(std::cos(angle)), S(std::sin(angle))};
}

LogicalResult RotaryOp::verify() {
  ShapeFormula shapes(*this);
  if (failed(shapes.check("x", getX(), {"T", "H", "K"})) ||
      failed(shapes.check("positions", getPositions(), {"T"})) ||
      failed(getFrequencyRows()
                 ? shapes.check("frequencies", getFrequencies(), {"C", "P"})
                 : shapes.check("frequencies", getFrequencies(), {"P"})))
    return failure();
  if (2 * shapes["P"] > shapes["K"]) {
    InFlightDiagnostic diagnostic =
        emitOpError() << "expects 2 P of at most K = " << shapes["K"]
                      << ", but got " << 2 * shapes["P"];
    diagnostic.attachNote()
        << "there is one frequency for each pair of channels";
    return diagnostic;
  }
  if (!getAmplitude().isFinite())
    return emitOpError() << "expects a finite 'amplitude', but got "
                         << getAmplitudeAttr();
  if (getLast() && int64_t(*getLast()) < 0)
    return emitOpError() << "expects 'last' of at least 0, but got "
                         << int64_t(*getLast());
  return success();
}

template <typename S>
static llvm::Error evaluate(RotaryOp op, Frame<S> &frame) {
  const Tensor<S> &x = frame[op.getX()];
  const Tensor<int32_t> &positions = frame.getIndices(op.getPositions());
  const Tensor<S> &frequencies = frame[op.getFrequencies()];
  if (llvm::Error error = expectSameRows("x", x, "positions", positions))
    return error;
  S amplitude = S(op.getAmplitude().convertToDouble());
  int64_t rows = op.getFrequencyRows();
  int64_t pairs = frequencies.size() / std::max<int64_t>(rows, 1);
  bool half = op.getPairs() == RotaryPairs::Half;
  int64_t last = op.getLast().value_or(std::numeric_limits<int32_t>::max());
  Tensor<S> y = x;
  for (int64_t t = 0; t < x.getDim(0); ++t) {
    auto position = int32_t(std::min<int64_t>(positions(t), last));
    if (rows && (position < 0 || position >= rows))
      return fail("expects 'positions' in [0, " + Twine(rows) +
                  "), the C of 'frequencies', but got " + Twine(position));
    for (int64_t i = 0; i < pairs; ++i) {
      auto [cosine, sine] = cosineAndSine(
          position, rows ? frequencies(position, i) : frequencies(i));
      int64_t b = half ? i : 2 * i, c = half ? i + pairs : 2 * i + 1;
      for (int64_t h = 0; h < x.getDim(1); ++h) {
        y(t, h, b) = amplitude * (x(t, h, b) * cosine - x(t, h, c) * sine);
        y(t, h, c) = amplitude * (x(t, h, c) * cosine + x(t, h, b) * sine);
      }
    }
  }
  frame.set(op.getY(), std::move(y));
  return llvm::Error::success();
}
EFFC_SEQ_REFERENCE(RotaryOp)

LogicalResult CosineSineOp::verify() {
  ShapeFormula shapes(*this);
  if (failed(shapes.check("x", getX(), {"T", "H", "K"})) ||
      failed(shapes.check("positions", getPositions(), {"T"})) ||
      failed(shapes.check("frequencies", getFrequencies(), {"H", "K"})))
    return failure();
  shapes.bind("2K", 2 * shapes["K"]);
  return shapes.check("y", getY(), {"T", "H", "2K"});
}

template <typename S>
static llvm::Error evaluate(CosineSineOp op, Frame<S> &frame) {
  const Tensor<S> &x = frame[op.getX()];
  const Tensor<int32_t> &positions = frame.getIndices(op.getPositions());
  const Tensor<S> &frequencies = frame[op.getFrequencies()];
  if (llvm::Error error = expectSameRows("x", x, "positions", positions))
    return error;
  int64_t channels = x.getDim(2);
  Tensor<S> y({x.getDim(0), x.getDim(1), 2 * channels});
  for (int64_t t = 0; t < x.getDim(0); ++t)
    for (int64_t h = 0; h < x.getDim(1); ++h)
      for (int64_t k = 0; k < channels; ++k) {
        auto [cosine, sine] = cosineAndSine(positions(t), frequencies(h, k));
        y(t, h, k) = x(t, h, k) * cosine;
        y(t, h, channels + k) = x(t, h, k) * sine;
      }
  frame.set(op.getY(), std::move(y));
  return llvm::Error::success();
}
EFFC_SEQ_REFERENCE(CosineSineOp)
