#include "frontend/families/StructuredMixer.h"

#include "frontend/model/Decoder.h"
#include "frontend/model/PositionMixers.h"
#include "frontend/model/TextModel.h"

using namespace effc;
using namespace effc::frontend;
using llvm::Twine;
using mlir::Value;

using Module = llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>;

namespace {

/// Which of the public modules mixes tokens.
enum class HeadKind { None, Mixed, Parallel, Column, Combined };

struct StructuredConfig {
  int64_t width = 1, blocks = 1, positions = 1;
  int64_t heads = 0, kernel = 1;
  HeadKind kind = HeadKind::None;
  bool decays = false, projects = true;

  /// The public modules divide by it, and by 0 for short contexts.
  int64_t root() const {
    return std::max<int64_t>(positions / (kernel > 1 ? 256 : 512), 1);
  }
};

class StructuredEmitter {
public:
  StructuredEmitter(ModelBuilder &model, const StructuredConfig &config)
      : model(model), config(config) {}

  Value emitBlock(Value x, int64_t block) {
    name = "blocks." + std::to_string(block) + ".";
    std::string layer = "mixer_blocks." + std::to_string(block) + ".";
    source = layer + "token_mixing_layer.";
    NormConfig norm;
    norm.centred = norm.bias = true;
    Value inner =
        model.norm(name + "channel_norm", layer + "channel_norm", x, norm);
    inner = model.project(name + "up", layer + "channel_mixing_layer.0", inner,
                          4 * config.width, /*bias=*/true);
    inner = model.activate(name + "up", inner, seq::Nonlinearity::Silu);
    inner = model.project(name + "down", layer + "channel_mixing_layer.2",
                          inner, config.width, /*bias=*/true);
    x = model.add(name + "channel_residual", x, inner);
    Value mixed = emitMixer(
        model.norm(name + "token_norm", layer + "token_norm", x, norm));
    return model.add(name + "token_residual", x, mixed);
  }

private:
  Value rows(const std::string &part, const std::string &tensor,
             int64_t heads) {
    return positionRows(model, name + part, WeightSource(source + tensor),
                        heads, config.positions);
  }

  /// The rows of the heads [from, to), which have tensors of their own with
  /// `each` of them.
  Value rowsOfHeads(const std::string &part, const char *tensor, int64_t from,
                    int64_t to, int64_t each) {
    return positionRows(model, name + part,
                        WeightSource(tensorsOfHeads(tensor, from, to)),
                        (to - from) * each, config.positions);
  }

  std::vector<std::string> tensorsOfHeads(const char *tensor, int64_t from,
                                          int64_t to) const {
    std::vector<std::string> tensors;
    for (int64_t h = from; h < to; ++h)
      tensors.push_back(source + "mixer_heads." + std::to_string(h) + "." +
                        tensor);
    return tensors;
  }

  Value join(const std::string &part, llvm::ArrayRef<Value> values) {
    if (values.size() == 1)
      return values.front();
    return seq::ConcatOp::create(model.getBuilder(), model.at(name + part),
                                 mlir::ValueRange(values), /*axis=*/1);
  }

  std::string head(int64_t number, const char *part) const {
    return "mixer_heads." + std::to_string(number) + "." + part;
  }

  /// The heads [from, to) of a flat x, with weights of their own tensors.
  Value emitRun(const std::string &part, Value x, int64_t from, int64_t to,
                bool row) {
    int64_t channels = config.width / config.heads, count = to - from;
    StructuredWeights weights;
    (row ? weights.source : weights.target) =
        rowsOfHeads(part + ".weight", "weight", from, to, 1);
    weights.bias = rowsOfHeads(part + ".bias", "bias", from, to, 1);
    if (config.decays && config.kind == HeadKind::Mixed)
      weights.decay = model.numbers(
          name + part + ".decay",
          WeightSource(tensorsOfHeads("decay_value", from, to)), {count});
    weights.root = config.root();
    Value heads = model.reshape(
        name + part,
        model.slice(name + part, x, from * channels, count * channels),
        {count, channels});
    Value y = emitStructured(model, name + part, heads, weights);
    return model.reshape(name + part, y, {count * channels});
  }

