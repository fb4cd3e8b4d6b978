#include "frontend/families/ForgettingTransformer.h"

#include "frontend/checkpoint/Refusal.h"
#include "frontend/families/FlashModel.h"
#include "frontend/model/Decoder.h"

#include <cmath>

using namespace effc;
using namespace effc::frontend;
using llvm::Twine;
using mlir::Value;

namespace {

struct ForgettingConfig {
  FlashConfig model;
  AttentionConfig attention;
  /// Keys in sight of a query; 0: all.
  int64_t window = 0;
  /// Whether queries and keys are normalised in their heads.
  bool norm = false;
  bool gate = false;
};

/// Everything from a normalised token to what is added to the residual. Names
/// are those of the project, sources those of the file.
class ForgettingEmitter {
public:
  ForgettingEmitter(ModelBuilder &model, const ForgettingConfig &config,
                    const std::string &name, const std::string &source)
      : model(model), config(config), name(name), source(source) {}

  Value emit(Value x) {
    const AttentionConfig &heads = config.attention;
    Value query = inHeads("q", x, heads.heads, config.norm);
    Value key = inHeads("k", x, heads.keyHeads, config.norm);
    Value value = inHeads("v", x, heads.keyHeads, false);
    std::string here = name + "attention";
    LayerAttention layer;
    layer.window = config.window;
    layer = streamed(model, here, layer);
    AttentionExtras extras;
    extras.numbers = emitNumbers(x);
    extras.effect = seq::KeyScore::Bias;
    addSinks(model, here, layer, query, extras);
    Value y = model.reshape(
        here,
        attend(model, here, heads, layer.window, query, key, value, extras),
        {heads.inner()});
    if (config.gate)
      y = model.mul(name + "g", y,
                    model.activate(name + "g",
                                   model.project(name + "g", source + "g_proj",
                                                 x, heads.inner()),
                                   seq::Nonlinearity::Sigmoid));
    return model.project(name + "o", source + "o_proj", y, model.getWidth());
  }

private:
  Value inHeads(const std::string &part, Value x, int64_t heads,
                bool isNormed) {
    int64_t rows = heads * config.attention.keys;
    Value y = model.project(name + part, source + part + "_proj", x, rows,
                            config.attention.inputBias);
    // Of a module that is not told the model's.
    NormConfig norm;
    norm.epsilon = 1e-5;
    if (isNormed)
      y = model.groupNorm(name + part + "_norm", source + part + "_norm", y,
                          heads, rows, norm);
    return model.reshape(name + part, y, {heads, config.attention.keys});
  }

  /// What is added to each key's scores, [T, H]. The scores of query i for key
  /// j fall by the log forget gates of the tokens j + 1 to i, the difference of
  /// two running sums. That of the query is the same for all of its keys, which
  /// a softmax does not see.
  Value emitNumbers(Value x) {
    std::string here = name + "f";
    int64_t heads = config.attention.heads;
    Value gates = model.elementwise<seq::LogSigmoidOp>(
        here, model.project(here, source + "f_proj", x, heads, /*bias=*/true));
    Value state = model.state(name + "forgotten", {1, 1, heads});
    Value tokens = model.reshape(here, gates, {1, heads});
    auto op = seq::RunningTotalOp::create(
        model.getBuilder(), model.at(name + "forgotten"), tokens.getType(),
        state.getType(), tokens, state, /*form=*/nullptr);
    model.setNextState(op.getNextState());
    return model.elementwise<seq::NegOp>(
        here, model.reshape(here, op.getY(), {heads}));
  }

  ModelBuilder &model;
  const ForgettingConfig &config;
  const std::string &name, &source;
};

} // namespace

static ForgettingConfig readForgetting(FamilyInput &input) {
  ConfigReader &reader = input.config;
  ForgettingConfig config;
  bool hasLongest = reader.isSet("max_position_embeddings");
  config.model = readFlash(input, 4);
  config.model.family = "forgetting_transformer";
  config.model.keepsKeys = true;
  AttentionConfig &heads = config.attention;
  heads.heads = reader.getInteger("num_heads", 1, kMostDimension, 32);
  heads.keyHeads = readKeyHeads(reader, heads.heads);
  if (!reader.hasProblem() && config.model.width % heads.heads != 0)
    reader.report("expects 'hidden_size' to be a multiple of 'num_heads' " +
                  Twine(heads.heads) + ", but got " +
                  Twine(config.model.width));
  heads.keys = std::max<int64_t>(config.model.width / heads.heads, 1);
  heads.scale = 1 / std::sqrt(double(heads.keys));
  heads.inputBias = reader.getBoolean("qkv_bias", false);
  config.norm = reader.getBoolean("qk_norm", false);
  config.gate = reader.getBoolean("use_output_gate", false);
  config.window =
      reader.getIntegerIfSet("window_size", 1, kMostContext).value_or(0);
  if (config.window > 0)
    input.remarks.push_back(
        "config.json: 'window_size' holds in every call; the public library's "
        "prompts leave it out, so that they give other logits than its steps");
  requireOneOf(reader, "hidden_act", {"swish"});
  requireOneOf(reader, "elementwise_affine", {"true", "null"});
  ignoreHarmless(reader, input.remarks, {"fuse_norm"});
  if (!hasLongest && config.window == 0 && input.contextWanted == 0)
    input.remarks.push_back("config.json names no longest text: keys have room "
                            "for " +
                            std::to_string(config.model.context) +
                            " tokens (--max-context)");
  return config;
}

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
effc::frontend::importForgettingTransformer(FamilyInput &input) {
  ForgettingConfig config = readForgetting(input);
  if (llvm::Error error = input.config.finish())
    return error;
  return buildFlash(
      config.model, input,
      [&](ModelBuilder &model, const std::string &name,
          const std::string &source, Value x, int64_t) {
        return ForgettingEmitter(model, config, name, source).emit(x);
      });
}
