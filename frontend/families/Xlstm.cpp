#include "frontend/families/Xlstm.h"

#include "frontend/checkpoint/Refusal.h"
#include "frontend/model/Decoder.h"
#include "frontend/model/TextModel.h"

#include <cmath>

using namespace effc;
using namespace effc::frontend;
using llvm::Twine;
using mlir::Value;

namespace {

struct XlstmConfig {
  int64_t width = 1, layers = 1;
  int64_t heads = 1, keys = 1, values = 1; // H, K, V
  bool bias = false;
  /// One tensor for several projections.
  bool fused = false;
  double gateCap = 15, epsilon = 1e-6;
  std::optional<double> logitCap;
  NormConfig norm;
  MlpConfig mlp;
  HeadConfig head;

  int64_t keyWidth() const { return heads * keys; }
  int64_t inner() const { return heads * values; }
};

} // namespace

/// Channels of each head: the width times the number at `key`, cut to whole
/// channels.
static int64_t readChannels(ConfigReader &reader, llvm::StringRef key,
                            double otherwise, const XlstmConfig &config) {
  double factor = reader.getNumber(key, 1e-6, 1024, otherwise);
  auto all = int64_t(double(config.width) * factor);
  if (reader.hasProblem())
    return 1;
  if (all < config.heads || all % config.heads != 0)
    reader.report("expects 'hidden_size' " + Twine(config.width) + " times " +
                  quote(key) + " " + describeNumber(factor) +
                  " to be a multiple of 'num_heads' " + Twine(config.heads) +
                  ", but got " + Twine(all));
  return std::max<int64_t>(all / config.heads, 1);
}

static XlstmConfig readXlstm(FamilyInput &input) {
  ConfigReader &reader = input.config;
  XlstmConfig config;
  auto either = [&](llvm::StringRef key, llvm::StringRef other, int64_t most) {
    std::optional<int64_t> size = reader.getIntegerIfSet(key, 1, most);
    std::optional<int64_t> same = reader.getIntegerIfSet(other, 1, most);
    if (!size && !same)
      reader.report("lacks " + quote(key));
    else if (size && same && *size != *same)
      reader.report("expects " + quote(other) + " to be " + quote(key) + " " +
                    Twine(*size) + ", but got " + Twine(*same));
    return size.value_or(same.value_or(1));
  };
  config.width = either("hidden_size", "embedding_dim", kMostDimension);
  config.layers = either("num_hidden_layers", "num_blocks", kMostLayers);
  config.heads = reader.requireInteger("num_heads", 1, kMostDimension);
  config.keys = readChannels(reader, "qk_dim_factor", 0.5, config);
  config.values = readChannels(reader, "v_dim_factor", 1, config);
  config.bias = reader.getBoolean("use_bias", false);
  // The public library applies the last norm all the same.
  if (!reader.getBoolean("add_out_norm", true))
    input.remarks.push_back(
        "config.json: 'add_out_norm' is ignored: the public "
        "library has the norm whatever the key says");
  config.norm.epsilon = reader.getNumber("norm_eps", 0, 1, 1e-6);
  config.norm.bias = config.bias;
  config.epsilon = reader.getNumber("eps", 0, 1, 1e-6);
  config.gateCap = reader.getNumber("gate_soft_cap", 1e-6, 1e9, 15);
  if (!reader.get("output_logit_soft_cap") ||
      reader.isSet("output_logit_soft_cap"))
    config.logitCap = reader.getNumber("output_logit_soft_cap", 1e-6, 1e9, 30);
  double factor = reader.getNumber("ffn_proj_factor", 1e-6, 1024, 2.667);
  int64_t multiple =
      reader.getInteger("ffn_round_up_to_multiple_of", 1, kMostDimension, 64);
  // The library's way of rounding up.
  auto hidden = int64_t(double(config.width) * factor);
  config.mlp.hidden = (hidden + multiple - 1) / multiple * multiple;
  config.mlp.bias = config.bias;
  if (const std::string *mode = reader.getString("weight_mode")) {
    config.fused = *mode == "fused";
    if (*mode != "fused" && *mode != "single")
      reader.report("weight_mode " + quote(*mode) +
                    " is not supported; supported: single, fused");
  }
  config.head.table = "backbone.embeddings.weight";
  config.head.tied = reader.getBoolean("tie_word_embeddings", false);
  ignoreHarmless(reader, input.remarks,
                 {"autocast_kernel_dtype", "chunk_size", "chunkwise_kernel",
                  "inference_state_dtype", "max_inference_chunksize", "mode",
                  "norm_reduction_force_float32", "return_last_states",
                  "sequence_kernel", "step_kernel"});
  return config;
}

