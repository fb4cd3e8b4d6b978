#include "frontend/model/InverseFunctions.h"

using namespace effc;
using namespace effc::frontend;
using mlir::Value;

// log(e^y - 1), as y + log(2 t / (1 + t)) with t = tanh(y / 2), which is precise
// for small y.
Value effc::frontend::beforeSoftplus(ModelBuilder &model,
                                     const std::string &name, Value y) {
  Value t = model.elementwise<seq::TanhOp>(name, model.scale(name, y, 0.5));
  Value twice = model.elementwise<seq::LogOp>(name, model.scale(name, t, 2));
  Value more = model.elementwise<seq::SoftplusOp>(
      name, model.elementwise<seq::LogOp>(name, t));
  return model.add(name, y, model.sub(name, twice, more));
}
