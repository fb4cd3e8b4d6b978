#include "frontend/families/Rodimus.h"

#include "frontend/checkpoint/Refusal.h"
#include "frontend/families/FlashModel.h"
#include "frontend/model/Decoder.h"

#include <cmath>

using namespace effc;
using namespace effc::frontend;
using llvm::Twine;
using mlir::Value;

using Module = llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>;

namespace {

/// What both layouts say.
struct RodimusConfig {
  FlashConfig model;
  /// E, n, the rank of the values' gate, and the taps, 0: none.
  int64_t inner = 1, states = 64, rank = 16, taps = 4;
  double keyEpsilon = 1e-12;
  /// Attention with one key for all heads, and a gated layer.
  bool plus = false;
  AttentionConfig shared;
  /// Heads of values; 0: as many as of queries.
  int64_t valueHeads = 0;
  LayerAttention window;
  /// The authors' layout, whose products are fused and called otherwise.
  bool fused = false;
  bool embeddingNorm = false;
  double embeddingScale = 1;
};

/// What the tensors of a layout are called.
struct RodimusNames {
  llvm::StringRef attentionNorm = "ska_attn_norm", attention = "ska_attn.",
                  mlpNorm = "mlp_norm", mlp = "mlp.";
  llvm::StringRef convolution = "short_conv.", activation = "activation_norm",
                  residual = "residual_weight", inputGate = "i_gate_proj.",
                  output = "down_proj";
};

class RodimusEmitter {
public:
  RodimusEmitter(ModelBuilder &model, const RodimusConfig &config)
      : model(model), config(config) {
    if (!config.fused)
      return;
    names.attentionNorm = "attn_norm";
    names.attention = "attn.";
    names.mlpNorm = "ffn_norm";
    names.mlp = "ffn.";
    names.convolution = "inner_mixer.short_conv.conv1d.";
    names.activation = "act_norm";
    names.residual = "inner_mixer.residual_weight";
    names.inputGate = "inner_mixer.ch_gate_proj.";
    names.output = "out_proj";
  }

  Value emitLayer(Value x, int64_t layer) {
    std::string name = "layers." + std::to_string(layer) + ".";
    std::string source = "model." + name;
    auto norm = [&](const char *part, llvm::StringRef tensor, Value value) {
      return model.norm(name + part, source + tensor, value, config.model.norm);
    };
    if (config.model.attention.count(layer)) {
      Value mixed =
          emitFlashAttention(model, config.model, name, source + "attn.",
                             norm("mixer_norm", "attn_norm", x), layer);
      x = model.add(name + "mixer_residual", x, mixed);
      Value inner = emitMlp(name, source, norm("mlp_norm", "mlp_norm", x));
      return model.add(name + "mlp_residual", x, inner);
    }
    Value mixed =
        emitMixer(name, source + "mixer.", norm("mixer_norm", "mixer_norm", x));
    x = model.add(name + "mixer_residual", x, mixed);
    if (!config.plus)
      return x;
    Value attended =
        emitAttention(name, source + names.attention.str(),
                      norm("attention_norm", names.attentionNorm, x));
    // Two hops: attention is for the gated layer alone.
    Value ahead = model.add(name + "ahead", x, attended);
    Value inner = emitMlp(name, source, norm("mlp_norm", names.mlpNorm, ahead));
    return model.add(name + "mlp_residual", x, inner);
  }

private:
  /// Two halves of one product, or two products.
  std::pair<Value, Value> emitPair(const std::string &name,
                                   const std::string &source, Value x,
                                   int64_t rows, llvm::StringRef both,
                                   llvm::StringRef first,
                                   llvm::StringRef second, bool bias) {
    if (!config.fused)
      return {model.project(name + first, source + first, x, rows, bias),
              model.project(name + second, source + second, x, rows, bias)};
    Value all = model.project(name + both, source + both, x, 2 * rows, bias);
    return {model.slice(name + first, all, 0, rows),
            model.slice(name + second, all, rows, rows)};
  }

