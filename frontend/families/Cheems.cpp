#include "frontend/families/Cheems.h"

#include "frontend/model/Decoder.h"
#include "frontend/model/DynamicMask.h"
#include "frontend/model/RetrievedExperts.h"
#include "frontend/model/TextModel.h"
#include "frontend/model/WrittenStep.h"

using namespace effc;
using namespace effc::frontend;
using llvm::Twine;
using mlir::Value;

namespace {

struct CheemsConfig {
  DecoderConfig model;
  LayerAttention turned;
  bool bias = false;
  int64_t period = 8, offset = 7;
  /// Beside the gated layers, where there are any.
  std::optional<RetrievedExperts> experts;
};

class CheemsEmitter {
public:
  CheemsEmitter(ModelBuilder &model, const CheemsConfig &config)
      : model(model), config(config) {}

  Value emitLayer(Value x, int64_t layer) {
    name = "layers." + std::to_string(layer) + ".";
    source = "model." + name;
    Value mixed = norm("sequence_norm", "pre_sequence_layernorm", x);
    mixed = layer % config.period == config.offset ? emitAttention(mixed)
                                                   : emitDuality(mixed);
    x = residual("post_sequence_residual", x, mixed);
    Value inner = emitState(norm("state_norm", "pre_state_layernorm", x));
    return residual("post_state_residual", x, inner);
  }

private:
  Value norm(const char *part, const char *tensor, Value x) {
    return model.norm(name + part, source + tensor, x, config.model.norm);
  }

  /// The residual times a weight for each channel, and what is added.
  Value residual(const std::string &tensor, Value x, Value y) {
    Value weight = model.vector(name + tensor, source + tensor + ".weight",
                                model.getWidth());
    Value kept =
        model.mul(name + tensor, x, model.broadcast(name + tensor, weight, x));
    return model.add(name + tensor, kept, y);
  }

  Value project(const std::string &part, const std::string &tensor, Value x,
                int64_t rows) {
    return model.project(name + part, source + tensor, x, rows, config.bias);
  }

  /// State-space duality whose rate of decay is used as it is, so that a state
  /// may grow: a step that is written out.
  Value emitDuality(Value x) {
    int64_t heads = config.model.attention.heads,
            channels = config.model.attention.keys;
    auto inHeads = [&](Value flat) {
      return model.reshape(name + "ssd", flat, {heads, channels});
    };
    auto turnedPart = [&](const char *part, const std::string &tensor) {
      return turn(model, name + part, config.turned,
                  inHeads(project(part, tensor, x, heads * channels)));
    };
    Value c = turnedPart("c", "ssd.c_proj"), b = turnedPart("b", "ssd.b_proj");
    Value value = inHeads(project("x", "ssd.x_proj", x, heads * channels));
    Value step = model.elementwise<seq::SoftplusOp>(
        name + "dt", project("dt", "ssd.dt_proj", x, heads));
    Value rate = model.vector(name + "a", source + "ssd.A", heads);
    Value state = model.state(name + "ssd", {heads, channels, channels});
    Value y = emitStep({c, b, value, step}, rate, state);
    return project("out", "ssd.out_proj",
                   model.reshape(name + "ssd", y, {heads * channels}),
                   model.getWidth());
  }

  /// S = exp(rate * step) S + b (x) (step * x);  y = c S
  Value emitStep(llvm::ArrayRef<Value> tokens, Value rate, Value state) {
    WrittenStep step(model, name + "ssd", tokens[2], tokens, rate, state);
    Value c = step.token(0), b = step.token(1), x = step.token(2),
          dt = step.token(3), s = step.state(0);
    Value decay =
        step.make<seq::ExpOp>(step.make<seq::MulOp>(step.parameter(0), dt));
    Value kept = step.contract(decay, "h", s, "hkv", "hkv");
    Value value = step.contract(dt, "h", x, "hv", "hv");
    Value next =
        step.make<seq::AddOp>(kept, step.contract(b, "hk", value, "hv", "hkv"));
    return step.finish(step.contract(c, "hk", next, "hkv", "hv"), next);
  }

