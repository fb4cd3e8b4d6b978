#include "test/unit/codegen/host/PlanRunner.h"

#include "test/unit/codegen/host/CaseExport.h"
#include "test/unit/codegen/host/ForeignKernels.h"

#include "compiler/Register.h"
#include "compiler/Target.h"
#include "dialects/plan/MemoryLayout.h"
#include "dialects/storage/Bundles.h"
#include "dialects/storage/Panels.h"
#include "dialects/storage/Storage.h"

#include "runtime/abi/NarrowFloats.h"
#include "runtime/src/devices/host/Isa.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"
#include "gtest/gtest.h"

#include <cstdlib>

#include <cstring>

using namespace mlir;
using namespace effc;
using namespace effc::test;
using seq::reference::Datum;
using seq::reference::Tensor;

//===----------------------------------------------------------------------===//
// TestModel
//===----------------------------------------------------------------------===//

const Target &effc::test::testTarget() {
  const char *name = std::getenv("EFFC_TEST_TARGET");
  const Target *target = findTarget(name ? name : "host");
  EXPECT_TRUE(target) << "no target " << name;
  return target ? *target : hostTarget();
}

/// Whether code of the target is of another architecture than this process.
static bool isForeign(const Target &target) {
  return target.device == tile::Device::Host &&
         !rt::findIsaHere(target.code.str());
}

namespace {
/// Skips all tests, with the reason, where the machine lacks the level of the
/// host that they compile for.
class LevelOfTheHost : public ::testing::Environment {
  void SetUp() override {
    const Target &target = testTarget();
    const rt::HostIsa *isa = target.device == tile::Device::Host
                                 ? rt::findHostIsa(target.code)
                                 : nullptr;
    if (isa && isForeign(target) && ForeignKernels::areThere())
      return;
    if (isa && !rt::runsHere(*isa))
      GTEST_SKIP() << "this machine lacks "
                   << rt::missingFor(rt::featuresOf(*isa)) << " of "
                   << isa->name;
  }
};
const auto *const kLevelOfTheHost =
    ::testing::AddGlobalTestEnvironment(new LevelOfTheHost);
} // namespace

static DialectRegistry allDialects() {
  DialectRegistry registry;
  registerAllDialects(registry);
  return registry;
}

TestModel::TestModel(StringRef text)
    : context(allDialects(), MLIRContext::Threading::DISABLED) {
  context.loadAllAvailableDialects();
  context.getDiagEngine().registerHandler([this](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
      errors += diagnostic.str() + "\n";
    if (diagnostic.getSeverity() == DiagnosticSeverity::Remark)
      remarks += diagnostic.str() + "\n";
    return success();
  });
  module = parseSourceString<ModuleOp>(text, &context);
  EXPECT_TRUE(module) << errors;
  if (module)
    (*module)->setAttr(tile::kTargetAttr,
                       describeTarget({.target = &testTarget()}, &context));
}

std::vector<Datum<double>>
TestModel::evaluate(std::vector<Datum<double>> inputs,
                    const llvm::StringMap<std::vector<float>> &weights) const {
  auto provider = [&](seq::WeightOp weight) -> llvm::Expected<Tensor<double>> {
    auto type = cast<RankedTensorType>(weight.getType());
    const std::vector<float> &elements = weights.at(weight.getSymName());
    return Tensor<double>(type.getShape(), {elements.begin(), elements.end()});
  };
  auto outputs = seq::reference::evaluate<double>(
      get().lookupSymbol<func::FuncOp>("forward"), std::move(inputs), provider);
  if (outputs)
    return std::move(*outputs);
  ADD_FAILURE() << llvm::toString(outputs.takeError());
  return {};
}

//===----------------------------------------------------------------------===//
// CompiledKernels
//===----------------------------------------------------------------------===//

