// Makes the rows of @forward static, expands its mixers, evaluates.
#include "compiler/Reference.h"

#include "compiler/StoredForward.h"
#include "dialects/seq/OpKinds.h"
#include "dialects/seq/RoundingTolerance.h"
#include "dialects/seq/Seq.h"
#include "dialects/seq/reference/Evaluate.h"
#include "dialects/storage/Storage.h"
#include "passes/seq/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringSet.h"

#include <limits>
#include <numeric>

using namespace mlir;
using namespace effc;
using seq::reference::Datum;
using seq::reference::Tensor;

// `type` with every dynamic extent set to `rows`.
static Type withStaticRows(Type type, int64_t rows) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || tensor.hasStaticShape())
    return type;
  SmallVector<int64_t> shape(tensor.getShape());
  for (int64_t &extent : shape)
    if (ShapedType::isDynamic(extent))
      extent = rows;
  return RankedTensorType::get(shape, tensor.getElementType());
}

// Makes T and the number of output rows static: the forms need a known T, and
// the logits of every token are wanted.
static void makeRowsStatic(func::FuncOp function, int64_t rows) {
  function.walk([&](Operation *op) {
    for (Value result : op->getResults())
      result.setType(withStaticRows(result.getType(), rows));
    for (Region &region : op->getRegions())
      for (BlockArgument argument : region.getArguments())
        argument.setType(withStaticRows(argument.getType(), rows));
  });
  Block &body = function.getBody().front();
  function.setType(FunctionType::get(
      function.getContext(), TypeRange(body.getArgumentTypes()),
      TypeRange(body.getTerminator()->getOperandTypes())));
}

static std::unique_ptr<Pass> expansion(const ReferenceRequest &request) {
  ExpandFormPassOptions options;
  options.form = request.form == ReferenceForm::Step ? FormChoice::Step
                 : request.form == ReferenceForm::Quadratic
                     ? FormChoice::Quadratic
                     : FormChoice::Chunkwise;
  options.chunk = std::max<int64_t>(request.chunk, 1);
  options.partial = true;
  return createExpandFormPass(options);
}

template <typename S>
static llvm::Expected<Tensor<S>> toTensor(const StoredWeight &weight,
                                          storage::Storage storage) {
  SmallVector<int64_t> shape(weight.shape.begin(), weight.shape.end());
  Tensor<S> tensor(shape);
  if (!storage.divides(tensor.size()) ||
      weight.bytes.size() != size_t(storage.bytes(tensor.size())))
    return llvm::createStringError("a weight has %zu bytes, which its shape "
                                   "does not take",
                                   weight.bytes.size());
  std::vector<float> numbers(size_t(tensor.size()));
  storage.readNumbers(weight.bytes, numbers);
  llvm::copy(numbers, tensor.elements().begin());
  return tensor;
}

// The neutral value of each state argument, by its position.
static llvm::DenseMap<unsigned, double> neutralStates(func::FuncOp function) {
  llvm::DenseMap<unsigned, double> neutral;
  function.walk([&](seq::StatefulOpInterface op) {
    for (const seq::StateDescriptor &state : op.getStates())
      if (auto argument =
              dyn_cast<BlockArgument>(op->getOperand(state.operand)))
        neutral[argument.getArgNumber()] = state.neutral;
  });
  return neutral;
}

static bool hasGrowingStates(func::FuncOp function) {
  bool grows = false;
  function.walk([&](seq::StatefulOpInterface op) {
    for (const seq::StateDescriptor &state : op.getStates())
      grows |= state.growth == seq::StateGrowth::MaxContext ||
               state.positionsPerRow > 0;
  });
  return grows;
}

// Room for the sequence alone: a published context of 32,768 positions would be
// most of what an evaluation of some tokens reads and writes.
static LogicalResult sizeContext(ModuleOp module, int64_t rows) {
  auto model = module->getAttrOfType<seq::ModelAttr>("seq.model");
  if (model && model.getMaxContext() > 0 && rows > model.getMaxContext())
    return module.emitError("expects a sequence of at most ")
           << model.getMaxContext() << " tokens, but got " << rows;
  PassManager passes(module.getContext());
  passes.addPass(createSizeContextPass({.positions = rows}));
  return passes.run(module);
}

