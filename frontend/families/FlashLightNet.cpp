#include "frontend/families/FlashLightNet.h"

#include "frontend/families/FlashModel.h"
#include "frontend/model/Decoder.h"
#include "frontend/model/WrittenStep.h"

#include <cmath>

using namespace effc;
using namespace effc::frontend;
using llvm::Twine;
using mlir::Value;

namespace {

struct LightNetConfig {
  FlashConfig model;
  int64_t heads = 1, keys = 1, values = 1; // H, K, V
  /// Taps of the short convolutions; 0: none.
  int64_t taps = 0;
  /// Of the matrix pair that makes output gates.
  int64_t gateRank = 128;
  bool affine = true;
};

} // namespace

/// The library's model does not hand `rope_theta` to its layers of attention,
/// which turn by the default then.
static void takeDefaultTheta(FamilyInput &input, FlashConfig &config) {
  constexpr double kTheta = 1e4;
  bool ignored = false;
  for (auto &[layer, how] : config.attention) {
    seq::RotaryFrequenciesAttr &given = how.second.rotary.frequencies;
    if (!given || given.getTheta().getValueAsDouble() == kTheta)
      continue;
    given = seq::RotaryFrequenciesAttr::get(
        input.context, given.getScaling(),
        mlir::Builder(input.context).getF64FloatAttr(kTheta), given.getFactor(),
        given.getOriginalContext(), given.getPlannedContext(), given.getLow(),
        given.getHigh(), given.getDivisors());
    ignored = true;
  }
  if (ignored)
    input.remarks.push_back("config.json: attn: 'rope_theta' is ignored: the "
                            "public library does not hand it to its layers");
}

static LightNetConfig readLightNet(FamilyInput &input) {
  ConfigReader &reader = input.config;
  LightNetConfig config;
  config.model = readFlash(input, 4);
  config.model.family = "lightnet";
  if (!reader.hasProblem())
    takeDefaultTheta(input, config.model);
  int64_t width = config.model.width;
  std::optional<int64_t> keys =
      reader.get("expand_ratio")
          ? reader.getIntegerIfSet("expand_ratio", 1, kMostDimension)
          : 128;
  std::optional<int64_t> heads =
      reader.getIntegerIfSet("num_heads", 1, kMostDimension);
  if (!keys && !heads)
    reader.report("lacks 'expand_ratio' and 'num_heads'");
  // Each follows from the other where it is missing, rounded down.
  config.heads = heads.value_or(std::max<int64_t>(width / keys.value_or(1), 1));
  config.keys = keys.value_or(std::max<int64_t>(width / config.heads, 1));
  if (!reader.hasProblem() && width % config.heads != 0)
    reader.report("expects 'hidden_size' to be a multiple of the heads " +
                  Twine(config.heads) + ", but got " + Twine(width));
  config.values = std::max<int64_t>(width / config.heads, 1);
  config.taps = reader.getInteger("conv_size", 1, 64, 4);
  if (!reader.getBoolean("use_short_conv", false))
    config.taps = 0;
  config.gateRank =
      reader.getInteger("gate_low_rank_dim", 1, kMostDimension, 128);
  config.affine = readAffine(reader);
  requireOneOf(reader, "hidden_act", {"swish"});
  ignoreHarmless(reader, input.remarks, {"fuse_norm"});
  return config;
}

namespace {

/// A mean of values for each key channel, weighted by the exponentials of keys.
/// With z the log of the sum of these so far, the newest value has the weight
/// sigmoid(k - z), and the mean before it keeps sigmoid(z - k).
class LightNetEmitter {
public:
  LightNetEmitter(ModelBuilder &model, const LightNetConfig &config,
                  const std::string &name, const std::string &source)
      : model(model), config(config), name(name), source(source) {}

