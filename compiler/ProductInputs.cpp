#include "compiler/ProductInputs.h"

#include "compiler/HiddenRows.h"
#include "compiler/ModelLayers.h"
#include "compiler/NamedRows.h"
#include "passes/seq/Head.h"
#include "runtime/include/effc/product_inputs.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace effc;

namespace {

/// A value, and the matrices that are multiplied by it.
struct Input {
  std::vector<std::string> names;
  Value value;

  NamedValue named(StringRef suffix) const {
    return {llvm::join(names, EFFC_INPUT_SEPARATOR) + suffix.str(), value};
  }
};

/// Each value once, in the order in which they are read first.
class InputList {
public:
  void add(std::string name, Value value) {
    // A file's names have at most 4,096 bytes (runtime/src/Limits.h), a suffix among
    // them. Many matrices of one value may have more together.
    constexpr size_t kMostBytes = 4096 - 96;
    for (Input &input : inputs) {
      if (input.value != value)
        continue;
      if (llvm::is_contained(input.names, name))
        return;
      size_t size = name.size();
      for (const std::string &other : input.names)
        size += other.size() + 1;
      if (size > kMostBytes)
        continue;
      input.names.push_back(std::move(name));
      return;
    }
    inputs.push_back({{std::move(name)}, value});
  }

  std::vector<Input> inputs;
};

/// Collects values with their names, and makes those that no op gives.
class ProductInputs {
public:
  ProductInputs(ModuleOp module, func::FuncOp forward,
                const frontend::EntryNames &names)
      : module(module), names(names),
        builder(forward.getBody().front().getTerminator()) {
    for (Operation *op :
         collectHead(forward.getBody().front().getTerminator()->getOperand(0)))
      head.insert(op);
    SmallVector<Operation *> ops;
    for (Operation &op : forward.getBody().front().without_terminator())
      ops.push_back(&op);
    for (Operation *op : ops)
      addInputsOf(op);
    for (const Input &input : dense.inputs)
      values.push_back(input.named(EFFC_INPUT_SUFFIX));
    for (auto &[rows, group] : groups)
      addGroup(group);
  }

  std::vector<NamedValue> values;
  /// Weights whose products are not known here, each once.
  llvm::MapVector<StringRef, Operation *> others;
  /// Weights that are computed, each once.
  llvm::MapVector<StringRef, Operation *> computed;
  /// A name that would be taken for several; empty: there is none.
  std::string misread;

private:
  /// Products of experts that were chosen together.
  struct Group {
    std::string part;
    Value scores; // [T,E]
    InputList list;
    llvm::MapVector<StringRef, Operation *> readers; // of the weights
  };

  /// The matrix that `op` multiplies by. Null: what is computed is never rounded, so
  /// importance is nothing to it.
  seq::WeightOp weightOf(Operation *op, Value operand) {
    auto parameter = operand.getDefiningOp<seq::ParameterOp>();
    if (!parameter)
      return {};
    auto weight = module.lookupSymbol<seq::WeightOp>(parameter.getWeight());
    if (!weight || !weight.getComputed())
      return weight;
    computed.insert({weight.getSymName(), op});
    return {};
  }

  void addTo(InputList &list, std::vector<std::string> given, Value value) {
    for (std::string &name : given) {
      if (StringRef(name).contains(EFFC_INPUT_SEPARATOR))
        misread = name;
      list.add(std::move(name), value);
    }
  }

  void addInputsOf(Operation *op) {
    if (head.contains(op) || isa<seq::LmHeadOp, seq::EmbeddingOp>(op))
      return;
    if (auto linear = dyn_cast<seq::LinearOp>(op)) {
      if (seq::WeightOp weight = weightOf(op, linear.getWeight())) {
        Value x = asDense(linear.getX());
        addTo(dense, names.ofMatrix(weight), x);
      }
    } else if (auto experts = dyn_cast<seq::RoutedExpertsOp>(op)) {
      addRouted(experts);
    } else if (auto hidden = dyn_cast<seq::ExpertHiddenOp>(op)) {
      // The rows of a bias have one column.
      if (hidden.getX().getType().getDimSize(1) > 1)
        addToGroup(op, hidden.getRows(), hidden.getTable(), hidden.getX());
    } else if (auto output = dyn_cast<seq::ExpertOutputOp>(op)) {
      addToGroup(op, output.getRows(), output.getTable(),
                 withoutWeights(output));
    } else if (isa<seq::KeyScoresOp, seq::ProductKeyExpertsOp,
                   seq::ProductKeyMemoryOp>(op)) {
      for (Value operand : op->getOperands())
        if (seq::WeightOp weight = weightOf(op, operand))
          others.insert({weight.getSymName(), op});
    }
  }

  /// The channels of heads that were cut out lie apart, and rows want them side by
  /// side: a kernel writes them so.
  Value asDense(Value value) {
    bool isCut = value.getDefiningOp<seq::SliceOp>() &&
                 cast<RankedTensorType>(value.getType()).getRank() > 2;
    if (!isCut)
      return value;
    Value &written = sideBySide[value];
    if (!written)
      written = seq::ScaleOp::create(builder, value.getLoc(), value, 1);
    return written;
  }

  /// [T,1,1,E], as choices want them.
  Value ofOneHead(Value scores) {
    int64_t experts =
        cast<RankedTensorType>(scores.getType()).getShape().back();
    return seq::ReshapeOp::create(
        builder, scores.getLoc(), scores,
        ArrayRef<int64_t>{ShapedType::kDynamic, 1, 1, experts});
  }

