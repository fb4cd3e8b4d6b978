#include "frontend/families/RecurrentGemma.h"

#include "frontend/checkpoint/Refusal.h"
#include "frontend/model/Decoder.h"
#include "frontend/model/TextModel.h"
#include "runtime/abi/NarrowFloats.h"

#include <cmath>

using namespace effc;
using namespace effc::frontend;
using llvm::Twine;
using mlir::Value;

namespace {

struct GriffinConfig {
  int64_t width = 1, layers = 1;
  /// Channels of the recurrence, and the blocks of its gates.
  int64_t inner = 1, blocks = 1, taps = 4;
  AttentionConfig attention;
  LayerAttention layer;
  /// Which layers of a period attend; the others recur.
  std::vector<bool> attends;
  MlpConfig mlp;
  NormConfig norm;
  seq::Nonlinearity activation = seq::Nonlinearity::GeluTanh;
  double embeddingScale = 1;
  std::optional<double> logitCap;
  HeadConfig head;
};

} // namespace

static void readPattern(ConfigReader &reader, GriffinConfig &config) {
  config.attends = {false, false, true};
  for (llvm::StringRef key : {"block_types", "_block_types"}) {
    const JsonValue *value = reader.get(key);
    if (!value || value->isNull())
      continue;
    const JsonArray *names = value->getArray();
    if (!names || names->empty())
      return reader.reportMismatch(key, "an array of names", *value);
    config.attends.clear();
    for (const JsonValue &name : *names) {
      if (!name.getString() || (*name.getString() != "recurrent" &&
                                *name.getString() != "attention"))
        return reader.reportMismatch(key, "recurrent or attention", name);
      config.attends.push_back(*name.getString() == "attention");
    }
  }
}

/// The square root of the width as the public implementation has it, rounded to
/// bf16 whatever the weights' type.
static double roundedRoot(int64_t width) {
  auto root = float(std::sqrt(double(width)));
  return rt::fromBF16(rt::toBF16(root));
}

static GriffinConfig readGriffin(FamilyInput &input) {
  ConfigReader &reader = input.config;
  GriffinConfig config;
  config.width = reader.requireInteger("hidden_size", 1, kMostDimension);
  config.layers = reader.requireInteger("num_hidden_layers", 1, kMostLayers);
  config.attention = readAttention(reader, config.width);
  config.attention.inputBias = reader.getBoolean("attention_bias", false);
  config.attention.outputBias = true;
  config.layer.window =
      reader.getInteger("attention_window_size", 1, kMostContext, 2048);
  RotaryRequest request{config.attention.keys, kMostContext};
  request.turned = 0.5;
  config.layer.rotary = readRotary(reader, input, request);
  config.inner = reader.getIntegerIfSet("lru_width", 1, kMostDimension)
                     .value_or(config.width);
  config.blocks = config.attention.heads;
  if (!reader.hasProblem() && config.inner % config.blocks != 0)
    reader.report("expects 'lru_width' to be a multiple of "
                  "'num_attention_heads' " +
                  Twine(config.blocks) + ", but got " + Twine(config.inner));
  config.taps = reader.getInteger("conv1d_width", 1, 64, 4);
  // The two halves of a gated layer together.
  int64_t both = reader.requireInteger("intermediate_size", 2, kMostDimension);
  config.mlp.hidden = both / 2;
  config.mlp.bias = true;
  config.activation = config.mlp.activation =
      readActivation(reader, "hidden_activation", seq::Nonlinearity::GeluTanh);
  config.norm.epsilon = reader.getNumber("rms_norm_eps", 0, 1, 1e-6);
  config.norm.unitOffset = true;
  config.embeddingScale = roundedRoot(config.width);
  if (!reader.get("logits_soft_cap") || reader.isSet("logits_soft_cap"))
    config.logitCap = reader.getNumber("logits_soft_cap", 1e-6, 1e9, 30);
  config.head.tied = reader.getBoolean("tie_word_embeddings", true);
  readPattern(reader, config);
  ignoreHarmless(reader, input.remarks,
                 {"w_init_variance_scale", "final_w_init_variance_scale",
                  "embeddings_scale_by_sqrt_dim", "max_position_embeddings"});
  return config;
}

