#include "frontend/families/Zaya.h"

#include "frontend/checkpoint/Refusal.h"
#include "frontend/model/Decoder.h"
#include "frontend/model/LayerPattern.h"

#include <cmath>

using namespace effc;
using namespace effc::frontend;
using llvm::Twine;
using mlir::Value;

namespace {

struct ZayaConfig {
  DecoderConfig decoder;
  /// Taps of the convolution of each channel, and of the one of each head.
  int64_t channelTaps = 2, headTaps = 2;
  /// Channels of what routers hand on from layer to layer.
  int64_t router = 256;
  ExpertsConfig experts;
};

} // namespace

/// Windows and positions of both kinds of layers.
static void readZayaKinds(ConfigReader &reader, FamilyInput &input,
                          DecoderConfig &decoder) {
  std::vector<unsigned> kinds = readLayerPattern(
      reader, "layer_types", int64_t(decoder.layers.size()),
      {"hybrid", "hybrid_sliding"}, [](int64_t) { return 0U; });
  bool slides = llvm::is_contained(kinds, 1U);
  int64_t window =
      reader.getIntegerIfSet("sliding_window", 1, kMostContext).value_or(0);
  if (slides && window == 0)
    reader.report("lacks 'sliding_window', which layers that are "
                  "'hybrid_sliding' need");
  RotaryRequest whole{decoder.attention.keys, decoder.context};
  whole.theta = 5e6;
  whole.layerType = "hybrid";
  whole.otherwise = R"({"rope_type": "default", "partial_rotary_factor": 0.5})";
  RotaryRequest local = whole;
  local.theta = 1e4;
  local.layerType = "hybrid_sliding";
  RotaryConfig wholeRotary = readRotary(reader, input, whole), localRotary;
  const JsonObject *objects = reader.getObjectIfSet("rope_parameters");
  if (slides || (objects && objects->find(local.layerType)))
    localRotary = readRotary(reader, input, local);
  for (auto [layer, kind] : llvm::zip_equal(decoder.layers, kinds)) {
    layer.rotary = kind == 1 ? localRotary : wholeRotary;
    if (kind == 1) {
      layer.window = window;
      layer.frequencies = "local_frequencies";
    }
  }
}

static void readZayaExperts(ConfigReader &reader, ZayaConfig &config) {
  ExpertsConfig &experts = config.experts;
  experts.experts = reader.getInteger("num_experts", 1, kMostExperts - 1, 16);
  experts.hidden =
      reader.requireInteger("moe_intermediate_size", 1, kMostDimension);
  experts.activation =
      readActivation(reader, "hidden_act", seq::Nonlinearity::Silu);
  int64_t taken =
      reader.getInteger("num_experts_per_tok", 1, kMostDimension, 1);
  if (!reader.hasProblem() && taken != 1)
    reader.report("expects 'num_experts_per_tok' to be 1, but got " +
                  Twine(taken));
  config.router =
      reader.getInteger("router_hidden_size", 1, kMostDimension, 256);
}

static ZayaConfig readZaya(FamilyInput &input) {
  ConfigReader &reader = input.config;
  ZayaConfig config;
  DecoderKeys keys;
  keys.epsilonOtherwise = 1e-5;
  keys.hidden = "";
  config.decoder =
      readDecoder(reader, input.vocabulary, /*tiedByDefault=*/true, keys);
  DecoderConfig &decoder = config.decoder;
  decoder.family = "zaya";
  AttentionConfig &attention = decoder.attention;
  if (!reader.isSet("head_dim")) {
    attention.keys = 128;
    attention.scale = 1 / std::sqrt(128.0);
  }
  attention.inputBias = attention.outputBias =
      reader.getBoolean("attention_bias", false);
  if (!reader.hasProblem() && attention.keyWidth() % 2 != 0)
    reader.report("expects 'num_key_value_heads' * 'head_dim' to be even, "
                  "but got " +
                  Twine(attention.keyWidth()));
  config.channelTaps = reader.getInteger("cca_time0", 1, 64, 2);
  config.headTaps = reader.getInteger("cca_time1", 1, 64, 2);
  if (reader.getBoolean("lm_head_bias", false))
    decoder.head.bias = "lm_head.bias";
  readZayaKinds(reader, input, decoder);
  readZayaExperts(reader, config);
  ignoreHarmless(reader, input.remarks, {"output_router_logits"});
  return config;
}