CompiledKernels::CompiledKernels(ModuleOp module) {
  for (auto binary : module.getOps<plan::BinaryOp>()) {
    code = MappedCode(cast<DenseElementsAttr>(binary.getCode()).getRawData());
    for (auto [i, name] :
         llvm::enumerate(binary.getKernels().getAsValueRange<StringAttr>())) {
      auto at = [i = i](std::optional<ArrayRef<int64_t>> list) -> uint32_t {
        return list ? (*list)[i] : 0;
      };
      kernels[name] = {
          reinterpret_cast<uintptr_t>(code.data() + binary.getOffsets()[i]),
          at(binary.getThreads()), at(binary.getSharedBytes()),
          uint64_t(binary.getStackBytes()[i]), binary.getOverlapping()};
      if (ArrayAttr maps = binary.getBoxMapsAttr())
        for (auto map :
             cast<ArrayAttr>(maps[i]).getAsRange<tile::BoxMapAttr>()) {
          auto bytes =
              uint32_t(map.getElementType().getIntOrFloatBitWidth() / 8);
          kernels[name].boxMaps.push_back(
              {map.getOperand(),
               {nullptr, uint64_t(map.getRows()), uint64_t(map.getColumns()),
                uint64_t(map.getPitch()) * bytes, uint32_t(map.getBoxRows()),
                uint32_t(map.getBoxColumns()), bytes}});
        }
    }
  }
}

rt::SimLaunch CompiledKernels::simulated(StringRef name) const {
  Kernel kernel = kernels.lookup(name);
  return {reinterpret_cast<rt::SimKernel>(kernel.entry),
          kernel.threads,
          kernel.sharedBytes,
          nullptr,
          nullptr,
          {},
          nullptr,
          kernel.overlaps};
}

std::vector<rt::SimBoxMap>
CompiledKernels::boxMaps(StringRef name,
                         ArrayRef<const void *> operands) const {
  std::vector<rt::SimBoxMap> maps;
  for (const auto &[operand, map] : kernels.at(name).boxMaps) {
    maps.push_back(map);
    maps.back().base = operands[operand];
  }
  return maps;
}

std::unique_ptr<rt::SimBlock> CompiledKernels::makeBlock() const {
  uint32_t threads = 32, sharedBytes = 0;
  uint64_t stack = 0;
  for (const Kernel &kernel : llvm::make_second_range(kernels)) {
    threads = std::max(threads, kernel.threads);
    sharedBytes = std::max(sharedBytes, kernel.sharedBytes);
    stack = std::max(stack, kernel.stackBytes);
  }
  auto block = rt::SimBlock::create(threads, sharedBytes, stack);
  EXPECT_TRUE(block) << block.error().message;
  return block ? std::move(*block) : nullptr;
}

//===----------------------------------------------------------------------===//
// KernelModule
//===----------------------------------------------------------------------===//

KernelModule::KernelModule()
    : context(allDialects(), MLIRContext::Threading::DISABLED) {
  context.loadAllAvailableDialects();
  module = ModuleOp::create(UnknownLoc::get(&context));
  (*module)->setAttr(tile::kTargetAttr,
                     describeTarget({.target = &testTarget()}, &context));
}

KernelModule::~KernelModule() = default;

// A kernel that is called `name`, as text.
static std::string textOf(tile::KernelOp kernel, StringRef name) {
  std::string before = kernel.getSymName().str(), text;
  kernel.setSymName(name);
  llvm::raw_string_ostream stream(text);
  kernel->print(stream);
  kernel.setSymName(before);
  return text;
}

// Models have contexts of their own, so kernels go from one to the other as
// text.
llvm::StringMap<std::string> KernelModule::add(ModuleOp plans) {
  llvm::StringMap<std::string> added;
  for (auto kernel : plans.getOps<tile::KernelOp>()) {
    auto [entry, isNew] = names.try_emplace(
        textOf(kernel, "kernel"), "kernel_" + std::to_string(names.size()));
    added[kernel.getSymName()] = entry->second;
    if (!isNew)
      continue;
    auto parsed = parseSourceString<ModuleOp>(textOf(kernel, entry->second),
                                              ParserConfig(&context));
    EXPECT_TRUE(parsed);
    for (auto copy :
         llvm::make_early_inc_range(parsed->getOps<tile::KernelOp>())) {
      copy->remove();
      module->push_back(copy);
    }
  }
  return added;
}

