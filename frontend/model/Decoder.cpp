#include "frontend/model/Decoder.h"
#include "frontend/model/TextModel.h"

#include "frontend/checkpoint/Refusal.h"
#include "frontend/model/Block.h"

using namespace effc;
using namespace effc::frontend;
using mlir::Value;

DecoderConfig effc::frontend::readDecoder(ConfigReader &reader,
                                          int64_t vocabulary,
                                          bool tiedByDefault,
                                          const DecoderKeys &keys) {
  DecoderConfig config;
  config.vocabulary = vocabulary;
  config.width = reader.requireInteger("hidden_size", 1, kMostDimension);
  config.layers.resize(
      reader.requireInteger("num_hidden_layers", 1, kMostLayers));
  if (!keys.hidden.empty())
    config.mlp.hidden = reader.requireInteger(keys.hidden, 1, kMostDimension);
  if (!keys.context.empty())
    config.context = reader.requireInteger(keys.context, 1, kMostContext);
  config.norm.epsilon =
      reader.getNumber(keys.epsilon, 0, 1, keys.epsilonOtherwise);
  config.attention = readAttention(reader, config.width, keys.channels);
  config.head.tied = reader.getBoolean("tie_word_embeddings", tiedByDefault);
  return config;
}

void effc::frontend::ignoreHarmless(ConfigReader &reader, Remarks &remarks,
                                    llvm::ArrayRef<llvm::StringRef> more) {
  llvm::SmallVector<llvm::StringRef> keys = {
      "attention_dropout", "attn_implementation", "initializer_range",
      "pretraining_tp"};
  llvm::append_range(keys, more);
  for (llvm::StringRef key : reader.ignore(keys))
    remarks.push_back(reader.getFile().str() + ": " + quote(key) +
                      " is ignored: it does not change the results");
}

void effc::frontend::ignoreOuterKeys(ConfigReader &text, Remarks &remarks) {
  text.ignore({"model_type", "vocab_size", "torch_dtype", "dtype", "use_cache",
               "architectures", "_name_or_path"});
  for (llvm::StringRef key :
       text.ignore({"bos_token_id", "eos_token_id", "pad_token_id"}))
    remarks.push_back("config.json: text_config: " + quote(key) +
                      " is ignored: that of config.json counts");
}

double effc::frontend::readFactor(ConfigReader &reader, llvm::StringRef key) {
  return reader.getNumberIfSet(key, 1e-9, 1e9).value_or(1);
}

int64_t effc::frontend::chooseContext(const FamilyInput &input,
                                      int64_t modelContext) {
  return input.contextWanted > 0 ? input.contextWanted : modelContext;
}

Value effc::frontend::emitMlpOrExperts(ModelBuilder &model,
                                       const DecoderConfig &config,
                                       int64_t layer, const std::string &name,
                                       const std::string &source, Value x) {
  if (config.experts && config.routes.holds(layer)) {
    ExpertsNames names = config.expertNames;
    names.name = name + "experts";
    names.source = source;
    return emitExperts(model, *config.experts, names, x);
  }
  MlpNames names{name + "mlp", source};
  if (config.fused)
    names.fused = "gate_up_proj";
  return emitMlp(model, config.mlp, names, x);
}

/// What a mixer or an MLP gives, as it is added.
static Value scaledResidual(ModelBuilder &model, const DecoderConfig &config,
                            const std::string &name, Value y) {
  return config.residualScale == 1
             ? y
             : model.scale(name + "residual", y, config.residualScale);
}

Value effc::frontend::emitNormFirstLayer(ModelBuilder &model,
                                         const DecoderConfig &config,
                                         const LayerNames &names,
                                         const char *mixerNorm,
                                         const char *mlpNorm, EmitPart mixer,
                                         EmitPart mlp, Value x) {
  auto norm = [&](const char *part, const char *tensor) {
    return [&, part, tensor](Value token) {
      return model.norm(names.name + part, names.source + tensor, token,
                        config.norm);
    };
  };
  auto scaled = [&](EmitPart part) {
    return [&, part](Value token) {
      return scaledResidual(model, config, names.name, part(token));
    };
  };
  auto first = norm("mixer_norm", mixerNorm),
       second = norm("mlp_norm", mlpNorm);
  auto mixed = scaled(mixer), inner = scaled(mlp);
  return emitBlock(model, names.name, BlockOrder::NormFirst,
                   {first, mixed, second, inner}, x);
}

namespace {

class DecoderEmitter {
public:
  DecoderEmitter(const DecoderConfig &config, const std::string &prefix,
                 ModelBuilder &model)
      : config(config), prefix(prefix), model(model) {}

  Value emitLayer(Value x, size_t index) {
    name = "layers." + std::to_string(index) + ".";
    source = prefix + name;
    bool before = config.norms != NormPlaces::Behind,
         behind = config.norms != NormPlaces::Before;
    Value taken = before ? norm("attention_norm", "input_layernorm", x) : x;
    Value mixed = emitMixer(taken, config.layers[index]);
    if (behind)
      mixed = norm("attention_end_norm", "post_attention_layernorm", mixed);
    x = model.add(name + "attention_residual", x, scaled(mixed));
    taken = before ? norm("mlp_norm",
                          behind ? "pre_feedforward_layernorm"
                                 : "post_attention_layernorm",
                          x)
                   : x;
    Value inner = emitMlpOrExperts(model, config, int64_t(index), name,
                                   source + config.feedForward, taken);
    if (behind)
      inner = norm("mlp_end_norm", "post_feedforward_layernorm", inner);
    return model.add(name + "mlp_residual", x, scaled(inner));
  }

private:
  Value scaled(Value y) { return scaledResidual(model, config, name, y); }

  Value norm(const char *part, const char *tensor, Value x) {
    return model.norm(name + part, source + tensor, x, config.norm);
  }

  Value emitMixer(Value x, const LayerAttention &layer) {
    AttentionNames names{name + "attention", source + "self_attn."};
    if (config.fused)
      names.fused = "qkv_proj";
    return emitAttention(model, config.attention, layer, names, x);
  }

  const DecoderConfig &config;
  const std::string &prefix;
  ModelBuilder &model;
  std::string name, source;
};

} // namespace

TextModelConfig effc::frontend::textModelOf(const DecoderConfig &config,
                                            const FamilyInput &input) {
  TextModelConfig text;
  text.family = config.family;
  text.vocabulary = config.vocabulary;
  text.width = config.width;
  text.head = config.head;
  text.head.table = config.prefix + "embed_tokens.weight";
  text.endNorm = config.prefix + "norm";
  text.norm = config.norm;
  text.context = chooseContext(input, config.context);
  text.embeddingScale = config.embeddingScale;
  text.logitScale = config.logitScale;
  text.logitCap = config.logitCap;
  return text;
}

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
effc::frontend::buildDecoder(const DecoderConfig &config, FamilyInput &input) {
  leaveAside(input, {"rotary_emb.inv_freq"});
  TextModelConfig text = textModelOf(config, input);
  return buildTextModel(text, input, [&](ModelBuilder &model, Value x) {
    DecoderEmitter emitter(config, config.prefix, model);
    for (size_t layer = 0; layer < config.layers.size(); ++layer)
      x = emitter.emitLayer(x, layer);
    return x;
  });
}
