#include "frontend/model/Attention.h"

#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace effc;
using namespace effc::frontend;
using llvm::Twine;
using mlir::Value;

AttentionConfig effc::frontend::readAttention(ConfigReader &reader,
                                              int64_t width,
                                              llvm::StringRef channels) {
  AttentionConfig config;
  config.heads =
      reader.requireInteger("num_attention_heads", 1, kMostDimension);
  config.keyHeads =
      reader.getIntegerIfSet("num_key_value_heads", 1, kMostDimension)
          .value_or(config.heads);
  std::optional<int64_t> keys =
      reader.getIntegerIfSet(channels, 1, kMostDimension);
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

AttentionConfig effc::frontend::readEqualHeads(ConfigReader &reader,
                                               llvm::StringRef heads,
                                               int64_t width,
                                               llvm::StringRef widthKey) {
  AttentionConfig config;
  config.heads = config.keyHeads =
      reader.requireInteger(heads, 1, kMostDimension);
  if (!reader.hasProblem() && width % config.heads != 0)
    reader.report("expects " + llvm::Twine("'") + widthKey +
                  "' to be a multiple of '" + heads + "' " +
                  Twine(config.heads) + ", but got " + Twine(width));
  config.keys = std::max<int64_t>(width / config.heads, 1);
  config.scale = 1 / std::sqrt(double(config.keys));
  return config;
}

Value effc::frontend::turn(ModelBuilder &model, const Twine &name,
                           const LayerAttention &layer, Value x,
                           std::optional<int64_t> last) {
  const RotaryConfig &rotary = layer.rotary;
  if (!rotary.frequencies)
    return x;
  llvm::SmallVector<int64_t> shape = {rotary.pairs};
  if (rotary.frequencies.hasRows())
    shape.insert(shape.begin(), model.getContext());
  Value frequencies =
      model.computed(layer.frequencies, rotary.frequencies, shape);
  return seq::RotaryOp::create(
      model.getBuilder(), model.at(name), x.getType(), rotary.layout, x,
      model.getPositions(), frequencies, llvm::APFloat(rotary.amplitude),
      last ? model.getBuilder().getI64IntegerAttr(*last) : nullptr);
}

static void reportStretched(ModelBuilder &model, const StreamedKeys &wanted) {
  model.report(
      "expects --sinks and --window within the context that rotary positions "
      "are not stretched for, but got " +
      Twine(wanted.sinks) + " and " + Twine(wanted.window));
}

LayerAttention effc::frontend::streamed(ModelBuilder &model,
                                        llvm::StringRef name,
                                        LayerAttention layer) {
  const StreamedKeys &wanted = model.getStreamed();
  if (wanted.window == 0)
    return layer;
  int64_t longest = model.getLongest();
  bool seesAll = layer.window == 0 || (longest > 0 && layer.window >= longest);
  // What it has seen no further than is not to lie further now.
  bool narrower = layer.window < wanted.sinks + wanted.window ||
                  layer.window == wanted.window;
  seq::PositionScalesAttr scales = layer.rotary.queryScales;
  if (!seesAll && narrower) {
    if (scales) // its queries grow without end
      reportStretched(model, wanted);
    model.noteKept(layer.window);
    return layer;
  }
  bool isScaled =
      scales && wanted.sinks + wanted.window > scales.getOriginalContext();
  if (isScaled ||
      (layer.rotary.frequencies && layer.rotary.frequencies.hasRows()))
    reportStretched(model, wanted);
  layer.window = wanted.window;
  layer.sinks = wanted.sinks;
  model.noteStreamed(name);
  return layer;
}

void effc::frontend::addSinks(ModelBuilder &model, const std::string &name,
                              const LayerAttention &layer, Value query,
                              AttentionExtras &extras) {
  extras.sinks = layer.sinks;
  if (layer.sinks > 0)
    extras.sinkQuery = turn(model, name + ".sink_query", layer, query,
                            layer.sinks + layer.window - 1);
}

/// Rows of the states that keep keys: of a window or, where `window` is 0, of
/// the model's context. A window that no context outgrows becomes 0.
static int64_t rowsOfKeys(ModelBuilder &model, int64_t &window) {
  // Kernels read keys in blocks of as many rows.
  constexpr int64_t kRows = 32;
  assert((window > 0 || model.getContext() > 0) &&
         "a layer that sees all keys does not follow --window");
  // A window that no context outgrows is none.
  if (model.getContext() > 0 && window >= model.getContext())
    window = 0;
  return llvm::alignTo(window > 0 ? window : model.getContext(), kRows);
}

Value effc::frontend::attend(ModelBuilder &model, const std::string &name,
                             const AttentionConfig &config, int64_t window,
                             Value query, Value key, Value value,
                             const AttentionExtras &extras) {
  int64_t rows = rowsOfKeys(model, window);
  llvm::SmallVector<mlir::Type> further;
  auto stateFor = [&](const Twine &part, Value token, int64_t extent,
                      const std::string &owner) {
    if (!token || extent == 0)
      return Value();
    auto type = llvm::cast<mlir::RankedTensorType>(token.getType());
    llvm::SmallVector<int64_t> shape(type.getShape());
    shape.front() = extent;
    Value state = model.state(owner + part, shape);
    further.push_back(state.getType());
    return state;
  };
  Value keys, values;
  if (SharedKeys *shared = extras.shared) {
    if (!shared->keys) {
      shared->keys = stateFor(".keys", key, rows, shared->name);
      shared->values = stateFor(".values", value, rows, shared->name);
      shared->firstKeys = shared->keys;
      shared->firstValues = shared->values;
    }
    keys = shared->keys;
    values = shared->values;
  } else {
    keys = stateFor(".keys", key, rows, name);
    values = stateFor(".values", value, rows, name);
  }
  // The next values are the first of the further results.
  further.clear();
  if (values)
    further.push_back(values.getType());
  Value scores = stateFor(".numbers", extras.numbers, rows, name);
  Value sinkKeys = stateFor(".sink_keys", key, extras.sinks, name);
  Value sinkValues = stateFor(".sink_values", value, extras.sinks, name);
  Value sinkScores =
      stateFor(".sink_numbers", extras.numbers, extras.sinks, name);
  mlir::OpBuilder &builder = model.getBuilder();
  mlir::IntegerAttr windowAttr, keep;
  mlir::FloatAttr softCap;
  if (window > 0)
    windowAttr = builder.getI64IntegerAttr(window);
  // What no context outgrows leaves no key out.
  if (extras.keep && (model.getContext() == 0 ||
                      *extras.keep < std::max(window, model.getContext())))
    keep = builder.getI64IntegerAttr(*extras.keep);
  if (config.softCap)
    softCap = builder.getF64FloatAttr(*config.softCap);
  auto queries = llvm::cast<mlir::RankedTensorType>(query.getType());
  int64_t channels =
      value ? llvm::cast<mlir::RankedTensorType>(value.getType()).getDimSize(2)
            : extras.valuesOfKeys;
  auto type = mlir::RankedTensorType::get(
      {queries.getDimSize(0), queries.getDimSize(1), channels},
      builder.getF32Type());
  auto op = seq::AttentionOp::create(
      builder, model.at(name), type, keys.getType(), further, query, key, value,
      model.getPositions(), extras.sinkQuery, extras.numbers, extras.blocks,
      extras.sinkLogits, extras.slopes, keys, values, scores, sinkKeys,
      sinkValues, sinkScores, windowAttr, builder.getF64FloatAttr(config.scale),
      softCap, seq::KeyScoreAttr::get(builder.getContext(), extras.effect),
      keep,
      extras.blocks ? builder.getI64IntegerAttr(extras.block)
                    : mlir::IntegerAttr(),
      /*form=*/nullptr);
  if (extras.shared) {
    extras.shared->keys = op.getNextKeys();
    extras.shared->values = op.getNextStates().front();
    return op.getY();
  }
  model.setNextState(op.getNextKeys());
  for (Value next : op.getNextStates())
    model.setNextState(next);
  return op.getY();
}

static AttentionInputs project(ModelBuilder &model,
                               const AttentionConfig &config,
                               const AttentionNames &names, Value x) {
  const std::string &name = names.name, &source = names.source;
  int64_t keys = config.keys, inner = config.inner(),
          keyWidth = config.keyWidth();
  AttentionInputs in;
  if (names.fused.empty()) {
    auto project = [&](MatrixRole role, const Twine &part,
                       llvm::StringRef tensor, int64_t rows) {
      return model.project(role, name + part, source + tensor, x, rows,
                           config.inputBias, names.transposed);
    };
    auto half = [&](const Twine &part, int64_t offset) {
      return model.projectRows(name + part, source + names.query, x,
                               model.rows(offset, keys, 2 * keys, config.heads),
                               config.inputBias);
    };
    in.query = config.gated
                   ? half(".query", 0)
                   : project(MatrixRole::Other, ".query", names.query, inner);
    in.key = project(MatrixRole::Keys, ".key", names.key, keyWidth);
    in.value = project(MatrixRole::Values, ".value", names.value, keyWidth);
    if (config.gated)
      in.gate = half(".gate", keys);
  } else if (names.inTurn) {
    auto third = [&](MatrixRole role, const Twine &part, int64_t offset) {
      return model.projectRows(role, name + part, source + names.fused, x,
                               model.rows(offset, keys, 3 * keys, config.heads),
                               config.inputBias);
    };
    in.query = third(MatrixRole::Other, ".query", 0);
    in.key = third(MatrixRole::Keys, ".key", keys);
    in.value = third(MatrixRole::Values, ".value", 2 * keys);
  } else {
    Value all =
        model.project(MatrixRole::Values, name + ".in", source + names.fused, x,
                      inner + 2 * keyWidth, config.inputBias, names.transposed);
    in.query = model.slice(name + ".query", all, 0, inner);
    in.key = model.slice(name + ".key", all, inner, keyWidth);
    in.value = model.slice(name + ".value", all, inner + keyWidth, keyWidth);
  }
  return in;
}

AttentionInputs effc::frontend::projectToHeads(ModelBuilder &model,
                                               const AttentionConfig &config,
                                               const AttentionNames &names,
                                               Value x) {
  const std::string &name = names.name, &source = names.source;
  AttentionInputs in = project(model, config, names, x);
  if (config.headNorm) {
    in.query =
        model.groupNorm(name + ".query_norm", source + names.queryNorm,
                        in.query, config.heads, config.keys, *config.headNorm);
    in.key = model.groupNorm(name + ".key_norm", source + names.keyNorm, in.key,
                             config.keyHeads, config.keys, *config.headNorm);
  }
  if (config.wideNorm) {
    in.query = model.norm(name + ".query_norm", source + names.queryNorm,
                          in.query, *config.wideNorm);
    in.key = model.norm(name + ".key_norm", source + names.keyNorm, in.key,
                        *config.wideNorm);
  }
  return in;
}

/// Queries [T, H K], as long as their positions ask for.
static Value scaleByPosition(ModelBuilder &model, const std::string &name,
                             const RotaryConfig &rotary, Value query) {
  if (!rotary.queryScales)
    return query;
  // Places in a window's cache, none of which is as far as the first step.
  if (model.getStreamed().window > 0)
    return query;
  Value table = model.computed("query_scales", rotary.queryScales,
                               {model.getContext(), 1});
  Value scale = model.embedding(name + ".query", model.getPositions(), table);
  return model.mul(name + ".query", query,
                   model.spread(name + ".query", scale, query));
}

/// The result of each head `mixed` [T, H, K], times its gate.
static Value gateHeads(ModelBuilder &model, const AttentionConfig &config,
                       const AttentionNames &names, Value x, Value mixed) {
  std::string name = names.name + ".gate";
  Value gate = model.activate(
      name, model.project(name, names.source + names.headGate, x, config.heads),
      seq::Nonlinearity::Sigmoid);
  return model.mul(name, mixed,
                   seq::BroadcastOp::create(model.getBuilder(), model.at(name),
                                            gate, mixed,
                                            llvm::ArrayRef<int64_t>{0, 1}));
}

Value effc::frontend::emitAttention(ModelBuilder &model,
                                    const AttentionConfig &config,
                                    const LayerAttention &given,
                                    const AttentionNames &names, Value x) {
  const std::string &name = names.name;
  LayerAttention layer = streamed(model, name, given);
  AttentionInputs in = projectToHeads(model, config, names, x);
  in.query = scaleByPosition(model, name, layer.rotary, in.query);
  auto inHeads = [&](Value flat, int64_t heads) {
    return model.reshape(name, flat, {heads, config.keys});
  };
  AttentionExtras extras;
  if (config.slopes)
    extras.slopes = model.computed(
        "slopes",
        seq::HeadDecaysAttr::get(model.getBuilder().getContext(),
                                 seq::DecayRule::Alibi, /*layer=*/0,
                                 /*layers=*/0, /*negated=*/true),
        {config.heads});
  if (config.sinkLogits)
    extras.sinkLogits = model.vector(
        name + ".sinks", names.source + names.sinkLogits, config.heads);
  Value query = inHeads(in.query, config.heads);
  addSinks(model, name, layer, query, extras);
  Value mixed = attend(
      model, name, config, layer.window,
      turn(model, name + ".query", layer, query),
      turn(model, name + ".key", layer, inHeads(in.key, config.keyHeads)),
      inHeads(in.value, config.keyHeads), extras);
  if (config.headGate)
    mixed = gateHeads(model, config, names, x, mixed);
  mixed = model.reshape(name, mixed, {config.inner()});
  if (in.gate)
    mixed = model.mul(
        name + ".gate", mixed,
        model.activate(name + ".gate", in.gate, seq::Nonlinearity::Sigmoid));
  return model.project(MatrixRole::AttentionOut, name + ".out",
                       names.source + names.output, mixed, model.getWidth(),
                       config.outputBias, names.transposed);
}
