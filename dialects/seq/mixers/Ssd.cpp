// seq.ssd: Mamba-2's mixer. Source: Dao and Gu, arXiv:2405.21060.
#include "dialects/seq/Seq.h"
#include "dialects/seq/mixers/LinearMixer.h"
#include "dialects/seq/reference/Frame.h"
#include "dialects/seq/reference/Functions.h"

using namespace mlir;
using namespace effc::seq;
using namespace effc::seq::reference;

//===- verifier -----------------------------------------------------------===//

// SSD11.
LogicalResult SsdOp::verifyRules() {
  for (auto [name, bound] : {std::pair("dt_min", getDtMinAttr()),
                             std::pair("dt_max", getDtMaxAttr())})
    if (bound && (bound.getValue().isNaN() || bound.getValue().isNegative()))
      return emitOpError() << "expects '" << name << "' of at least 0, but got "
                           << bound;
  if (getDtMinAttr() && getDtMaxAttr() && *getDtMin() > *getDtMax())
    return emitOpError() << "expects 'dt_min' of at most 'dt_max', but got "
                         << getDtMinAttr() << " and " << getDtMaxAttr();
  return success();
}

//===- what passes know of it ---------------------------------------------===//

StructureAttr SsdOp::getStructure() {
  int64_t heads = getX().getType().getDimSize(1);
  int64_t groups = getB().getType().getDimSize(1);
  auto linear = LinearAttr::get(
      getContext(), DecayAxis::Head, DecayField::Real, InputGate::Value,
      LowRankPair::None, ReadOrder::AfterWrite, /*bonus=*/false,
      /*feed_through=*/true, Normaliser::None, Stabiliser::None,
      /*heads_per_group=*/heads / groups, /*writes=*/1);
  return StructureAttr::get(getContext(), linear);
}

CanonicalQuantities SsdOp::buildTokenMap(OpBuilder &builder, Location loc,
                                         ValueRange tokens,
                                         ValueRange parameters) {
  Value x = tokens[0], dt = tokens[1], b = tokens[2], c = tokens[3];
  Value aLog = parameters[0], dtBias = parameters[1], d = parameters[2];

  Value bias = BroadcastOp::create(builder, loc, dtBias, dt, {1});
  Value step =
      SoftplusOp::create(builder, loc, AddOp::create(builder, loc, dt, bias));
  if (getDtMinAttr() || getDtMaxAttr())
    step = ClampOp::create(builder, loc, step.getType(), step, getDtMinAttr(),
                           getDtMaxAttr());
  Value rate = NegOp::create(builder, loc, ExpOp::create(builder, loc, aLog));

  CanonicalQuantities quantities;
  quantities.query = c;
  quantities.key = b;
  quantities.value =
      ContractOp::create(builder, loc, step, "th", x, "thv", "thv");
  quantities.logDecay =
      ContractOp::create(builder, loc, rate, "h", step, "th", "th");
  quantities.forReadOut = {
      ContractOp::create(builder, loc, d, "h", x, "thv", "thv")};
  return quantities;
}

Value SsdOp::buildReadOut(OpBuilder &builder, Location loc,
                          const LinearReading &reading,
                          const CanonicalQuantities &quantities) {
  return AddOp::create(builder, loc, reading.read, quantities.forReadOut[0]);
}

//===- meaning ------------------------------------------------------------===//

template <typename S> static llvm::Error evaluate(SsdOp op, Frame<S> &frame) {
  const Tensor<S> &x = frame[op.getX()], &dt = frame[op.getDt()];
  const Tensor<S> &b = frame[op.getB()], &c = frame[op.getC()];
  const Tensor<S> &aLog = frame[op.getALog()];
  const Tensor<S> &dtBias = frame[op.getDtBias()];
  const Tensor<S> &d = frame[op.getD()];
  if (llvm::Error error = expectSameRows("x", x, "dt", dt))
    return error;
  if (llvm::Error error = expectSameRows("x", x, "b", b))
    return error;
  if (llvm::Error error = expectSameRows("x", x, "c", c))
    return error;
  std::optional<double> dtMin, dtMax;
  if (op.getDtMinAttr())
    dtMin = op.getDtMin()->convertToDouble();
  if (op.getDtMaxAttr())
    dtMax = op.getDtMax()->convertToDouble();

  Tensor<S> y(x.getShape());
  Tensor<S> state = frame[op.getState()];
  int64_t heads = x.getDim(1), keys = b.getDim(2), values = x.getDim(2);
  int64_t headsPerGroup = heads / b.getDim(1);
  for (int64_t t = 0; t < x.getDim(0); ++t)
    for (int64_t h = 0; h < heads; ++h) {
      int64_t g = h / headsPerGroup;
      S step = clamp(softplus(dt(t, h) + dtBias(h)), dtMin, dtMax);
      S decay = std::exp(-std::exp(aLog(h)) * step);
      for (int64_t k = 0; k < keys; ++k)
        for (int64_t v = 0; v < values; ++v)
          state(h, k, v) =
              decay * state(h, k, v) + b(t, g, k) * (step * x(t, h, v));
      for (int64_t v = 0; v < values; ++v) {
        S read = 0;
        for (int64_t k = 0; k < keys; ++k)
          read += c(t, g, k) * state(h, k, v);
        y(t, h, v) = read + d(h) * x(t, h, v);
      }
    }
  frame.set(op.getY(), std::move(y));
  frame.set(op.getNextState(), std::move(state));
  return llvm::Error::success();
}
EFFC_SEQ_REFERENCE(SsdOp)
