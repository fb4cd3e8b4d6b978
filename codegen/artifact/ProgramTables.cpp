// plan -> the program's tables, field by field.
#include "codegen/artifact/ProgramTables.h"
#include "codegen/artifact/KernelExtents.h"
#include "runtime/abi/FileHeader.h"

#include "dialects/plan/Instructions.h"
#include "dialects/plan/Plan.h"
#include "dialects/plan/SegmentRecord.h"
#include "dialects/seq/HiddenRows.h"
#include "dialects/seq/Seq.h"
#include "dialects/storage/DenseKind.h"
#include "dialects/tile/Tile.h"
#include "llvm/ADT/StringMap.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

using namespace llvm;
using namespace effc;
using namespace effc::codegen;
using namespace effc::artifact;

static_assert(sizeof(artifact::SegmentRecord) == plan::SegmentRecord::kBytes,
              "kernels read the segment table by other offsets");

namespace {

class ProgramTables {
public:
  ProgramTables(const Contents &contents, ProgramT &program)
      : module(contents.plans.front().module), contents(contents),
        program(program) {}

  Expected<std::vector<CodeImage>> fill();

private:
  /// Where the kernels and entries of a target go.
  struct Tables {
    std::vector<std::unique_ptr<KernelT>> &kernels;
    std::vector<std::unique_ptr<EntryT>> &entries;
    /// Whether who runs them looks where buffers end.
    bool areWatched;
  };
  Error fillStates();
  Error fillTarget(const Contents::Plan &plan);
  /// `image`, the next one, is what the binary holds.
  void fillKernels(plan::BinaryOp binary, const CodeImage &image, Tables to);
  Error fillEntry(plan::EntryOp entry, Tables to);
  Expected<Operand> operandOf(mlir::Value place);
  /// Bytes from a place in the arena to its buffer's end; 0 elsewhere.
  static uint64_t bytesBehind(mlir::Value place);
  void fillGeneration();
  void fillProvenance();