  Value emit(Value x) {
    int64_t heads = config.heads, width = model.getWidth();
    auto each = [&](llvm::StringRef part, int64_t channels) {
      return model.reshape(name + part.str(),
                           projectAndConvolve(model, name, source, part, x,
                                              heads * channels, config.taps,
                                              seq::Activation::None),
                           {heads, channels});
    };
    Value query = model.activate(name + "q", each("q", config.keys),
                                 seq::Nonlinearity::Silu);
    Value key = each("k", config.keys), value = each("v", config.values);
    Value kept = emitKept(key);
    Value taken = model.activate(
        name + "k", model.elementwise<seq::NegOp>(name + "k", kept),
        seq::Nonlinearity::Sigmoid);
    Value y = model.reshape(name + "mixer", attend(query, taken, value, kept),
                            {width});
    // The library does not hand the configuration's bound to this norm.
    NormConfig norm;
    norm.epsilon = 1e-6;
    norm.weight = config.affine;
    y = model.norm(name + "norm", source + "g_norm", y, norm);
    Value low =
        model.project(name + "g.low", source + "g_proj.0", x, config.gateRank);
    Value gate = model.activate(
        name + "gate",
        model.project(name + "g", source + "g_proj.1", low, width),
        seq::Nonlinearity::Silu);
    return model.project(name + "o", source + "o_proj",
                         model.mul(name + "norm", y, gate), width);
  }

private:
  /// z - k of each key k [T, H, K], with z of the keys before it: far below 0
  /// for the first. The state is z, and 1 once there is one.
  Value emitKept(Value key) {
    // Less than any log of a sum, and no sum with it leaves f32.
    constexpr double kNothing = 1e30;
    std::string here = name + "sum";
    llvm::SmallVector<int64_t> shape = {config.heads, config.keys};
    Value states[] = {model.state(here, shape),
                      model.state(here + ".begun", shape)};
    WrittenStep step(model, here, key, key, {}, states);
    Value k = step.token(0), begun = step.state(1);
    Value one = step.constant(1, k);
    Value missing = step.make<seq::MulOp>(
        Value(step.make<seq::SubOp>(one, begun)), step.constant(kNothing, k));
    Value z = step.make<seq::SubOp>(step.state(0), missing);
    Value apart = step.make<seq::SubOp>(z, k);
    Value distance = step.make<seq::AbsOp>(apart);
    Value next = step.make<seq::AddOp>(Value(step.make<seq::MaxOp>(z, k)),
                                       Value(step.make<seq::SoftplusOp>(Value(
                                           step.make<seq::NegOp>(distance)))));
    return step.finish(apart, {next, one});
  }

  Value attend(Value query, Value taken, Value value, Value kept) {
    // What is less of a state is lost in its last digits; before the first
    // token there is none.
    constexpr double kLeast = -20;
    std::string here = name + "mixer";
    mlir::OpBuilder &builder = model.getBuilder();
    Value gate = seq::ClampOp::create(builder, model.at(here), kept.getType(),
                                      kept, builder.getF64FloatAttr(kLeast),
                                      /*upper=*/nullptr);
    Value state = model.state(here, {config.heads, config.keys, config.values});
    auto op = seq::GatedLinearAttentionOp::create(
        builder, model.at(here), value.getType(), state.getType(), query, taken,
        value, gate, /*value_gate=*/nullptr, state,
        llvm::APFloat(1 / std::sqrt(double(config.keys))),
        /*temperature=*/llvm::APFloat(1.0), /*form=*/nullptr);
    model.setNextState(op.getNextState());
    return op.getY();
  }

  ModelBuilder &model;
  const LightNetConfig &config;
  const std::string &name, &source;
};

} // namespace

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
effc::frontend::importFlashLightNet(FamilyInput &input) {
  LightNetConfig config = readLightNet(input);
  if (llvm::Error error = input.config.finish())
    return error;
  return buildFlash(
      config.model, input,
      [&](ModelBuilder &model, const std::string &name,
          const std::string &source, Value x, int64_t) {
        return LightNetEmitter(model, config, name, source).emit(x);
      });
}
