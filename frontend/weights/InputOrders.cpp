#include "frontend/weights/InputOrders.h"

#include "dialects/seq/OpKinds.h"
#include "dialects/seq/Remarks.h"
#include "frontend/quantised/InputOrder.h"
#include "frontend/weights/Weights.h"

#include "mlir/IR/Builders.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSet.h"

using namespace effc;
using namespace effc::frontend;
using llvm::StringRef;
using mlir::RankedTensorType;
using mlir::Value;

namespace {

class InputOrdering {
public:
  InputOrdering(mlir::ModuleOp module, Checkpoint &checkpoint)
      : module(module), checkpoint(checkpoint) {
    module.walk(
        [&](seq::ParameterOp use) { uses[use.getWeight()].push_back(use); });
  }

  /// Whether the tensors of a weight have inputs in an order of their own.
  bool isOrdered(seq::WeightOp weight) const;
  /// Whether the products that read it can have rows in order.
  bool canOrder(seq::WeightOp weight) const;
  llvm::Error order(seq::WeightOp weight);

private:
  llvm::Expected<Value> ordered(mlir::Operation *product, StringRef matrix);

  mlir::ModuleOp module;
  Checkpoint &checkpoint;
  llvm::StringMap<llvm::SmallVector<seq::ParameterOp>> uses;
  /// Of rows, the orders that they have been brought into.
  struct Ordered {
    StringRef order; ///< the name of its tensor
    Value rows;
  };
  llvm::DenseMap<Value, llvm::SmallVector<Ordered>> known;
};

} // namespace

bool InputOrdering::isOrdered(seq::WeightOp weight) const {
  return !weight.getComputed() &&
         llvm::any_of(weight.getSources(), [&](StringRef source) {
           return checkpoint.has(inGroupsName(source));
         });
}

bool InputOrdering::canOrder(seq::WeightOp weight) const {
  if (weight.getFurther() || weight.getStored() || weight.getDerived() ||
      weight.getTransposed() ||
      llvm::cast<RankedTensorType>(weight.getType()).getRank() != 2)
    return false;
  auto found = uses.find(weight.getSymName());
  return found != uses.end() &&
         llvm::all_of(found->second, [](seq::ParameterOp parameter) {
           return llvm::all_of(parameter->getUses(), [](mlir::OpOperand &use) {
             return seq::isProductOfRows(use.getOwner()) &&
                    use.getOperandNumber() == 1;
           });
         });
}

/// What a product reads, in the order of the inputs of `matrix`.
llvm::Expected<Value> InputOrdering::ordered(mlir::Operation *product,
                                             StringRef matrix) {
  Value rows = product->getOperand(0);
  std::string order = inputOrderName(matrix);
  for (const Ordered &other : known[rows]) {
    auto same = checkpoint.areEqual(other.order, order);
    if (!same)
      return same.takeError();
    if (*same)
      return other.rows;
  }
  StringRef name = checkpoint.find(order)->entry->name;
  mlir::OpBuilder builder(module.getContext());
  auto parameter = product->getOperand(1).getDefiningOp<seq::ParameterOp>();
  auto matrixOp = module.lookupSymbol<seq::WeightOp>(parameter.getWeight());
  std::string symbol = (parameter.getWeight() + ".input_order").str();
  auto type = RankedTensorType::get(
      {llvm::cast<RankedTensorType>(rows.getType()).getDimSize(1)},
      builder.getF32Type());
  if (!module.lookupSymbol(symbol)) {
    builder.setInsertionPoint(matrixOp);
    auto weight = seq::WeightOp::create(
        builder, matrixOp.getLoc(), symbol, name, type, /*further=*/nullptr,
        /*stored=*/nullptr, /*rows=*/nullptr, /*derived=*/nullptr,
        /*transposed=*/false, /*computed=*/nullptr);
    weight.setChannelOrder(true);
    if (llvm::Error error = checkWeight(weight, checkpoint))
      return std::move(error);
    checkpoint.take(name);
  }
  builder.setInsertionPointAfterValue(rows);
  mlir::Location loc = product->getLoc();
  Value numbers = seq::ParameterOp::create(builder, loc, type, symbol);
  Value y = seq::PermuteChannelsOp::create(builder, loc, rows.getType(), rows,
                                           numbers);
  known[rows].push_back({name, y});
  return y;
}

llvm::Error InputOrdering::order(seq::WeightOp weight) {
  std::string source = weight.getSource().str(), blocks = inGroupsName(source);
  mlir::Type element = checkpoint.find(blocks)
                           ->entry->type.getStorage(module.getContext())
                           ->type();
  auto type = RankedTensorType::get(
      llvm::cast<RankedTensorType>(weight.getType()).getShape(), element);
  weight.setSource(blocks);
  weight.setType(type);
  if (llvm::Error error = checkWeight(weight, checkpoint))
    return error;
  checkpoint.take(blocks);
  for (seq::ParameterOp parameter : uses.lookup(weight.getSymName())) {
    parameter.getResult().setType(type);
    for (mlir::Operation *product : parameter->getUsers()) {
      auto rows = ordered(product, source);
      if (!rows)
        return rows.takeError();
      product->setOperand(0, *rows);
    }
  }
  return llvm::Error::success();
}

static std::string countMatrices(size_t count) {
  return std::to_string(count) +
         (count == 1 ? " quantised matrix is" : " quantised matrices are");
}

llvm::Error effc::frontend::orderInputs(mlir::ModuleOp module,
                                        Checkpoint &checkpoint, bool isTyped,
                                        Remarks &remarks) {
  constexpr StringRef kOrder = "an order of activations ('desc_act')";
  InputOrdering inputs(module, checkpoint);
  llvm::StringSet<> wide; // tensors, of which several weights may have rows
  llvm::MapVector<StringRef, size_t> storages;
  for (auto weight :
       llvm::make_early_inc_range(module.getOps<seq::WeightOp>())) {
    if (!inputs.isOrdered(weight))
      continue;
    if (isTyped || !inputs.canOrder(weight)) {
      for (StringRef source : weight.getSources())
        wide.insert(source);
      continue;
    }
    if (llvm::Error error = inputs.order(weight))
      return error;
    ++storages[checkpoint.find(weight.getSource())->entry->type.getName()];
  }
  for (const auto &[storage, count] : storages)
    remarks.push_back(countMatrices(count) + " read as " + storage.str() +
                      ", number for number, and what they are multiplied by "
                      "comes in " +
                      kOrder.str());
  if (wide.empty())
    return llvm::Error::success();
  std::string is =
      countMatrices(wide.size()) + " read as f32, number for number";
  if (isTyped)
    remarks.push_back(is + ", which --weights-type rounds: inputs in " +
                      kOrder.str() + " are multiplied where they are");
  else
    remarks.push_back(
        seq::kFallbackRemark.str() + is + ": groups of inputs in " +
        kOrder.str() +
        " have no blocks where several tensors are joined to one, as experts "
        "are; --weights-type gives them fewer bits");
  return llvm::Error::success();
}
