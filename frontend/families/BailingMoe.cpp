#include "frontend/families/BailingMoe.h"

#include "frontend/checkpoint/Refusal.h"
#include "frontend/families/Bailing.h"

using namespace effc;
using namespace effc::frontend;
using llvm::Twine;
using mlir::Value;

using Module = llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>;

static constexpr llvm::StringLiteral kQueryKeyValue = "query_key_value",
                                     kQueryNorm = "query_layernorm",
                                     kKeyNorm = "key_layernorm",
                                     kOutput = "dense";

/// Heads of softmax attention; those of lightning attention have the same biases,
/// norms and turning channels.
static void readAttentionOf(FamilyInput &input, DecoderConfig &decoder,
                            double theta) {
  ConfigReader &reader = input.config;
  AttentionConfig &attention = decoder.attention;
  attention = readAttention(reader, decoder.width);
  attention.outputBias = reader.getBoolean("use_bias", false);
  attention.inputBias =
      reader.getBoolean(reader.spelled("use_qkv_bias", "attention_bias"),
                        false) ||
      attention.outputBias;
  if (reader.getBoolean("use_qk_norm", true))
    attention.headNorm = decoder.norm;
  RotaryRequest request{attention.keys, decoder.context};
  request.theta = theta;
  std::optional<int64_t> turned =
      reader.getIntegerIfSet("rotary_dim", 2, attention.keys);
  if (turned) // half a channel more, since the share's channels are rounded down
    request.turned = (double(*turned) + 0.5) / double(attention.keys);
  RotaryConfig rotary = readRotary(reader, input, request);
  if (turned && !reader.hasProblem() && *turned != 2 * rotary.pairs)
    reader.report("expects 'rotary_dim' to be " + Twine(2 * rotary.pairs) +
                  ", as 'partial_rotary_factor' says, but got " +
                  Twine(*turned));
  for (LayerAttention &layer : decoder.layers)
    layer.rotary = rotary;
}

static Value emitSoftmax(ModelBuilder &model, const DecoderConfig &decoder,
                         int64_t layer, const std::string &name,
                         const std::string &source, Value x) {
  AttentionNames names{name + "attention", source};
  // Files of GGUF may have the three apart, and the public library holds them so.
  if (!model.areNamesHeld() &&
      !model.hasTensor(source + names.query.str() + ".weight"))
    names.fused = kQueryKeyValue;
  names.queryNorm = kQueryNorm;
  names.keyNorm = kKeyNorm;
  names.output = kOutput;
  return emitAttention(model, decoder.attention, decoder.layers[size_t(layer)],
                       names, x);
}

static Module importSoftmaxAlone(FamilyInput &input, llvm::StringRef family,
                                 double theta) {
  BailingModel bailing = readBailing(input, family);
  readAttentionOf(input, bailing.decoder, theta);
  if (llvm::Error error = input.config.finish())
    return error;
  return buildBailing(
      input, bailing, /*grows=*/true,
      [&](ModelBuilder &model, int64_t layer, const std::string &name,
          const std::string &source, Value x) {
        return emitSoftmax(model, bailing.decoder, layer, name, source, x);
      });
}

Module effc::frontend::importBailingMoe(FamilyInput &input) {
  return importSoftmaxAlone(input, "bailing_moe", 6e5);
}

Module effc::frontend::importSarvamMoe(FamilyInput &input) {
  return importSoftmaxAlone(input, "sarvam_moe", 8e6);
}

//===----------------------------------------------------------------------===//
// Lightning attention
//===----------------------------------------------------------------------===//

namespace {

struct LightningConfig {
  /// Heads, their biases and norms; each has keys and values of its own.
  AttentionConfig attention;
  LayerAttention rotary;
  /// Of the norm behind it: groups of channels.
  int64_t groups = 1;
  NormConfig norm;
  int64_t layers = 1;
};

class LightningEmitter {
public:
  LightningEmitter(ModelBuilder &model, const LightningConfig &config,
                   const std::string &name, const std::string &source)
      : model(model), config(config), name(name), source(source) {}