  /// The number of `tensor`, of which there are `count`.
  Value number(const std::string &part, const std::string &tensor,
               int64_t which, int64_t count) {
    WeightSource one(source + tensor);
    one.stored = {count};
    one.rows = seq::RowGroupsAttr::get(model.getBuilder().getContext(), which,
                                       1, count, 1);
    return model.numbers(name + part, one, {1});
  }

  Value emitHead(const std::string &part, Value x,
                 const StructuredWeights &weights) {
    int64_t channels = config.width / config.heads;
    Value y =
        emitStructured(model, name + part,
                       model.reshape(name + part, x, {1, channels}), weights);
    return model.reshape(name + part, y, {channels});
  }

  /// Heads whose weights lie in one tensor, all with one decay: columns, then
  /// rows.
  Value emitParallel(Value x) {
    int64_t heads = config.heads, channels = config.width / heads;
    Value weight = rows("weight", "mixer_heads.weight", heads);
    Value bias = rows("bias", "mixer_heads.bias", heads);
    llvm::SmallVector<Value> mixed;
    Value decay;
    if (config.decays)
      decay = number("decay", "mixer_heads.decay_value", 1, 2);
    for (int64_t h = 0; h < heads; ++h) {
      std::string part = "mixer." + std::to_string(h);
      StructuredWeights weights;
      (h < heads / 2 ? weights.target : weights.source) =
          model.slice(name + part, weight, h, 1);
      weights.bias = model.slice(name + part, bias, h, 1);
      weights.decay = decay;
      weights.root = config.root();
      mixed.push_back(emitHead(
          part, model.slice(name + part, x, h * channels, channels), weights));
    }
    return join("mixer", mixed);
  }

  /// Heads that repeat rows and columns, and add them.
  Value emitCombined(Value x) {
    int64_t channels = config.width / config.heads;
    llvm::SmallVector<Value> mixed;
    // Of each head the row's weights, then the column's.
    Value weight = rowsOfHeads("mixer.weight", "weight", 0, config.heads, 2);
    Value bias = rowsOfHeads("mixer.bias", "bias", 0, config.heads, 1);
    for (int64_t h = 0; h < config.heads; ++h) {
      std::string part = "mixer." + std::to_string(h);
      Value flat = model.slice(name + part, x, h * channels, channels);
      StructuredWeights row, column;
      row.source = model.slice(name + part, weight, 2 * h, 1);
      column.target = model.slice(name + part, weight, 2 * h + 1, 1);
      column.bias = model.slice(name + part, bias, h, 1);
      if (config.decays) {
        row.decay = number(part + ".row_decay", head(h, "decay_value"), 0, 2);
        column.decay =
            number(part + ".column_decay", head(h, "decay_value"), 1, 2);
      }
      row.root = column.root = config.root();
      mixed.push_back(model.add(name + part, emitHead(part + ".row", flat, row),
                                emitHead(part + ".column", flat, column)));
    }
    return join("mixer", mixed);
  }

  /// One row for all channels, or columns that see several.
  Value emitHeadless(Value x) {
    StructuredWeights weights;
    weights.root = config.root();
    bool wide = config.kernel > 1;
    if (!wide) {
      weights.source = rows("weight", "weight", 1);
      weights.bias = rows("bias", "bias", 1);
    } else if (config.decays) {
      weights.decay = number("decay", "decay_value", 1, 2);
    }
    Value sum = model.reshape(
        name + "mixer",
        emitStructured(model, name + "mixer",
                       model.reshape(name + "mixer", x, {1, config.width}),
                       weights),
        {config.width});
    if (!wide)
      return sum;
    mlir::OpBuilder &builder = model.getBuilder();
    Value bias = seq::ReshapeOp::create(
        builder, model.at(name + "bias"),
        mlir::RankedTensorType::get({mlir::ShapedType::kDynamic},
                                    builder.getF32Type()),
        rows("bias", "bias", 1));
    return seq::ChannelConvolutionOp::create(
        builder, model.at(name + "channels"), x.getType(), sum,
        rows("weight", "weight", config.kernel), bias,
        /*before=*/config.kernel - 1);
  }