  mlir::ModuleOp module; // of the first target; states are the same in all
  const Contents &contents;
  ProgramT &program;
  std::vector<CodeImage> images;
  StringMap<uint32_t> weightIndex, stateIndex, kernelIndex;
};

Error ProgramTables::fillStates() {
  auto model = module->getAttrOfType<seq::ModelAttr>("seq.model");
  auto layout = module->getAttrOfType<seq::StateLayoutAttr>("seq.state_layout");
  if (!model || !layout)
    return createStringError(
        "the module lacks 'seq.model' or 'seq.state_layout'");
  program.vocabulary_size = model.getVocabulary();
  if (auto hidden =
          module->getAttrOfType<mlir::IntegerAttr>(seq::kHiddenWidthAttr))
    program.hidden_width = static_cast<uint32_t>(hidden.getInt());
  if (auto taps = module->getAttrOfType<mlir::ArrayAttr>(seq::kTapsAttr))
    for (auto tap : taps.getAsRange<seq::TapAttr>()) {
      auto filled = std::make_unique<TapT>();
      filled->name = tap.getName().str();
      filled->shape.assign(tap.getShape().begin(), tap.getShape().end());
      program.taps.push_back(std::move(filled));
    }
  program.max_context = model.getMaxContext();
  program.model_width = model.getWidth();
  program.slot_bytes = layout.getSlotBytes();
  program.flops_per_token = contents.flopsPerToken;
  for (const seq::Work::Keys &keys : contents.keyWork)
    program.key_work.emplace_back(keys.window, keys.flops, keys.counted);
  program.head_flops_per_row = contents.headFlopsPerRow;
  for (seq::StateAttr attr : layout.getStates()) {
    auto state = std::make_unique<StateT>();
    state->name = attr.getName().str();
    // The schema's enums list the dialect's cases in the same order.
    state->kind = static_cast<StateKind>(attr.getKind());
    state->growth = static_cast<Growth>(attr.getGrowth());
    state->type = elementTypeOf(attr.getType().getElementType());
    state->shape.assign(attr.getType().getShape().begin(),
                        attr.getType().getShape().end());
    state->neutral = static_cast<float>(attr.getNeutral().getValueAsDouble());
    state->slot_offset = attr.getOffset();
    state->size = attr.getSizeBytes();
    state->positions_per_row = attr.getPositionsPerRow();
    stateIndex[attr.getName()] = program.states.size();
    program.states.push_back(std::move(state));
  }
  for (auto weight : module.getOps<seq::WeightOp>())
    weightIndex.try_emplace(weight.getSymName(), weightIndex.size());
  return Error::success();
}

static std::unique_ptr<MatrixProductT> productOf(plan::ProductAttr product) {
  auto filled = std::make_unique<MatrixProductT>();
  filled->outputs = product.getOutputs();
  filled->inner = product.getInner();
  filled->x_pitch = product.getXPitch();
  filled->w_pitch = product.getWPitch();
  filled->y_pitch = product.getYPitch();
  filled->x_type = elementTypeOf(product.getX());
  filled->w_type = elementTypeOf(product.getW());
  filled->y_type = elementTypeOf(product.getY());
  return filled;
}

static void fillBoxMaps(mlir::ArrayAttr maps, KernelT &kernel) {
  for (auto map : maps.getAsRange<tile::BoxMapAttr>()) {
    mlir::Type type = map.getElementType();
    auto filled = std::make_unique<BoxMapT>();
    filled->operand = map.getOperand();
    filled->rows = map.getRows();
    filled->columns = map.getColumns();
    filled->pitch = storage::Storage::get(type).bytes(map.getPitch());
    filled->box_rows = map.getBoxRows();
    filled->box_columns = map.getBoxColumns();
    filled->type = elementTypeOf(type);
    kernel.box_maps.push_back(std::move(filled));
  }
}

void ProgramTables::fillKernels(plan::BinaryOp binary, const CodeImage &image,
                                Tables to) {
  auto segment = static_cast<uint32_t>(images.size());
  auto at = [](std::optional<ArrayRef<int64_t>> list, size_t i) -> uint32_t {
    return list ? (*list)[i] : 0;
  };
  for (auto [i, attr] : enumerate(binary.getKernels())) {
    std::string name = cast<mlir::StringAttr>(attr).str();
    auto [place, isNew] = kernelIndex.try_emplace(name, to.kernels.size());
    if (isNew) {
      to.kernels.push_back(std::make_unique<KernelT>());
      KernelT &kernel = *to.kernels.back();
      kernel.name = name;
      kernel.threads = at(binary.getThreads(), i);
      kernel.shared_bytes = at(binary.getSharedBytes(), i);
      kernel.registers = at(binary.getRegisters(), i);
      kernel.spill_bytes = at(binary.getSpillBytes(), i);
      kernel.overlaps = binary.getOverlapping();
      if (auto counts =
              binary->getAttrOfType<mlir::ArrayAttr>(plan::kInstructionsAttr))
        for (mlir::NamedAttribute one : cast<mlir::DictionaryAttr>(counts[i])) {
          auto count = std::make_unique<InstructionCountT>();
          count->name = one.getName().str();
          count->count = cast<mlir::IntegerAttr>(one.getValue()).getInt();
          kernel.instructions.push_back(std::move(count));
        }
      if (mlir::ArrayAttr maps = binary.getBoxMapsAttr())
        fillBoxMaps(cast<mlir::ArrayAttr>(maps[i]), kernel);
      fillExtents(binary->getParentOfType<mlir::ModuleOp>(), kernel);
      kernel.vocabulary = program.vocabulary_size;
      kernel.max_context = program.max_context;
      kernel.decode_only = true; // until a launch says otherwise
    }
    // What a call needs whichever code of the target runs.
    KernelT &kernel = *to.kernels[place->second];
    kernel.stack_bytes =
        std::max<uint64_t>(kernel.stack_bytes, binary.getStackBytes()[i]);
    auto code = std::make_unique<KernelCodeT>();
    code->segment = segment;
    code->offset = binary.getOffsets()[i];
    if (image.kind == SegmentKind::HostCode ||
        image.kind == SegmentKind::SimCode)
      code->start_checksum =
          XXH3_64bits(&image.bytes[code->offset],
                      std::min<uint64_t>(rt::FileHeader::kCodeStartBytes,
                                         image.bytes.size() - code->offset));
    kernel.code.push_back(std::move(code));
  }
}

Expected<Operand> ProgramTables::operandOf(mlir::Value place) {
  uint64_t offset = 0;
  while (auto further = place.getDefiningOp<plan::OffsetOp>()) {
    offset += further.getBytes();
    place = further.getBase();
  }
  mlir::Operation *op = place.getDefiningOp();
  if (auto arena = dyn_cast<plan::ArenaOp>(op)) {
    if (!arena.getOffset())
      return createStringError("a buffer has no place in the arena");
    return Operand(OperandKind::Arena, 0, offset + *arena.getOffset());
  }
  if (auto weight = dyn_cast<plan::WeightOp>(op)) {
    auto found = weightIndex.find(weight.getWeight());
    if (found == weightIndex.end())
      return createStringError("a launch reads weight '" + weight.getWeight() +
                               "', which is not declared");
    return Operand(OperandKind::Weight, found->second, offset);
  }
  if (auto state = dyn_cast<plan::StateOp>(op)) {
    auto found = stateIndex.find(state.getName());
    if (found == stateIndex.end())
      return createStringError("a launch uses state '" + state.getName() +
                               "', which has no place in a slot");
    return Operand(OperandKind::State, found->second, offset);
  }
  if (isa<plan::LogitsOp>(op))
    return Operand(OperandKind::Logits, 0, offset);
  if (isa<plan::ChoicesOp>(op))
    return Operand(OperandKind::Choices, 0, offset);
  switch (cast<plan::TableOp>(op).getTable()) {
  case plan::Table::Tokens:
    return Operand(OperandKind::Tokens, 0, offset);
  case plan::Table::RowSlots:
    return Operand(OperandKind::RowSlots, 0, offset);
  case plan::Table::RowPositions:
    return Operand(OperandKind::RowPositions, 0, offset);
  case plan::Table::Segments:
    return Operand(OperandKind::Segments, 0, offset);
  case plan::Table::OutputRows:
    return Operand(OperandKind::OutputRows, 0, offset);
  case plan::Table::Draws:
    return Operand(OperandKind::Draws, 0, offset);
  }
  llvm_unreachable("every table is listed");
}

uint64_t ProgramTables::bytesBehind(mlir::Value place) {
  uint64_t offset = 0;
  while (auto further = place.getDefiningOp<plan::OffsetOp>()) {
    offset += further.getBytes();
    place = further.getBase();
  }
  auto arena = place.getDefiningOp<plan::ArenaOp>();
  return arena ? arena.getBytes() - offset : 0;
}

// A kernel's operands are of the kinds that launches pass; what it states of
// itself is what each of them has.
static Error holdToLaunch(const EntryT &entry, const LaunchT &launch,
                          KernelT &kernel) {
  kernel.operands = launch.operands.size();
  kernel.rows = std::max(kernel.rows, entry.rows);
  kernel.decode_only &= entry.kind == EntryKind::Decode;
  if (!kernel.items)
    return Error::success();
  const Items &stated = *kernel.items, &given = *launch.items;
  if (kernel.extents.size() != launch.operands.size() ||
      stated.count() != given.count() || stated.tile() != given.tile() ||
      stated.times() != given.times())
    return createStringError("a launch of kernel '" + kernel.name +
                             "' differs from what the kernel states");
  for (auto [extent, operand] : zip_equal(kernel.extents, launch.operands))
    extent = OperandExtent(extent.stride(), extent.bytes(), extent.alignment(),
                           extent.kinds() | 1u << unsigned(operand.kind()));
  return Error::success();
}

Error ProgramTables::fillEntry(plan::EntryOp op, Tables to) {
  auto entry = std::make_unique<EntryT>();
  entry->name = op.getSymName().str();
  entry->kind = op.getKind() == plan::EntryKind::Decode ? EntryKind::Decode
                                                        : EntryKind::Prefill;
  entry->rows = op.getRows();
  entry->chunk = op.getChunk();
  entry->arena_bytes = op.getArenaBytes().value_or(0);
  for (auto launchOp : op.getOps<plan::LaunchOp>()) {
    auto launch = std::make_unique<LaunchT>();
    auto kernel = kernelIndex.find(launchOp.getKernel());
    if (kernel == kernelIndex.end())
      return createStringError("kernel '" + launchOp.getKernel() +
                               "' has no code");
    launch->kernel = kernel->second;
    tile::ItemsAttr items = launchOp.getItems();
    launch->items =
        std::make_unique<Items>(static_cast<Count>(items.getCount()),
                                items.getTile(), items.getTimes());
    launch->note = launchOp.getNote().str();
    launch->flops_per_row = launchOp.getFlops().value_or(0);
    // The schema's enum lists the dialect's cases, behind a launch of all
    // calls.
    if (std::optional<plan::CallResult> result = launchOp.getOnlyFor())
      launch->only_for = static_cast<CallResult>(*result);
    for (mlir::Value place : launchOp.getOperands()) {
      Expected<Operand> operand = operandOf(place);
      if (!operand)
        return operand.takeError();
      launch->operands.push_back(*operand);
      if (to.areWatched)
        launch->operand_bytes.push_back(bytesBehind(place));
    }
    if (plan::ProductAttr product = launchOp.getProductAttr())
      launch->product = productOf(product);
    if (Error error =
            holdToLaunch(*entry, *launch, *to.kernels[launch->kernel]))
      return error;
    entry->launches.push_back(std::move(launch));
  }
  to.entries.push_back(std::move(entry));
  return Error::success();
}

void ProgramTables::fillGeneration() {
  program.generation = std::make_unique<GenerationT>();
  const codegen::Generation &from = contents.generation;
  program.generation->bos = from.bos;
  program.generation->pad = from.pad;
  program.generation->eos = from.eos;
  program.generation->do_sample = from.doSample;
  program.generation->temperature = from.temperature;
  program.generation->top_k = from.topK;
  program.generation->top_p = from.topP;
  program.generation->min_p = from.minP;
  program.generation->repeat_penalty = from.repeatPenalty;
  program.generation->stops = from.stops;
}

void ProgramTables::fillProvenance() {
  program.provenance = std::make_unique<ProvenanceT>();
  program.provenance->compiler = contents.compiler;
  program.provenance->commit = contents.commit;
  program.provenance->llvm = contents.llvmVersion;
  program.provenance->family =
      module->getAttrOfType<seq::ModelAttr>("seq.model").getFamily().str();
  program.provenance->options = contents.options;
  program.provenance->sources = describeSources(contents.sources);
  // One program assembles for all targets.
  for (const Contents::Plan &plan : contents.plans)
    for (auto binary : mlir::ModuleOp(plan.module).getOps<plan::BinaryOp>())
      if (std::optional<StringRef> version = binary.getPtxas())
        program.provenance->ptxas = version->str();
}

static bool isOfHost(tile::TargetAttr target) {
  return target.getDevice() == tile::Device::Host;
}

static SegmentKind kindOf(plan::BinaryOp binary, tile::TargetAttr target) {
  if (isOfHost(target))
    return SegmentKind::HostCode;
  if (target.getSimulated())
    return SegmentKind::SimCode;
  return binary.getIsaAttr() == target.getPtx() ? SegmentKind::Ptx
                                                : SegmentKind::Cubin;
}

static CodeImage imageOf(plan::BinaryOp binary, tile::TargetAttr of) {
  CodeImage image;
  image.isa = binary.getIsa().str();
  image.kind = kindOf(binary, of);
  auto code = cast<mlir::DenseElementsAttr>(binary.getCode());
  ArrayRef<char> bytes = code.getRawData();
  image.bytes.assign(bytes.begin(), bytes.end());
  // A splat keeps one element; its bytes are all the same.
  image.bytes.resize(code.getNumElements(),
                     image.bytes.empty() ? 0 : image.bytes[0]);
  return image;
}

Error ProgramTables::fillTarget(const Contents::Plan &plan) {
  mlir::ModuleOp of = plan.module;
  if (of->getAttr("seq.state_layout") != module->getAttr("seq.state_layout"))
    return createStringError("targets '" + contents.plans.front().target +
                             "' and '" + plan.target +
                             "' would keep states in different ways");
  auto runsOn = of->getAttrOfType<tile::TargetAttr>(tile::kTargetAttr);
  if (!runsOn)
    return createStringError("the module of '" + plan.target +
                             "' does not say what runs it");
  TargetPlanT *target = nullptr;
  if (!isOfHost(runsOn)) {
    program.targets.push_back(std::make_unique<TargetPlanT>());
    target = program.targets.back().get();
    target->name = plan.target;
  }
  bool isSimulated = runsOn.getSimulated();
  Tables to = target ? Tables{target->kernels, target->entries, isSimulated}
                     : Tables{program.kernels, program.entries, isSimulated};
  kernelIndex.clear();
  size_t before = images.size();
  for (auto binary : of.getOps<plan::BinaryOp>()) {
    CodeImage image = imageOf(binary, runsOn);
    fillKernels(binary, image, to);
    images.push_back(std::move(image));
  }
  if (images.size() == before)
    return createStringError("the module holds no code");
  for (auto entry : of.getOps<plan::EntryOp>())
    if (Error error = fillEntry(entry, to))
      return error;
  return Error::success();
}

Expected<std::vector<CodeImage>> ProgramTables::fill() {
  if (Error error = fillStates())
    return error;
  for (const Contents::Plan &plan : contents.plans)
    if (Error error = fillTarget(plan))
      return error;
  fillGeneration();
  fillProvenance();
  return std::move(images);
}

} // namespace

ElementType effc::codegen::elementTypeOf(mlir::Type type) {
  if (!storage::Storage::get(type).isDense())
    return ElementType::Blocks;
  switch (storage::getDenseKind(type)) {
  case storage::DenseKind::F32:
    return ElementType::F32;
  case storage::DenseKind::BF16:
    return ElementType::BF16;
  case storage::DenseKind::F16:
    return ElementType::F16;
  case storage::DenseKind::I32:
    return ElementType::I32;
  case storage::DenseKind::I64:
    return ElementType::I64;
  }
  llvm_unreachable("every kind is listed");
}

std::vector<std::unique_ptr<SourceFileT>>
effc::codegen::describeSources(ArrayRef<codegen::SourceFile> files) {
  std::vector<std::unique_ptr<SourceFileT>> sources;
  for (const codegen::SourceFile &file : files) {
    sources.push_back(std::make_unique<SourceFileT>());
    sources.back()->name = file.name;
    sources.back()->size = file.size;
    sources.back()->checksum = file.checksum;
  }
  return sources;
}

Expected<std::vector<CodeImage>>
effc::codegen::fillProgram(const Contents &contents, ProgramT &program) {
  return ProgramTables(contents, program).fill();
}
