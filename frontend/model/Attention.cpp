#include "frontend/model/Attention.h"

#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace effc;
using namespace effc::frontend;
using llvm::Twine;
using mlir::Value;

AttentionConfig effc::frontend::readAttention(ConfigReader &reader,
                                              int64_t width) {
  AttentionConfig config;
  config.heads =
      reader.requireInteger("num_attention_heads", 1, kMostDimension);
  config.keyHeads =
      reader.getIntegerIfSet("num_key_value_heads", 1, kMostDimension)
          .value_or(config.heads);
  std::optional<int64_t> keys =
      reader.getIntegerIfSet("head_dim", 1, kMostDimension);
  if (!reader.hasProblem() && !keys && width % config.heads != 0)
    reader.report("expects 'hidden_size' to be a multiple of "
                  "'num_attention_heads' " +
                  Twine(config.heads) + ", but got " + Twine(width));
  if (!reader.hasProblem() && config.heads % config.keyHeads != 0)
    reader.report("expects 'num_attention_heads' to be a multiple of "
                  "'num_key_value_heads' " +
                  Twine(config.keyHeads) + ", but got " + Twine(config.heads));
  config.keys = keys.value_or(std::max<int64_t>(width / config.heads, 1));
  config.scale = 1 / std::sqrt(double(config.keys));
  return config;
}

Value effc::frontend::turn(ModelBuilder &model, const Twine &name,
                           const LayerAttention &layer, Value x) {
  const RotaryConfig &rotary = layer.rotary;
  if (!rotary.frequencies)
    return x;
  llvm::SmallVector<int64_t> shape = {rotary.pairs};
  if (rotary.frequencies.hasRows())
    shape.insert(shape.begin(), model.getContext());
  Value frequencies =
      model.computed(layer.frequencies, rotary.frequencies, shape);
  return seq::RotaryOp::create(model.getBuilder(), model.at(name), x.getType(),
                               rotary.layout, x, model.getPositions(),
                               frequencies, llvm::APFloat(rotary.amplitude),
                               /*last=*/nullptr);
}

Value effc::frontend::attend(ModelBuilder &model, const std::string &name,
                             const AttentionConfig &config, int64_t window,
                             Value query, Value key, Value value,
                             Value slopes) {
  // Kernels read keys in blocks of as many rows.
  constexpr int64_t kRows = 32;
  // A window that no context outgrows is none.
  if (model.getContext() > 0 && window >= model.getContext())
    window = 0;
  int64_t rows = llvm::alignTo(window > 0 ? window : model.getContext(), kRows);
  auto stateFor = [&](const Twine &part, Value token) {
    auto type = llvm::cast<mlir::RankedTensorType>(token.getType());
    return model.state(name + part,
                       {rows, type.getDimSize(1), type.getDimSize(2)});
  };
  Value keys = stateFor(".keys", key);
  Value values = stateFor(".values", value);
  mlir::OpBuilder &builder = model.getBuilder();
  mlir::IntegerAttr windowAttr;
  mlir::FloatAttr softCap;
  if (window > 0)
    windowAttr = builder.getI64IntegerAttr(window);
  if (config.softCap)
    softCap = builder.getF64FloatAttr(*config.softCap);
  auto queries = llvm::cast<mlir::RankedTensorType>(query.getType());
  auto results = llvm::cast<mlir::RankedTensorType>(value.getType());
  auto type = mlir::RankedTensorType::get(
      {queries.getDimSize(0), queries.getDimSize(1), results.getDimSize(2)},
      builder.getF32Type());
  auto op = seq::AttentionOp::create(
      builder, model.at(name), type, keys.getType(), values.getType(),
      mlir::TypeRange(), query, key, value, model.getPositions(),
      /*sink_query=*/nullptr, /*d=*/nullptr, /*sinks=*/nullptr, slopes, keys,
      values, /*key_scores=*/nullptr, /*sink_keys=*/nullptr,
      /*sink_values=*/nullptr, /*sink_scores=*/nullptr, windowAttr,
      builder.getF64FloatAttr(config.scale), softCap,
      seq::KeyScoreAttr::get(builder.getContext(), seq::KeyScore::None),
      /*keep=*/nullptr, /*form=*/nullptr);
  model.setNextState(op.getNextKeys());
  model.setNextState(op.getNextValues());
  return op.getY();
}

Value effc::frontend::emitAttention(ModelBuilder &model,
                                    const AttentionConfig &config,
                                    const LayerAttention &layer,
                                    const AttentionNames &names, Value x) {
  const std::string &name = names.name, &source = names.source;
  int64_t inner = config.inner(), keyWidth = config.keyWidth();
  Value query, key, value;
  if (names.fused.empty()) {
    auto project = [&](const Twine &part, llvm::StringRef tensor,
                       int64_t rows) {
      return model.project(name + part, source + tensor, x, rows,
                           config.inputBias);
    };
    query = project(".query", names.query, inner);
    key = project(".key", names.key, keyWidth);
    value = project(".value", names.value, keyWidth);
  } else {
    Value all = model.project(name + ".in", source + names.fused, x,
                              inner + 2 * keyWidth, config.inputBias);
    query = model.slice(name + ".query", all, 0, inner);
    key = model.slice(name + ".key", all, inner, keyWidth);
    value = model.slice(name + ".value", all, inner + keyWidth, keyWidth);
  }
  if (config.headNorm) {
    query = model.groupNorm(name + ".query_norm", source + names.queryNorm,
                            query, config.heads, config.keys, *config.headNorm);
    key = model.groupNorm(name + ".key_norm", source + names.keyNorm, key,
                          config.keyHeads, config.keys, *config.headNorm);
  }
  auto inHeads = [&](Value flat, int64_t heads) {
    return model.reshape(name, flat, {heads, config.keys});
  };
  Value mixed =
      attend(model, name, config, layer.window,
             turn(model, name + ".query", layer, inHeads(query, config.heads)),
             turn(model, name + ".key", layer, inHeads(key, config.keyHeads)),
             inHeads(value, config.keyHeads));
  return model.project(name + ".out", source + names.output,
                       model.reshape(name, mixed, {inner}), model.getWidth(),
                       config.outputBias);
}
