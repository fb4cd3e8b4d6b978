#include "frontend/model/PositionMixers.h"

using namespace effc;
using namespace effc::frontend;
using mlir::Value;
using seq::typeOf;

Value effc::frontend::positionRows(ModelBuilder &model, const std::string &name,
                                   WeightSource source, int64_t heads,
                                   int64_t positions) {
  model.refuseStreamed("weights of positions in '" + source.tensors.front() +
                       "'");
  source.transposed = true;
  Value table = model.numbers(name, source, {positions, heads});
  return model.embedding(name, model.getPositions(), table);
}

Value effc::frontend::emitStructured(ModelBuilder &model,
                                     const std::string &name, Value x,
                                     const StructuredWeights &weights) {
  Value state =
      model.state(name, {typeOf(x).getDimSize(1), 1, typeOf(x).getDimSize(2)});
  mlir::OpBuilder &builder = model.getBuilder();
  mlir::IntegerAttr root;
  if (weights.decay)
    root = builder.getI64IntegerAttr(weights.root);
  auto op = seq::StructuredRecurrenceOp::create(
      builder, model.at(name), x.getType(), state.getType(), x, weights.source,
      weights.target, weights.bias, weights.diagonal, weights.decay, state,
      root, /*form=*/nullptr);
  model.setNextState(op.getNextState());
  return op.getY();
}

Value effc::frontend::emitCausalMix(ModelBuilder &model,
                                    const std::string &name,
                                    const std::string &source, Value x,
                                    int64_t positions, int64_t kernel,
                                    bool hasBias) {
  model.refuseStreamed("weights of positions in '" + source + ".weight'");
  int64_t width = typeOf(x).getDimSize(1);
  llvm::SmallVector<int64_t> shape = {positions, positions};
  if (kernel > 1)
    shape.push_back(kernel);
  Value weight = model.numbers(name, WeightSource(source + ".weight"), shape);
  Value state = model.state(name, {positions, width});
  mlir::OpBuilder &builder = model.getBuilder();
  auto finish = [&](Value bias, mlir::Type type) {
    auto op =
        seq::CausalMixOp::create(builder, model.at(name), type, state.getType(),
                                 x, model.getPositions(), weight, bias, state);
    model.setNextState(op.getNextInputs());
    return op.getY();
  };
  if (kernel == 1)
    return finish(
        hasBias ? model.vector(name + "_bias", source + ".bias", positions)
                : Value(),
        x.getType());
  Value taps = finish(
      /*bias=*/{},
      mlir::RankedTensorType::get({typeOf(x).getDimSize(0), kernel, width},
                                  builder.getF32Type()));
  // A bias for each position, as one column of a table.
  Value bias = positionRows(model, name + "_bias",
                            WeightSource(source + ".bias"), 1, positions);
  Value flat = seq::ReshapeOp::create(
      builder, model.at(name + "_bias"),
      mlir::RankedTensorType::get({mlir::ShapedType::kDynamic},
                                  builder.getF32Type()),
      bias);
  return seq::ChannelConvolutionOp::create(
      builder, model.at(name + "_channels"), x.getType(), taps,
      /*weight=*/nullptr, flat, /*before=*/(kernel - 1) / 2);
}