namespace {
/// Edits a module when it is handed to the pass that makes simulated code.
struct BeforeSimulatedCode : PassInstrumentation {
  explicit BeforeSimulatedCode(PlanRunner::Edit edit) : edit(edit) {}
  void runBeforePass(Pass *pass, Operation *op) override {
    if (pass->getArgument() == "sim-call-simulator")
      edit(cast<ModuleOp>(op));
  }
  PlanRunner::Edit edit;
};
} // namespace

// Products are exact where a test does not say what they round.
static PipelineOptions forTests(PipelineOptions options) {
  options.target = &testTarget();
  if (options.products == Products::Usual)
    options.products = Products::Exact;
  return options;
}

void KernelModule::compile(const PipelineOptions &given,
                           PlanRunner::Edit edit) {
  if (CaseExport::isAsked())
    return;
  PipelineOptions options = forTests(given);
  PassManager passes(&context);
  if (edit)
    passes.addInstrumentation(std::make_unique<BeforeSimulatedCode>(edit));
  addPhase(passes, Phase::Binary, options,
           PhaseTarget::of(tile::getTarget(*module)));
  if (failed(passes.run(*module)))
    ADD_FAILURE() << "the kernels cannot be compiled";
  kernels = CompiledKernels(*module);
}

//===----------------------------------------------------------------------===//
// PlanRunner
//===----------------------------------------------------------------------===//

PlanRunner::PlanRunner(TestModel &model, const PipelineOptions &given,
                       int64_t slotCount, KernelModule &together, Edit edit)
    : module(model.get().clone()) {
  PipelineOptions options = forTests(given);
  (*module)->setAttr(tile::kTargetAttr,
                     describeTarget(options, module->getContext()));
  auto forward = module->lookupSymbol<func::FuncOp>("forward");
  logitsWidth =
      cast<RankedTensorType>(forward.getResultTypes()[0]).getDimSize(1);
  for (Phase phase : {Phase::Seq, Phase::Tile, Phase::Plan}) {
    PassManager passes(module->getContext());
    addPhase(passes, phase, options, PhaseTarget::of(tile::getTarget(*module)));
    if (failed(passes.run(*module))) {
      ADD_FAILURE() << model.getErrors().str();
      return;
    }
    if (phase == Phase::Tile && edit)
      edit(*module);
    if (CaseExport::isAsked())
      break;
  }
  layout = (*module)->getAttrOfType<seq::StateLayoutAttr>("seq.state_layout");
  if (CaseExport::isAsked())
    exported = std::make_unique<CaseExport>(model, options, layout, slotCount);
  else
    kernelNames = together.add(*module);
  kernels = &together;
  slots = GuardedMemory(slotCount * layout.getSlotBytes());
  for (auto weight : module->getOps<seq::WeightOp>()) {
    auto type = cast<RankedTensorType>(weight.getType());
    storage::Storage storage = storage::Storage::get(weight.getStoredElement());
    weights[weight.getSymName()] = GuardedMemory(
        storage.matrixBytes(type.getDimSize(0), plan::weightStrides(type)[0]));
  }
}

PlanRunner::PlanRunner(TestModel &model, const PipelineOptions &options,
                       int64_t slotCount, Edit edit, Edit editThreads)
    : PlanRunner(model, options, slotCount, std::make_unique<KernelModule>(),
                 edit, editThreads) {}

PlanRunner::PlanRunner(TestModel &model, const PipelineOptions &options,
                       int64_t slotCount, std::unique_ptr<KernelModule> alone,
                       Edit edit, Edit editThreads)
    : PlanRunner(model, options, slotCount, *alone, edit) {
  own = std::move(alone);
  own->compile(options, editThreads);
}

PlanRunner::PlanRunner(PlanRunner &&) noexcept = default;
PlanRunner::~PlanRunner() = default;

void PlanRunner::setWeight(StringRef symbol, ArrayRef<float> elements) {
  auto type = cast<RankedTensorType>(
      module->lookupSymbol<seq::WeightOp>(symbol).getType());
  storage::Storage storage = storage::Storage::get(type.getElementType());
  ASSERT_EQ(int64_t(elements.size()), type.getNumElements());
  if (exported)
    exported->setWeight(symbol, elements);
  std::vector<uint8_t> bytes(storage.bytes(elements.size()));
  ASSERT_FALSE(storage.encode(elements, bytes));
  for (auto [i, element] : llvm::enumerate(elements)) {
    float number = storage.number(bytes, i);
    ASSERT_TRUE(number == element || (number != number && element != element))
        << "no number of " << storage.name().str() << ": " << element;
  }
  setStoredWeight(symbol, bytes);
}