  /// As many ones as `weights` has numbers.
  Value onesLike(Value weights) {
    FloatAttr one = builder.getF64FloatAttr(1);
    return seq::ClampOp::create(builder, weights.getLoc(), weights.getType(),
                                weights, one, one);
  }

  /// The units of experts before the weights of the experts come in, where these are
  /// factors of the units.
  Value withoutWeights(seq::ExpertOutputOp output) {
    Value hidden = output.getHidden();
    auto chosen = output.getRows().getDefiningOp<seq::ChooseRowsOp>();
    if (!chosen)
      return hidden;
    if (auto units = hidden.getDefiningOp<seq::ExpertHiddenOp>()) {
      if (units.getWeightInside() || units.getWeights() != chosen.getWeights())
        return hidden;
      return seq::ExpertHiddenOp::create(
          builder, units.getLoc(), units.getType(), units.getX(),
          onesLike(units.getWeights()), units.getRows(), units.getTable(),
          units.getNonlinearity(), units.getGated(), /*weight_inside=*/false);
    }
    if (auto product = hidden.getDefiningOp<seq::MulOp>())
      for (auto [factor, other] :
           {std::pair(product->getOperand(1), product->getOperand(0)),
            std::pair(product->getOperand(0), product->getOperand(1))})
        if (auto spread = factor.getDefiningOp<seq::BroadcastOp>())
          if (spread->getOperand(0) == chosen.getWeights())
            return other;
    return hidden;
  }

  /// The hidden units are computed again, with weights of 1.
  void addRouted(seq::RoutedExpertsOp op) {
    Location loc = op.getLoc();
    Value order = op.getOrder();
    auto chosen = seq::ChooseRowsOp::create(
        builder, loc, ofOneHead(op.getLogits()),
        order ? ofOneHead(order) : Value(), op.getTopK(), op.getWeighting());
    Value ones = onesLike(chosen.getWeights());
    auto type =
        RankedTensorType::get({ShapedType::kDynamic, int64_t(op.getTopK()),
                               op.getDown().getType().getDimSize(1)},
                              builder.getF32Type());
    Value hidden = seq::ExpertHiddenOp::create(
        builder, loc, type, op.getX(), ones, chosen.getRows(), op.getGateUp(),
        op.getNonlinearity(), /*gated=*/true, /*weight_inside=*/false);
    addToGroup(op, chosen.getRows(), op.getGateUp(), op.getX());
    addToGroup(op, chosen.getRows(), op.getDown(), hidden);
  }

  void addToGroup(Operation *op, Value rows, Value table, Value input) {
    seq::WeightOp weight = weightOf(op, table);
    if (!weight)
      return;
    auto chosen = rows.getDefiningOp<seq::ChooseRowsOp>();
    Value scores;
    if (chosen)
      scores = chosen.getOrder() ? Value(chosen.getOrder())
                                 : Value(chosen.getScores());
    auto type =
        scores ? cast<RankedTensorType>(scores.getType()) : RankedTensorType();
    if (!type || type.getDimSize(1) != 1 || type.getDimSize(2) != 1) {
      others.insert({weight.getSymName(), op});
      return;
    }
    Group &group = groups[rows];
    if (!group.scores) {
      group.part = partOf(op).str();
      group.scores = seq::ReshapeOp::create(
          builder, op->getLoc(), scores,
          ArrayRef<int64_t>{ShapedType::kDynamic, type.getDimSize(3)});
    }
    group.readers.insert({weight.getSymName(), op});
    // Gates and ups of one tensor are two products, and one entry.
    addTo(group.list, names.ofExperts(weight), input);
  }

  void addGroup(Group &group) {
    // One of them says how many experts a token takes.
    bool hasSlots = llvm::any_of(group.list.inputs, [](const Input &input) {
      return cast<RankedTensorType>(input.value.getType()).getRank() == 3;
    });
    if (!hasSlots) {
      for (auto &reader : group.readers)
        others.insert(reader);
      return;
    }
    values.push_back({group.part + EFFC_EXPERT_SCORES_SUFFIX, group.scores});
    for (const Input &input : group.list.inputs)
      values.push_back(input.named(EFFC_EXPERT_INPUT_SUFFIX));
  }

  ModuleOp module;
  const frontend::EntryNames &names;
  OpBuilder builder;
  llvm::DenseSet<Operation *> head;
  llvm::DenseMap<Value, Value> sideBySide; // of values that are cut out
  InputList dense;
  llvm::MapVector<Value, Group> groups; // by the rows chosen
};

} // namespace

llvm::Error effc::giveProductInputs(ModuleOp module,
                                    const frontend::EntryNames &names,
                                    frontend::Remarks &remarks) {
  llvm::Expected<func::FuncOp> forward = findForward(module);
  if (!forward)
    return forward.takeError();
  ProductInputs inputs(module, *forward, names);
  if (!inputs.misread.empty())
    return llvm::createStringError(
        "--product-inputs: expects names of matrices without "
        "'" EFFC_INPUT_SEPARATOR "', which stands between names, but got '" +
        inputs.misread + "'");
  if (inputs.values.empty())
    return llvm::createStringError(
        "--product-inputs: the model has no product with a matrix of weights");
  for (auto &[weight, op] : inputs.others)
    remarks.push_back(("nothing is gathered of matrix '" + weight +
                       "', which " + describeOp(op) + " reads")
                          .str());
  for (auto &[weight, op] : inputs.computed)
    remarks.push_back(("nothing is gathered of matrix '" + weight +
                       "', which follows from the configuration and is not "
                       "rounded; " +
                       describeOp(op) + " reads it")
                          .str());
  return giveNamedRows(*forward, inputs.values, "--product-inputs");
}