namespace {

/// A layer, with what its router takes from that of the layer before.
class ZayaLayer {
public:
  ZayaLayer(ModelBuilder &model, const ZayaConfig &config, int64_t layer)
      : model(model), config(config), decoder(config.decoder),
        attention(decoder.attention), layer(layer), names(decoder, layer) {}

  Value emit(Value x, Value &routed) {
    Value normed =
        model.norm(names.name + "attention_norm",
                   names.source + "input_layernorm", x, decoder.norm);
    x = join("attention_residual", "post_attention_residual_scale.",
             attend(normed), x);
    normed =
        model.norm(names.name + "mlp_norm",
                   names.source + "post_attention_layernorm", x, decoder.norm);
    return join("mlp_residual", "post_mlp_residual_scale.",
                feed(normed, routed), x);
  }

private:
  Value vector(const std::string &name, const std::string &tensor, Value like) {
    return model.broadcast(
        name, model.vector(name, tensor, seq::typeOf(like).getDimSize(1)),
        like);
  }

  /// (y + its bias) its scale + (x + its bias) its scale
  Value join(const std::string &part, const std::string &tensors, Value y,
             Value x) {
    std::string name = names.name + part, source = names.source + tensors;
    auto scaled = [&](const std::string &what, Value z) {
      std::string here = name + "." + what;
      z = model.add(here, z,
                    vector(here + "_bias", source + what + "_bias", z));
      return model.mul(here, z,
                       vector(here + "_scale", source + what + "_scale", z));
    };
    Value added = scaled("hidden_states", y);
    return model.add(name, added, scaled("residual", x));
  }

  Value attend(Value x) {
    std::string name = names.name + "attention";
    LayerAttention positions =
        streamed(model, name, decoder.layers[size_t(layer)]);
    auto [query, key] = emitQueriesAndKeys(x);
    AttentionExtras extras;
    addSinks(model, name, positions, query, extras);
    Value mixed = frontend::attend(
        model, name, attention, positions.window,
        turn(model, name + ".query", positions, query),
        turn(model, name + ".key", positions, key), emitValues(x), extras);
    return model.project(MatrixRole::AttentionOut, name + ".out",
                         names.source + "self_attn.o_proj",
                         model.reshape(name, mixed, {attention.inner()}),
                         decoder.width, attention.outputBias);
  }

  Value concat(const std::string &name, mlir::ValueRange parts, int64_t axis) {
    return seq::ConcatOp::create(model.getBuilder(), model.at(name), parts,
                                 axis);
  }

  /// [T, H, K] and [T, G, K]: convolved, with the mean of both beside, each of
  /// one length.
  std::pair<Value, Value> emitQueriesAndKeys(Value x) {
    std::string name = names.name + "attention",
                source = names.source + "self_attn.qkv_proj.";
    int64_t inner = attention.inner(), keyWidth = attention.keyWidth();
    Value query = model.project(name + ".query", source + "q_proj", x, inner,
                                attention.inputBias);
    Value key =
        model.project(MatrixRole::Keys, name + ".key", source + "k_proj", x,
                      keyWidth, attention.inputBias);
    Value convolved =
        convolve(name + ".conv", source, concat(name, {query, key}, 1));
    // Queries of a group beside each other.
    int64_t groups = attention.keyHeads, each = attention.heads / groups,
            keys = attention.keys;
    query = model.reshape(name + ".query", query, {groups, each * keys});
    key = model.reshape(name + ".key", key, {groups, keys});
    llvm::SmallVector<Value> copies(size_t(each), key);
    Value means = model.scale(
        name + ".query",
        model.add(name + ".query", query, concat(name + ".key", copies, 2)),
        0.5);
    Value sum = model.slice(name + ".key", means, 0, keys);
    for (int64_t head = 1; head < each; ++head)
      sum = model.add(name + ".key", sum,
                      model.slice(name + ".key", means, head * keys, keys));
    sum = model.scale(name + ".key", sum, 1 / double(each));
    query = model.add(name + ".query",
                      model.slice(name + ".query", convolved, 0, inner),
                      model.reshape(name + ".query", means, {inner}));
    key = model.add(name + ".key",
                    model.slice(name + ".key", convolved, inner, keyWidth),
                    model.reshape(name + ".key", sum, {keyWidth}));
    query = model.reshape(name + ".query",
                          lengthen(name + ".query", query, attention.heads),
                          {attention.heads, keys});
    key = model.reshape(name + ".key", lengthen(name + ".key", key, groups),
                        {groups, keys});
    Value scales = model.vector(
        name + ".key_scale", names.source + "self_attn.qk_norm.temp", groups);
    Value spread =
        seq::BroadcastOp::create(model.getBuilder(), model.at(name + ".key"),
                                 scales, key, llvm::ArrayRef<int64_t>{1});
    return {query, model.mul(name + ".key", key, spread)};
  }

