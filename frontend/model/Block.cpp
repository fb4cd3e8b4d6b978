#include "frontend/model/Block.h"

using namespace effc::frontend;
using mlir::Value;

static Value emitHalf(ModelBuilder &model, const std::string &name,
                      BlockOrder order, EmitPart norm, EmitPart part, Value x) {
  if (order == BlockOrder::NormLast)
    return norm(model.add(name, x, part(x)));
  Value normed = norm(x);
  return model.add(name, order == BlockOrder::NormedTokens ? normed : x,
                   part(normed));
}

Value effc::frontend::emitBlock(ModelBuilder &model, const std::string &name,
                                BlockOrder order, const BlockParts &parts,
                                Value x) {
  std::string first = name + "mixer_residual", second = name + "mlp_residual";
  if (order == BlockOrder::Parallel) {
    Value mixed = parts.mixer(parts.mixerNorm(x));
    Value inner = parts.mlp(parts.mlpNorm(x));
    return model.add(second, model.add(first, x, mixed), inner);
  }
  x = emitHalf(model, first, order, parts.mixerNorm, parts.mixer, x);
  return emitHalf(model, second, order, parts.mlpNorm, parts.mlp, x);
}
