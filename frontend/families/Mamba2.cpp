#include "frontend/families/Mamba2.h"

#include "frontend/checkpoint/Refusal.h"
#include "frontend/families/ModelBuilder.h"

#include <cmath>
#include <limits>

using namespace effc;
using namespace effc::frontend;
using llvm::Twine;
using mlir::Value;

namespace {

constexpr int64_t kMostDimension = 65536;
constexpr int64_t kMostLayers = 4096;
constexpr double kUnbounded = std::numeric_limits<double>::infinity();

/// What config.json says, in the project's letters.
struct Mamba2Config {
  int64_t vocabulary, width, layers;   // D = width
  int64_t heads, values, keys, groups; // H, V, K, G
  int64_t window;                      // W, taps of the convolution
  bool projectionBias, convolutionBias, tied;
  double epsilon;
  double dtMin, dtMax;

  /// Channels inside the mixer, H * V.
  int64_t inner() const { return heads * values; }
  /// Channels of all keys, and of all queries.
  int64_t groupKeys() const { return groups * keys; }
  /// Channels that are convolved: x, B and C.
  int64_t convolved() const { return inner() + 2 * groupKeys(); }
  /// Rows of in_proj: z, x, B, C and dt.
  int64_t projected() const { return inner() + convolved() + heads; }
};

} // namespace

/// [low, high], of which high may be infinite in any spelling.
static void readTimeStepLimit(ConfigReader &reader, Mamba2Config &config) {
  config.dtMin = 0;
  config.dtMax = kUnbounded;
  const JsonValue *value = reader.get("time_step_limit");
  if (!value)
    return;
  const JsonArray *bounds = value->getArray();
  if (!bounds || bounds->size() != 2) {
    reader.reportMismatch("time_step_limit", "an array of 2 numbers", *value);
    return;
  }
  std::optional<double> low = (*bounds)[0].getNumber();
  std::optional<double> high = (*bounds)[1].getNumber();
  if (!low || !high || !(*low >= 0) || !(*low <= *high) || std::isinf(*low)) {
    reader.report("expects 'time_step_limit' to be two numbers from 0 on in "
                  "ascending order, the first finite, but got " +
                  (*bounds)[0].describe() + " and " + (*bounds)[1].describe());
    return;
  }
  config.dtMin = *low;
  config.dtMax = *high;
}

static void checkInnerWidth(ConfigReader &reader, const Mamba2Config &config) {
  double expand = reader.getNumber("expand", 0, 1024, 2);
  if (reader.hasProblem())
    return;
  if (expand * double(config.width) != double(config.inner()))
    reader.report("expects expand * hidden_size to be num_heads * head_dim = " +
                  Twine(config.heads) + " * " + Twine(config.values) + " = " +
                  Twine(config.inner()) + ", but got " +
                  reader.get("expand")->describe() + " * " +
                  Twine(config.width));
  int64_t inner = reader.getInteger(
      "intermediate_size", 1, kMostDimension * kMostDimension, config.inner());
  if (inner != config.inner())
    reader.report("expects 'intermediate_size' to be num_heads * head_dim = " +
                  Twine(config.inner()) + ", but got " + Twine(inner));
  if (config.heads % config.groups != 0)
    reader.report(
        "expects 'num_heads' to be a multiple of 'n_groups', but got " +
        Twine(config.heads) + " and " + Twine(config.groups));
}

/// Keys with one acceptable value, which the mathematics here has built in.
static void checkFixedKeys(ConfigReader &reader) {
  if (const std::string *activation = reader.getString("hidden_act"))
    if (*activation != "silu" && *activation != "swish")
      reader.report("hidden_act " + quote(*activation) +
                    " is not supported; supported: silu, swish");
  if (!reader.getBoolean("rms_norm", true))
    reader.report("expects 'rms_norm' to be true, but got false");
}

