// plan -> the program's tables, field by field.
#include "codegen/artifact/ProgramTables.h"

#include "dialects/plan/Plan.h"
#include "dialects/plan/SegmentRecord.h"
#include "dialects/seq/Seq.h"
#include "llvm/ADT/StringMap.h"

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
      : module(contents.module), contents(contents), program(program) {}

  Expected<CodeImage> fill();

private:
  Error fillStates();
  Error fillKernels(plan::BinaryOp binary);
  Error fillEntry(plan::EntryOp entry);
  Expected<Operand> operandOf(mlir::Value place);
  void fillGeneration();
  void fillProvenance();

  mlir::ModuleOp module;
  const Contents &contents;
  ProgramT &program;
  StringMap<uint32_t> weightIndex, stateIndex, kernelIndex;
};

Error ProgramTables::fillStates() {
  auto model = module->getAttrOfType<seq::ModelAttr>("seq.model");
  auto layout = module->getAttrOfType<seq::StateLayoutAttr>("seq.state_layout");
  if (!model || !layout)
    return createStringError(
        "the module lacks 'seq.model' or 'seq.state_layout'");
  program.vocabulary_size = model.getVocabulary();
  program.max_context = model.getMaxContext();
  program.model_width = model.getWidth();
  program.slot_bytes = layout.getSlotBytes();
  program.flops_per_token = contents.flopsPerToken;
  program.head_flops_per_row = contents.headFlopsPerRow;
  for (seq::StateAttr attr : layout.getStates()) {
    auto state = std::make_unique<StateT>();
    state->name = attr.getName().str();
    // The schema's enums list the dialect's cases in the same order.
    state->kind = static_cast<StateKind>(attr.getKind());
    state->growth = static_cast<Growth>(attr.getGrowth());
    state->type = attr.getType().getElementType().isBF16() ? ElementType::BF16
                                                           : ElementType::F32;
    state->shape.assign(attr.getType().getShape().begin(),
                        attr.getType().getShape().end());
    state->neutral = static_cast<float>(attr.getNeutral().getValueAsDouble());
    state->slot_offset = attr.getOffset();
    state->size = attr.getSizeBytes();
    stateIndex[attr.getName()] = program.states.size();
    program.states.push_back(std::move(state));
  }
  for (auto weight : module.getOps<seq::WeightOp>())
    weightIndex.try_emplace(weight.getSymName(), weightIndex.size());
  return Error::success();
}

Error ProgramTables::fillKernels(plan::BinaryOp binary) {
  for (auto [i, attr] : enumerate(binary.getKernels())) {
    auto kernel = std::make_unique<KernelT>();
    kernel->name = cast<mlir::StringAttr>(attr).str();
    kernel->stack_bytes = binary.getStackBytes()[i];
    auto code = std::make_unique<KernelCodeT>();
    code->segment = 0;
    code->offset = binary.getOffsets()[i];
    kernel->code.push_back(std::move(code));
    kernelIndex[kernel->name] = program.kernels.size();
    program.kernels.push_back(std::move(kernel));
  }
  return Error::success();
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
  }
  llvm_unreachable("every table is listed");
}

Error ProgramTables::fillEntry(plan::EntryOp op) {
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
    for (mlir::Value place : launchOp.getOperands()) {
      Expected<Operand> operand = operandOf(place);
      if (!operand)
        return operand.takeError();
      launch->operands.push_back(*operand);
    }
    program.kernels[launch->kernel]->operands = launch->operands.size();
    entry->launches.push_back(std::move(launch));
  }
  program.entries.push_back(std::move(entry));
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
}

void ProgramTables::fillProvenance() {
  program.provenance = std::make_unique<ProvenanceT>();
  program.provenance->compiler = contents.compiler;
  program.provenance->commit = contents.commit;
  program.provenance->llvm = contents.llvmVersion;
  program.provenance->family =
      module->getAttrOfType<seq::ModelAttr>("seq.model").getFamily().str();
  program.provenance->options = contents.options;
  for (const codegen::SourceFile &file : contents.sources) {
    auto source = std::make_unique<SourceFileT>();
    source->name = file.name;
    source->size = file.size;
    source->checksum = file.checksum;
    program.provenance->sources.push_back(std::move(source));
  }
}

Expected<CodeImage> ProgramTables::fill() {
  auto binaries = module.getOps<plan::BinaryOp>();
  if (binaries.empty())
    return createStringError("the module holds no code");
  plan::BinaryOp binary = *binaries.begin();
  if (Error error = fillStates())
    return error;
  if (Error error = fillKernels(binary))
    return error;
  for (auto entry : module.getOps<plan::EntryOp>())
    if (Error error = fillEntry(entry))
      return error;
  fillGeneration();
  fillProvenance();
  CodeImage image;
  image.isa = binary.getIsa().str();
  auto code = cast<mlir::DenseElementsAttr>(binary.getCode());
  ArrayRef<char> bytes = code.getRawData();
  image.bytes.assign(bytes.begin(), bytes.end());
  // A splat keeps one element; its bytes are all the same.
  image.bytes.resize(code.getNumElements(),
                     image.bytes.empty() ? 0 : image.bytes[0]);
  return image;
}

} // namespace

Expected<CodeImage> effc::codegen::fillProgram(const Contents &contents,
                                               ProgramT &program) {
  return ProgramTables(contents, program).fill();
}