  /// Each head, as long as the root of its channels.
  Value lengthen(const std::string &name, Value x, int64_t heads) {
    // A head is divided by no less, as the public library does for f32.
    NormConfig norm;
    norm.epsilon = std::numeric_limits<float>::epsilon();
    x = model.groupNorm(name + "_norm", "", x, heads, /*size=*/0, norm,
                        seq::NormMeasure::MaxLength);
    return model.scale(name + "_norm", x, std::sqrt(double(attention.keys)));
  }

  /// The convolution of each channel, then that of each head, whose padding is
  /// what the first one gives for nothing: its bias.
  Value convolve(const std::string &name, const std::string &source, Value x) {
    int64_t channels = seq::typeOf(x).getDimSize(1), keys = attention.keys,
            heads = channels / keys, taps = config.headTaps;
    std::string first = source + "conv_qk_depthwise.",
                second = source + "conv_qk_grouped.";
    Value weights =
        model.taps(name, first + "weight", config.channelTaps, channels);
    x = model.shortConvolution(name, x, weights, /*bias=*/{},
                               seq::Activation::None);
    Value bias = vector(name + "_bias", first + "bias", x);
    // The oldest token first, and the taps of a channel beside each other, as
    // the matrices have them.
    llvm::SmallVector<Value> tokens;
    for (int64_t back = 0; back < taps; ++back) {
      if (back > 0)
        x = model.previous(name + "_" + std::to_string(back), x);
      tokens.insert(
          tokens.begin(),
          model.reshape(name, model.add(name, x, bias), {channels, 1}));
    }
    Value inTurn =
        model.reshape(name, taps == 1 ? tokens[0] : concat(name, tokens, 2),
                      {heads, keys * taps});
    WeightSource matrices(second + "weight");
    matrices.stored = {channels, keys, taps};
    WeightSource shift(second + "bias");
    shift.stored = {channels};
    std::string head = name + "_head";
    Value y = model.linear(
        head, inTurn, model.blocks(head, matrices, heads, keys, keys * taps),
        model.numbers(head + "_bias", shift, {heads, keys}));
    return model.reshape(head, y, {channels});
  }

  /// [T, G, K]: the first half of this token, the other of the one before.
  Value emitValues(Value x) {
    std::string name = names.name + "attention.value",
                source = names.source + "self_attn.qkv_proj.v_proj_";
    int64_t half = attention.keyWidth() / 2;
    Value now = model.project(MatrixRole::Values, name, source + "current", x,
                              half, attention.inputBias);
    std::string delayed = name + "_before";
    Value before = model.previous(
        delayed, model.project(delayed, source + "delayed", x, half));
    // Before the first token there is the bias too.
    if (attention.inputBias)
      before =
          model.add(delayed, before,
                    vector(delayed + "_bias", source + "delayed.bias", before));
    return model.reshape(name, concat(name, {now, before}, 1),
                         {attention.keyHeads, attention.keys});
  }