/// A product with a matrix for each block, stored to be multiplied from the
/// left.
static Value emitGate(ModelBuilder &model, const GriffinConfig &config,
                      const std::string &name, const std::string &source,
                      Value x) {
  int64_t channels = config.inner / config.blocks;
  WeightSource matrix(source + "_weight");
  matrix.transposed = true;
  Value weight = model.blocks(name, matrix, config.blocks, channels, channels);
  Value bias = model.numbers(name + "_bias", WeightSource(source + "_bias"),
                             {config.blocks, channels});
  return model.linear(name, x, weight, bias);
}

static Value emitRecurrence(ModelBuilder &model, const GriffinConfig &config,
                            const std::string &name, const std::string &source,
                            Value x) {
  int64_t inner = config.inner, blocks = config.blocks;
  Value gate = model.activate(
      name + "y",
      model.project(name + "y", source + "linear_y", x, inner, /*bias=*/true),
      config.activation);
  Value u =
      model.project(name + "x", source + "linear_x", x, inner, /*bias=*/true);
  Value taps =
      model.taps(name + "conv", source + "conv_1d.weight", config.taps, inner);
  Value bias = model.vector(name + "conv_bias", source + "conv_1d.bias", inner);
  u = model.shortConvolution(name + "conv", u, taps, bias,
                             seq::Activation::None);
  Value values = model.reshape(name + "lru", u, {blocks, inner / blocks});
  std::string lru = source + "rg_lru.";
  Value input =
      emitGate(model, config, name + "input_gate", lru + "input_gate", values);
  Value recurrence = emitGate(model, config, name + "recurrent_gate",
                              lru + "recurrent_gate", values);
  WeightSource flat(lru + "recurrent_param");
  flat.stored = {inner};
  Value rate = model.numbers(name + "rate", flat, {blocks, inner / blocks});
  Value positions = model.getPositions();
  Value state = model.state(name + "lru", {blocks, 1, inner / blocks});
  auto op = seq::RgLruOp::create(model.getBuilder(), model.at(name + "lru"),
                                 values.getType(), state.getType(), values,
                                 recurrence, input, positions, rate, state,
                                 llvm::APFloat(8.0), /*form=*/nullptr);
  model.setNextState(op.getNextState());
  Value y = model.mul(name + "y",
                      model.reshape(name + "lru", op.getY(), {inner}), gate);
  return model.project(name + "out", source + "linear_out", y, model.getWidth(),
                       /*bias=*/true);
}

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
effc::frontend::importRecurrentGemma(FamilyInput &input) {
  GriffinConfig config = readGriffin(input);
  if (llvm::Error error = input.config.finish())
    return error;
  TextModelConfig text;
  text.family = "recurrent_gemma";
  text.vocabulary = input.vocabulary;
  text.width = config.width;
  text.head = config.head;
  text.endNorm = "model.final_norm";
  text.norm = config.norm;
  text.embeddingScale = config.embeddingScale;
  text.logitCap = config.logitCap;
  return buildTextModel(text, input, [&](ModelBuilder &model, Value x) {
    for (int64_t layer = 0; layer < config.layers; ++layer) {
      std::string name = "layers." + std::to_string(layer) + ".";
      std::string source = "model." + name;
      Value normed = model.norm(name + "mixer_norm",
                                source + "temporal_pre_norm", x, config.norm);
      std::string mixer = source + "temporal_block.";
      bool attends = config.attends[size_t(layer) % config.attends.size()];
      Value mixed = attends
                        ? emitAttention(model, config.attention, config.layer,
                                        {name + "attention", mixer}, normed)
                        : emitRecurrence(model, config, name, mixer, normed);
      x = model.add(name + "mixer_residual", x, mixed);
      normed = model.norm(name + "mlp_norm", source + "channel_pre_norm", x,
                          config.norm);
      Value inner = emitMlp(model, config.mlp,
                            {name + "mlp", source + "mlp_block."}, normed);
      x = model.add(name + "mlp_residual", x, inner);
    }
    return x;
  });
}
