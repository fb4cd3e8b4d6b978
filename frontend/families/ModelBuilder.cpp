#include "frontend/families/ModelBuilder.h"

#include "frontend/Weights.h"
#include "frontend/checkpoint/Refusal.h"

#include "mlir/IR/Verifier.h"

using namespace effc;
using namespace effc::frontend;
using mlir::RankedTensorType;
using mlir::ShapedType;
using mlir::Value;

static RankedTensorType typeOf(Value value) {
  return llvm::cast<RankedTensorType>(value.getType());
}

ModelBuilder::ModelBuilder(FamilyInput &input, llvm::StringRef family,
                           int64_t vocabulary, int64_t width)
    : input(input), builder(input.context) {
  module = mlir::ModuleOp::create(at(family));
  (*module)->setAttr("seq.model",
                     seq::ModelAttr::get(input.context, family, vocabulary,
                                         width, /*max_context=*/0));
  builder.setInsertionPointToEnd(module->getBody());
  RankedTensorType indices =
      RankedTensorType::get({ShapedType::kDynamic}, builder.getI32Type());
  function = mlir::func::FuncOp::create(
      builder, at("forward"), "forward",
      builder.getFunctionType({indices, indices}, {}));
  builder.setInsertionPointToStart(function.addEntryBlock());
}

mlir::Location ModelBuilder::at(const llvm::Twine &name) {
  return mlir::NameLoc::get(builder.getStringAttr(name));
}

RankedTensorType ModelBuilder::tokenType(llvm::ArrayRef<int64_t> inner) {
  llvm::SmallVector<int64_t> shape = {ShapedType::kDynamic};
  shape.append(inner.begin(), inner.end());
  return RankedTensorType::get(shape, builder.getF32Type());
}

//===----------------------------------------------------------------------===//
// Weights and states
//===----------------------------------------------------------------------===//

void ModelBuilder::declare(const llvm::Twine &name, const llvm::Twine &source,
                           llvm::ArrayRef<int64_t> shape, mlir::Type element,
                           bool transposed) {
  std::string symbol = name.str();
  mlir::OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(function);
  auto weight =
      seq::WeightOp::create(builder, at(symbol), symbol, source.str(),
                            RankedTensorType::get(shape, element), transposed,
                            /*computed=*/nullptr);
  weights[symbol] = weight;
  if (problem.empty())
    take(weight);
}

/// Checks a weight against the checkpoint and marks its tensor as read.
void ModelBuilder::take(seq::WeightOp weight) {
  std::string type;
  llvm::raw_string_ostream(type)
      << llvm::cast<RankedTensorType>(weight.getType()).getElementType();
  std::string is = (" is @" + weight.getSymName() + " in " + type +
                    (weight.getTransposed() ? ", transposed" : ""))
                       .str();
  if (!input.checkpoint.hasWeights()) {
    input.remarks.push_back("tensor " + quote(weight.getSource()) +
                            " (of the configuration's shape)" + is);
    return;
  }
  if (llvm::Error error = checkWeight(weight, input.checkpoint)) {
    problem = llvm::toString(std::move(error));
    return;
  }
  input.checkpoint.take(weight.getSource());
  const SafetensorsEntry *entry =
      input.checkpoint.find(weight.getSource())->entry;
  input.remarks.push_back("tensor " + quote(entry->name) + " (" +
                          describeShape(entry->shape) + " " +
                          getName(entry->type).str() + ")" + is);
}

mlir::Type ModelBuilder::getMatrixElement(llvm::StringRef source) {
  auto typeOf = [&](WeightType type) -> mlir::Type {
    switch (type) {
    case WeightType::F32:
      return builder.getF32Type();
    case WeightType::BF16:
      return builder.getBF16Type();
    case WeightType::F16:
      return builder.getF16Type();
    }
    llvm_unreachable("every type is listed");
  };
  if (input.dtype)
    return typeOf(*input.dtype);
  const CheckpointTensor *tensor = input.checkpoint.find(source);
  if (tensor && tensor->entry->type == ElementType::BF16)
    return typeOf(WeightType::BF16);
  if (tensor && tensor->entry->type == ElementType::F16)
    return typeOf(WeightType::F16);
  return typeOf(WeightType::F32);
}