// Of 32 numbers the largest magnitude becomes the largest that the digits hold, and
// each the nearest multiple of its share, halves to even.
template <typename S>
static void roundToIntegers(MutableArrayRef<S> row, S most) {
  for (; !row.empty(); row = row.drop_front(std::min<size_t>(32, row.size()))) {
    MutableArrayRef<S> numbers = row.take_front(32);
    S largest = 0;
    for (S number : numbers)
      largest = std::max(largest, std::abs(number));
    S step = largest / most;
    if (step > 0)
      for (S &number : numbers)
        number = std::nearbyint(number / step) * step;
  }
}

// To so many significant bits, halves to even.
template <typename S>
static void roundToBits(MutableArrayRef<S> row, int bits,
                        int leastExponent = -(1 << 20)) {
  for (S &number : row) {
    int exponent;
    S fraction = std::frexp(number, &exponent);
    int kept = bits - std::max(0, leastExponent - exponent);
    number =
        std::ldexp(std::nearbyint(std::ldexp(fraction, kept)), exponent - kept);
  }
}

template <typename S> static void roundToBf16(MutableArrayRef<S> row) {
  roundToBits(row, 8);
}

// Below 2^-14, whose fraction has the exponent -13, numbers have fewer bits, and
// there are none beyond 65504.
template <typename S> static void roundToF16(MutableArrayRef<S> row) {
  roundToBits(row, 11, -13);
  for (S &number : row)
    if (std::abs(number) > 65504)
      number = std::copysign(std::numeric_limits<S>::infinity(), number);
}

// Of operands of a GPU's products.
template <typename S>
static void roundOperand(MutableArrayRef<S> numbers, Products products) {
  if (products == Products::BF16)
    roundToBf16(numbers);
  else if (products == Products::F16)
    roundToF16(numbers);
  else if (products == Products::TF32)
    roundToBits(numbers, 11);
}

template <typename S>
static seq::reference::RowRounding<S> rowRoundingOfGpu(Products products) {
  return [products](seq::WeightOp, MutableArrayRef<S> row) {
    roundOperand(row, products);
  };
}

/// Results that a GPU's kernels may hand on in 16 bits: of products, mixers and norms,
/// and of elementwise ops that others read. Not those of selected rows, which are few.
static llvm::DenseSet<Value> narrowResultsOf(func::FuncOp function) {
  auto isWithin = [](Operation *op) {
    return seq::isElementwiseOp(op) || seq::isViewOp(op);
  };
  seq::RoundingTolerance tolerance;
  llvm::DenseSet<Value> results;
  for (Operation &op : function.getBody().front().without_terminator()) {
    if (isa<seq::ParameterOp, seq::ConstantOp, seq::SelectRowsOp>(op) ||
        seq::isViewOp(&op))
      continue;
    for (OpResult result : op.getResults())
      if (seq::isValueTensor(result.getType()) &&
          !(isWithin(&op) && llvm::all_of(result.getUsers(), isWithin)) &&
          tolerance.ofReads(result))
        results.insert(result);
  }
  return results;
}

/// Names of the weights that rows are multiplied with.
static llvm::StringSet<> matricesOf(func::FuncOp function) {
  llvm::StringSet<> names;
  function.walk([&](Operation *op) {
    if (!seq::isDenseOp(op))
      return;
    if (auto weight = op->getOperand(1).getDefiningOp<seq::ParameterOp>())
      names.insert(weight.getWeight());
  });
  return names;
}

template <typename S>
static seq::reference::RowRounding<S> rowRounding(Products products) {
  return [products](seq::WeightOp weight, MutableArrayRef<S> row) {
    storage::Storage stored = storage::Storage::get(
        cast<RankedTensorType>(weight.getType()).getElementType());
    if (stored.isDense()) {
      if (products == Products::BF16 && stored.denseType().isBF16())
        roundToBf16(row);
    } else if (products == Products::Int8) {
      roundToIntegers<S>(row, 127);
    } else if (products == Products::Int16) {
      roundToIntegers<S>(row, 127 * 257);
    }
  };
}

