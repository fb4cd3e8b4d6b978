// Entries of seq kernels -> tile kernels and plans.
//
//   func.func @decode_1(...) {
//     %y = seq.kernel "layers.0.in_proj" (%a = %x, %b = %w) ...
//   }
// becomes
//   tile.kernel @linear_0(...) { ... }
//   plan.entry @decode_1 ... {
//     plan.launch @linear_0(%x, %w, %y) note "layers.0.in_proj"
//   }
//
// A kernel is built once: kernels whose bodies and contexts (KernelContext.h)
// agree share it, and differ in what their launches pass.
#include "dialects/plan/MemoryLayout.h"
#include "dialects/seq/Remarks.h"
#include "dialects/seq/Work.h"
#include "dialects/storage/Storage.h"
#include "dialects/tile/units/Units.h"
#include "passes/seq_to_tile/JoinedResults.h"
#include "passes/seq_to_tile/KernelWays.h"
#include "passes/seq_to_tile/KnownKernels.h"
#include "passes/seq_to_tile/LibraryProducts.h"
#include "passes/seq_to_tile/Passes.h"
#include "passes/seq_to_tile/StateResults.h"
#include "passes/seq_to_tile/builders/Builders.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;

namespace effc {
#define GEN_PASS_DEF_CONVERTSEQTOTILEPASS
#include "passes/seq_to_tile/Passes.h.inc"

namespace {

/// What a tensor of an entry is at run time.
struct Memory {
  Value place; // !plan.memory
  MemoryKind kind;
  tile::Count lead = tile::Count::Rows;
  Type stored = {}; // of the elements; null: what the tensor's type says
};

class EntryConversion {
public:
  EntryConversion(ModuleOp module, seq::StateLayoutAttr layout,
                  KnownKernels &kernels)
      : module(module), layout(layout), kernels(kernels),
        plan(module.getContext()), kernelBuilder(module.getContext()) {}

  LogicalResult convert(func::FuncOp entry);

private:
  LogicalResult mapArguments(func::FuncOp entry);
  void findResults(Block &body);
  LogicalResult convertKernel(seq::KernelOp kernel);
  CallContext contextOf(seq::KernelOp kernel, ArrayRef<Memory> operands) const;
  /// Where each result lies, known from here on.
  FailureOr<SmallVector<Value>> placeResults(seq::KernelOp kernel,
                                             const KernelContext &context,
                                             ArrayRef<Memory> operands);
  /// Has the entry launch what a kernel became.
  void launch(seq::KernelOp kernel, const CallContext &context,
              MutableArrayRef<BuiltKernel> built, ArrayRef<Memory> operands,
              ArrayRef<Value> results);
  /// `context` gets the sizes of the way in which the kernel is built.
  FailureOr<BuiltKernels> buildOnce(seq::KernelOp kernel, CallContext &context);
  Value segments(Location loc);
  Value arenaBuffer(Location loc, RankedTensorType type);
  Memory arenaMemory(Location loc, Value result, tile::Count lead);
  RankedTensorType storedType(Value result) const;
  ResultPlace placeOf(Value result) const;
  Type memoryType() { return plan::MemoryType::get(module.getContext()); }

