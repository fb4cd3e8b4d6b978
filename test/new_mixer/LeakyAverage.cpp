// seq.leaky_average: all that the compiler needs to know of it.
#include "test/new_mixer/LeakyAverage.h"
#include "dialects/seq/AddedMixer.h"
#include "dialects/seq/mixers/LinearMixer.h"
#include "dialects/seq/reference/Frame.h"
#include "dialects/seq/reference/Functions.h"

using namespace mlir;
using namespace effc::seq;
using namespace effc::seq::reference;

#define GET_OP_CLASSES
#include "test/new_mixer/LeakyAverage.cpp.inc"

static AddedMixer<LeakyAverageOp> added;

//===- what passes know of it ---------------------------------------------===//

StructureAttr LeakyAverageOp::getStructure() {
  LinearStructure structure;
  structure.decay = DecayAxis::Head;
  structure.inputGate = InputGate::Value;
  return structure.get(getContext());
}

CanonicalQuantities LeakyAverageOp::buildTokenMap(OpBuilder &builder,
                                                  Location loc,
                                                  ValueRange tokens,
                                                  ValueRange parameters) {
  MapBuilder m(builder, loc);
  CanonicalQuantities quantities;
  quantities.query = tokens[0];
  quantities.key = tokens[1];
  quantities.value =
      m.product(tokens[2], "thv", m.sigmoid(m.neg(tokens[3])), "th", "thv");
  quantities.logDecay = m.logSigmoid(tokens[3]);
  return quantities;
}

//===- meaning ------------------------------------------------------------===//

template <typename S>
static llvm::Error evaluate(LeakyAverageOp op, Frame<S> &frame) {
  const Tensor<S> &q = frame[op.getQ()], &k = frame[op.getK()],
                  &v = frame[op.getV()], &gate = frame[op.getGate()];
  Tensor<S> y(v.getShape());
  Tensor<S> state = frame[op.getState()];
  for (int64_t t = 0; t < v.getDim(0); ++t)
    for (int64_t h = 0; h < v.getDim(1); ++h) {
      S keep = 1 / (1 + std::exp(-gate(t, h)));
      for (int64_t i = 0; i < v.getDim(2); ++i) {
        S read = 0;
        for (int64_t j = 0; j < q.getDim(2); ++j) {
          state(h, j, i) =
              keep * state(h, j, i) + (1 - keep) * k(t, h, j) * v(t, h, i);
          read += q(t, h, j) * state(h, j, i);
        }
        y(t, h, i) = read;
      }
    }
  frame.set(op.getY(), std::move(y));
  frame.set(op.getNextState(), std::move(state));
  return llvm::Error::success();
}
EFFC_SEQ_REFERENCE(LeakyAverageOp)
