#include "frontend/model/Rwkv7.h"

using namespace effc;
using namespace effc::frontend;
using mlir::Value;

static Value emitUnitKeys(ModelBuilder &model, const Rwkv7Config &config,
                          const std::string &name, const Rwkv7Parts &parts) {
  std::string here = name + "kk";
  Value weighted = model.mul(here, parts.key,
                             model.broadcast(here, parts.keyWeight, parts.key));
  NormConfig length;
  length.epsilon = config.unitByRoot ? 1e-6 : 1e-12;
  return model.groupNorm(here, name, weighted, config.heads, /*size=*/0, length,
                         config.unitByRoot ? seq::NormMeasure::SumSquare
                                           : seq::NormMeasure::MaxLength);
}

static Value emitBonus(ModelBuilder &model, const Rwkv7Config &config,
                       const std::string &name, const std::string &tensor,
                       Value products, Value value) {
  std::string here = name + "bonus";
  WeightSource weight(tensor);
  weight.stored = {config.heads, config.keys};
  weight.derived = seq::DerivationAttr::get(model.getBuilder().getContext(),
                                            seq::DerivationRule::Repeated, 0);
  Value matrix =
      model.blocks(here, weight, config.heads, config.values, config.keys);
  Value sums = model.linear(
      here, model.reshape(here, products, {config.heads, config.keys}), matrix);
  return model.mul(here, model.reshape(here, sums, {config.inner()}), value);
}

Rwkv7Mixed effc::frontend::emitRwkv7(ModelBuilder &model,
                                     const Rwkv7Config &config,
                                     const std::string &name,
                                     const Rwkv7Parts &parts,
                                     const std::string &bonus) {
  auto keyed = [&](Value flat) {
    return model.reshape(name + "mixer", flat, {config.heads, config.keys});
  };
  Value corrected = emitUnitKeys(model, config, name, parts);
  // k + k (a - 1) k_a
  Value scaled =
      model.mul(name + "k", parts.key,
                model.broadcast(name + "k", parts.rateWeight, parts.key));
  Value key = model.add(
      name + "k", parts.key,
      model.sub(name + "k", model.mul(name + "k", scaled, parts.rate), scaled));
  Value values =
      model.reshape(name + "mixer", parts.value, {config.heads, config.values});
  Value state =
      model.state(name + "mixer", {config.heads, config.keys, config.values});
  auto op = seq::Rwkv7Op::create(
      model.getBuilder(), model.at(name + "mixer"), values.getType(),
      state.getType(), keyed(parts.read), keyed(parts.decay), keyed(key),
      values, keyed(corrected), keyed(parts.rate), state, /*form=*/nullptr);
  model.setNextState(op.getNextState());
  Value products = model.mul(name + "bonus", parts.read, key);
  return {model.reshape(name + "mixer", op.getY(), {config.inner()}),
          emitBonus(model, config, name, bonus, products, parts.value)};
}