  Value emitAttention(Value x) {
    const AttentionConfig &attention = config.model.attention;
    auto inHeads = [&](const char *part, const std::string &tensor,
                       int64_t heads) {
      return model.reshape(name + part,
                           project(part, tensor, x, heads * attention.keys),
                           {heads, attention.keys});
    };
    LayerAttention layer = streamed(model, name + "attention", config.turned);
    Value query = inHeads("q", "attn.q_proj", attention.heads);
    Value key = turn(model, name + "k", layer,
                     inHeads("k", "attn.k_proj", attention.keyHeads));
    Value value = inHeads("v", "attn.v_proj", attention.keyHeads);
    Value flat = model.reshape(name + "delta", value, {attention.keyWidth()});
    Value numbers = keyNumbers(
        model, name + "delta",
        project("delta", "attn.dt_proj", flat, attention.heads),
        model.vector(name + "a", source + "attn.A", attention.heads));
    AttentionExtras extras;
    extras.numbers = numbers;
    extras.effect = seq::KeyScore::Bias;
    addSinks(model, name + "attention", layer, query, extras);
    Value y = attend(model, name + "attention", attention, layer.window,
                     turn(model, name + "q", layer, query), key, value, extras);
    return project("out", "attn.o_proj",
                   model.reshape(name + "attention", y, {attention.inner()}),
                   model.getWidth());
  }

  Value emitState(Value x) {
    Value dense = emitMlp(model, config.model.mlp,
                          {name + "mlp", source + "feed_forward."}, x);
    if (!config.experts)
      return dense;
    Value experts = emitRetrievedExperts(model, *config.experts, name,
                                         source + "feed_forward.", x);
    return model.add(name + "experts", dense, experts);
  }

  ModelBuilder &model;
  const CheemsConfig &config;
  std::string name, source;
};

} // namespace

static CheemsConfig readCheems(FamilyInput &input) {
  ConfigReader &reader = input.config;
  CheemsConfig config;
  config.model = readDecoder(reader, input.vocabulary, /*tiedByDefault=*/true);
  config.bias = reader.getBoolean("hidden_bias", false);
  config.model.mlp.bias = config.bias;
  config.model.mlp.activation =
      readActivation(reader, "hidden_act", seq::Nonlinearity::Silu);
  config.period = reader.getInteger("attn_layer_period", 1, kMostLayers, 8);
  config.offset = reader.getInteger("attn_layer_offset", 0, kMostLayers, 7);
  if (!reader.hasProblem() && config.offset >= config.period)
    reader.report("expects 'attn_layer_offset' below 'attn_layer_period' " +
                  Twine(config.period) + ", but got " + Twine(config.offset));
  // Its selection looks at keys behind the query.
  if (reader.getNumber("dynamic_mask_ratio", 0, 1, 0) != 0)
    reader.reportMismatch("dynamic_mask_ratio", "0",
                          *reader.get("dynamic_mask_ratio"));
  config.experts = readRetrievedExperts(reader);
  if (config.experts)
    config.experts->activation = config.model.mlp.activation;
  if (!reader.hasProblem()) {
    RotaryRequest request{config.model.attention.keys, config.model.context};
    config.turned.rotary = readRotary(reader, input, request);
  }
  ignoreHarmless(reader, input.remarks, {"ssd_chunk_size", "hidden_dropout"});
  return config;
}

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
effc::frontend::importCheems(FamilyInput &input) {
  CheemsConfig config = readCheems(input);
  if (llvm::Error error = input.config.finish())
    return error;
  input.remarks.push_back(
      "the rates of decay 'ssd.A' are used as they are: where one is above 0, "
      "its head's state grows with every token");
  TextModelConfig text;
  text.family = "cheems";
  text.vocabulary = input.vocabulary;
  text.width = config.model.width;
  text.head = config.model.head;
  text.head.table = "model.word_embed.weight";
  text.endNorm = "model.final_layernorm";
  text.norm = config.model.norm;
  text.context = chooseContext(input, config.model.context);
  return buildTextModel(text, input, [&](ModelBuilder &model, Value x) {
    CheemsEmitter emitter(model, config);
    for (size_t layer = 0; layer < config.model.layers.size(); ++layer)
      x = emitter.emitLayer(x, int64_t(layer));
    return x;
  });
}
