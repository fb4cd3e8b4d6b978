#include "frontend/model/DynamicMask.h"

#include "frontend/model/Attention.h"

using namespace effc;
using namespace effc::frontend;
using llvm::Twine;
using mlir::Value;

Value effc::frontend::keyNumbers(ModelBuilder &model, const std::string &name,
                                 Value step, Value rate) {
  Value positive = model.elementwise<seq::SoftplusOp>(name, step);
  return model.elementwise<seq::ExpOp>(
      name, model.mul(name, positive, model.broadcast(name, rate, positive)));
}

Value effc::frontend::attendMasked(ModelBuilder &model, const std::string &name,
                                   const MaskedAttention &config, Value query,
                                   Value key, Value value, Value numbers) {
  int64_t window = config.window;
  int64_t rows = rowsOfKeys(model, name, window);
  auto stateFor = [&](const Twine &part, Value token) {
    auto type = llvm::cast<mlir::RankedTensorType>(token.getType());
    llvm::SmallVector<int64_t> shape(type.getShape());
    shape[0] = rows;
    return model.state(name + part, shape);
  };
  Value keys = stateFor(".keys", key), values = stateFor(".values", value),
        scores = stateFor(".scores", numbers);
  mlir::OpBuilder &builder = model.getBuilder();
  auto queries = llvm::cast<mlir::RankedTensorType>(query.getType());
  auto results = llvm::cast<mlir::RankedTensorType>(value.getType());
  auto type = mlir::RankedTensorType::get(
      {queries.getDimSize(0), queries.getDimSize(1), results.getDimSize(2)},
      builder.getF32Type());
  auto op = seq::AttentionOp::create(
      builder, model.at(name), type, keys.getType(), values.getType(),
      mlir::TypeRange(scores.getType()), query, key, value,
      model.getPositions(), /*sink_query=*/nullptr, numbers, /*sinks=*/nullptr,
      /*slopes=*/nullptr, keys, values, scores, /*sink_keys=*/nullptr,
      /*sink_values=*/nullptr, /*sink_scores=*/nullptr,
      window > 0 ? builder.getI64IntegerAttr(window) : nullptr,
      builder.getF64FloatAttr(config.scale),
      config.softCap ? builder.getF64FloatAttr(*config.softCap) : nullptr,
      seq::KeyScoreAttr::get(builder.getContext(), config.mask),
      config.keep ? builder.getI64IntegerAttr(*config.keep) : nullptr,
      /*form=*/nullptr);
  for (Value next : op->getResults().drop_front())
    model.setNextState(next);
  return op.getY();
}
