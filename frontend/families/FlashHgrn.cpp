#include "frontend/families/FlashHgrn.h"

#include "frontend/families/FlashModel.h"
#include "frontend/model/Decoder.h"

using namespace effc;
using namespace effc::frontend;
using mlir::Value;

using Module = llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>;

Module effc::frontend::importFlashHgrn(FamilyInput &input) {
  ConfigReader &reader = input.config;
  FlashConfig config = readFlash(input, 4);
  config.family = "hgrn";
  double expand = reader.getNumberIfSet("expand_ratio", 1e-3, 1024).value_or(1);
  int64_t inner = std::max<int64_t>(int64_t(double(config.width) * expand), 1);
  int64_t taps = reader.getInteger("conv_size", 1, 64, 4);
  if (!reader.getBoolean("use_short_conv", false))
    taps = 0;
  bool bounded = reader.getBoolean("use_lower_bound", true);
  requireOneOf(reader, "hidden_act", {"swish"});
  bool affine = readAffine(reader);
  ignoreHarmless(reader, input.remarks, {"fuse_norm"});
  if (llvm::Error error = reader.finish())
    return error;
  auto lowerBound = [&](ModelBuilder &model, const std::string &name,
                        int64_t layer) {
    if (layer == 0 || !bounded)
      return model.constant("no_bound", 0, {1, inner});
    WeightSource source("model.lower_bounds");
    source.stored = {config.layers, inner};
    source.derived =
        seq::DerivationAttr::get(model.getBuilder().getContext(),
                                 seq::DerivationRule::LowerBound, layer);
    return model.numbers(name + "lower_bound", source, {1, inner});
  };
  auto mixer = [&](ModelBuilder &model, const std::string &name,
                   const std::string &source, Value x, int64_t layer) {
    auto each = [&](llvm::StringRef part) {
      return projectAndConvolve(model, name, source, part, x, inner, taps,
                                seq::Activation::None);
    };
    Value value =
        model.activate(name + "i", each("i"), seq::Nonlinearity::Silu);
    auto one = [&](Value flat) {
      return model.reshape(name + "mixer", flat, {1, inner});
    };
    Value forget = one(each("f")), values = one(value);
    Value bound = lowerBound(model, name, layer);
    Value state = model.state(name + "mixer", {1, 1, inner});
    auto op = seq::HgrnOp::create(model.getBuilder(), model.at(name + "mixer"),
                                  values.getType(), state.getType(), values,
                                  forget, bound, state, /*form=*/nullptr);
    model.setNextState(op.getNextState());
    Value gate = model.project(name + "g", source + "g_proj", x, inner);
    Value y =
        normAndGate(model, name, source + "g_norm",
                    model.reshape(name + "mixer", op.getY(), {inner}), 1,
                    config.norm.epsilon, gate, seq::Nonlinearity::Silu, affine);
    return model.project(name + "o", source + "o_proj", y, config.width);
  };
  if (bounded && config.layers == 1)
    leaveAside(input, {"lower_bounds"});
  return buildFlash(config, input, mixer);
}