/// Keys that the library writes and its forward pass does not read, or reads to
/// choose among ways to compute the same.
static void ignoreKeys(ConfigReader &reader, Remarks &remarks) {
  constexpr llvm::StringRef kKeys[] = {
      "chunk_size",       "initializer_range", "rescale_prenorm_residual",
      "residual_in_fp32", "time_step_floor",   "time_step_max",
      "time_step_min",    "time_step_rank"};
  for (llvm::StringRef key : reader.ignore(kKeys))
    remarks.push_back("config.json: " + quote(key) +
                      " is ignored: it does not change the results");
  if (!reader.ignore({"norm_before_gate"}).empty())
    remarks.push_back("config.json: 'norm_before_gate' is ignored: the gate is "
                      "applied before the norm whatever it says, as in the "
                      "public implementation");
}

static llvm::Expected<Mamba2Config> readConfig(FamilyInput &input) {
  ConfigReader &reader = input.config;
  Mamba2Config config;
  config.vocabulary = input.vocabulary;
  config.width = reader.requireInteger("hidden_size", 1, kMostDimension);
  config.layers = reader.requireInteger("num_hidden_layers", 1, kMostLayers);
  config.heads = reader.requireInteger("num_heads", 1, kMostDimension);
  config.values = reader.requireInteger("head_dim", 1, kMostDimension);
  config.keys = reader.requireInteger("state_size", 1, kMostDimension);
  config.groups = reader.getInteger("n_groups", 1, kMostDimension, 8);
  config.window = reader.getInteger("conv_kernel", 2, 64, 4);
  config.projectionBias = reader.getBoolean("use_bias", false);
  config.convolutionBias = reader.getBoolean("use_conv_bias", true);
  config.tied = reader.getBoolean("tie_word_embeddings", false);
  config.epsilon = reader.getNumber("layer_norm_epsilon", 0, 1, 1e-5);
  readTimeStepLimit(reader, config);
  checkInnerWidth(reader, config);
  checkFixedKeys(reader);
  ignoreKeys(reader, input.remarks);
  if (llvm::Error error = reader.finish())
    return error;
  if (config.groups > 1)
    input.remarks.push_back(
        "the gated norm takes one mean square per group of " +
        std::to_string(config.inner() / config.groups) +
        " channels, as the models are trained; releases of the public "
        "implementation before 5 take one over all channels");
  return config;
}

namespace {

/// Emits the layers; names are those of the project, sources those of the file.
class Mamba2Emitter {
public:
  Mamba2Emitter(const Mamba2Config &config, ModelBuilder &model)
      : config(config), model(model) {}

  Value emitLayer(Value x, int64_t index) {
    name = "layers." + std::to_string(index) + ".";
    source = "backbone.layers." + std::to_string(index) + ".";
    Value normed = model.rmsNorm(
        name + "norm", x,
        model.vector(name + "norm", source + "norm.weight", config.width),
        config.epsilon);
    source += "mixer.";
    Value mixed = emitMixer(normed);
    return model.add(name + "residual", x, mixed);
  }

private:
  /// The rows of in_proj are z, x, B, C, dt, in that order.
  Value emitMixer(Value x) {
    Value projected =
        emitProjection("in_proj", x, config.projected(), config.width);
    int64_t inner = config.inner();
    Value gate = model.slice(name + "in_proj", projected, 0, inner);
    Value convolved = emitConvolution(
        model.slice(name + "in_proj", projected, inner, config.convolved()));
    Value dt = model.slice(name + "in_proj", projected,
                           inner + config.convolved(), config.heads);
    Value y = model.reshape(name + "ssd", emitSsd(convolved, dt), {inner});
    Value weight =
        model.vector(name + "gated_norm", source + "norm.weight", inner);
    Value normed = seq::GatedRmsNormOp::create(
        model.getBuilder(), model.at(name + "gated_norm"), y.getType(), y, gate,
        weight, llvm::APFloat(config.epsilon), config.groups);
    return emitProjection("out_proj", normed, config.width, inner);
  }

  Value emitProjection(const std::string &part, Value x, int64_t rows,
                       int64_t columns) {
    Value weight =
        model.matrix(name + part, source + part + ".weight", rows, columns);
    Value bias;
    if (config.projectionBias)
      bias = model.vector(name + part + "_bias", source + part + ".bias", rows);
    return model.linear(name + part, x, weight, bias);
  }