  Value emitMixer(const std::string &name, const std::string &source, Value x) {
    int64_t inner = config.inner, states = config.states;
    auto [u, gate] = emitPair(name, source, x, inner, "fc", "up_proj",
                              "gate_proj", /*bias=*/false);
    Value shifted = u;
    if (config.taps > 0) {
      std::string conv = source + names.convolution.str();
      shifted = model.shortConvolution(
          name + "conv", u,
          model.taps(name + "conv", conv + "weight", config.taps, inner),
          model.vector(name + "conv_bias", conv + "bias", inner),
          seq::Activation::Silu);
    }
    std::string within = config.fused ? source + "inner_mixer." : source;
    auto [query, key] = emitPair(name, within, shifted, states, "in_proj",
                                 "q_proj", "k_proj", /*bias=*/false);
    auto [select, temper] =
        emitPair(name, within, shifted, states, "mem_gate_proj", "g_gate_proj",
                 "tau_gate_proj", /*bias=*/true);
    NormConfig length;
    length.epsilon = config.keyEpsilon;
    key = model.groupNorm(name + "k_proj", "", key, /*groups=*/1, /*size=*/0,
                          length, seq::NormMeasure::MaxLength);
    std::string input = source + names.inputGate.str();
    Value low = model.project(name + "i.low", input + "0", u, config.rank);
    Value share = model.activate(
        name + "i", model.project(name + "i", input + "1", low, inner, true),
        seq::Nonlinearity::Sigmoid);
    Value value = model.mul(name + "i", u, share);
    auto one = [&](Value flat, int64_t channels) {
      return model.reshape(name + "mixer", flat, {1, channels});
    };
    Value through = model.numbers(
        name + "d", WeightSource(source + names.residual), {1, inner});
    Value state = model.state(name + "mixer", {1, states, inner});
    Value values = one(value, inner);
    auto op = seq::RodimusOp::create(
        model.getBuilder(), model.at(name + "mixer"), values.getType(),
        state.getType(), one(query, states), one(key, states), values,
        one(select, states), one(temper, states), one(shifted, inner), through,
        state, llvm::APFloat(1 / std::sqrt(double(states))), /*form=*/nullptr);
    model.setNextState(op.getNextState());
    Value mixed = model.reshape(name + "mixer", op.getY(), {inner});
    Value y = seq::GatedRmsNormOp::create(
        model.getBuilder(), model.at(name + "norm"), mixed.getType(), mixed,
        gate,
        model.vector(name + "norm", source + names.activation.str() + ".weight",
                     inner),
        llvm::APFloat(config.model.norm.epsilon), /*groups=*/1);
    return model.project(name + "out", source + names.output.str(), y,
                         model.getWidth());
  }

  /// The heads of flat, one for each head of queries: all of them, then all of
  /// them again. One head stays one, which all queries read.
  Value repeatInTurn(const std::string &here, Value flat, int64_t heads) {
    int64_t times = heads == 1 ? 1 : config.shared.heads / heads;
    if (times == 1)
      return flat;
    llvm::SmallVector<Value> repeated(size_t(times), flat);
    return seq::ConcatOp::create(model.getBuilder(), model.at(here), repeated,
                                 /*axis=*/1);
  }

  Value emitAttention(const std::string &name, const std::string &source,
                      Value x) {
    const AttentionConfig &shared = config.shared;
    std::string here = name + "attention";
    LayerAttention layer = streamed(model, here, config.window);
    int64_t values = config.valueHeads > 0 ? config.valueHeads : shared.heads;
    auto project = [&](llvm::StringRef part, int64_t heads) {
      return model.project(here + "." + part, source + part + "_proj", x,
                           heads * shared.keys, shared.inputBias);
    };
    auto normed = [&](llvm::StringRef part, Value y, int64_t heads) {
      if (!shared.headNorm)
        return y;
      return model.groupNorm(here + "." + part + "_norm",
                             source + part + "_norm", y, heads, shared.keys,
                             *shared.headNorm);
    };
    auto inHeads = [&](Value flat, int64_t heads) {
      return model.reshape(here, repeatInTurn(here, flat, heads),
                           {heads == 1 ? 1 : shared.heads, shared.keys});
    };
    Value query = inHeads(normed("q", project("q", shared.heads), shared.heads),
                          shared.heads);
    Value key =
        inHeads(normed("k", project("k", shared.keyHeads), shared.keyHeads),
                shared.keyHeads);
    Value value = project("v", values);
    AttentionExtras extras;
    addSinks(model, here, layer, query, extras);
    Value mixed = attend(model, here, shared, layer.window,
                         turn(model, here + ".q", layer, query),
                         turn(model, here + ".k", layer, key),
                         inHeads(value, values), extras);
    return model.project(MatrixRole::AttentionOut, here + ".out",
                         source + (config.fused ? "out_proj" : "o_proj"),
                         model.reshape(here, mixed, {shared.inner()}),
                         model.getWidth());
  }

  Value emitMlp(const std::string &name, const std::string &source, Value x) {
    std::string layer = source + names.mlp.str();
    if (!config.fused)
      return frontend::emitMlp(model, config.model.mlp, {name + "mlp", layer},
                               x);
    // [values; gates]
    int64_t hidden = config.model.mlp.hidden;
    Value both = model.project(name + "mlp.in", layer + "fc", x, 2 * hidden);
    Value gate = model.activate(
        name + "mlp.gate", model.slice(name + "mlp.gate", both, hidden, hidden),
        seq::Nonlinearity::Silu);
    Value up = model.slice(name + "mlp.up", both, 0, hidden);
    return model.project(
        MatrixRole::Down, name + "mlp.down", layer + "out_proj",
        model.mul(name + "mlp.gate", gate, up), model.getWidth());
  }

