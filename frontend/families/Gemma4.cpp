#include "frontend/families/Gemma4.h"

#include "frontend/families/Gemma4Config.h"

#include <cmath>

using namespace effc;
using namespace effc::frontend;
using mlir::Value;

using Module = llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>;

namespace {

/// A layer's keys and values of the tokens, and the states of both where other
/// layers read them too.
struct Kept {
  Value key, value;
  std::optional<SharedKeys> states;
};

class Emitter {
public:
  Emitter(const Gemma4Config &config, ModelBuilder &model)
      : config(config), decoder(config.decoder), model(model) {}

  Value emit(Value x) {
    auto layers = int64_t(decoder.layers.size());
    kept.resize(size_t(layers));
    if (config.layerInput > 0)
      inputs = emitLayerInputs(x);
    for (int64_t layer = 0; layer < layers; ++layer)
      x = emitLayer(layer, x);
    for (const Kept &own : kept)
      if (own.states) {
        model.setNextStateOf(own.states->firstKeys, own.states->keys);
        model.setNextStateOf(own.states->firstValues, own.states->values);
      }
    return x;
  }

private:
  Value norm(const std::string &part, const char *tensor, Value x) {
    return model.norm(name + part, source + tensor, x, decoder.norm);
  }

  /// What every layer takes besides, [T, L P]: of the token's embedding, and of
  /// a table of its own.
  Value emitLayerInputs(Value x) {
    auto layers = int64_t(decoder.layers.size());
    int64_t width = layers * config.layerInput;
    const std::string here = "layer_inputs";
    Value table = model.matrix(here + ".table",
                               decoder.prefix + "embed_tokens_per_layer.weight",
                               config.layerVocabulary, width);
    Value own =
        model.scale(here, model.embedding(here, model.getTokens(), table),
                    std::sqrt(double(config.layerInput)));
    Value projected = model.project(
        here + ".in", decoder.prefix + "per_layer_model_projection", x, width);
    projected = model.scale(here + ".in", projected,
                            1 / std::sqrt(double(decoder.width)));
    projected = model.groupNorm(
        here + ".norm", decoder.prefix + "per_layer_projection_norm", projected,
        layers, config.layerInput, decoder.norm);
    return model.scale(here, model.add(here, projected, own),
                       1 / std::sqrt(2.0));
  }

  Value emitLayer(int64_t layer, Value x) {
    LayerNames names(decoder, layer);
    name = names.name;
    source = names.source;
    Value mixed =
        emitMixer(layer, norm("attention_norm", "input_layernorm", x));
    x = model.add(
        name + "attention_residual", x,
        norm("attention_end_norm", "post_attention_layernorm", mixed));
    Value inner = emitFeedForward(layer, x);
    x = model.add(name + "mlp_residual", x,
                  norm("mlp_end_norm", "post_feedforward_layernorm", inner));
    if (inputs)
      x = model.add(name + "input_residual", x, emitOwnInput(layer, x));
    return scaleByLayer(x);
  }

  //===--- Attention ------------------------------------------------------===//

  Value inHeads(const std::string &here, Value x, int64_t heads,
                const AttentionConfig &attention) {
    return model.reshape(here, x, {heads, attention.keys});
  }

  /// Keys, turned, and values of a layer that has its own.
  Kept emitKept(int64_t layer, const LayerAttention &how, Value x) {
    const AttentionConfig &attention = config.attention(layer);
    std::string here = name + "attention", tensors = source + "self_attn.";
    int64_t heads = attention.keyHeads;
    auto project = [&](MatrixRole role, const char *part, const char *tensor) {
      return model.project(role, here + part, tensors + tensor, x,
                           attention.keyWidth(), attention.inputBias);
    };
    Value key = project(MatrixRole::Keys, ".key", "k_proj");
    bool isKey = config.valuesAreKeys && config.slides[size_t(layer)] == 0;
    Value value = isKey ? key : project(MatrixRole::Values, ".value", "v_proj");
    Kept own;
    key = model.groupNorm(here + ".key_norm", tensors + "k_norm", key, heads,
                          attention.keys, decoder.norm);
    own.key =
        turn(model, here + ".key", how, inHeads(here, key, heads, attention));
    value = model.groupNorm(here + ".value_norm", tensors + "v_norm", value,
                            heads, /*size=*/0, decoder.norm);
    own.value = inHeads(here, value, heads, attention);
    return own;
  }