void PlanRunner::setStoredWeight(StringRef symbol, ArrayRef<uint8_t> bytes) {
  auto weight = module->lookupSymbol<seq::WeightOp>(symbol);
  auto type = cast<RankedTensorType>(weight.getType());
  storage::Storage storage = storage::Storage::get(type.getElementType());
  int64_t rows = type.getRank() == 1 ? 1 : type.getDimSize(0);
  if (weight.getPanels()) {
    ASSERT_EQ(int64_t(bytes.size()), storage.bytes(type.getNumElements()));
    auto packed = storage::PanelOrder(storage.block())
                      .pack(rows, type.getShape().back(), bytes);
    std::memcpy(weights[symbol].data(), packed.data(), packed.size());
    return;
  }
  if (weight.getBundles()) {
    ASSERT_EQ(int64_t(bytes.size()), storage.bytes(type.getNumElements()));
    auto packed =
        storage::BundleOrder(storage.block(), weight.getBundles()).pack(bytes);
    std::memcpy(weights[symbol].data(), packed.data(), packed.size());
    return;
  }
  int64_t row = storage.bytes(type.getNumElements() / rows);
  int64_t stride =
      rows == 1 ? row : storage.bytes(plan::weightStrides(type)[0]);
  ASSERT_EQ(int64_t(bytes.size()), rows * row);
  for (int64_t i = 0; i < rows; ++i)
    std::memcpy(weights[symbol].data() + i * stride, bytes.data() + i * row,
                row);
}

template <typename Element>
MutableArrayRef<Element> PlanRunner::elementsOf(StringRef name, int64_t slot) {
  for (seq::StateAttr state : layout.getStates())
    if (state.getName() == name)
      return {reinterpret_cast<Element *>(slots.data() +
                                          slot * layout.getSlotBytes() +
                                          state.getOffset()),
              size_t(state.getSizeBytes()) / sizeof(Element)};
  ADD_FAILURE() << "no state " << name.str();
  return {};
}

MutableArrayRef<float> PlanRunner::state(StringRef name, int64_t slot) {
  return elementsOf<float>(name, slot);
}

std::vector<float> PlanRunner::readState(StringRef name, int64_t slot) {
  effc::storage::Storage storage = storageOf(name);
  MutableArrayRef<uint8_t> bytes = elementsOf<uint8_t>(name, slot);
  std::vector<float> numbers(bytes.size() / storage.blockBytes() *
                             storage.blockElements());
  storage.readNumbers(bytes, numbers);
  return numbers;
}

void PlanRunner::writeState(StringRef name, int64_t slot,
                            ArrayRef<float> elements) {
  effc::storage::Storage storage = storageOf(name);
  MutableArrayRef<uint8_t> bytes = elementsOf<uint8_t>(name, slot);
  ASSERT_EQ(int64_t(bytes.size()), storage.bytes(int64_t(elements.size())));
  ASSERT_FALSE(storage.encode(elements, bytes));
}

effc::storage::Storage PlanRunner::storageOf(StringRef name) const {
  for (seq::StateAttr state : layout.getStates())
    if (state.getName() == name)
      return effc::storage::Storage::get(state.getType().getElementType());
  llvm::report_fatal_error("no such state");
}

plan::EntryOp PlanRunner::findEntry(plan::EntryKind kind, int64_t rows) {
  plan::EntryOp best;
  for (auto entry : module->getOps<plan::EntryOp>())
    if (entry.getKind() == kind && int64_t(entry.getRows()) >= rows &&
        (!best || entry.getRows() < best.getRows()))
      best = entry;
  return best;
}

