// The token map of a mixer -> written steps without a state, one for each quantity:
//
//   %bias = seq.broadcast %dt_bias along %dt      (the map, built aside on [T, ...])
//   %log_decay = ... %a_log ... %dt ... %bias
//
// becomes, in front of the mixer,
//
//   %log_decay = seq.recurrence tokens(%d = %dt) parameters(%a = %a_log, %b = %dt_bias)
//       states() { ... the same without T ... }
//
// so that what follows from parameters alone, as the rate of a decay, has a place. A step
// gets no positions: whether a token is at position 0 is a token operand, which
// `seq.at_start` gives in front of it.
#include "compiler/MixerQuantities.h"

#include "compiler/ModelLayers.h"
#include "dialects/seq/CanonicalQuantities.h"
#include "dialects/seq/OpKinds.h"
#include "dialects/seq/Seq.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace effc;

using NamedQuantities = SmallVector<std::pair<StringRef, Value>>;

/// All of them, as their members in the words of operands; null where absent.
static NamedQuantities nameAll(const seq::CanonicalQuantities &all,
                               MLIRContext *context) {
  NamedQuantities named = {{"query", all.query},
                           {"key", all.key},
                           {"value", all.value},
                           {"log_decay", all.logDecay},
                           {"value_log_decay", all.valueLogDecay},
                           {"turn", all.turn},
                           {"turn_imaginary", all.turnImaginary},
                           {"query_imaginary", all.queryImaginary},
                           {"key_imaginary", all.keyImaginary},
                           {"bonus_key", all.bonusKey},
                           {"probe", all.probe},
                           {"erase", all.erase},
                           {"erase_scale", all.eraseScale},
                           {"weight", all.weight},
                           {"sum_query", all.sumQuery},
                           {"sum_key", all.sumKey},
                           {"log_gate", all.logGate}};
  for (auto [i, write] : llvm::enumerate(all.laterWrites))
    for (auto [name, value] : {std::pair("key", write.key),
                               {"value", write.value},
                               {"probe", write.probe},
                               {"erase_scale", write.eraseScale}})
      named.push_back(
          {StringAttr::get(context, name + Twine("_") + Twine(i + 2))
               .getValue(),
           value});
  return named;
}

/// Whether a value of the map has a row for each token: no other dimension is dynamic.
static bool hasTokens(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  return type.getRank() > 0 && type.isDynamicDim(0);
}

/// Of one token.
static RankedTensorType tokenType(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  return hasTokens(value) ? type.clone(type.getShape().drop_front()) : type;
}

namespace {

/// A token map, built aside, and its parts as steps in front of the mixer.
class QuantitySteps {
public:
  explicit QuantitySteps(seq::MixerOpInterface mixer);

  NamedQuantities build();

private:
  Value computeInFront(StringRef name, Value quantity);
  Value computeStart(seq::AtStartOp op);
  /// The op of one token for an op of all; null where a step may hold none such.
  static Value copy(OpBuilder &builder, Operation *op, IRMapping &rows);
  static Value copy(OpBuilder &builder, seq::BroadcastOp op, IRMapping &rows);
  static Value copy(OpBuilder &builder, seq::ContractOp op, IRMapping &rows);

  Operation *mixer;
  SmallVector<Value> operands; // tokens, then parameters: the map's arguments
  size_t tokens;               // of the operands
  Value start; // 1 where a sequence begins, once it was asked for
  Region aside;
  seq::CanonicalQuantities quantities;
};

} // namespace

QuantitySteps::QuantitySteps(seq::MixerOpInterface mixer)
    : mixer(mixer.getOperation()) {
  auto stateful = cast<seq::StatefulOpInterface>(this->mixer);
  operands = stateful.getOperandsOf(seq::OperandRole::Token);
  tokens = operands.size();
  llvm::append_range(operands,
                     stateful.getOperandsOf(seq::OperandRole::Parameter));
  OpBuilder builder(mixer->getContext());
  Block *block = builder.createBlock(&aside);
  SmallVector<Value> arguments;
  for (Value operand : operands)
    arguments.push_back(block->addArgument(operand.getType(), mixer->getLoc()));
  quantities = mixer.buildTokenMap(builder, mixer->getLoc(),
                                   ArrayRef(arguments).take_front(tokens),
                                   ArrayRef(arguments).drop_front(tokens));
}

NamedQuantities QuantitySteps::build() {
  NamedQuantities named;
  for (auto [name, quantity] : nameAll(quantities, mixer->getContext()))
    if (quantity)
      if (Value value = computeInFront(name, quantity))
        named.push_back({name, value});
  return named;
}