  /// Whether later layers read the keys and values that a layer keeps. A window's
  /// ring is its layer's alone: a layer that came after another one in a call
  /// would find later tokens in it.
  bool isReadByOthers(int64_t layer) const {
    if (config.slides[size_t(layer)] == 1)
      return false;
    for (auto other = config.firstShared;
         other < int64_t(decoder.layers.size()); ++other)
      if (config.ownerOf(other) == layer)
        return true;
    return false;
  }

  Value emitMixer(int64_t layer, Value x) {
    const AttentionConfig &attention = config.attention(layer);
    std::string here = name + "attention", tensors = source + "self_attn.";
    LayerAttention how = streamed(model, here, decoder.layers[size_t(layer)]);
    Value query = model.project(here + ".query", tensors + "q_proj", x,
                                attention.inner(), attention.inputBias);
    query =
        inHeads(here,
                model.groupNorm(here + ".query_norm", tensors + "q_norm", query,
                                attention.heads, attention.keys, decoder.norm),
                attention.heads, attention);
    if (!config.isShared(layer)) {
      kept[size_t(layer)] = emitKept(layer, how, x);
      if (how.window == 0 && isReadByOthers(layer))
        kept[size_t(layer)].states = SharedKeys{here, {}, {}};
    }
    Kept &own = kept[size_t(config.ownerOf(layer))];
    AttentionExtras extras;
    if (own.states)
      extras.shared = &*own.states;
    addSinks(model, here, how, query, extras);
    Value mixed = attend(model, here, attention, how.window,
                         turn(model, here + ".query", how, query), own.key,
                         own.value, extras);
    return model.project(MatrixRole::AttentionOut, here + ".out",
                         tensors + "o_proj",
                         model.reshape(here, mixed, {attention.inner()}),
                         decoder.width, attention.outputBias);
  }

  //===--- MLPs -----------------------------------------------------------===//

  Value emitFeedForward(int64_t layer, Value x) {
    MlpConfig mlp = decoder.mlp;
    if (config.doubleWide && config.isShared(layer))
      mlp.hidden *= 2;
    Value y = emitMlp(model, mlp, {name + "mlp", source + "mlp."},
                      norm("mlp_norm", "pre_feedforward_layernorm", x));
    if (!decoder.experts)
      return y;
    y = norm("mlp_norm_1", "post_feedforward_layernorm_1", y);
    Value z = emitExperts(x);
    z = norm("mlp_norm_2", "post_feedforward_layernorm_2", z);
    return model.add(name + "experts", y, z);
  }

  /// Experts beside the MLP. A factor of each expert weighs its output, which is
  /// written in the phases of a retrieval.
  Value emitExperts(Value x) {
    const ExpertsConfig &experts = *decoder.experts;
    mlir::OpBuilder &builder = model.getBuilder();
    std::string here = name + "experts", router = here + ".router";
    NormConfig bare = decoder.norm;
    bare.weight = false;
    Value token = model.norm(router, "", x, bare);
    token = model.mul(
        router, token,
        model.broadcast(router,
                        model.vector(router + "_scale", source + "router.scale",
                                     decoder.width),
                        token));
    token = model.scale(router, token, 1 / std::sqrt(double(decoder.width)));
    Value logits =
        model.project(MatrixRole::Router, router, source + "router.proj", token,
                      experts.experts);
    auto chosen = seq::ChooseRowsOp::create(
        builder, model.at(here),
        model.reshape(here, logits, {1, 1, experts.experts}),
        /*order=*/Value(), experts.taken, seq::RetrievalWeighting::Softmax);
    ExpertsNames names{here, source};
    ExpertWeights weights =
        declareExperts(model, experts, names, decoder.width);
    return emitChosenExperts(
        model, experts, here, weights,
        scaleShares(here, chosen.getWeights(), chosen.getRows()),
        chosen.getRows(), norm("mlp_norm_3", "pre_feedforward_layernorm_2", x));
  }