std::vector<float> PlanRunner::run(plan::EntryKind kind, ArrayRef<Segment> call,
                                   plan::CallResult wanted) {
  if (exported) {
    if (wanted != plan::CallResult::Logits)
      ADD_FAILURE() << "an exported case has no calls of which choices are "
                       "wanted";
    if (!draws.empty())
      ADD_FAILURE() << "an exported case has no draws";
    return exported->call(kind, call, slots.data());
  }
  int64_t rows = 0;
  for (const Segment &segment : call)
    rows += segment.tokens.size();
  plan::EntryOp entry = findEntry(kind, rows);
  if (!entry) {
    ADD_FAILURE() << "no entry has " << rows << " rows";
    return {};
  }
  auto table = [&](plan::Table kind, size_t bytes) -> GuardedMemory & {
    return tables[static_cast<int>(kind)] = GuardedMemory(bytes);
  };
  using enum plan::Table;
  auto *tokens = table(Tokens, rows * 4).as<int32_t>();
  auto *rowSlots = table(RowSlots, rows * 4).as<int32_t>();
  auto *rowPositions = table(RowPositions, rows * 8).as<int64_t>();
  auto *outputRows = table(OutputRows, rows * 4).as<int32_t>();
  auto *records = table(Segments, call.size() * sizeof(artifact::SegmentRecord))
                      .as<artifact::SegmentRecord>();
  auto *drawn = table(Draws, rows * sizeof(artifact::DrawRecord))
                    .as<artifact::DrawRecord>();
  int32_t row = 0;
  for (auto [i, segment] : llvm::enumerate(call)) {
    records[i] =
        artifact::SegmentRecord(segment.slot, row, segment.tokens.size(),
                                segment.begins, segment.start);
    for (auto [t, token] : llvm::enumerate(segment.tokens)) {
      tokens[row] = token;
      rowSlots[row] = segment.slot;
      rowPositions[row] = segment.start + t;
      outputRows[row] = row;
      drawn[row] =
          draws.empty() ? artifact::DrawRecord(1, 0, 0, 0) : draws.at(row);
      ++row;
    }
  }
  arena = GuardedMemory(*entry.getArenaBytes());
  int64_t width = wanted == plan::CallResult::Choices ? 2 : logitsWidth;
  logits = GuardedMemory(rows * width * 4);
  const int64_t counts[4] = {rows, int64_t(call.size()), rows, 1};
  for (auto op : entry.getOps<plan::LaunchOp>())
    if (op.getOnlyFor().value_or(wanted) == wanted)
      launch(op, counts);
  const float *result = logits.as<float>();
  return {result, result + rows * width};
}

// As in the runtime (HostExecutor.cpp): a kernel has nothing in front of it
// that the sanitizer of function types could read.
__attribute__((no_sanitize("function"))) void
PlanRunner::launch(plan::LaunchOp op, const int64_t (&counts)[4]) {
  SmallVector<const void *> operands;
  for (Value operand : op.getOperands())
    operands.push_back(addressOf(operand));
  tile::ItemsAttr items = op.getItems();
  int64_t count = llvm::divideCeil(counts[static_cast<int>(items.getCount())],
                                   items.getTile()) *
                  items.getTimes();
  if (testTarget().simulated)
    return simulate(op, operands, counts, count);
  if (isForeign(testTarget()))
    return launchForeign(op, operands, counts, count);
  rt::HostKernel kernel = kernels->get()[kernelNames.at(op.getKernel())];
  for (int64_t part = parts; part-- > 0;)
    kernel(operands.data(), counts, count * part / parts,
           count * (part + 1) / parts);
}

void PlanRunner::launchForeign(plan::LaunchOp op,
                               ArrayRef<const void *> operands,
                               const int64_t (&counts)[4], int64_t items) {
  auto [code, entry] = kernels->get().foreign(kernelNames.at(op.getKernel()));
  ForeignKernels::Launch launch = {
      {code.data(), code.size()}, code.number(), entry, {}, {}, counts, 0, 0};
  llvm::MapVector<const GuardedMemory *, bool> memories;
  for (Value operand : op.getOperands())
    memories[&memoryOf(operand)] |= rangeOf(operand).writable;
  for (auto [memory, isWritten] : memories)
    launch.memories.push_back({{memory->data(), memory->size()}, isWritten});
  for (auto [operand, address] : llvm::zip_equal(op.getOperands(), operands)) {
    auto *memory = memories.find(&memoryOf(operand));
    launch.operands.push_back({uint64_t(memory - memories.begin()),
                               uint64_t(static_cast<const uint8_t *>(address) -
                                        memory->first->data())});
  }
  for (int64_t part = parts; part-- > 0;) {
    launch.begin = items * part / parts;
    launch.end = items * (part + 1) / parts;
    ForeignKernels::get().run(launch);
  }
}

