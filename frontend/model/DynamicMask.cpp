#include "frontend/model/DynamicMask.h"

using namespace effc;
using namespace effc::frontend;
using mlir::Value;

Value effc::frontend::keyNumbers(ModelBuilder &model, const std::string &name,
                                 Value step, Value rate) {
  Value positive = model.elementwise<seq::SoftplusOp>(name, step);
  return model.elementwise<seq::ExpOp>(
      name, model.mul(name, positive, model.broadcast(name, rate, positive)));
}