template <typename S>
static llvm::Expected<std::vector<double>>
evaluateAs(func::FuncOp function,
           const llvm::DenseMap<unsigned, double> &neutral,
           llvm::ArrayRef<int32_t> tokens, const StoredModel &model,
           const ReferenceRequest &request) {
  int64_t rows = tokens.size();
  std::vector<int32_t> outputs(rows);
  std::iota(outputs.begin(), outputs.end(), 0);
  std::vector<Datum<S>> inputs = {Tensor<int32_t>({rows}, tokens.vec()),
                                  Tensor<int32_t>({rows}, outputs)};
  // A third table of numbers, where there is one, has the positions; a whole
  // sequence is evaluated, so they count from 0 as the output rows do.
  if (function.getNumArguments() > inputs.size() &&
      seq::isIndexTensor(function.getArgument(inputs.size()).getType()))
    inputs.push_back(inputs.back());
  for (unsigned i = inputs.size(); i < function.getNumArguments(); ++i) {
    Tensor<S> state(
        cast<RankedTensorType>(function.getArgument(i).getType()).getShape());
    for (S &element : state.elements())
      element = S(neutral.lookup(i));
    inputs.push_back(std::move(state));
  }
  llvm::StringSet<> matrices = matricesOf(function);
  seq::reference::ResultRounding<S> resultRounding;
  if (request.ofGpu && request.narrowResults && request.rows == Products::BF16)
    resultRounding = [products = request.rows,
                      narrow = narrowResultsOf(function)](
                         OpResult result, MutableArrayRef<S> elements) {
      if (narrow.contains(result))
        roundOperand(elements, products);
    };
  auto results = seq::reference::evaluate<S>(
      function, std::move(inputs),
      [&](seq::WeightOp op) -> llvm::Expected<Tensor<S>> {
        llvm::Expected<StoredWeight> weight = model.weights(op.getSymName());
        if (!weight)
          return weight.takeError();
        llvm::Expected<Tensor<S>> numbers = toTensor<S>(
            *weight,
            storage::Storage::get(
                cast<RankedTensorType>(op.getType()).getElementType()));
        if (numbers && request.ofGpu && matrices.contains(op.getSymName()))
          roundOperand(numbers->elements(), request.rows);
        return numbers;
      },
      request.ofGpu ? rowRoundingOfGpu<S>(request.rows)
                    : rowRounding<S>(request.rows),
      std::move(resultRounding));
  if (!results)
    return results.takeError();
  const Tensor<S> &logits = std::get<Tensor<S>>(results->front());
  return std::vector<double>(logits.elements().begin(),
                             logits.elements().end());
}

llvm::Expected<std::vector<double>> effc::evaluateReference(
    const StoredModel &model, llvm::ArrayRef<int32_t> tokens,
    const ReferenceRequest &request, ReferenceCoverage *coverage) {
  ReferenceCoverage ignored;
  if (!coverage)
    coverage = &ignored;
  // The expansion says no more than what stays.
  CompileEvents events;
  events.remark = [&](llvm::StringRef where, llvm::StringRef text) {
    coverage->kept.push_back((where + ": " + text).str());
  };
  StoredForward forward(std::move(events));
  if (llvm::Error error = forward.read(model))
    return error;
  ModuleOp module = forward.getModule();
  func::FuncOp function = forward.getFunction();
  if (hasGrowingStates(function) && failed(sizeContext(module, tokens.size())))
    return forward.takeError("the states cannot be sized");
  llvm::DenseMap<unsigned, double> neutral = neutralStates(function);
  makeRowsStatic(function, tokens.size());
  if (request.form != ReferenceForm::None) {
    PassManager splitting(forward.getContext()),
        expanding(forward.getContext());
    splitting.addPass(createApplyMatricesPass());
    splitting.addPass(createSplitStepsPass());
    expanding.addPass(expansion(request));
    int64_t mixers = 0;
    if (failed(splitting.run(module)))
      return forward.takeError("a form cannot be derived");
    // What was split is derived; remarks from here on are of what stays.
    coverage->kept.clear();
    module.walk([&](seq::MixerOpInterface op) {
      if (!seq::isStatelessStep(op))
        ++mixers;
    });
    if (failed(expanding.run(module)))
      return forward.takeError("a form cannot be derived");
    coverage->expanded = mixers - int64_t(coverage->kept.size());
  }
  return request.single
             ? evaluateAs<float>(function, neutral, tokens, model, request)
             : evaluateAs<double>(function, neutral, tokens, model, request);
}
