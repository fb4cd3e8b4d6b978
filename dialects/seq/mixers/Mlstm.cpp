// seq.mlstm. The matrix memory of the xLSTM.
// maximum.
#include "dialects/seq/Seq.h"
#include "dialects/seq/mixers/LinearMixer.h"
#include "dialects/seq/reference/Frame.h"
#include "dialects/seq/reference/Functions.h"

using namespace mlir;
using namespace effc::seq;
using namespace effc::seq::reference;

//===- what passes know of it ---------------------------------------------===//

StructureAttr MlstmOp::getStructure() {
  LinearStructure structure;
  structure.decay = DecayAxis::Head;
  structure.inputGate = InputGate::Value;
  structure.normaliser = Normaliser::KeySum;
  structure.stabiliser = Stabiliser::MaxPlus;
  structure.headsPerGroup =
      getV().getType().getDimSize(1) / getQ().getType().getDimSize(1);
  return structure.get(getContext());
}

CanonicalQuantities MlstmOp::buildTokenMap(OpBuilder &builder, Location loc,
                                           ValueRange tokens,
                                           ValueRange parameters) {
  MapBuilder m(builder, loc);
  CanonicalQuantities quantities;
  quantities.query = m.scaled(tokens[0], getScale().convertToDouble());
  quantities.key = tokens[1];
  quantities.value = tokens[2];
  quantities.logGate = tokens[3];
  quantities.logDecay = m.logSigmoid(tokens[4]);
  return quantities;
}

Value MlstmOp::buildReadOut(OpBuilder &builder, Location loc,
                            const LinearReading &reading,
                            const CanonicalQuantities &quantities) {
  MapBuilder m(builder, loc);
  Value least = m.exp(m.neg(reading.maximum));
  Value size = m.create<MaxOp>(m.create<AbsOp>(reading.denominator), least);
  Value sum = m.add(size, m.constant(getEps().convertToDouble(), size));
  Value wide =
      m.create<BroadcastOp>(sum, reading.read, ArrayRef<int64_t>{0, 1});
  return m.create<DivOp>(reading.read, wide);
}

//===- meaning ------------------------------------------------------------===//

template <typename S> static llvm::Error evaluate(MlstmOp op, Frame<S> &frame) {
  const Tensor<S> &q = frame[op.getQ()];
  const Tensor<S> &k = frame[op.getK()];
  const Tensor<S> &v = frame[op.getV()];
  const Tensor<S> &input = frame[op.getInput()];
  const Tensor<S> &forget = frame[op.getForget()];
  if (llvm::Error error = expectSameRows("q", q, "k", k))
    return error;
  if (llvm::Error error = expectSameRows("q", q, "v", v))
    return error;
  if (llvm::Error error = expectSameRows("q", q, "input", input))
    return error;
  if (llvm::Error error = expectSameRows("q", q, "forget", forget))
    return error;
  S scale = op.getScale().convertToDouble();
  Tensor<S> y(v.getShape());
  Tensor<S> state = frame[op.getState()];
  int64_t heads = v.getDim(1), keys = q.getDim(2), values = v.getDim(2);
  int64_t headsPerGroup = heads / q.getDim(1);
  Tensor<S> sum = frame[op.getSum()], maximum = frame[op.getMaximum()];
  S eps = op.getEps().convertToDouble();
  for (int64_t t = 0; t < v.getDim(0); ++t)
    for (int64_t h = 0; h < heads; ++h) {
      int64_t g = h / headsPerGroup;
      S carried = maximum(h) - softplus(-forget(t, h));
      maximum(h) = larger(carried, input(t, h));
      S keep = std::exp(carried - maximum(h));
      S take = std::exp(input(t, h) - maximum(h));
      for (int64_t j = 0; j < keys; ++j)
        for (int64_t i = 0; i < values; ++i)
          state(h, j, i) =
              keep * state(h, j, i) + take * k(t, g, j) * v(t, h, i);
      S total = 0;
      for (int64_t j = 0; j < keys; ++j) {
        sum(h, j) = keep * sum(h, j) + take * k(t, g, j);
        total += scale * q(t, g, j) * sum(h, j);
      }
      S size = larger(std::fabs(total), std::exp(-maximum(h))) + eps;
      for (int64_t i = 0; i < values; ++i) {
        S read = 0;
        for (int64_t j = 0; j < keys; ++j)
          read += q(t, g, j) * state(h, j, i);
        y(t, h, i) = scale * read / size;
      }
    }
  frame.set(op.getY(), std::move(y));
  frame.set(op.getNextState(), std::move(state));
  frame.set(op.getNextSum(), std::move(sum));
  frame.set(op.getNextMaximum(), std::move(maximum));
  return llvm::Error::success();
}
EFFC_SEQ_REFERENCE(MlstmOp)
