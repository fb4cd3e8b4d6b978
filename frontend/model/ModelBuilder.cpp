#include "frontend/model/ModelBuilder.h"

#include "frontend/checkpoint/Refusal.h"
#include "frontend/weights/InputOrders.h"
#include "frontend/weights/Weights.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"

using namespace effc;
using namespace effc::frontend;
using mlir::RankedTensorType;
using mlir::ShapedType;
using mlir::Value;
using seq::typeOf;

ModelBuilder::ModelBuilder(FamilyInput &input, llvm::StringRef family,
                           int64_t vocabulary, int64_t width)
    : input(input), builder(input.context), family(family),
      vocabulary(vocabulary), width(width) {
  module = mlir::ModuleOp::create(at(family));
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

Value ModelBuilder::declare(const llvm::Twine &name, const WeightSource &source,
                            llvm::ArrayRef<int64_t> shape, mlir::Type element) {
  std::string symbol = name.str();
  std::vector<std::string> tensors;
  for (const std::string &tensor : source.tensors)
    tensors.push_back(input.names.nameOf(tensor));
  mlir::ArrayAttr further;
  if (tensors.size() > 1) {
    llvm::SmallVector<llvm::StringRef> names;
    llvm::append_range(names, llvm::drop_begin(tensors));
    further = builder.getStrArrayAttr(names);
  }
  mlir::DenseI64ArrayAttr stored;
  if (!source.stored.empty())
    stored = builder.getDenseI64ArrayAttr(source.stored);
  {
    mlir::OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(function);
    auto weight = seq::WeightOp::create(
        builder, at(symbol), symbol, tensors.front(),
        RankedTensorType::get(shape, element), further, stored, source.rows,
        source.derived, source.transposed, /*computed=*/nullptr);
    weights[symbol] = weight;
    if (problem.empty())
      take(weight);
  }
  return parameter(symbol);
}

/// Checks a weight against the checkpoint and marks its tensors as read.
void ModelBuilder::take(seq::WeightOp weight) {
  if (input.checkpoint.hasWeights())
    if (llvm::Error error = checkWeight(weight, input.checkpoint)) {
      problem = llvm::toString(std::move(error));
      return;
    }
  for (llvm::StringRef source : weight.getSources())
    input.checkpoint.take(source);
}

void ModelBuilder::remark(seq::WeightOp weight, llvm::StringRef source) {
  std::string type;
  llvm::raw_string_ostream(type)
      << llvm::cast<RankedTensorType>(weight.getType()).getElementType();
  llvm::StringRef part = weight.getFurther()   ? "a share of "
                         : weight.getRows()    ? "the source of rows of "
                         : weight.getDerived() ? "the source of "
                                               : "";
  std::string is = (" is " + part + "@" + weight.getSymName() + " in " + type +
                    (weight.getTransposed() ? ", transposed" : ""))
                       .str();
  if (!input.checkpoint.hasWeights()) {
    input.remarks.push_back("tensor " + quote(source) +
                            " (of the configuration's shape)" + is);
    return;
  }
  const TensorEntry *entry = input.checkpoint.find(source)->entry;
  input.remarks.push_back("tensor " + quote(entry->name) + " (" +
                          describeShape(entry->shape) + " " +
                          entry->type.getName().str() + ")" + is);
}

mlir::Type ModelBuilder::getMatrixElement(llvm::StringRef source) {
  if (input.declared)
    return input.declared;
  const CheckpointTensor *tensor =
      input.checkpoint.find(input.names.nameOf(source));
  std::optional<storage::Storage> stored;
  if (tensor)
    stored = tensor->entry->type.getStorage(builder.getContext());
  return stored ? stored->type() : builder.getF32Type();
}

Value ModelBuilder::matrix(MatrixRole role, const llvm::Twine &name,
                           const WeightSource &source, int64_t rows,
                           int64_t columns) {
  Value value = declare(name, source, {rows, columns},
                        getMatrixElement(source.tensors.front()));
  matrices.push_back({weights.lookup(name.str()), role});
  return value;
}

Value ModelBuilder::blocks(MatrixRole role, const llvm::Twine &name,
                           const WeightSource &source, int64_t blocks,
                           int64_t rows, int64_t columns) {
  mlir::Type element = source.derived
                           ? builder.getF32Type()
                           : getMatrixElement(source.tensors.front());
  Value value = declare(name, source, {blocks, rows, columns}, element);
  if (!source.derived)
    matrices.push_back({weights.lookup(name.str()), role});
  return value;
}

Value ModelBuilder::numbers(const llvm::Twine &name, const WeightSource &source,
                            llvm::ArrayRef<int64_t> shape) {
  return declare(name, source, shape, builder.getF32Type());
}

Value ModelBuilder::taps(const llvm::Twine &name, const llvm::Twine &source,
                         int64_t width, int64_t channels) {
  WeightSource turned(source);
  turned.transposed = true;
  return declare(name, turned, {width, channels}, builder.getF32Type());
}

Value ModelBuilder::computed(llvm::StringRef name,
                             seq::ComputedWeightInterface rule,
                             llvm::ArrayRef<int64_t> shape) {
  if (!weights.contains(name)) {
    mlir::OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(function);
    weights[name] = seq::WeightOp::create(
        builder, at(name), name, /*source=*/"",
        RankedTensorType::get(shape, builder.getF32Type()),
        /*further=*/nullptr, /*stored=*/nullptr, /*rows=*/nullptr,
        /*derived=*/nullptr, /*transposed=*/false, rule);
  }
  return parameter(name);
}

Value ModelBuilder::constant(llvm::StringRef name, double number,
                             llvm::ArrayRef<int64_t> shape) {
  std::vector<double> rows(size_t(shape[0]), number);
  int64_t columns = 1;
  for (int64_t extent : shape.drop_front())
    columns *= extent;
  Value numbers =
      computed(name,
               seq::RowNumbersAttr::get(builder.getContext(),
                                        builder.getDenseF64ArrayAttr(rows)),
               {shape[0], columns});
  if (shape.size() == 2)
    return numbers;
  return seq::ReshapeOp::create(builder, at(name), numbers, shape);
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

Value ModelBuilder::getPositions() {
  if (!positions) {
    (void)function.insertArgument(2, getTokens().getType(),
                                  builder.getDictionaryAttr({}),
                                  at("positions"));
    positions = function.getArgument(2);
  }
  return positions;
}

void ModelBuilder::refuseStreamed(const llvm::Twine &found) {
  if (input.streamed.window > 0)
    report("expects positions that turn keys or lower their scores beside "
           "--window, but got " +
           found);
}

void ModelBuilder::noteStreamed(llvm::StringRef name) {
  input.streams = true;
  std::string first = input.streamed.sinks == 0
                          ? ""
                          : "the first " +
                                std::to_string(input.streamed.sinks) +
                                " tokens and ";
  input.remarks.push_back((name + " sees " + first + "the last " +
                           llvm::Twine(input.streamed.window) +
                           " instead of more (--sinks, --window)")
                              .str());
}

void ModelBuilder::report(const llvm::Twine &message) {
  if (problem.empty())
    problem = message.str();
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
                               tokenType(typeOf(weight).getShape().drop_back()),
                               x, weight, bias);
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

Value ModelBuilder::norm(const llvm::Twine &name, const llvm::Twine &source,
                         Value x, const NormConfig &config) {
  int64_t channels = typeOf(x).getDimSize(1);
  if (!config.weight)
    return groupNorm(name, source, x, /*groups=*/1, /*size=*/0, config);
  if (!config.centred && !config.bias && !config.unitOffset)
    return rmsNorm(name, x, vector(name, source + ".weight", channels),
                   config.epsilon);
  return groupNorm(name, source, x, /*groups=*/1, channels, config);
}

Value ModelBuilder::groupNorm(const llvm::Twine &name,
                              const llvm::Twine &source, Value x,
                              int64_t groups, int64_t size,
                              const NormConfig &config,
                              seq::NormMeasure measure) {
  Value weight, bias;
  if (size > 0)
    weight = vector(name, source + ".weight", size);
  if (config.bias)
    bias = vector(name + "_bias", source + ".bias", size);
  return seq::GroupNormOp::create(builder, at(name), x.getType(), x, weight,
                                  bias, llvm::APFloat(config.epsilon), groups,
                                  measure, config.centred, config.unitOffset);
}

Value ModelBuilder::project(MatrixRole role, const llvm::Twine &name,
                            const llvm::Twine &source, Value x, int64_t rows,
                            bool bias, bool transposed) {
  WeightSource from(source + ".weight");
  from.transposed = transposed;
  Value weight = matrix(role, name, from, rows, typeOf(x).getDimSize(1));
  Value shift;
  if (bias)
    shift = vector(name + "_bias", source + ".bias", rows);
  return linear(name, x, weight, shift);
}

Value ModelBuilder::projectRows(MatrixRole role, const llvm::Twine &name,
                                const llvm::Twine &source, Value x,
                                seq::RowGroupsAttr rows, bool bias) {
  int64_t count = rows.getSize() * rows.getCount();
  WeightSource from(source + ".weight");
  from.rows = rows;
  Value weight = matrix(role, name, from, count, typeOf(x).getDimSize(1));
  Value shift;
  if (bias) {
    WeightSource shiftFrom(source + ".bias");
    shiftFrom.rows = rows;
    shift = numbers(name + "_bias", shiftFrom, {count});
  }
  return linear(name, x, weight, shift);
}

Value ModelBuilder::slice(const llvm::Twine &name, Value x, int64_t offset,
                          int64_t size) {
  llvm::SmallVector<int64_t> inner(typeOf(x).getShape().drop_front());
  inner.back() = size;
  return seq::SliceOp::create(builder, at(name), tokenType(inner), x,
                              /*axis=*/int64_t(inner.size()), offset, size);
}

Value ModelBuilder::reshape(const llvm::Twine &name, Value x,
                            llvm::ArrayRef<int64_t> inner) {
  return seq::ReshapeOp::create(builder, at(name), tokenType(inner), x);
}

Value ModelBuilder::add(const llvm::Twine &name, Value a, Value b) {
  return seq::AddOp::create(builder, at(name), a, b);
}

Value ModelBuilder::sub(const llvm::Twine &name, Value a, Value b) {
  return seq::SubOp::create(builder, at(name), a, b);
}

Value ModelBuilder::mul(const llvm::Twine &name, Value a, Value b) {
  return seq::MulOp::create(builder, at(name), a, b);
}

Value ModelBuilder::scale(const llvm::Twine &name, Value x, double factor) {
  return seq::ScaleOp::create(builder, at(name), x, factor);
}

Value ModelBuilder::broadcast(const llvm::Twine &name, Value vector,
                              Value like) {
  return seq::BroadcastOp::create(builder, at(name), vector, like,
                                  llvm::ArrayRef<int64_t>{1});
}

Value ModelBuilder::spread(const llvm::Twine &name, Value number, Value like) {
  return seq::BroadcastOp::create(builder, at(name), reshape(name, number, {}),
                                  like, llvm::ArrayRef<int64_t>{0});
}

Value ModelBuilder::activate(const llvm::Twine &name, Value x,
                             seq::Nonlinearity function) {
  switch (function) {
  case seq::Nonlinearity::Identity:
    return x;
  case seq::Nonlinearity::Silu:
    return elementwise<seq::SiluOp>(name, x);
  case seq::Nonlinearity::Gelu:
    return elementwise<seq::GeluOp>(name, x);
  case seq::Nonlinearity::GeluTanh:
    return elementwise<seq::GeluTanhOp>(name, x);
  case seq::Nonlinearity::Relu:
    return elementwise<seq::ReluOp>(name, x);
  case seq::Nonlinearity::SquaredRelu: {
    Value positive = elementwise<seq::ReluOp>(name, x);
    return mul(name, positive, positive);
  }
  case seq::Nonlinearity::Sigmoid:
    return elementwise<seq::SigmoidOp>(name, x);
  }
  llvm_unreachable("every function is listed");
}

Value ModelBuilder::softCap(const llvm::Twine &name, Value x, double most) {
  Value bent = elementwise<seq::TanhOp>(name, scale(name, x, 1 / most));
  return scale(name, bent, most);
}

Value ModelBuilder::scaleChannels(const llvm::Twine &name, Value x,
                                  Value factors, Value bias,
                                  seq::Activation activation) {
  auto forEachToken = [&](Value vector) {
    return seq::BroadcastOp::create(builder, at(name), vector, x,
                                    llvm::ArrayRef<int64_t>{1});
  };
  Value flat = seq::ReshapeOp::create(
      builder, at(name),
      RankedTensorType::get({typeOf(factors).getDimSize(1)},
                            builder.getF32Type()),
      factors);
  Value y = mul(name, x, forEachToken(flat));
  if (bias)
    y = add(name, y, forEachToken(bias));
  return activation == seq::Activation::Silu ? elementwise<seq::SiluOp>(name, y)
                                             : y;
}

Value ModelBuilder::shortConvolution(const llvm::Twine &name, Value x,
                                     Value taps, Value bias,
                                     seq::Activation activation) {
  if (typeOf(taps).getDimSize(0) == 1)
    return scaleChannels(name, x, taps, bias, activation);
  Value tail =
      state(name, {typeOf(taps).getDimSize(0) - 1, typeOf(taps).getDimSize(1)});
  auto op = seq::ShortConvolutionOp::create(builder, at(name), x.getType(),
                                            tail.getType(), x, taps, bias, tail,
                                            activation,
                                            /*first_channel=*/nullptr);
  setNextState(op.getNextTail());
  return op.getY();
}

Value ModelBuilder::shortConvolution(const llvm::Twine &name, Value x,
                                     Value taps, Value bias,
                                     seq::Nonlinearity function) {
  if (function == seq::Nonlinearity::Silu)
    return shortConvolution(name, x, taps, bias, seq::Activation::Silu);
  return activate(name,
                  shortConvolution(name, x, taps, bias, seq::Activation::None),
                  function);
}

Value ModelBuilder::shiftDifference(const llvm::Twine &name, Value x) {
  int64_t channels = typeOf(x).getDimSize(1);
  auto rule = seq::RowNumbersAttr::get(
      builder.getContext(), builder.getDenseF64ArrayAttr({1.0, -1.0}));
  Value taps =
      computed("shift." + std::to_string(channels), rule, {2, channels});
  return shortConvolution(name, x, taps, /*bias=*/{}, seq::Activation::None);
}

Value ModelBuilder::previous(const llvm::Twine &name, Value x) {
  Value last = state(name, typeOf(x).getShape().drop_front());
  auto op = seq::TokenShiftOp::create(builder, at(name), x, last);
  setNextState(op.getNextLast());
  return op.getY();
}

//===----------------------------------------------------------------------===//
// The end
//===----------------------------------------------------------------------===//

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
ModelBuilder::finish(Value logits) {
  llvm::SmallVector<Value> results = {logits};
  auto *inOrder = nextStates.data();
  for (mlir::BlockArgument argument : function.getArguments()) {
    if (!function.getArgAttr(argument.getArgNumber(), "seq.state_name"))
      continue;
    auto known = nextOf.find(argument);
    results.push_back(known != nextOf.end() ? known->second : *inOrder++);
  }
  mlir::func::ReturnOp::create(builder, at("forward"), results);
  function.setFunctionType(builder.getFunctionType(
      function.getArgumentTypes(), mlir::ValueRange(results).getTypes()));
  (*module)->setAttr(
      "seq.model",
      seq::ModelAttr::get(input.context, family, vocabulary, width, context));
  if (input.names.areHeld()) {
    std::string held = "tensors are looked for by the names that the public "
                       "library has for them in memory, as " +
                       quote(input.names.shownBy()) + " shows";
    input.remarks.push_back(held);
    if (!problem.empty())
      problem += "; " + held;
  }
  if (!problem.empty())
    return refuse(problem);
  if (llvm::Error error = input.checkpoint.checkAllRead())
    return error;
  if (input.types)
    if (llvm::Error error =
            input.types->apply(*module, matrices, input.remarks))
      return error;
  if (llvm::Error error =
          orderInputs(*module, input.checkpoint,
                      /*isTyped=*/input.types != nullptr, input.remarks))
    return error;
  for (auto weight : module->getOps<seq::WeightOp>())
    if (!weight.getComputed())
      for (llvm::StringRef source : weight.getSources())
        remark(weight, source);
  std::string wrong;
  mlir::ScopedDiagnosticHandler handler(
      input.context, [&](mlir::Diagnostic &diagnostic) {
        if (!wrong.empty())
          return mlir::success();
        if (auto named =
                llvm::dyn_cast<mlir::NameLoc>(diagnostic.getLocation()))
          wrong = quote(named.getName().strref()) + ": ";
        wrong += diagnostic.str();
        return mlir::success();
      });
  if (mlir::failed(mlir::verify(*module)))
    return refuse("what the checkpoint's configuration asks for cannot be: " +
                  wrong);
  return std::move(module);
}