  ModelBuilder &model;
  const RodimusConfig &config;
  RodimusNames names;
};

} // namespace

static int64_t alignToEight(int64_t width) { return (width + 7) / 8 * 8; }

static bool readPlus(ConfigReader &reader, bool otherwise) {
  requireOneOf(reader, "block_type", {"rodimus", "rodimus_plus"});
  const std::string *type = reader.getString("block_type");
  return type ? *type == "rodimus_plus" : otherwise;
}

/// A rank, which may be "auto".
static int64_t readRank(ConfigReader &reader, llvm::StringRef key,
                        int64_t width) {
  const JsonValue *value = reader.get(key);
  if (!value || (value->getString() && *value->getString() == "auto"))
    return std::max<int64_t>(width / 64, 16);
  return reader.getInteger(key, 1, kMostDimension, 1);
}

static void readHeads(ConfigReader &reader, int64_t width,
                      AttentionConfig &shared) {
  if (!reader.hasProblem() && width % shared.heads != 0)
    reader.report("expects 'num_heads' to divide the model's width " +
                  Twine(width) + ", but got " + Twine(shared.heads));
  shared.keys = std::max<int64_t>(width / shared.heads, 1);
  shared.scale = 1 / std::sqrt(double(shared.keys));
}

static RodimusConfig readFlashLayout(FamilyInput &input) {
  ConfigReader &reader = input.config;
  RodimusConfig config;
  config.model = readFlash(input, 4.0 / 3);
  int64_t width = config.model.width;
  config.model.norm.epsilon = reader.getNumber("norm_eps", 0, 1, 1e-5);
  config.model.head.tied = reader.getBoolean("tie_word_embeddings", true);
  if (!reader.isSet("intermediate_size"))
    config.model.mlp.hidden = alignToEight(int64_t(
        reader.getNumberIfSet("hidden_ratio", 0, 1024).value_or(4.0 / 3) *
        double(width)));
  requireOneOf(reader, "hidden_act", {"swish"});
  config.plus = readPlus(reader, /*otherwise=*/true);
  config.inner = alignToEight(2 * width);
  config.states = reader.getInteger("expand_ratio", 1, kMostDimension, 64);
  config.rank = readRank(reader, "input_gate_low_rank", width);
  config.taps = reader.getInteger("conv_size", 1, 64, 4);
  if (!reader.getBoolean("use_short_conv", true))
    config.taps = 0;
  config.keyEpsilon = reader.getNumberIfSet("k_norm_eps", 0, 1).value_or(1e-12);
  if (const JsonObject *object = reader.getObjectIfSet("ska_attn")) {
    ConfigReader inner(reader, "ska_attn", *object);
    AttentionConfig &shared = config.shared;
    shared.heads = inner.requireInteger("num_heads", 1, kMostDimension);
    readHeads(inner, width, shared);
    shared.inputBias = inner.getBoolean("qkv_bias", false);
    if (inner.getBoolean("qk_norm", false))
      shared.headNorm.emplace();
    config.window.window =
        inner.getIntegerIfSet("window_size", 1, kMostContext).value_or(0);
    config.window.frequencies = "shared_frequencies";
    RotaryRequest request{shared.keys, config.model.context};
    request.scaled = false;
    if (!inner.hasProblem())
      config.window.rotary = readRotary(inner, input, request);
    reader.finishInner(inner);
  } else if (config.plus) {
    reader.report("lacks 'ska_attn', which \"rodimus_plus\" has");
  }
  ignoreHarmless(reader, input.remarks,
                 {"fuse_norm", "residual_in_fp32", "block_residual_in_fp32"});
  return config;
}

