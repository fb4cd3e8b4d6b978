#include "frontend/model/BlockChoice.h"

#include "llvm/Support/MathExtras.h"

using namespace effc;
using namespace effc::frontend;
using llvm::Twine;
using mlir::Value;
using seq::typeOf;

/// The sums of `rows` [T, G, K] for all blocks of the model's context.
static Value sumsState(ModelBuilder &model, const Twine &name, Value rows,
                       const BlockChoice &choice) {
  mlir::RankedTensorType type = typeOf(rows);
  return model.state(name,
                     {llvm::divideCeilSigned(model.getContext(), choice.length),
                      type.getDimSize(1), type.getDimSize(2)});
}

Value effc::frontend::chooseBlocks(ModelBuilder &model, const std::string &name,
                                   const BlockChoice &choice, Value query,
                                   Value key) {
  mlir::OpBuilder &builder = model.getBuilder();
  Value sums = sumsState(model, name + ".block_sums", key, choice);
  auto chosen = mlir::RankedTensorType::get(
      {typeOf(query).getDimSize(0), choice.groups, choice.count},
      builder.getI32Type());
  auto op = seq::ChooseBlocksOp::create(
      builder, model.at(name + ".blocks"), chosen, sums.getType(), query, key,
      model.getPositions(), sums, builder.getI64IntegerAttr(choice.length),
      builder.getF64FloatAttr(choice.scale),
      seq::BlockScoreAttr::get(builder.getContext(), choice.score),
      builder.getI64IntegerAttr(choice.first),
      builder.getI64IntegerAttr(choice.last));
  model.setNextState(op.getNextSums());
  return op.getChosen();
}

Value effc::frontend::mixBlockMeans(ModelBuilder &model,
                                    const std::string &name,
                                    const BlockChoice &choice, Value query,
                                    Value key, Value value) {
  mlir::OpBuilder &builder = model.getBuilder();
  Value keys = sumsState(model, name + ".key_sums", key, choice);
  Value values = sumsState(model, name + ".value_sums", value, choice);
  auto type = mlir::RankedTensorType::get({typeOf(query).getDimSize(0),
                                           typeOf(query).getDimSize(1),
                                           typeOf(value).getDimSize(2)},
                                          builder.getF32Type());
  auto op = seq::MixBlockMeansOp::create(
      builder, model.at(name), type, keys.getType(), values.getType(), query,
      key, value, model.getPositions(), keys, values,
      builder.getI64IntegerAttr(choice.length),
      builder.getF64FloatAttr(choice.scale));
  model.setNextState(op.getNextKeySums());
  model.setNextState(op.getNextValueSums());
  return op.getY();
}