static Value emitMixer(ModelBuilder &model, const XlstmConfig &config,
                       const std::string &name, const std::string &source,
                       Value x) {
  int64_t keyWidth = config.keyWidth(), inner = config.inner(),
          heads = config.heads;
  Value query, key, value, gate, input, forget;
  if (config.fused) {
    Value all = model.project(name + "in", source + "qkv_opreact", x,
                              2 * keyWidth + 2 * inner, config.bias);
    query = model.slice(name + "q", all, 0, keyWidth);
    key = model.slice(name + "k", all, keyWidth, keyWidth);
    value = model.slice(name + "v", all, 2 * keyWidth, inner);
    gate = model.slice(name + "o_gate", all, 2 * keyWidth + inner, inner);
    Value both = model.project(name + "gates", source + "ifgate_preact", x,
                               2 * heads, /*bias=*/true);
    both = model.softCap(name + "gates", both, config.gateCap);
    input = model.slice(name + "i_gate", both, 0, heads);
    forget = model.slice(name + "f_gate", both, heads, heads);
  } else {
    query = model.project(name + "q", source + "q", x, keyWidth, config.bias);
    key = model.project(name + "k", source + "k", x, keyWidth, config.bias);
    value = model.project(name + "v", source + "v", x, inner, config.bias);
    gate = model.project(name + "o_gate", source + "ogate_preact", x, inner,
                         config.bias);
    auto capped = [&](const char *part, const char *tensor) {
      Value raw =
          model.project(name + part, source + tensor, x, heads, /*bias=*/true);
      return model.softCap(name + part, raw, config.gateCap);
    };
    input = capped("i_gate", "igate_preact");
    forget = capped("f_gate", "fgate_preact");
  }
  query = model.reshape(name + "mixer", query, {heads, config.keys});
  key = model.reshape(name + "mixer", key, {heads, config.keys});
  value = model.reshape(name + "mixer", value, {heads, config.values});
  Value state =
      model.state(name + "mixer", {heads, config.keys, config.values});
  Value sum = model.state(name + "mixer.sum", {heads, config.keys});
  Value maximum = model.state(name + "mixer.maximum", {heads});
  auto op = seq::MlstmOp::create(
      model.getBuilder(), model.at(name + "mixer"), value.getType(),
      state.getType(), sum.getType(), maximum.getType(), query, key, value,
      input, forget, state, sum, maximum,
      llvm::APFloat(1 / std::sqrt(double(config.keys))),
      llvm::APFloat(config.epsilon), /*form=*/nullptr);
  model.setNextState(op.getNextState());
  model.setNextState(op.getNextSum());
  model.setNextState(op.getNextMaximum());
  NormConfig headNorm = config.norm;
  headNorm.centred = true;
  Value y = model.groupNorm(name + "norm", source + "multihead_norm",
                            model.reshape(name + "mixer", op.getY(), {inner}),
                            heads, inner, headNorm);
  y = model.mul(
      name + "norm", y,
      model.activate(name + "o_gate", gate, seq::Nonlinearity::Sigmoid));
  return model.project(name + "out", source + "out_proj", y, model.getWidth(),
                       config.bias);
}

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
effc::frontend::importXlstm(FamilyInput &input) {
  XlstmConfig config = readXlstm(input);
  if (llvm::Error error = input.config.finish())
    return error;
  TextModelConfig text;
  text.family = "xlstm";
  text.vocabulary = input.vocabulary;
  text.width = config.width;
  text.head = config.head;
  text.endNorm = "backbone.out_norm";
  text.norm.epsilon = config.norm.epsilon; // nothing else of the layers'
  text.logitCap = config.logitCap;
  return buildTextModel(text, input, [&](ModelBuilder &model, Value x) {
    for (int64_t layer = 0; layer < config.layers; ++layer) {
      std::string name = "layers." + std::to_string(layer) + ".";
      std::string source = "backbone.blocks." + std::to_string(layer) + ".";
      Value normed = model.norm(name + "mixer_norm", source + "norm_mlstm", x,
                                config.norm);
      x = model.add(
          name + "mixer_residual", x,
          emitMixer(model, config, name, source + "mlstm_layer.", normed));
      MlpNames names{name + "mlp", source + "ffn."};
      names.gate = "proj_up_gate";
      names.up = "proj_up";
      names.down = "proj_down";
      if (config.fused)
        names.fused = "proj_up_gate_z";
      normed =
          model.norm(name + "mlp_norm", source + "norm_ffn", x, config.norm);
      x = model.add(name + "mlp_residual", x,
                    emitMlp(model, config.mlp, names, normed));
    }
    return x;
  });
}