/// The authors' `attn_cfg`.
static void readWindow(ConfigReader &inner, FamilyInput &input,
                       RodimusConfig &config) {
  int64_t width = config.model.width;
  AttentionConfig &shared = config.shared;
  shared.heads = inner.getIntegerIfSet("num_heads", 1, kMostDimension)
                     .value_or(std::max<int64_t>(width / 128, 1));
  readHeads(inner, width, shared);
  shared.keyHeads = inner.requireInteger("num_heads_k", 1, kMostDimension);
  config.valueHeads = inner.requireInteger("num_heads_v", 1, kMostDimension);
  for (auto [key, count] : {std::pair("num_heads_k", shared.keyHeads),
                            {"num_heads_v", config.valueHeads}})
    if (!inner.hasProblem() && shared.heads % count != 0)
      inner.report("expects '" + Twine(key) + "' to divide 'num_heads' " +
                   Twine(shared.heads) + ", but got " + Twine(count));
  // Half of it, and the token itself.
  if (std::optional<int64_t> window =
          inner.getIntegerIfSet("window_size", 2, kMostContext))
    config.window.window = *window / 2 + 1;
  requireOneOf(inner, "softmax_scale", {"null"});
  requireOneOf(inner, "rotary_emb_interleaved", {"false"});
  requireOneOf(inner, "rotary_emb_scale_base", {"null"});
  int64_t turned = inner.getInteger("rotary_emb_dim", -1, kMostDimension, -1);
  double ratio = inner.getNumber("ffn_expand_ratio", 0, 1024, 4.0 / 3);
  config.model.mlp.hidden = alignToEight(int64_t(double(width) * ratio));
  if (turned == 0 || inner.hasProblem())
    return;
  RotaryRequest request{shared.keys, config.model.context};
  request.scaled = false;
  request.thetaKey = "rotary_emb_base";
  if (turned > 0)
    request.turned = double(turned) / double(shared.keys);
  config.window.rotary = readRotary(inner, input, request);
}

static RodimusConfig readOwnLayout(FamilyInput &input) {
  ConfigReader &reader = input.config;
  RodimusConfig config;
  config.fused = true;
  FlashConfig &model = config.model;
  model.vocabulary = input.vocabulary;
  model.width = reader.requireInteger("d_model", 1, kMostDimension);
  model.layers = reader.requireInteger("n_layer", 1, kMostLayers);
  model.context =
      reader.getInteger("max_position_embeddings", 1, kMostContext, 2048);
  model.norm.epsilon = reader.getNumber("norm_epsilon", 0, 1, 1e-5);
  model.head.table = "model.embeddings.weight";
  model.head.tied = reader.getBoolean("tie_word_embeddings", false);
  config.plus = readPlus(reader, /*otherwise=*/false);
  double expand = 2;
  config.rank = std::max<int64_t>(model.width / 64, 16);
  if (const JsonObject *object = reader.getObjectIfSet("mixer_cfg")) {
    ConfigReader inner(reader, "mixer_cfg", *object);
    config.taps = inner.getInteger("d_conv", 2, 64, 4);
    expand = inner.getNumber("expand_ratio", 1e-3, 1024, 2);
    config.states = inner.getInteger("mem_size", 1, kMostDimension, 64);
    config.rank = readRank(inner, "input_gate_low_rank", model.width);
    config.keyEpsilon =
        inner.getNumberIfSet("normalize_epsilon", 0, 1).value_or(1e-12);
    for (llvm::StringRef key : inner.ignore({"mode"}))
      input.remarks.push_back("config.json: mixer_cfg: " + quote(key) +
                              " is ignored: it does not change the results");
    reader.finishInner(inner);
  }
  config.inner = alignToEight(int64_t(expand * double(model.width)));
  if (const JsonObject *object = reader.getObjectIfSet("attn_cfg")) {
    ConfigReader inner(reader, "attn_cfg", *object);
    if (config.plus)
      readWindow(inner, input, config);
    reader.finishInner(inner);
  } else if (config.plus) {
    reader.report("lacks 'attn_cfg', which \"rodimus_plus\" has");
  }
  if (reader.getBoolean("use_scale_embedding", false))
    config.embeddingScale = std::sqrt(double(config.states));
  config.embeddingNorm = reader.getBoolean("use_norm_embedding", false);
  ignoreHarmless(reader, input.remarks,
                 {"residual_in_fp32", "use_fast_path", "use_fused_swiglu",
                  "use_fused_cross_entropy", "rescale_prenorm_residual",
                  "dropout", "activation_dropout", "no_weight_decay_on_bias",
                  "no_weight_decay_on_norm", "no_weight_decay_on_embedding"});
  return config;
}

Module effc::frontend::importRodimus(FamilyInput &input) {
  RodimusConfig config = input.config.get("d_model") ? readOwnLayout(input)
                                                     : readFlashLayout(input);
  if (llvm::Error error = input.config.finish())
    return error;
  config.model.family = "rodimus";
  leaveAside(input, {"rotary.inv_freq", "rotary_emb.inv_freq"});
  TextModelConfig text = textOf(config.model, input);
  text.embeddingScale = config.embeddingScale;
  if (config.fused)
    text.endNorm = "model.norm_f";
  if (config.plus)
    text.context = chooseContext(input, config.model.context);
  return buildTextModel(text, input, [&](ModelBuilder &model, Value x) {
    if (config.embeddingNorm)
      x = model.norm("embedding_norm", "model.embed_norm", x,
                     config.model.norm);
    RodimusEmitter emitter(model, config);
    for (int64_t layer = 0; layer < config.model.layers; ++layer)
      x = emitter.emitLayer(x, layer);
    return x;
  });
}