Value ModelBuilder::matrix(const llvm::Twine &name, const llvm::Twine &source,
                           int64_t rows, int64_t columns) {
  declare(name, source, {rows, columns}, getMatrixElement(source.str()),
          /*transposed=*/false);
  return parameter(name.str());
}

Value ModelBuilder::vector(const llvm::Twine &name, const llvm::Twine &source,
                           int64_t size) {
  declare(name, source, {size}, builder.getF32Type(), /*transposed=*/false);
  return parameter(name.str());
}

Value ModelBuilder::taps(const llvm::Twine &name, const llvm::Twine &source,
                         int64_t width, int64_t channels) {
  declare(name, source, {width, channels}, builder.getF32Type(),
          /*transposed=*/true);
  return parameter(name.str());
}

Value ModelBuilder::parameter(llvm::StringRef name) {
  seq::WeightOp weight = weights.lookup(name);
  return seq::ParameterOp::create(builder, at(name), weight.getType(), name);
}

Value ModelBuilder::state(const llvm::Twine &name,
                          llvm::ArrayRef<int64_t> shape) {
  unsigned index = function.getNumArguments();
  auto attributes = builder.getDictionaryAttr(
      builder.getNamedAttr("seq.state_name", builder.getStringAttr(name)));
  (void)function.insertArgument(
      index, RankedTensorType::get(shape, builder.getF32Type()), attributes,
      at(name));
  return function.getArgument(index);
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

Value ModelBuilder::embedding(const llvm::Twine &name, Value tokens,
                              Value table) {
  return seq::EmbeddingOp::create(
      builder, at(name), tokenType(typeOf(table).getDimSize(1)), tokens, table);
}

Value ModelBuilder::selectRows(const llvm::Twine &name, Value x, Value rows) {
  return seq::SelectRowsOp::create(
      builder, at(name), tokenType(typeOf(x).getShape().drop_front()), x, rows);
}

Value ModelBuilder::linear(const llvm::Twine &name, Value x, Value weight,
                           Value bias) {
  return seq::LinearOp::create(builder, at(name),
                               tokenType(typeOf(weight).getDimSize(0)), x,
                               weight, bias);
}

Value ModelBuilder::lmHead(const llvm::Twine &name, Value x, Value weight) {
  return seq::LmHeadOp::create(
      builder, at(name), tokenType(typeOf(weight).getDimSize(0)), x, weight);
}

Value ModelBuilder::rmsNorm(const llvm::Twine &name, Value x, Value weight,
                            double epsilon) {
  return seq::RmsNormOp::create(builder, at(name), x.getType(), x, weight,
                                llvm::APFloat(epsilon));
}

Value ModelBuilder::slice(const llvm::Twine &name, Value x, int64_t offset,
                          int64_t size) {
  return seq::SliceOp::create(builder, at(name), tokenType(size), x,
                              /*axis=*/1, offset, size);
}

Value ModelBuilder::reshape(const llvm::Twine &name, Value x,
                            llvm::ArrayRef<int64_t> inner) {
  return seq::ReshapeOp::create(builder, at(name), tokenType(inner), x);
}

Value ModelBuilder::add(const llvm::Twine &name, Value a, Value b) {
  return seq::AddOp::create(builder, at(name), a, b);
}

//===----------------------------------------------------------------------===//
// The end
//===----------------------------------------------------------------------===//

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
ModelBuilder::finish(Value logits) {
  llvm::SmallVector<Value> results = {logits};
  results.append(nextStates.begin(), nextStates.end());
  mlir::func::ReturnOp::create(builder, at("forward"), results);
  function.setFunctionType(builder.getFunctionType(
      function.getArgumentTypes(), mlir::ValueRange(results).getTypes()));
  if (!problem.empty())
    return refuse(problem);
  if (llvm::Error error = input.checkpoint.checkAllRead())
    return error;
  if (mlir::failed(mlir::verify(*module)))
    return refuse("the module made of the checkpoint is not valid");
  return std::move(module);
}