Value QuantitySteps::computeInFront(StringRef name, Value quantity) {
  auto argument = dyn_cast<BlockArgument>(quantity);
  if (argument && argument.getArgNumber() < tokens)
    return operands[argument.getArgNumber()];

  llvm::SetVector<Value> needed;
  needed.insert(quantity);
  SmallVector<Value> inputs[2]; // tokens, parameters
  SmallVector<Value> arguments; // what they stand for in the map
  for (size_t i = 0; i < needed.size(); ++i) {
    Operation *maker = needed[i].getDefiningOp();
    if (auto start = dyn_cast_or_null<seq::AtStartOp>(maker)) {
      inputs[0].push_back(computeStart(start));
      arguments.push_back(start.getY());
    } else if (maker) {
      needed.insert_range(maker->getOperands());
    }
  }
  auto take = [&](BlockArgument each) {
    unsigned number = each.getArgNumber();
    inputs[number < tokens ? 0 : 1].push_back(operands[number]);
    arguments.push_back(each);
  };
  for (BlockArgument each : aside.getArguments())
    if (needed.contains(each))
      take(each);
  // How many rows there are, any of them says.
  if (inputs[0].empty())
    for (BlockArgument each : aside.getArguments().take_front(tokens))
      if (seq::isValueTensor(each.getType())) {
        inputs[0].push_back(operands[each.getArgNumber()]);
        arguments.insert(arguments.begin(), each);
        break;
      }
  if (inputs[0].empty() || !llvm::all_of(inputs[0], [](Value input) {
        return seq::isValueTensor(input.getType());
      }))
    return {};

  OpBuilder builder(mixer);
  std::string place = (partOf(mixer) + ":" + name).str();
  Location loc = NameLoc::get(builder.getStringAttr(place), mixer->getLoc());
  RankedTensorType row = tokenType(quantity);
  SmallVector<int64_t> shape(row.getShape());
  shape.insert(shape.begin(), ShapedType::kDynamic);
  auto step = seq::RecurrenceOp::create(builder, loc, row.clone(shape),
                                        TypeRange(), inputs[0], inputs[1],
                                        ValueRange(), /*form=*/nullptr);
  builder.createBlock(&step.getBody());
  IRMapping rows;
  for (Value each : arguments)
    rows.map(each, step.getBody().addArgument(tokenType(each), loc));
  for (Operation &op : aside.front()) {
    if (!needed.contains(op.getResult(0)) || rows.contains(op.getResult(0)))
      continue;
    Value copied = copy(builder, &op, rows);
    if (!copied) {
      step.erase();
      return {};
    }
    rows.map(op.getResult(0), copied);
  }
  seq::YieldOp::create(builder, loc, SmallVector<Value>{rows.lookup(quantity)});
  return step.getY();
}

Value QuantitySteps::computeStart(seq::AtStartOp op) {
  if (start)
    return start;
  auto positions = cast<BlockArgument>(op.getPositions());
  OpBuilder builder(mixer);
  std::string place = (partOf(mixer) + ":at_start").str();
  start = seq::AtStartOp::create(
      builder, NameLoc::get(builder.getStringAttr(place), mixer->getLoc()),
      operands[positions.getArgNumber()]);
  return start;
}

Value QuantitySteps::copy(OpBuilder &builder, Operation *op, IRMapping &rows) {
  if (auto broadcast = dyn_cast<seq::BroadcastOp>(op))
    return copy(builder, broadcast, rows);
  if (auto contract = dyn_cast<seq::ContractOp>(op))
    return copy(builder, contract, rows);
  if (!seq::isElementwiseOp(op) && !isa<seq::ConstantOp>(op))
    return {};
  Operation *copied = builder.clone(*op, rows);
  copied->getResult(0).setType(tokenType(op->getResult(0)));
  return copied->getResult(0);
}

Value QuantitySteps::copy(OpBuilder &builder, seq::BroadcastOp op,
                          IRMapping &rows) {
  Value x = rows.lookup(op.getX()), like = rows.lookup(op.getLike());
  // Repeated along the tokens alone.
  if (x.getType() == like.getType())
    return x;
  SmallVector<int64_t> dimensions(op.getDimensions());
  if (hasTokens(op.getX()))
    dimensions.erase(dimensions.begin());
  if (hasTokens(op.getLike()))
    for (int64_t &dimension : dimensions)
      --dimension;
  return seq::BroadcastOp::create(builder, op.getLoc(), x, like, dimensions);
}

Value QuantitySteps::copy(OpBuilder &builder, seq::ContractOp op,
                          IRMapping &rows) {
  SmallVector<AffineMap, 3> maps = op.getMaps();
  std::optional<AffineExpr> token;
  if (hasTokens(op.getOut()))
    token = maps[2].getResult(0);
  std::string letters[3]; // without the tokens'
  for (auto [text, map] : llvm::zip_equal(letters, maps))
    for (AffineExpr dimension : map.getResults())
      if (dimension != token)
        text += char('A' + cast<AffineDimExpr>(dimension).getPosition());
  Value lhs = rows.lookup(op.getLhs()), rhs = rows.lookup(op.getRhs());
  // A sum over the tokens is no step's.
  for (auto [input, text] : {std::pair(lhs, &letters[0]), {rhs, &letters[1]}})
    if (cast<RankedTensorType>(input.getType()).getRank() !=
        int64_t(text->size()))
      return {};
  return seq::ContractOp::create(builder, op.getLoc(), lhs, letters[0], rhs,
                                 letters[1], letters[2]);
}

SmallVector<std::pair<StringRef, Value>>
effc::computeQuantities(seq::MixerOpInterface mixer) {
  if (mixer.getStructure().getMixerClass() != seq::MixerClass::Linear ||
      !hasTokens(mixer->getResult(0)))
    return {};
  return QuantitySteps(mixer).build();
}