  /// The matrices of all heads, which lie one by one.
  Value emitProjections(Value x) {
    std::vector<std::string> matrices, biases;
    for (int64_t h = 0; h < config.heads; ++h) {
      std::string tensor = source + "proj_head." + std::to_string(h);
      matrices.push_back(tensor + ".weight");
      biases.push_back(tensor + ".bias");
    }
    Value weight = model.matrix(name + "proj_head", WeightSource(matrices),
                                config.width, config.width);
    Value bias = model.numbers(name + "proj_head_bias", WeightSource(biases),
                               {config.width});
    return model.linear(name + "proj_head", x, weight, bias);
  }

  Value emitMixer(Value x) {
    if (config.kind == HeadKind::None)
      return emitHeadless(x);
    if (config.projects)
      x = config.kind == HeadKind::Parallel
              ? model.project(name + "in_proj", source + "in_proj", x,
                              config.width, /*bias=*/true)
              : emitProjections(x);
    Value y;
    if (config.kind == HeadKind::Parallel)
      y = emitParallel(x);
    else if (config.kind == HeadKind::Combined)
      y = emitCombined(x);
    else if (config.kind == HeadKind::Column)
      y = emitRun("column", x, 0, config.heads, /*row=*/false);
    else
      y = join("mixer",
               {emitRun("column", x, 0, config.heads / 2, false),
                emitRun("row", x, config.heads / 2, config.heads, true)});
    if (!config.projects)
      return y;
    return model.project(name + "out_proj", source + "out_proj", y,
                         config.width, /*bias=*/true);
  }

  ModelBuilder &model;
  const StructuredConfig &config;
  /// The names of the block's ops, and of its mixer's tensors.
  std::string name, source;
};

} // namespace

static StructuredConfig readStructured(FamilyInput &input) {
  ConfigReader &reader = input.config;
  StructuredConfig config;
  config.width = reader.requireInteger("hidden_dim", 1, kMostDimension);
  config.positions = reader.requireInteger("seq_len", 1, kMostDimension);
  config.blocks = reader.requireInteger("num_blocks", 1, kMostLayers);
  config.heads = reader.getIntegerIfSet("heads", 0, kMostDimension).value_or(0);
  config.kernel = reader.getIntegerIfSet("kernel", 1, 64).value_or(1);
  bool mixed = reader.getBoolean("mixed_heads", false);
  bool combined = reader.getBoolean("combined_heads", false);
  bool parallel = reader.getBoolean("parallel_heads", false);
  config.decays = reader.getBoolean("decay", false);
  bool projects = reader.getBoolean("use_projections", true);
  if (reader.getBoolean("expanded_convs", false))
    reader.reportMismatch("expanded_convs", "false",
                          *reader.get("expanded_convs"));
  if (reader.hasProblem() || config.heads == 0)
    return config;
  config.kind = parallel   ? HeadKind::Parallel
                : mixed    ? HeadKind::Mixed
                : combined ? HeadKind::Combined
                           : HeadKind::Column;
  // The others are not handed the setting, nor a kernel.
  config.projects = projects || config.kind == HeadKind::Column ||
                    config.kind == HeadKind::Combined;
  config.kernel = 1;
  if (config.width % config.heads != 0)
    reader.report("expects 'heads' to divide 'hidden_dim' " +
                  Twine(config.width) + ", but got " + Twine(config.heads));
  if ((parallel || mixed) && config.heads % 2 != 0)
    reader.report("expects an even number of 'heads' where half of them are "
                  "columns, but got " +
                  Twine(config.heads));
  return config;
}