  /// What the expert makes of x that the router chooses, or nothing.
  Value feed(Value x, Value &routed) {
    std::string name = names.name + "experts",
                source = names.source + "mlp.gate.";
    const ExpertsConfig &experts = config.experts;
    Value logits = emitRouter(name + ".router", source, x, routed);
    Value scores = model.elementwise<seq::SoftmaxOp>(name + ".router", logits);
    Value order = model.add(
        name + ".router", scores,
        vector(name + ".router_bias", source + "balancing_biases", scores));
    auto ofExperts = [&](Value all) {
      return model.slice(name + ".router", all, 0, experts.experts);
    };
    Value weights = mul(name, ofExperts(scores), emitChoice(name, order));
    ExpertsNames tensors;
    tensors.name = name;
    tensors.source = names.source + "mlp.";
    ExpertWeights matrices =
        declareExperts(model, experts, tensors, decoder.width);
    return seq::RoutedExpertsOp::create(
        model.getBuilder(), model.at(name), x.getType(), x, weights,
        ofExperts(order), matrices.inner, matrices.outer, experts.taken,
        experts.activation, seq::RetrievalWeighting::Score, /*form=*/nullptr);
  }

  Value mul(const std::string &name, Value x, Value number) {
    return model.mul(name + ".router", x,
                     model.spread(name + ".router", number, x));
  }

  /// [T, 1]: 0 for a token whose largest score is that of no expert, which is
  /// the last, else 1.
  Value emitChoice(const std::string &name, Value order) {
    std::string here = name + ".choice";
    int64_t count = config.experts.experts;
    mlir::OpBuilder &builder = model.getBuilder();
    Value candidates =
        model.reshape(here, model.slice(here, order, 0, count), {1, 1, count});
    Value best = seq::ChooseRowsOp::create(builder, model.at(here), candidates,
                                           /*order=*/Value(), /*top_k=*/1,
                                           seq::RetrievalWeighting::Score)
                     .getWeights();
    Value ahead = model.sub(here, best, model.slice(here, order, count, 1));
    // Any difference becomes one of 1 and more.
    ahead = model.scale(here, ahead, 1e38);
    return seq::ClampOp::create(builder, model.at(here), ahead.getType(), ahead,
                                builder.getF64FloatAttr(0),
                                builder.getF64FloatAttr(1));
  }

  /// Logits [T, E + 1], and what the next layer's router takes.
  Value emitRouter(const std::string &name, const std::string &source, Value x,
                   Value &routed) {
    int64_t width = config.router;
    Value y = model.project(name + ".down", source + "down_proj", x, width,
                            /*bias=*/true);
    if (layer > 0)
      y = model.add(name + ".down", y,
                    model.mul(name + ".down", routed,
                              vector(name + ".state_scale",
                                     source + "router_states_scale", routed)));
    routed = y;
    std::string inner = source + "router_mlp.";
    y = model.norm(name + ".norm", inner + "norm", y, decoder.norm);
    for (const char *part : {"fc1", "fc2"}) {
      std::string here = name + "." + part;
      y = model.activate(
          here, model.project(here, inner + part, y, width, /*bias=*/true),
          seq::Nonlinearity::Gelu);
    }
    return model.project(MatrixRole::Router, name, inner + "out_proj", y,
                         config.experts.experts + 1);
  }

  ModelBuilder &model;
  const ZayaConfig &config;
  const DecoderConfig &decoder;
  const AttentionConfig &attention;
  int64_t layer;
  LayerNames names;
};

} // namespace

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
effc::frontend::importZaya(FamilyInput &input) {
  ZayaConfig config = readZaya(input);
  if (llvm::Error error = input.config.finish())
    return error;
  const DecoderConfig &decoder = config.decoder;
  TextModelConfig text = textModelOf(decoder, input);
  return buildTextModel(text, input, [&](ModelBuilder &model, Value x) {
    auto vector = [&](const std::string &name, const std::string &tensor) {
      return model.broadcast(
          name, model.vector(name, decoder.prefix + tensor, decoder.width), x);
    };
    x = model.add("embeddings", x,
                  vector("embeddings_bias", "input_hidden_states_bias"));
    x = model.mul("embeddings", x,
                  vector("embeddings_scale", "input_hidden_states_scale"));
    Value routed;
    for (int64_t layer = 0; layer < int64_t(decoder.layers.size()); ++layer)
      x = ZayaLayer(model, config, layer).emit(x, routed);
    return x;
  });
}
