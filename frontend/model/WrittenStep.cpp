#include "frontend/model/WrittenStep.h"

using namespace effc;
using namespace effc::frontend;
using mlir::Value;

WrittenStep::WrittenStep(ModelBuilder &model, const std::string &name,
                         Value like, llvm::ArrayRef<Value> tokens,
                         llvm::ArrayRef<Value> parameters,
                         llvm::ArrayRef<Value> states)
    : model(model), builder(model.getBuilder()), guard(builder),
      location(model.at(name)),
      op(seq::RecurrenceOp::create(builder, location, like.getType(),
                                   mlir::TypeRange(mlir::ValueRange(states)),
                                   tokens, parameters, states,
                                   /*form=*/nullptr)),
      tokens(tokens.size()), parameters(parameters.size()) {
  mlir::Block *body = builder.createBlock(&op.getBody());
  for (Value token : tokens) {
    mlir::RankedTensorType type = seq::typeOf(token);
    rows.push_back(body->addArgument(
        mlir::RankedTensorType::get(type.getShape().drop_front(),
                                    type.getElementType()),
        location));
  }
  for (llvm::ArrayRef<Value> values : {parameters, states})
    for (Value value : values)
      rows.push_back(body->addArgument(value.getType(), location));
}

Value WrittenStep::contract(Value left, llvm::StringRef leftMap, Value right,
                            llvm::StringRef rightMap, llvm::StringRef map) {
  return seq::ContractOp::create(builder, location, left, leftMap, right,
                                 rightMap, map);
}

Value WrittenStep::decay(Value step, Value rate, Value bias) {
  Value size = make<seq::SoftplusOp>(Value(make<seq::AddOp>(step, bias)));
  Value lost = make<seq::MulOp>(Value(make<seq::ExpOp>(rate)), size);
  return make<seq::ExpOp>(Value(make<seq::NegOp>(lost)));
}

Value WrittenStep::constant(double number, Value like) {
  return seq::ConstantOp::create(builder, location, number,
                                 seq::typeOf(like).getShape());
}

Value WrittenStep::finish(Value row, llvm::ArrayRef<Value> next) {
  llvm::SmallVector<Value> results = {row};
  llvm::append_range(results, next);
  seq::YieldOp::create(builder, location, results);
  builder.setInsertionPointAfter(op);
  for (Value state : op.getNextStates())
    model.setNextState(state);
  return op.getY();
}