  ModuleOp module;
  seq::StateLayoutAttr layout;
  KnownKernels &kernels;
  OpBuilder plan, kernelBuilder;
  seq::EntryAttr entry;
  llvm::DenseMap<Value, Memory> memory;
  Value segmentTable;
  Value logits, choices; // of the entry; choices: null where it gives none
  llvm::DenseMap<Value, JoinedPart> joined; // by what is part of it
  /// What only one of the entry's results needs, by which.
  llvm::DenseMap<Operation *, plan::CallResult> onlyFor;
};

// Chunk grid of an entry: what the chunks of all its recurrences divide. The
// blocks of a window's keys lie on a grid of their own, wherever calls end.
int64_t chunkGrid(func::FuncOp entry) {
  int64_t grid = 1;
  entry.walk([&](seq::MixerOpInterface mixer) {
    if (seq::FormAttr form = mixer.getFormAttr();
        form && form.getKind() == seq::FormKind::Chunkwise &&
        mixer.getStructure().getMixerClass() == seq::MixerClass::Linear)
      grid = std::lcm(grid, form.getChunk());
  });
  return grid;
}

LogicalResult EntryConversion::convert(func::FuncOp function) {
  entry = function->getAttrOfType<seq::EntryAttr>("seq.entry");
  bool decode = entry.getKind() == seq::EntryKind::Decode;
  plan.setInsertionPoint(function);
  kernelBuilder.setInsertionPoint(function);
  auto planEntry = plan::EntryOp::create(
      plan, function.getLoc(), function.getSymName(),
      decode ? plan::EntryKind::Decode : plan::EntryKind::Prefill,
      entry.getRows(), decode ? 1 : chunkGrid(function), IntegerAttr());
  plan.createBlock(&planEntry.getBody());
  if (failed(mapArguments(function)))
    return failure();
  findResults(function.getBody().front());
  joined = findJoinedResults(function.getBody().front());
  for (Operation &op : function.getBody().front().without_terminator()) {
    if (auto parameter = dyn_cast<seq::ParameterOp>(op)) {
      Value place = plan::WeightOp::create(plan, op.getLoc(), memoryType(),
                                           parameter.getWeightAttr());
      auto weight = SymbolTable::lookupNearestSymbolFrom<seq::WeightOp>(
          parameter, parameter.getWeightAttr());
      memory[parameter.getResult()] = {
          place, MemoryKind::Weight, tile::Count::Rows,
          weight.isReordered() ? weight.getStoredElement() : Type()};
    } else if (auto kernel = dyn_cast<seq::KernelOp>(op)) {
      // Its parts lie where it has them.
      if (kernel.getNumResults() > 0 && memory.contains(kernel.getResult(0)))
        continue;
      if (failed(convertKernel(kernel)))
        return failure();
    } else {
      return op.emitOpError("stands outside of a seq.kernel");
    }
  }
  function.erase();
  return success();
}

// Which results of an entry each kernel is needed for: logits, choices, and
// states, which every call has. A call gives logits or choices.
void EntryConversion::findResults(Block &body) {
  constexpr unsigned kLogits = 1, kChoices = 2, kStates = 4;
  Operation *end = body.getTerminator();
  logits = end->getOperand(0);
  llvm::DenseMap<Operation *, unsigned> needed;
  for (auto [i, value] : llvm::enumerate(end->getOperands())) {
    auto kernel = value.getDefiningOp<seq::KernelOp>();
    if (!kernel)
      continue;
    unsigned result = cast<OpResult>(value).getResultNumber();
    bool isChoice = kernel.getBody()
                        .front()
                        .getTerminator()
                        ->getOperand(result)
                        .getDefiningOp<seq::BestOp>();
    if (isChoice && i > 0)
      choices = value;
    needed[kernel] |= i == 0 ? kLogits : isChoice ? kChoices : kStates;
  }
  if (!choices)
    return;
  for (Operation &op : llvm::reverse(body)) {
    auto kernel = dyn_cast<seq::KernelOp>(op);
    if (!kernel)
      continue;
    unsigned results = needed.lookup(kernel);
    if (results == kLogits)
      onlyFor[kernel] = plan::CallResult::Logits;
    if (results == kChoices)
      onlyFor[kernel] = plan::CallResult::Choices;
    for (Value input : kernel.getInputs())
      if (Operation *producer = input.getDefiningOp())
        needed[producer] |= results;
  }
}

LogicalResult EntryConversion::mapArguments(func::FuncOp function) {
  for (BlockArgument argument : function.getArguments()) {
    unsigned index = argument.getArgNumber();
    auto name = function.getArgAttrOfType<StringAttr>(index, "seq.state_name");
    if (name) {
      Value place =
          plan::StateOp::create(plan, function.getLoc(), memoryType(), name);
      const seq::StateAttr *state =
          llvm::find_if(layout.getStates(), [&](seq::StateAttr candidate) {
            return candidate.getName() == name.getValue();
          });
      if (state == layout.getStates().end())
        return function.emitError("expects a place for state '")
               << name.getValue() << "' in 'seq.state_layout'";
      memory[argument] = {place, MemoryKind::State, tile::Count::Rows,
                          state->getType().getElementType()};
      continue;
    }
    // Kernels read words of all kinds as f32 and take them as bits.
    if (seq::isChoiceTensor(argument.getType()) &&
        !seq::isIndexTensor(argument.getType())) {
      Value place = plan::TableOp::create(plan, function.getLoc(), memoryType(),
                                          plan::Table::Draws);
      memory[argument] = {place, MemoryKind::Table, tile::Count::Outputs,
                          plan.getF32Type()};
      continue;
    }
    constexpr plan::Table tables[] = {plan::Table::Tokens,
                                      plan::Table::OutputRows,
                                      plan::Table::RowPositions};
    if (index >= std::size(tables) || !seq::isIndexTensor(argument.getType()))
      return function.emitError("expects argument ")
             << index << " to be a state with a name";
    Value place = plan::TableOp::create(plan, function.getLoc(), memoryType(),
                                        tables[index]);
    memory[argument] = {
        place, MemoryKind::Table,
        tables[index] == plan::Table::OutputRows ? tile::Count::Outputs
                                                 : tile::Count::Rows,
        tables[index] == plan::Table::RowPositions ? plan.getI64Type()
                                                   : Type()};
  }
  return success();
}

Value EntryConversion::arenaBuffer(Location loc, RankedTensorType type) {
  return plan::ArenaOp::create(
      plan, loc, memoryType(),
      plan.getI64IntegerAttr(
          plan::arenaBytes(type, type.isDynamicDim(0) ? int64_t(entry.getRows())
                                                      : type.getDimSize(0))),
      IntegerAttr());
}

// The buffer of a result, or of the tensor that joins it with others.
Memory EntryConversion::arenaMemory(Location loc, Value result,
                                    tile::Count lead) {
  if (Value whole = joined.lookup(result).joined)
    result = whole;
  Memory &known = memory[result];
  if (!known.place)
    known = {arenaBuffer(loc, storedType(result)), MemoryKind::Buffer, lead,
             storedType(result).getElementType()};
  return known;
}

// What is part of a joined tensor is stored as that is.
RankedTensorType EntryConversion::storedType(Value result) const {
  Value whole = joined.lookup(result).joined;
  auto stored = cast<OpResult>(whole ? whole : result);
  return cast<RankedTensorType>(result.getType())
      .clone(cast<seq::KernelOp>(stored.getOwner())
                 .getStoredType(stored.getResultNumber()));
}

ResultPlace EntryConversion::placeOf(Value result) const {
  JoinedPart part = joined.lookup(result);
  ResultPlace place{storedType(result).getElementType()};
  if (!part.joined)
    return place;
  RankedTensorType type = storedType(part.joined);
  place.rowStride = plan::arenaStrides(type).front();
  place.offsetBytes =
      storage::Storage::get(type.getElementType()).bytes(part.column);
  return place;
}

Value EntryConversion::segments(Location loc) {
  if (!segmentTable)
    segmentTable =
        plan::TableOp::create(plan, loc, memoryType(), plan::Table::Segments);
  return segmentTable;
}

// A kernel's leading dimension counts what its results' does: the wanted rows
// once rows have been selected, all rows before.
tile::Count leadOf(seq::KernelOp kernel, ArrayRef<Memory> operands) {
  for (Operation &op : kernel.getBody().front())
    if (isa<seq::SelectRowsOp>(op))
      return tile::Count::Outputs;
  for (const Memory &operand : operands)
    if (operand.kind == MemoryKind::Buffer)
      return operand.lead;
  return tile::Count::Rows;
}

CallContext EntryConversion::contextOf(seq::KernelOp kernel,
                                       ArrayRef<Memory> operands) const {
  CallContext context;
  context.entry = entry;
  context.kind = entry.getKind();
  if (tile::TargetAttr target = tile::getTarget(module)) {
    context.target = target;
    if (context.isGpu())
      context.units = tile::usableUnits(target, kernel.getContext());
    if (int64_t digits = target.getDigits())
      context.digits = storage::DigitsType::get(target.getContext(), digits);
  }
  context.slotBytes = layout.getSlotBytes();
  context.bitStable = tile::isBitStable(module);
  for (const Memory &operand : operands) {
    context.operands.push_back(operand.kind);
    context.storedTypes.push_back(operand.stored);
  }
  context.lead = leadOf(kernel, operands);
  for (Value result : kernel.getResults()) {
    context.resultLeaves.push_back(result == logits || result == choices);
    context.resultPlaces.push_back(placeOf(result));
  }
  context.sizes = KernelSizes::of(kernel, context);
  return context;
}

FailureOr<SmallVector<Value>>
EntryConversion::placeResults(seq::KernelOp kernel,
                              const KernelContext &context,
                              ArrayRef<Memory> operands) {
  SmallVector<Value> places;
  for (auto [i, result] : llvm::enumerate(kernel.getResults())) {
    std::optional<unsigned> state = stateOfResult(kernel, i);
    RankedTensorType type = storedType(result);
    if (type != result.getType() && (state || context.resultLeaves[i]))
      return kernel.emitOpError("hands on result ")
             << i << " as " << type.getElementType() << ", but it is "
             << (state ? "a state" : "what the call gives");
    if (state) {
      memory[result] = operands[*state];
      places.push_back(operands[*state].place);
      continue;
    }
    Memory lies{{}, MemoryKind::Buffer, context.lead};
    if (result == logits)
      lies.place = plan::LogitsOp::create(plan, kernel.getLoc(), memoryType());
    else if (result == choices)
      lies.place = plan::ChoicesOp::create(plan, kernel.getLoc(), memoryType());
    else
      lies = arenaMemory(kernel.getLoc(), result, context.lead);
    memory[result] = lies;
    places.push_back(lies.place);
  }
  return places;
}

void EntryConversion::launch(seq::KernelOp kernel, const CallContext &context,
                             MutableArrayRef<BuiltKernel> built,
                             ArrayRef<Memory> operands,
                             ArrayRef<Value> results) {
  // A kernel has one root: its rows are tokens or the wanted ones. Its first
  // launch computes, a second one moves what it left.
  seq::Work work = seq::countWork(kernel);
  uint64_t flops = work.perToken + work.perOutputRow;
  Value scratch;
  for (const BuiltKernel &launched : built)
    if (RankedTensorType type = launched.scratch; type && !scratch)
      scratch = arenaBuffer(kernel.getLoc(), type);
  plan::CallResultAttr wanted;
  if (auto only = onlyFor.find(kernel); only != onlyFor.end())
    wanted = plan::CallResultAttr::get(plan.getContext(), only->second);
  plan::ProductAttr product;
  if (context.target && context.target.getLibrary())
    product = productForLibrary(kernel, context, built.front());
  for (BuiltKernel &launched : built) {
    SmallVector<Value> passed;
    for (const LaunchOperand &operand : launched.operands) {
      Value place = operand.source == LaunchOperand::Segments
                        ? segments(kernel.getLoc())
                    : operand.source == LaunchOperand::Scratch ? scratch
                    : operand.source == LaunchOperand::Input
                        ? operands[operand.index].place
                        : results[operand.index];
      if (operand.offsetBytes != 0)
        place =
            plan::OffsetOp::create(plan, kernel.getLoc(), memoryType(), place,
                                   plan.getI64IntegerAttr(operand.offsetBytes));
      passed.push_back(place);
    }
    plan::LaunchOp::create(
        plan, kernel.getLoc(),
        FlatSymbolRefAttr::get(launched.kernel.getSymNameAttr()), passed,
        launched.kernel.getItemsAttr(), kernel.getNameAttr(),
        flops ? plan.getI64IntegerAttr(static_cast<int64_t>(flops))
              : IntegerAttr(),
        wanted, product);
    flops = 0, product = {};
  }
}

// A kernel by hand may not say whose it is.
LogicalResult requireRoot(seq::KernelOp kernel) {
  if (kernel.getRootOp())
    return success();
  for (Operation &op : kernel.getBody().front().without_terminator())
    if (!seq::isElementwiseOp(&op) && !seq::isViewOp(&op))
      return kernel.emitOpError()
             << "expects 'root', the number of the op whose builder makes the "
                "kernel, since '"
             << op.getName() << "' is not elementwise; seq-form-kernels writes "
             << "it";
  return success();
}

LogicalResult EntryConversion::convertKernel(seq::KernelOp kernel) {
  if (failed(requireRoot(kernel)))
    return failure();
  SmallVector<Memory> operands;
  for (Value input : kernel.getInputs())
    operands.push_back(memory.lookup(input));
  CallContext context = contextOf(kernel, operands);
  FailureOr<BuiltKernels> built = buildOnce(kernel, context);
  if (failed(built))
    return failure();
  FailureOr<SmallVector<Value>> results =
      placeResults(kernel, context, operands);
  if (failed(results))
    return failure();
  launch(kernel, context, *built, operands, *results);
  return success();
}

FailureOr<BuiltKernels> EntryConversion::buildOnce(seq::KernelOp kernel,
                                                   CallContext &context) {
  if (const BuiltKernels *known = kernels.find(kernel, context))
    return *known;
  KnownKernels::Description described(kernel, context);
  Operation *root = kernel.getRootOp();
  bool isEmpty = kernel.getBody().front().without_terminator().empty();
  StringRef family = root      ? root->getName().stripDialect()
                     : isEmpty ? "unpacked"
                               : "elementwise";
  std::string name = (family + "_" + Twine(kernels.size())).str();
  BuiltKernels built;
  OpBuilder::InsertionGuard guard(kernelBuilder);
  std::optional<KernelBuilder> builder;
  if (failed(buildInAWay(builder, kernel, context, kernelBuilder, name)))
    return failure();
  built.push_back(builder->take());
  if (auto [buildSecond, suffix] = followerOf(*builder); buildSecond) {
    kernelBuilder.setInsertionPointAfter(built.front().kernel);
    KernelBuilder follower(kernel, context, kernelBuilder, name + suffix.str());
    if (failed(buildSecond(follower)))
      return failure();
    built.push_back(follower.take());
  }
  kernels.add(std::move(described), built);
  return built;
}

struct ConvertSeqToTilePass
    : impl::ConvertSeqToTilePassBase<ConvertSeqToTilePass> {
  using ConvertSeqToTilePassBase::ConvertSeqToTilePassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto layout =
        module->getAttrOfType<seq::StateLayoutAttr>("seq.state_layout");
    if (!layout) {
      module.emitError(
          "expects 'seq.state_layout' on the module; run seq-plan-state first");
      return signalPassFailure();
    }
    KnownKernels kernels;
    for (auto function :
         llvm::make_early_inc_range(module.getOps<func::FuncOp>())) {
      if (!function->hasAttr("seq.entry"))
        continue;
      EntryConversion conversion(module, layout, kernels);
      if (failed(conversion.convert(function)))
        return signalPassFailure();
    }
    tile::TargetAttr target = tile::getTarget(module);
    if (target && target.getLibrary() && !hasProducts())
      emitRemark(module.getLoc())
          << seq::kFallbackRemark
          << "every product stays with its kernel, none goes to cuBLASLt: it "
             "takes products of bf16 by bf16, of 64 rows or more, alone in "
             "their kernels";
  }

  bool hasProducts() {
    return getOperation()
        .walk([](plan::LaunchOp launch) {
          return launch.getProduct() ? WalkResult::interrupt()
                                     : WalkResult::advance();
        })
        .wasInterrupted();
  }
};
} // namespace
} // namespace effc
