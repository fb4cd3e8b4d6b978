#include "passes/seq/RetrievalForms.h"

#include "dialects/seq/Seq.h"

using namespace mlir;

namespace effc::seq {

// Letters of contractions: t a token, h a head, i and j its keys on either
// axis, k a chosen row, u a hidden unit, d and o channels.

static ArrayRef<int64_t> shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

static Value reshape(OpBuilder &builder, Location loc, Value value,
                     ArrayRef<int64_t> shape) {
  if (shapeOf(value) == shape)
    return value;
  return ReshapeOp::create(builder, loc, value, shape);
}

// The scores as [T, axes, H, S], which those of one axis and head may lack.
static Value fullScores(OpBuilder &builder, Location loc, RetrievalAttr record,
                        Value scores) {
  ArrayRef<int64_t> shape = shapeOf(scores);
  return reshape(
      builder, loc, scores,
      {shape.front(), record.getAxes(), record.getHeads(), shape.back()});
}

// f(x), element by element.
static Value buildNonlinearity(OpBuilder &builder, Location loc,
                               Nonlinearity kind, Value x) {
  auto positive = [&]() -> Value {
    return ClampOp::create(builder, loc, x.getType(), x,
                           builder.getF64FloatAttr(0), FloatAttr());
  };
  switch (kind) {
  case Nonlinearity::Identity:
    return x;
  case Nonlinearity::Silu:
    return SiluOp::create(builder, loc, x);
  case Nonlinearity::Gelu:
    return GeluOp::create(builder, loc, x);
  case Nonlinearity::GeluTanh:
    return GeluTanhOp::create(builder, loc, x);
  case Nonlinearity::Relu:
    return positive();
  case Nonlinearity::SquaredRelu: {
    Value y = positive();
    return MulOp::create(builder, loc, y, y);
  }
  case Nonlinearity::Sigmoid:
    return SigmoidOp::create(builder, loc, x);
  }
  llvm_unreachable("a nonlinearity of no kind");
}

//===----------------------------------------------------------------------===//
// By pairs
//===----------------------------------------------------------------------===//

// The scores of all rows, [T, H, N].
static Value scoreAllRows(OpBuilder &builder, Location loc, Value scores) {
  ArrayRef<int64_t> shape = shapeOf(scores);
  int64_t tokens = shape[0], heads = shape[2], keys = shape[3];
  auto axis = [&](int64_t number) {
    Value slice = SliceOp::create(builder, loc, scores, /*axis=*/1, number, 1);
    return reshape(builder, loc, slice, {tokens, heads, keys});
  };
  if (shape[1] == 1)
    return axis(0);
  Value first = axis(0), second = axis(1);
  // Only the shape of the outer product is used.
  Value like =
      ContractOp::create(builder, loc, first, "thi", second, "thj", "thij");
  Value sums = AddOp::create(
      builder, loc, BroadcastOp::create(builder, loc, first, like, {0, 1, 2}),
      BroadcastOp::create(builder, loc, second, like, {0, 1, 3}));
  return reshape(builder, loc, sums, {tokens, heads, keys * keys});
}

// scores [T, K], each divided by the sum of its row and 1e-20.
static Value buildShares(OpBuilder &builder, Location loc, Value scores) {
  Value sum =
      ReduceOp::create(builder, loc, ReduceKind::Sum, scores, /*axis=*/1);
  auto along = [&](Value x, Value like, ArrayRef<int64_t> dimensions) {
    return BroadcastOp::create(builder, loc, x, like, dimensions);
  };
  Value least = ConstantOp::create(builder, loc, 1e-20, ArrayRef<int64_t>());
  sum = AddOp::create(builder, loc, sum, along(least, sum, {}));
  return DivOp::create(builder, loc, scores, along(sum, scores, {0}));
}

// The weights of the chosen of one head's scores [T, N], `chosen` [T, K].
static Value weigh(OpBuilder &builder, Location loc, RetrievalAttr record,
                   Value all, Value chosen, Value numbers) {
  switch (record.getWeighting()) {
  case RetrievalWeighting::Softmax:
    return SoftmaxOp::create(builder, loc, chosen);
  case RetrievalWeighting::SoftmaxAll:
    return TakeOp::create(builder, loc, SoftmaxOp::create(builder, loc, all),
                          numbers);
  case RetrievalWeighting::Sigmoid:
    return SigmoidOp::create(builder, loc, chosen);
  case RetrievalWeighting::Relu:
    return buildNonlinearity(builder, loc, Nonlinearity::Relu, chosen);
  case RetrievalWeighting::Score:
    return chosen;
  case RetrievalWeighting::Share:
    return buildShares(builder, loc, chosen);
  }
  llvm_unreachable("a weighting of no kind");
}

// What one head adds: `weights` and `numbers` are [T, K].
static Value buildHead(OpBuilder &builder, Location loc, RetrievalAttr record,
                       const RetrievalOperands &operands, Value weights,
                       Value numbers) {
  int64_t tokens = shapeOf(weights)[0], count = shapeOf(weights)[1];
  auto contract = [&](Value lhs, StringRef lhsLetters, Value rhs,
                      StringRef rhsLetters, StringRef out) -> Value {
    return ContractOp::create(builder, loc, lhs, lhsLetters, rhs, rhsLetters,
                              out);
  };
  auto gather = [&](Value table, int64_t block) -> Value {
    return GatherRowsOp::create(builder, loc, table, numbers, block);
  };
  auto gatherSingle = [&](Value table) {
    return reshape(builder, loc, gather(table, 1),
                   {tokens, count, shapeOf(table)[1]});
  };
  auto activate = [&](Value x) {
    return buildNonlinearity(builder, loc, record.getNonlinearity(), x);
  };
  if (record.getContent() == RetrievalContent::Row)
    return contract(weights, "tk", gatherSingle(operands.outer), "tkd", "td");
  if (record.getContent() == RetrievalContent::Neuron) {
    Value sum = contract(operands.input, "td", gatherSingle(operands.inner),
                         "tkd", "tk");
    Value hidden =
        record.getWeightInside()
            ? activate(MulOp::create(builder, loc, weights, sum))
            : Value(MulOp::create(builder, loc, weights, activate(sum)));
    return contract(hidden, "tk", gatherSingle(operands.outer), "tkd", "td");
  }
  int64_t units = shapeOf(operands.outer)[1];
  int64_t channels = shapeOf(operands.input)[1];
  Value rows = gather(operands.inner, 2 * units);
  auto half = [&](int64_t first) {
    Value part = SliceOp::create(builder, loc, rows, /*axis=*/2, first, units);
    return contract(operands.input, "td", part, "tkud", "tku");
  };
  Value hidden = MulOp::create(builder, loc, activate(half(0)), half(units));
  Value weighted = contract(weights, "tk", hidden, "tku", "tku");
  return contract(weighted, "tku", gather(operands.outer, channels), "tkou",
                  "to");
}

Value buildPairForm(OpBuilder &builder, Location loc, RetrievalAttr record,
                    const RetrievalOperands &operands) {
  Value scores = fullScores(builder, loc, record, operands.scores);
  int64_t tokens = shapeOf(scores)[0], count = record.getTopK();
  Value all = scoreAllRows(builder, loc, scores), order;
  if (operands.order)
    order = scoreAllRows(builder, loc,
                         fullScores(builder, loc, record, operands.order));
  auto headOf = [&](Value rows, int64_t head) {
    return reshape(builder, loc,
                   SliceOp::create(builder, loc, rows, /*axis=*/1, head, 1),
                   {tokens, shapeOf(rows)[2]});
  };
  Value result;
  for (int64_t head = 0; head < record.getHeads(); ++head) {
    Value own = headOf(all, head);
    auto chosen =
        TopKOp::create(builder, loc, order ? headOf(order, head) : own, count);
    Value numbers = chosen.getNumbers();
    Value scores = order ? Value(TakeOp::create(builder, loc, own, numbers))
                         : chosen.getValues();
    Value weights = weigh(builder, loc, record, own, scores, numbers);
    Value y = buildHead(builder, loc, record, operands, weights, numbers);
    result = result ? Value(AddOp::create(builder, loc, result, y)) : y;
  }
  return result;
}

//===----------------------------------------------------------------------===//
// By candidates
//===----------------------------------------------------------------------===//

Value buildCandidateForm(OpBuilder &builder, Location loc, RetrievalAttr record,
                         const RetrievalOperands &operands) {
  Value scores = fullScores(builder, loc, record, operands.scores), order;
  if (operands.order)
    order = fullScores(builder, loc, record, operands.order);
  auto chosen = ChooseRowsOp::create(builder, loc, scores, order,
                                     record.getTopK(), record.getWeighting());
  Value weights = chosen.getWeights(), rows = chosen.getRows();
  if (record.getContent() == RetrievalContent::Row)
    return SumRowsOp::create(builder, loc, weights, rows, operands.outer);
  bool neuron = record.getContent() == RetrievalContent::Neuron;
  SmallVector<int64_t> shape(shapeOf(weights));
  shape.push_back(neuron ? 1 : shapeOf(operands.outer)[1]);
  Value hidden = ExpertHiddenOp::create(
      builder, loc, RankedTensorType::get(shape, builder.getF32Type()),
      operands.input, weights, rows, operands.inner, record.getNonlinearity(),
      /*gated=*/!neuron, record.getWeightInside());
  if (neuron)
    return SumRowsOp::create(builder, loc,
                             reshape(builder, loc, hidden, shapeOf(weights)),
                             rows, operands.outer);
  return ExpertOutputOp::create(builder, loc, operands.input.getType(), hidden,
                                rows, operands.outer);
}

void expandRetrieval(MixerOpInterface op, FormKind kind) {
  OpBuilder builder(op);
  RetrievalAttr record = op.getStructure().getRetrieval();
  Value y = (kind == FormKind::Quadratic ? buildPairForm : buildCandidateForm)(
      builder, op->getLoc(), record, op.getRetrievalOperands());
  op->getResult(0).replaceAllUsesWith(y);
  op->erase();
}

} // namespace effc::seq