  Value emitConvolution(Value x) {
    int64_t channels = config.convolved();
    Value taps = model.taps(name + "conv", source + "conv1d.weight",
                            config.window, channels);
    Value bias;
    if (config.convolutionBias)
      bias = model.vector(name + "conv_bias", source + "conv1d.bias", channels);
    Value tail = model.state(name + "conv", {config.window - 1, channels});
    auto op = seq::ShortConvolutionOp::create(
        model.getBuilder(), model.at(name + "conv"), x.getType(),
        tail.getType(), x, taps, bias, tail, seq::Activation::Silu);
    model.setNextState(op.getNextTail());
    return op.getY();
  }

  Value emitSsd(Value convolved, Value dt) {
    int64_t inner = config.inner(), groupKeys = config.groupKeys();
    std::string here = name + "ssd";
    llvm::SmallVector<int64_t> perGroup = {config.groups, config.keys};
    Value x = model.reshape(here, model.slice(here, convolved, 0, inner),
                            {config.heads, config.values});
    Value b = model.reshape(
        here, model.slice(here, convolved, inner, groupKeys), perGroup);
    Value c = model.reshape(
        here, model.slice(here, convolved, inner + groupKeys, groupKeys),
        perGroup);
    Value rate = model.vector(name + "a_log", source + "A_log", config.heads);
    Value bias =
        model.vector(name + "dt_bias", source + "dt_bias", config.heads);
    Value d = model.vector(name + "d", source + "D", config.heads);
    Value state = model.state(here, {config.heads, config.keys, config.values});
    // A bound that does not bind is left out.
    mlir::OpBuilder &builder = model.getBuilder();
    mlir::FloatAttr least, most;
    if (config.dtMin > 0)
      least = builder.getF64FloatAttr(config.dtMin);
    if (config.dtMax < kUnbounded)
      most = builder.getF64FloatAttr(config.dtMax);
    auto op = seq::SsdOp::create(builder, model.at(here), x.getType(),
                                 state.getType(), x, dt, b, c, rate, bias, d,
                                 state, least, most, /*form=*/nullptr);
    model.setNextState(op.getNextState());
    return op.getY();
  }

  const Mamba2Config &config;
  ModelBuilder &model;
  std::string name, source;
};

} // namespace

/// Whether the head is the table of embeddings.
static llvm::Expected<bool> isHeadTied(const Mamba2Config &config,
                                       FamilyInput &input) {
  constexpr llvm::StringLiteral kHead = "lm_head.weight";
  constexpr llvm::StringLiteral kTable = "backbone.embeddings.weight";
  if (!config.tied || !input.checkpoint.has(kHead))
    return config.tied;
  if (!input.checkpoint.has(kTable))
    return true;
  auto equal = input.checkpoint.areEqual(kHead, kTable);
  if (!equal)
    return equal.takeError();
  if (*equal) {
    input.checkpoint.leaveAside(kHead);
    input.remarks.push_back(
        "tensor 'lm_head.weight' is left aside: it equals "
        "'backbone.embeddings.weight', to which it is tied");
  } else {
    input.remarks.push_back(
        "the head is not tied, though config.json says 'tie_word_embeddings': "
        "'lm_head.weight' is there and differs from "
        "'backbone.embeddings.weight'");
  }
  return *equal;
}

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
frontend::importMamba2(FamilyInput &input) {
  auto config = readConfig(input);
  if (!config)
    return config.takeError();
  auto tied = isHeadTied(*config, input);
  if (!tied)
    return tied.takeError();

  ModelBuilder model(input, "mamba2", config->vocabulary, config->width);
  Value table = model.matrix("embeddings", "backbone.embeddings.weight",
                             config->vocabulary, config->width);
  Value x = model.embedding("embeddings", model.getTokens(), table);
  Mamba2Emitter emitter(*config, model);
  for (int64_t layer = 0; layer < config->layers; ++layer)
    x = emitter.emitLayer(x, layer);
  x = model.selectRows("output_rows", x, model.getOutputRows());
  x = model.rmsNorm(
      "norm", x, model.vector("norm", "backbone.norm_f.weight", config->width),
      config->epsilon);
  Value head = *tied ? model.parameter("embeddings")
                     : model.matrix("lm_head", "lm_head.weight",
                                    config->vocabulary, config->width);
  return model.finish(model.lmHead("lm_head", x, head));
}