  Value emit(int64_t layer, Value x) {
    const AttentionConfig &attention = config.attention;
    int64_t heads = attention.heads, keys = attention.keys,
            inner = attention.inner();
    Value query = turned("query", kQueryNorm, part("query", 0, x)),
          key = turned("key", kKeyNorm, part("key", 1, x)),
          value = inHeads(part("value", 2, x));
    // The authors' own code counts the layer before.
    auto rule = seq::HeadDecaysAttr::get(model.getBuilder().getContext(),
                                         seq::DecayRule::Alibi, layer - 1,
                                         config.layers, /*negated=*/false);
    Value decays = model.computed(name + "decays", rule, {heads});
    Value state = model.state(name + "mixer", {heads, keys, keys});
    auto op = seq::RetentionOp::create(
        model.getBuilder(), model.at(name + "mixer"), value.getType(),
        state.getType(), query, key, value, decays, state,
        llvm::APFloat(attention.scale), /*form=*/nullptr);
    model.setNextState(op.getNextState());
    Value y = model.groupNorm(name + "norm", source + "g_norm",
                              model.reshape(name + "mixer", op.getY(), {inner}),
                              config.groups, inner, config.norm);
    Value gate = model.activate(
        name + "gate",
        model.project(name + "gate", source + "g_proj", x, inner),
        seq::Nonlinearity::Sigmoid);
    return model.project(name + "out", source + kOutput.str(),
                         model.mul(name + "gate", y, gate), model.getWidth(),
                         attention.outputBias);
  }

private:
  Value part(const char *what, int64_t place, Value x) {
    int64_t inner = config.attention.inner();
    return model.projectRows(name + what, source + kQueryKeyValue.str(), x,
                             model.rows(place * inner, inner, 3 * inner, 1),
                             config.attention.inputBias);
  }

  Value inHeads(Value flat) {
    return model.reshape(name + "mixer", flat,
                         {config.attention.heads, config.attention.keys});
  }

  Value turned(const char *what, llvm::StringRef norm, Value flat) {
    const AttentionConfig &attention = config.attention;
    if (attention.headNorm)
      flat =
          model.groupNorm(name + what + "_norm", source + norm.str(), flat,
                          attention.heads, attention.keys, *attention.headNorm);
    return turn(model, name + what, config.rotary, inHeads(flat));
  }

  ModelBuilder &model;
  const LightningConfig &config;
  const std::string &name, &source;
};

} // namespace

static LightningConfig readLightning(ConfigReader &reader,
                                     const DecoderConfig &decoder) {
  LightningConfig config;
  config.attention = decoder.attention;
  config.rotary.rotary = decoder.layers.front().rotary;
  config.rotary.frequencies = "linear_frequencies";
  config.norm = decoder.norm;
  config.layers = int64_t(decoder.layers.size());
  int64_t inner = config.attention.inner();
  config.groups = reader.getInteger("group_norm_size", 1, kMostDimension, 1);
  if (reader.hasProblem())
    return config;
  // Of other widths the public codes make different heads.
  if (inner != decoder.width)
    reader.report("expects 'num_attention_heads' * 'head_dim' to be "
                  "'hidden_size' " +
                  Twine(decoder.width) + ", but got " + Twine(inner));
  if (inner % config.groups != 0)
    reader.report("expects 'group_norm_size' to divide the " + Twine(inner) +
                  " channels of the heads, but got " + Twine(config.groups));
  if (config.layers < 2)
    reader.report("expects 'num_hidden_layers' to be at least 2, by one less "
                  "than which decays are divided, but got 1");
  int64_t heads = config.attention.heads;
  if (int64_t given = reader.getInteger("num_kv_heads_for_linear_attn", 0,
                                        kMostDimension, 0);
      given != 0 && given != heads)
    reader.report("expects 'num_kv_heads_for_linear_attn' to be 0 or " +
                  Twine(heads) + ", but got " + Twine(given));
  return config;
}

Module effc::frontend::importBailingMoeLinear(FamilyInput &input) {
  ConfigReader &reader = input.config;
  bool isLatent = reader.isSet("kv_lora_rank");
  BailingModel bailing =
      readBailing(input, isLatent ? "bailing_hybrid" : "bailing_moe_linear");
  DecoderConfig &decoder = bailing.decoder;
  std::vector<unsigned> attends =
      readBailingKinds(reader, int64_t(decoder.layers.size()));
  readAttentionOf(input, decoder, 6e5);
  LightningConfig lightning = readLightning(reader, decoder);
  LatentConfig latent;
  if (isLatent)
    latent = readBailingLatent(input, decoder.context);
  // The public codes differ in where it stands.
  reader.expectAlways({"linear_silu", "use_linear_silu"}, false);
  reader.expectAlways({"linear_rope"}, true);
  if (llvm::Error error = reader.finish())
    return error;
  return buildBailing(
      input, bailing, llvm::is_contained(attends, 1u),
      [&](ModelBuilder &model, int64_t layer, const std::string &name,
          const std::string &source, Value x) {
        if (attends[size_t(layer)] == 0)
          return LightningEmitter(model, lightning, name, source)
              .emit(layer, x);
        return isLatent ? emitLatentAttention(model, latent, name + "attention",
                                              source, x)
                        : emitSoftmax(model, decoder, layer, name, source, x);
      });
}