  /// The weights [T, J] of the experts taken, each times its expert's factor: the
  /// product of that with a token of one 1.
  Value scaleShares(const std::string &here, Value weights, Value rows) {
    mlir::OpBuilder &builder = model.getBuilder();
    Value one = seq::ClampOp::create(builder, model.at(here), weights.getType(),
                                     weights, builder.getF64FloatAttr(1),
                                     builder.getF64FloatAttr(1));
    int64_t taken = decoder.experts->taken, count = decoder.experts->experts;
    auto type = mlir::RankedTensorType::get(
        {mlir::ShapedType::kDynamic, taken, 1}, builder.getF32Type());
    Value scaled = seq::ExpertHiddenOp::create(
        builder, model.at(here), type, model.slice(here, one, 0, 1), weights,
        rows,
        model.numbers(here + ".scales",
                      WeightSource(source + "router.per_expert_scale"),
                      {count, 1}),
        seq::Nonlinearity::Identity, /*gated=*/false, /*weight_inside=*/false);
    return model.reshape(here, scaled, {taken});
  }

  //===--- Inputs and factors of a layer ----------------------------------===//

  Value emitOwnInput(int64_t layer, Value x) {
    int64_t size = config.layerInput;
    std::string here = name + "input";
    Value gate = model.activate(
        here, model.project(here, source + "per_layer_input_gate", x, size),
        decoder.mlp.activation);
    Value own = model.slice(here, inputs, layer * size, size);
    Value y = model.project(here + ".out", source + "per_layer_projection",
                            model.mul(here, gate, own), decoder.width);
    return norm("input_end_norm", "post_per_layer_input_norm", y);
  }

  /// The number that a layer's result is multiplied with.
  Value scaleByLayer(Value x) {
    std::string here = name + "scale";
    mlir::OpBuilder &builder = model.getBuilder();
    Value number = seq::ReshapeOp::create(
        builder, model.at(here), model.vector(here, source + "layer_scalar", 1),
        llvm::ArrayRef<int64_t>());
    return model.mul(here, x,
                     seq::BroadcastOp::create(builder, model.at(here), number,
                                              x, llvm::ArrayRef<int64_t>()));
  }

  const Gemma4Config &config;
  const DecoderConfig &decoder;
  ModelBuilder &model;
  std::string name, source;
  std::vector<Kept> kept;
  Value inputs;
};

} // namespace

static Module importText(ConfigReader &reader, FamilyInput &input,
                         std::optional<bool> tied,
                         llvm::ArrayRef<llvm::StringRef> prefixes) {
  Gemma4Config config = readGemma4(reader, input);
  DecoderConfig &decoder = config.decoder;
  decoder.head.tied = tied.value_or(decoder.head.tied);
  if (llvm::Error error = reader.finish())
    return error;
  decoder.prefix =
      findPrefix(input, prefixes, {"embed_tokens.weight", "norm.weight"});
  std::vector<std::string> unused;
  // Released files hold keys and values that no layer reads.
  for (auto layer = config.firstShared; layer < int64_t(decoder.layers.size());
       ++layer)
    for (const char *tensor : {"k_proj.weight", "k_proj.bias", "v_proj.weight",
                               "v_proj.bias", "k_norm.weight"})
      unused.push_back(LayerNames(decoder, layer).source + "self_attn." +
                       tensor);
  llvm::SmallVector<llvm::StringRef> starts(unused.begin(), unused.end());
  leaveAside(input, {"rotary_emb.inv_freq"}, starts);
  return buildTextModel(textModelOf(decoder, input), input,
                        [&](ModelBuilder &model, Value x) {
                          return Emitter(config, model).emit(x);
                        });
}

Module effc::frontend::importGemma4Text(FamilyInput &input) {
  return importText(input.config, input, std::nullopt,
                    {"model.", "model.language_model."});
}

Module effc::frontend::importGemma4(FamilyInput &input) {
  ConfigReader &outer = input.config;
  outer.ignore({"vision_config", "audio_config", "initializer_range"});
  ignoreHarmless(outer, input.remarks,
                 {"audio_token_id", "boa_token_id", "boi_token_id",
                  "eoa_token_id", "eoa_token_index", "eoi_token_id",
                  "image_token_id", "video_token_id",
                  "vision_soft_tokens_per_image"});
  std::optional<bool> tied;
  if (outer.isSet("tie_word_embeddings"))
    tied = outer.getBoolean("tie_word_embeddings", true);
  ConfigReader text(outer, "text_config", *outer.getObjectIfSet("text_config"),
                    /*isWhole=*/true);
  ignoreOuterKeys(text, input.remarks);
  if (llvm::Error error = outer.finish())
    return error;
  leaveAside(input, {},
             {"model.vision_tower.", "model.audio_tower.",
              "model.embed_vision.", "model.embed_audio."});
  return importText(text, input, tied, {"model.language_model.", "model."});
}