/// The tensors of parallel heads that a model without projections has all the
/// same.
static void leaveProjectionsAside(FamilyInput &input,
                                  const StructuredConfig &config) {
  if (config.kind != HeadKind::Parallel || config.projects)
    return;
  for (llvm::StringRef name : input.checkpoint.getUnread())
    if (name.contains("token_mixing_layer.in_proj.") ||
        name.contains("token_mixing_layer.out_proj.")) {
      input.checkpoint.leaveAside(name);
      input.remarks.push_back("tensor '" + name.str() +
                              "' is left aside: 'use_projections' is false");
    }
}

Module effc::frontend::importStructuredMixer(FamilyInput &input) {
  StructuredConfig config = readStructured(input);
  if (llvm::Error error = input.config.finish())
    return error;
  leaveProjectionsAside(input, config);
  TextModelConfig text;
  text.family = "srm";
  text.vocabulary = input.vocabulary;
  text.width = config.width;
  text.head.table = "input_layer.weight";
  text.head.head = "output_layer.weight";
  text.context = chooseContext(input, config.positions);
  return buildTextModel(text, input, [&](ModelBuilder &model, Value x) {
    StructuredEmitter emitter(model, config);
    for (int64_t block = 0; block < config.blocks; ++block)
      x = emitter.emitBlock(x, block);
    return x;
  });
}

int64_t effc::frontend::readMaskedMixerVocabulary(ConfigReader &reader,
                                                  int64_t most) {
  return reader.requireInteger("n_vocab", 1, most);
}

Module effc::frontend::importMaskedMixer(FamilyInput &input) {
  ConfigReader &reader = input.config;
  int64_t width = reader.requireInteger("dim", 1, kMostDimension);
  int64_t depth = reader.requireInteger("depth", 1, kMostLayers);
  int64_t positions =
      reader.getInteger("tokenized_length", 1, kMostDimension, 512);
  int64_t kernel = reader.getIntegerIfSet("kernel", 1, 64).value_or(1);
  bool expanded = reader.getBoolean("expand_conv", false);
  TextModelConfig text;
  text.head.tied = reader.getBoolean("tie_weights", false);
  text.head.key = "tie_weights";
  if (llvm::Error error = reader.finish())
    return error;
  text.family = "masked_mixer";
  text.vocabulary = input.vocabulary;
  text.width = width;
  text.head.table = "wte.weight";
  text.context = chooseContext(input, positions);
  NormConfig norm;
  norm.centred = norm.bias = true;
  return buildTextModel(text, input, [&](ModelBuilder &model, Value x) {
    for (int64_t block = 0; block < depth; ++block) {
      std::string name = "blocks." + std::to_string(block) + ".";
      std::string source = "mixerblocks." + std::to_string(block) + ".";
      Value mixed =
          model.norm(name + "token_norm", source + "seq_layernorm", x, norm);
      if (expanded) {
        mixed = emitCausalMix(model, name + "conv.0", source + "conv.0", mixed,
                              positions, 1, /*bias=*/false);
        mixed = model.activate(name + "conv.1", mixed, seq::Nonlinearity::Gelu);
        mixed = emitCausalMix(model, name + "conv.2", source + "conv.2", mixed,
                              positions, 1, /*bias=*/false);
      } else {
        mixed = emitCausalMix(model, name + "conv", source + "conv", mixed,
                              positions, kernel);
      }
      x = model.add(name + "token_residual", x, mixed);
      Value inner = model.norm(name + "channel_norm",
                               source + "patch_layernorm", x, norm);
      inner = model.project(name + "up", source + "patch_ff.0", inner,
                            4 * width, /*bias=*/true);
      inner = model.activate(name + "up", inner, seq::Nonlinearity::Gelu);
      inner = model.project(name + "down", source + "patch_ff.2", inner, width,
                            /*bias=*/true);
      x = model.add(name + "channel_residual", x, inner);
    }
    return x;
  });
}
