#include "frontend/families/OlmoHybrid.h"

#include "frontend/checkpoint/RecutTensors.h"
#include "frontend/checkpoint/Refusal.h"
#include "frontend/model/Decoder.h"
#include "frontend/model/GatedDelta.h"
#include "frontend/model/LayerPattern.h"

using namespace effc;
using namespace effc::frontend;
using mlir::Value;

namespace {

struct OlmoHybridConfig {
  DecoderConfig decoder;
  GatedDeltaConfig delta;
  /// 1 for a layer of the gated delta rule.
  std::vector<unsigned> linear;
  /// Whether the public library has saved the file, by its taps.
  bool savedAgain = false;
};

} // namespace

static GatedDeltaConfig readDelta(ConfigReader &reader,
                                  const DecoderConfig &decoder) {
  GatedDeltaConfig delta;
  auto size = [&](llvm::StringRef key, int64_t otherwise) {
    return reader.getIntegerIfSet(key, 1, kMostDimension).value_or(otherwise);
  };
  delta.groups = size("linear_num_key_heads", decoder.attention.heads);
  delta.heads = size("linear_num_value_heads", decoder.attention.heads);
  delta.keys = size("linear_key_head_dim",
                    std::max<int64_t>(1, int64_t(0.75 * double(decoder.width) /
                                                 double(delta.groups))));
  delta.values = size("linear_value_head_dim", 2 * delta.keys);
  delta.taps = reader.getInteger("linear_conv_kernel_dim", 1, 64, 4);
  if (!reader.hasProblem() && delta.heads % delta.groups != 0)
    reader.report("expects 'linear_num_value_heads' to be a multiple of "
                  "'linear_num_key_heads' " +
                  llvm::Twine(delta.groups) + ", but got " +
                  llvm::Twine(delta.heads));
  if (reader.getBoolean("linear_allow_neg_eigval", true))
    delta.mostRate = 2;
  delta.function = decoder.mlp.activation;
  delta.layout = DeltaLayout::Each;
  delta.normName = "o_norm";
  delta.outName = "o_proj";
  delta.epsilon = 1e-5; // whatever the other norms have
  return delta;
}

/// Channels turn where theta is a number; where the whole object is missing it
/// is 10,000.
static void readPositions(ConfigReader &reader, FamilyInput &input,
                          DecoderConfig &decoder) {
  const JsonObject *rope = reader.getObjectIfSet("rope_parameters");
  const JsonValue *theta = rope ? rope->find("rope_theta") : nullptr;
  if (theta && theta->isNull())
    return ignoreRotary(reader, input);
  RotaryConfig rotary =
      readRotary(reader, input, {decoder.attention.keys, decoder.context});
  for (LayerAttention &layer : decoder.layers)
    layer.rotary = rotary;
}

static OlmoHybridConfig readOlmoHybrid(FamilyInput &input) {
  ConfigReader &reader = input.config;
  OlmoHybridConfig config;
  config.decoder =
      readDecoder(reader, input.vocabulary, /*tiedByDefault=*/false);
  DecoderConfig &decoder = config.decoder;
  decoder.family = "olmo_hybrid";
  decoder.mlp.activation =
      readActivation(reader, "hidden_act", seq::Nonlinearity::Silu);
  decoder.attention.inputBias = decoder.attention.outputBias =
      reader.getBoolean("attention_bias", false);
  decoder.attention.wideNorm = decoder.norm;
  auto layers = int64_t(decoder.layers.size());
  config.linear = readLayerPattern(
      reader, "layer_types", layers, {"full_attention", "linear_attention"},
      [&](int64_t layer) -> unsigned {
        // One layer attends, however few there are.
        return layers < 4 ? layer + 1 != layers : layer % 4 != 3;
      });
  config.delta = readDelta(reader, decoder);
  readPositions(reader, input, decoder);
  ignoreHarmless(reader, input.remarks,
                 {"linear_a_log_max", "linear_a_log_min",
                  "linear_dt_init_floor", "linear_dt_max", "linear_dt_min"});
  return config;
}

/// Fails where one of three tensors of taps is not of `rows`, or of no type that
/// weights have.
static llvm::Error checkTaps(FamilyInput &input,
                             llvm::ArrayRef<std::string> names,
                             llvm::ArrayRef<uint64_t> rows, uint64_t taps) {
  for (auto [name, count] : llvm::zip_equal(names, rows)) {
    auto tensor = input.checkpoint.get(name);
    if (!tensor)
      return tensor.takeError();
    const TensorEntry &entry = *tensor->entry;
    std::string expected = tensor->file->getFile().getName() +
                           ": expects tensor " + quote(name) + " of ";
    if (llvm::ArrayRef(entry.shape) != llvm::ArrayRef<uint64_t>{count, 1, taps})
      return refuse(expected + "shape " + describeShape({count, 1, taps}) +
                    ", but got " + describeShape(entry.shape));
    if (!entry.type.getStorage(input.context) || entry.type.isBlocks())
      return refuse(expected + "F32, BF16 or F16, but got " +
                    entry.type.getName());
  }
  return llvm::Error::success();
}