// Blocks in the order of `parts`, as on the host.
void PlanRunner::simulate(plan::LaunchOp op, ArrayRef<const void *> operands,
                          const int64_t (&counts)[4], int64_t blocks) {
  std::vector<rt::OperandRange> ranges;
  for (Value operand : op.getOperands())
    ranges.push_back(rangeOf(operand));
  if (!block)
    block = kernels->get().makeBlock();
  rt::SimLaunch launch =
      kernels->get().simulated(kernelNames.at(op.getKernel()));
  std::vector<rt::SimBoxMap> maps =
      kernels->get().boxMaps(kernelNames.at(op.getKernel()), operands);
  SmallVector<const void *> passed(operands);
  for (const rt::SimBoxMap &map : maps)
    passed.push_back(&map);
  launch.operands = passed.data();
  launch.counts = counts;
  launch.ranges = ranges;
  rt::LaunchWatch watch;
  launch.watch = &watch;
  for (int64_t part = parts; part-- > 0;)
    for (int64_t i = blocks * part / parts; i < blocks * (part + 1) / parts;
         ++i)
      if (auto report = block->run(launch, i)) {
        if (looksForFaults) {
          if (fault.empty())
            fault = op.getKernel().str() + ": " + report->site + ": " +
                    report->what;
          return;
        }
        ADD_FAILURE() << "kernel " << op.getKernel().str() << ", block " << i
                      << ", thread " << report->thread << ", " << report->site
                      << ": " << report->what;
        return;
      }
}

rt::OperandRange PlanRunner::rangeOf(Value memory) const {
  Value base = memory;
  int64_t further = 0;
  while (auto offset = base.getDefiningOp<plan::OffsetOp>()) {
    further += offset.getBytes();
    base = offset.getBase();
  }
  Operation *op = base.getDefiningOp();
  const GuardedMemory &whole = memoryOf(base);
  rt::OperandRange range;
  range.start = reinterpret_cast<uintptr_t>(whole.data());
  range.bytes = whole.size();
  if (auto buffer = dyn_cast<plan::ArenaOp>(op)) {
    range.start += *buffer.getOffset() + further;
    range.bytes = buffer.getBytes() - further;
  }
  range.writable =
      isa<plan::ArenaOp, plan::StateOp, plan::LogitsOp, plan::ChoicesOp>(op);
  range.what = op->getName().getStringRef().str();
  return range;
}

const GuardedMemory &PlanRunner::memoryOf(Value memory) const {
  Operation *op = memory.getDefiningOp();
  if (auto offset = dyn_cast<plan::OffsetOp>(op))
    return memoryOf(offset.getBase());
  if (isa<plan::ArenaOp>(op))
    return arena;
  if (auto weight = dyn_cast<plan::WeightOp>(op))
    return weights.at(weight.getWeight());
  if (auto table = dyn_cast<plan::TableOp>(op))
    return tables[static_cast<int>(table.getTable())];
  return isa<plan::StateOp>(op) ? slots : logits; // or choices
}

const void *PlanRunner::addressOf(Value memory) const {
  Operation *op = memory.getDefiningOp();
  if (auto offset = dyn_cast<plan::OffsetOp>(op))
    return static_cast<const uint8_t *>(addressOf(offset.getBase())) +
           offset.getBytes();
  const uint8_t *start = memoryOf(memory).data();
  if (auto buffer = dyn_cast<plan::ArenaOp>(op))
    return start + *buffer.getOffset();
  if (auto state = dyn_cast<plan::StateOp>(op))
    for (seq::StateAttr entry : layout.getStates())
      if (entry.getName() == state.getName())
        return start + entry.getOffset();
  return start;
}