/// The public library saves the taps of queries, keys and values in three equal
/// parts, the last of which may be shorter. A layer's are so where more of them
/// have those rows than their own.
static llvm::Error recutTaps(FamilyInput &input, OlmoHybridConfig &config) {
  auto keys = uint64_t(config.delta.keyWidth()),
       values = uint64_t(config.delta.inner());
  uint64_t third = (2 * keys + values + 2) / 3;
  uint64_t own[] = {keys, keys, values},
           saved[] = {third, third, 2 * keys + values - 2 * third};
  bool isCut = false;
  for (size_t layer = 0; layer < config.linear.size(); ++layer) {
    std::string source =
        LayerNames(config.decoder, int64_t(layer)).source + "linear_attn.";
    std::string names[] = {source + "q_conv1d.weight",
                           source + "k_conv1d.weight",
                           source + "v_conv1d.weight"};
    isCut |= llvm::any_of(names, [&](const std::string &name) {
      return input.checkpoint.has(name);
    });
    int balance = 0;
    for (auto [i, name] : llvm::enumerate(names))
      if (const CheckpointTensor *tensor = input.checkpoint.find(name);
          tensor && !tensor->entry->shape.empty())
        balance += int(tensor->entry->shape.front() == saved[i]) -
                   int(tensor->entry->shape.front() == own[i]);
    if (balance <= 0)
      continue;
    if (llvm::Error error =
            checkTaps(input, names, saved, uint64_t(config.delta.taps)))
      return error;
    recutTensors(input.checkpoint, names, own);
    config.savedAgain = true;
  }
  // As the public library holds them.
  config.delta.joinedTaps = input.checkpoint.hasWeights() && !isCut;
  if (config.savedAgain)
    input.remarks.push_back("taps of queries, keys and values are cut anew: "
                            "they lie in three equal parts, as the public "
                            "library saves them");
  return llvm::Error::success();
}

/// The second of two names of a norm, where the checkpoint has it.
static const char *nameOf(ModelBuilder &model, const std::string &source,
                          const char *name, const char *other) {
  return model.hasTensor(source + other + ".weight") ? other : name;
}

/// x + norm(f(x)) twice.
static Value emitAttending(ModelBuilder &model, const OlmoHybridConfig &config,
                           const LayerNames &names, int64_t layer, Value x) {
  const DecoderConfig &decoder = config.decoder;
  const auto &[name, source] = names;
  auto norm = [&](const char *part, const char *tensor, Value y) {
    return model.norm(name + part, source + tensor, y, decoder.norm);
  };
  Value mixed =
      emitAttention(model, decoder.attention, decoder.layers[size_t(layer)],
                    {name + "attention", source + "self_attn."}, x);
  // A file that was saved again has the name of the other layers' norm.
  const char *endNorm = config.savedAgain
                            ? nameOf(model, source, "feedforward_layer_norm",
                                     "post_attention_layernorm")
                            : nameOf(model, source, "post_attention_layernorm",
                                     "feedforward_layer_norm");
  mixed = norm("attention_end_norm", endNorm, mixed);
  x = model.add(name + "attention_residual", x, mixed);
  Value inner = emitMlp(model, decoder.mlp, {name + "mlp", source + "mlp."}, x);
  inner = norm("mlp_end_norm", "post_feedforward_layernorm", inner);
  return model.add(name + "mlp_residual", x, inner);
}

static Value emitLayer(ModelBuilder &model, const OlmoHybridConfig &config,
                       int64_t layer, Value x) {
  const DecoderConfig &decoder = config.decoder;
  LayerNames names(decoder, layer);
  const auto &[name, source] = names;
  if (config.linear[size_t(layer)] == 0)
    return emitAttending(model, config, names, layer, x);
  auto mix = [&](Value token) {
    return emitGatedDelta(model, config.delta, name, source + "linear_attn.",
                          token);
  };
  auto feed = [&](Value token) {
    return emitMlp(model, decoder.mlp, {name + "mlp", source + "mlp."}, token);
  };
  // The names of the file, and those of the public library's memory.
  auto normName = [&](const char *released, const char *held) {
    return config.delta.joinedTaps ? nameOf(model, source, held, released)
                                   : nameOf(model, source, released, held);
  };
  return emitNormFirstLayer(
      model, decoder, names,
      normName("attention_layer_norm", "input_layernorm"),
      normName("feedforward_layer_norm", "post_attention_layernorm"), mix, feed,
      x);
}

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
effc::frontend::importOlmoHybrid(FamilyInput &input) {
  OlmoHybridConfig config = readOlmoHybrid(input);
  if (llvm::Error error = input.config.finish())
    return error;
  if (llvm::Error error = recutTaps(input, config))
    return error;
  leaveAside(input, {"rotary_emb.inv_freq"});
  TextModelConfig text = textModelOf(config.decoder, input);
  if (!llvm::is_contained(config.linear, 0u))
    text.context = 0; // no state grows
  return buildTextModel(text, input, [&](ModelBuilder &model, Value x) {
    for (int64_t layer = 0; layer < int64_t(config.linear.size()); ++layer)
      x = emitLayer(model, config, layer, x);
    return x;
  });
}
