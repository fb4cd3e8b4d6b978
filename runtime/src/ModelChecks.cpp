#include "runtime/src/ModelChecks.h"

#include "runtime/schema/GenerationLimits.h"
#include "runtime/src/StateElements.h"

#include "runtime/abi/FileHeader.h"
#include "runtime/src/Limits.h"
#include "runtime/src/devices/Architecture.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>
#include <vector>

using namespace effc;
using namespace effc::rt;

uint64_t rt::elementBytes(artifact::ElementType type) {
  switch (type) {
  case artifact::ElementType::F32:
  case artifact::ElementType::I32:
    return 4;
  case artifact::ElementType::BF16:
  case artifact::ElementType::F16:
    return 2;
  case artifact::ElementType::I64:
    return 8;
  case artifact::ElementType::Blocks: // not each
    return 0;
  }
  return 0;
}

rt::BlockSize rt::blockSize(const artifact::Program &program,
                            const artifact::Weight &weight) {
  if (weight.type() != artifact::ElementType::Blocks)
    return {elementBytes(weight.type()) ? 1u : 0u, elementBytes(weight.type())};
  const artifact::Storage &storage =
      *program.storages()->Get(weight.storage() - 1);
  return {storage.elements(), storage.bytes(), storage.rows()};
}

uint64_t rt::rowBytes(const artifact::Program &program,
                      const artifact::Weight &weight) {
  BlockSize block = blockSize(program, weight);
  uint64_t elements = 1;
  for (uint32_t i = weight.shape()->size() > 1 ? 1 : 0;
       i < weight.shape()->size(); ++i)
    elements *= weight.shape()->Get(i);
  return elements / block.elements * block.bytes;
}

std::string_view rt::typeName(const artifact::Program &program,
                              const artifact::Weight &weight) {
  static constexpr std::string_view names[] = {"f32", "bf16", "f16", "i32",
                                               "i64"};
  static_assert(std::size(names) == size_t(artifact::ElementType::Blocks));
  if (weight.type() == artifact::ElementType::Blocks)
    return program.storages()->Get(weight.storage() - 1)->name()->string_view();
  return names[size_t(weight.type())];
}

Check rt::checkName(const flatbuffers::String *name, const char *what) {
  if (name->size() == 0 || name->size() > kMaxNameBytes)
    return badData("the name of a ", what, " has ", name->size(),
                   " bytes, but 1 to ", kMaxNameBytes, " are expected");
  return {};
}

/// Of what may be left out, and may be empty.
static Check checkText(const flatbuffers::String *text, const char *what) {
  if (text && text->size() > kMaxNameBytes)
    return badData("the ", what, " has ", text->size(), " bytes, but at most ",
                   kMaxNameBytes, " are expected");
  return {};
}

template <typename T>
static Check checkCount(const flatbuffers::Vector<T> *list, uint32_t most,
                        const char *what) {
  if (list && list->size() > most)
    return badData("the file lists ", list->size(), " ", what, ", but at most ",
                   most, " are expected");
  return {};
}

const artifact::Segment *rt::findSegment(const artifact::Program &program,
                                         artifact::SegmentKind kind) {
  for (const artifact::Segment *segment : *program.segments())
    if (segment->kind() == kind)
      return segment;
  return nullptr;
}

namespace {
/// A stretch of bytes that must not meet another of its sort.
struct Extent {
  uint64_t offset;
  uint64_t size;
  uint32_t index;
};
} // namespace

/// Fails when two extents share a byte.
static Check checkApart(std::vector<Extent> extents, const char *what) {
  std::sort(
      extents.begin(), extents.end(), [](const Extent &a, const Extent &b) {
        return a.offset != b.offset ? a.offset < b.offset : a.index < b.index;
      });
  const Extent *last = nullptr;
  for (const Extent &extent : extents) {
    if (extent.size == 0)
      continue;
    if (last && last->offset + last->size > extent.offset)
      return badData(what, " ", last->index, " and ", what, " ", extent.index,
                     " overlap");
    last = &extent;
  }
  return {};
}

bool rt::isCode(artifact::SegmentKind kind) {
  switch (kind) {
  case artifact::SegmentKind::HostCode:
  case artifact::SegmentKind::SimCode:
  case artifact::SegmentKind::Cubin:
  case artifact::SegmentKind::Ptx:
    return true;
  case artifact::SegmentKind::SeqModule:
  case artifact::SegmentKind::Weights:
  case artifact::SegmentKind::Tokenizer:
    break;
  }
  return false;
}

/// What code of a GPU is for has to be known; of the host's, a device decides.
static Check checkIsa(const artifact::Segment &segment, uint32_t index) {
  if (!segment.isa())
    return badData("segment ", index, " holds code but names no ISA");
  if (Check error = checkName(segment.isa(), "segment's ISA"))
    return error;
  if (segment.kind() == artifact::SegmentKind::HostCode)
    return {};
  std::string_view isa = segment.isa()->string_view();
  std::optional<Architecture> architecture = architectureOf(isa);
  Architecture::Kind expected = segment.kind() == artifact::SegmentKind::SimCode
                                    ? Architecture::Kind::Simulated
                                : segment.kind() == artifact::SegmentKind::Cubin
                                    ? Architecture::Kind::Module
                                    : Architecture::Kind::Text;
  if (!architecture || architecture->kind != expected)
    return badData("segment ", index, " (",
                   artifact::EnumNameSegmentKind(segment.kind()),
                   ") is for the unknown architecture '", isa, "'");
  return {};
}

static Check checkSegment(const artifact::Segment &segment, uint32_t index,
                          uint64_t programEnd, uint64_t fileSize) {
  if (segment.kind() > artifact::SegmentKind::MAX)
    return badData("segment ", index, " is of unknown kind ",
                   unsigned(segment.kind()));
  if (isCode(segment.kind()))
    if (Check error = checkIsa(segment, index))
      return error;
  bool mapped = segment.kind() == artifact::SegmentKind::HostCode ||
                segment.kind() == artifact::SegmentKind::SimCode ||
                segment.kind() == artifact::SegmentKind::Weights;
  uint64_t alignment =
      mapped ? FileHeader::kPageAlignment : FileHeader::kSegmentAlignment;
  if (segment.offset() % alignment != 0)
    return badData("segment ", index, " starts at byte ", segment.offset(),
                   ", which is no multiple of ", alignment);
  if (segment.offset() < programEnd ||
      !fits(segment.offset(), segment.size(), fileSize))
    return badData("segment ", index, " lies at byte ", segment.offset(),
                   " with ", segment.size(),
                   " bytes, but segments lie between byte ", programEnd,
                   " and the file's end at ", fileSize);
  return {};
}

Check rt::checkSegments(const artifact::Program &program, uint64_t programEnd,
                        uint64_t fileSize) {
  const auto &segments = *program.segments();
  if (segments.size() > kMaxSegments)
    return badData("the file lists ", segments.size(),
                   " segments, but at most ", kMaxSegments, " are expected");
  std::vector<Extent> extents;
  std::set<std::pair<artifact::SegmentKind, std::string_view>> kinds;
  for (uint32_t i = 0; i < segments.size(); ++i) {
    const artifact::Segment &segment = *segments[i];
    if (Check error = checkSegment(segment, i, programEnd, fileSize))
      return error;
    std::string_view isa;
    if (isCode(segment.kind()))
      isa = segment.isa()->string_view();
    if (!kinds.insert({segment.kind(), isa}).second)
      return badData("segment ", i, " is the second of its kind");
    extents.push_back({segment.offset(), segment.size(), i});
  }
  return checkApart(std::move(extents), "segment");
}

/// How many elements `shape` has; an error when it is empty, too long, has a
/// zero, or the bytes do not fit.
static Result<uint64_t>
countElements(const flatbuffers::Vector<uint64_t> &shape, uint64_t bytesEach,
              const char *what, std::string_view name) {
  if (shape.size() == 0 || shape.size() > kMaxRank)
    return badData(what, " '", name, "' has ", shape.size(),
                   " dimensions, but 1 to ", kMaxRank, " are expected");
  if (!isAligned(shape))
    return badData("the shape of ", what, " '", name, "' is not aligned");
  std::optional<uint64_t> bytes = bytesEach;
  for (uint64_t dimension : shape) {
    if (dimension == 0)
      return badData(what, " '", name, "' has a dimension of 0");
    if (bytes)
      bytes = product(*bytes, dimension);
  }
  if (!bytes)
    return badData("the size of ", what, " '", name,
                   "' does not fit in 64 bits");
  return *bytes / bytesEach;
}

static Check checkWeightFile(const artifact::WeightFile &file) {
  if (Check error = checkName(file.name(), "file of weights"))
    return error;
  std::string_view name = file.name()->string_view();
  if (name.front() == '/' || name.find('\0') != name.npos)
    return badData("the file of weights '", name,
                   "' is not named from the artifact's folder");
  if (file.start_size() > file.size())
    return badData("the file of weights '", name, "' starts with ",
                   file.start_size(), " of ", file.size(), " bytes");
  return {};
}

/// Where the weight lies: in the Weights segment, or in a file.
static Check checkPlace(const artifact::Program &program,
                        const artifact::Weight &weight, uint64_t segmentSize) {
  std::string_view name = weight.name()->string_view();
  if (weight.file() == 0) {
    if (weight.offset() % FileHeader::kSegmentAlignment != 0 ||
        !fits(weight.offset(), weight.size(), segmentSize))
      return badData("weight '", name, "' lies at byte ", weight.offset(),
                     " with ", weight.size(), " bytes in a segment of ",
                     segmentSize);
    return {};
  }
  uint32_t files = program.weight_files() ? program.weight_files()->size() : 0;
  if (weight.file() > files)
    return badData("weight '", name, "' names file ", weight.file(), " of ",
                   files);
  const artifact::WeightFile &file =
      *program.weight_files()->Get(weight.file() - 1);
  // Blocks are read byte by byte.
  BlockSize block = blockSize(program, weight);
  uint64_t alignment = block.elements == 1 ? block.bytes : 1;
  if (weight.offset() != 0 || weight.file_offset() % alignment != 0 ||
      weight.file_offset() < file.start_size() ||
      !fits(weight.file_offset(), weight.size(), file.size()))
    return badData("weight '", name, "' lies at byte ", weight.file_offset(),
                   " with ", weight.size(), " bytes in '",
                   file.name()->string_view(), "' of ", file.size());
  return {};
}

static Check checkWeight(const artifact::Program &program,
                         const artifact::Weight &weight, uint64_t segmentSize) {
  if (Check error = checkName(weight.name(), "weight"))
    return error;
  if (Check error = checkText(weight.source(), "source of a weight"))
    return error;
  std::string_view name = weight.name()->string_view();
  bool isBlocks = weight.type() == artifact::ElementType::Blocks;
  uint32_t storages = program.storages() ? program.storages()->size() : 0;
  if (isBlocks ? weight.storage() == 0 || weight.storage() > storages
               : weight.storage() != 0)
    return badData("weight '", name, "' names storage ", weight.storage(),
                   " of ", storages);
  BlockSize block = blockSize(program, weight);
  if (block.bytes == 0)
    return badData("weight '", name, "' is of unknown type ",
                   unsigned(weight.type()));
  // Of blocks each element has less than the bytes of one.
  Result<uint64_t> elements =
      countElements(*weight.shape(), block.bytes, "weight", name);
  if (!elements)
    return elements.error();
  uint64_t rows = weight.shape()->size() == 1 ? 1 : weight.shape()->Get(0);
  uint64_t columns = *elements / rows;
  if (block.rows > 1 && (weight.shape()->size() != 2 || weight.file() != 0))
    return badData("weight '", name, "' has blocks of ", block.rows,
                   " rows, but is no matrix in the file itself");
  rows = (rows + block.rows - 1) / block.rows;
  uint64_t stride = weight.row_stride_bytes();
  if (weight.shape()->Get(weight.shape()->size() - 1) % block.elements != 0)
    return badData("weight '", name, "' has rows of ",
                   weight.shape()->Get(weight.shape()->size() - 1),
                   " elements in blocks of ", block.elements);
  uint64_t row = columns / block.elements * block.bytes;
  if (isBlocks ? stride != row
               : stride % FileHeader::kSegmentAlignment != 0 || stride < row)
    return badData("weight '", name, "' has rows of ", row,
                   " bytes at a stride of ", stride,
                   ", which should be a multiple of ",
                   FileHeader::kSegmentAlignment,
                   " that holds a row, and of blocks the row itself");
  std::optional<uint64_t> size = product(rows, stride);
  if (!size || *size != weight.size())
    return badData("weight '", name, "' has ", rows, " rows at a stride of ",
                   stride, " bytes, but a size of ", weight.size());
  return checkPlace(program, weight, segmentSize);
}

/// The rows of a panel (dialects/storage/Panels.h).
constexpr uint32_t kPanelRows = 16;

static Check checkStorage(const artifact::Storage &storage) {
  if (Check error = checkName(storage.name(), "storage"))
    return error;
  std::string_view name = storage.name()->string_view();
  if (storage.rows() != 1 && storage.rows() != kPanelRows)
    return badData("storage '", name, "' has blocks of ", storage.rows(),
                   " rows, but 1 or ", kPanelRows, " are expected");
  uint64_t bytes = storage.bytes(), most = kMaxBlockBytes * storage.rows();
  if (storage.elements() == 0 || storage.elements() > kMaxBlockElements ||
      bytes == 0 || bytes > most)
    return badData("storage '", name, "' has blocks of ", storage.elements(),
                   " elements in ", bytes, " bytes, but 1 to ",
                   kMaxBlockElements, " in 1 to ", most, " are expected");
  if (storage.drawn()->size() != bytes || storage.set()->size() != bytes)
    return badData("storage '", name, "' says of ", storage.drawn()->size(),
                   " and ", storage.set()->size(),
                   " bytes how they are drawn, but has ", bytes);
  return {};
}

Check rt::checkWeights(const artifact::Program &program) {
  // A model compiled from shapes alone has no such segment; then only an engine
  // refuses it, and sizes are checked as far as they go.
  const artifact::Segment *segment =
      findSegment(program, artifact::SegmentKind::Weights);
  uint64_t segmentSize = segment ? segment->size() : UINT64_MAX;
  if (program.weight_files()) {
    if (program.weight_files()->size() > kMaxWeightFiles)
      return badData("the file names ", program.weight_files()->size(),
                     " files of weights, but at most ", kMaxWeightFiles,
                     " are expected");
    for (const artifact::WeightFile *file : *program.weight_files())
      if (Check error = checkWeightFile(*file))
        return error;
  }
  if (program.storages()) {
    if (Check error = checkCount(program.storages(), kMaxStorages, "storages"))
      return error;
    for (const artifact::Storage *storage : *program.storages())
      if (Check error = checkStorage(*storage))
        return error;
  }
  if (Check error = checkCount(program.weights(), kMaxWeights, "weights"))
    return error;
  for (const artifact::Weight *weight : *program.weights())
    if (Check error = checkWeight(program, *weight, segmentSize))
      return error;
  return {};
}

/// Where nothing is forgotten there must be a row for each token, or one for each run of
/// tokens that are summed up.
static Check checkRoom(const artifact::State &state, uint64_t maxContext) {
  uint64_t rows = state.shape()->Get(0);
  uint64_t perRow = std::max<uint64_t>(1, state.positions_per_row());
  uint64_t lastRow = (maxContext - 1) / perRow; // of any number: none has room
  if (maxContext != 0 && lastRow < rows)
    return {};
  std::string times = perRow > 1 ? " times " + std::to_string(perRow) : "";
  return badData("state '", state.name()->string_view(), "' has room for ",
                 rows, times, " tokens, but the model takes ",
                 maxContext == 0 ? "any number" : std::to_string(maxContext));
}

/// Whether the longest context decides how many rows a state has.
static bool growsWithContext(const artifact::State &state) {
  return state.growth() == artifact::Growth::MaxContext ||
         state.positions_per_row() > 0;
}

static Check checkState(const artifact::State &state, uint64_t slotBytes) {
  if (Check error = checkName(state.name(), "state"))
    return error;
  std::string_view name = state.name()->string_view();
  if (state.kind() > artifact::StateKind::MAX)
    return badData("state '", name, "' is of unknown kind ",
                   unsigned(state.kind()));
  if (state.growth() > artifact::Growth::MAX)
    return badData("state '", name, "' is of unknown growth ",
                   unsigned(state.growth()));
  if (state.positions_per_row() > 0 &&
      state.growth() != artifact::Growth::Fixed)
    return badData("state '", name, "' has a row for every ",
                   state.positions_per_row(),
                   " positions, but only one of fixed growth may, and it is of "
                   "growth ",
                   artifact::EnumNameGrowth(state.growth()));
  if (!isStateType(state.type()))
    return badData("state '", name, "' is of unknown type ",
                   unsigned(state.type()));
  // A number of Blocks takes at most 5 bytes, where it has a scale of its own.
  uint64_t most = std::max<uint64_t>(5, elementBytes(state.type()));
  Result<uint64_t> elements =
      countElements(*state.shape(), most, "state", name);
  if (!elements)
    return elements.error();
  if (state.type() == artifact::ElementType::Blocks && state.neutral() != 0)
    return badData("state '", name, "' of blocks is ", state.neutral(),
                   " where nothing was written, but 0 is expected");
  uint64_t row = state.shape()->Get(state.shape()->size() - 1);
  uint64_t bytes = stateBytes(state.type(), *elements, row);
  if (bytes != state.size())
    return badData("state '", name, "' has a size of ", state.size(),
                   " bytes, but its shape takes ", bytes);
  if (state.slot_offset() % FileHeader::kSegmentAlignment != 0 ||
      !fits(state.slot_offset(), state.size(), slotBytes))
    return badData("state '", name, "' lies at byte ", state.slot_offset(),
                   " with ", state.size(), " bytes in a slot of ", slotBytes);
  return {};
}

Check rt::checkStates(const artifact::Program &program) {
  if (program.slot_bytes() % FileHeader::kSegmentAlignment != 0 ||
      program.slot_bytes() > kMaxSlotBytes)
    return badData("a slot has ", program.slot_bytes(),
                   " bytes, but a multiple of ", FileHeader::kSegmentAlignment,
                   " up to ", kMaxSlotBytes, " is expected");
  if (Check error = checkCount(program.states(), kMaxStates, "states"))
    return error;
  std::vector<Extent> extents;
  std::set<std::string_view> names;
  for (uint32_t i = 0; i < program.states()->size(); ++i) {
    const artifact::State &state = *program.states()->Get(i);
    if (Check error = checkState(state, program.slot_bytes()))
      return error;
    if (growsWithContext(state))
      if (Check error = checkRoom(state, program.max_context()))
        return error;
    if (!names.insert(state.name()->string_view()).second)
      return badData("two states are called '", state.name()->string_view(),
                     "'");
    extents.push_back({state.slot_offset(), state.size(), i});
  }
  return checkApart(std::move(extents), "state");
}

static Check checkStops(const artifact::Generation &generation) {
  if (!generation.stops())
    return {};
  if (generation.stops()->size() > artifact::kMostStops)
    return badData("the generation defaults stop at ",
                   generation.stops()->size(), " texts, but at most ",
                   artifact::kMostStops, " are expected");
  for (const flatbuffers::String *stop : *generation.stops())
    if (!artifact::isStopText(stop->string_view()))
      return badData("the generation defaults stop at a text of ", stop->size(),
                     " bytes, but 1 to ", artifact::kMostStopBytes,
                     ", none of them zero, are expected");
  return {};
}

Check rt::checkGeneration(const artifact::Program &program) {
  const artifact::Generation *generation = program.generation();
  if (!generation)
    return {};
  if (Check error = checkCount(generation->eos(), kMaxEnds,
                               "tokens that end a generation"))
    return error;
  int64_t vocabulary = program.vocabulary_size();
  auto isToken = [&](int32_t id) { return id >= 0 && id < vocabulary; };
  for (int32_t id : {generation->bos(), generation->pad()})
    if (id != -1 && !isToken(id))
      return badData("the generation defaults name token ", id,
                     ", but the vocabulary has ", vocabulary);
  if (generation->eos())
    for (int32_t id : *generation->eos())
      if (!isToken(id))
        return badData("the generation defaults end at token ", id,
                       ", but the vocabulary has ", vocabulary);
  if (!artifact::isTemperature(generation->temperature()))
    return badData("the generation defaults have a temperature of ",
                   generation->temperature());
  if (!artifact::isTopP(generation->top_p()))
    return badData("the generation defaults have a top_p of ",
                   generation->top_p());
  if (!artifact::isMinP(generation->min_p()))
    return badData("the generation defaults have a min_p of ",
                   generation->min_p());
  if (!artifact::isRepeatPenalty(generation->repeat_penalty()))
    return badData("the generation defaults have a repeat penalty of ",
                   generation->repeat_penalty());
  return checkStops(*generation);
}

Check rt::checkProvenance(const artifact::Program &program) {
  if (Check error = checkCount(program.key_work(), kMaxKeyWork,
                               "counts of work for keys"))
    return error;
  if (program.key_work() && !isAligned(*program.key_work()))
    return badData("the counts of work for keys are not aligned");
  const artifact::Provenance *provenance = program.provenance();
  if (!provenance)
    return {};
  const std::pair<const flatbuffers::String *, const char *> kTexts[] = {
      {provenance->compiler(), "compiler's name"},
      {provenance->commit(), "compiler's commit"},
      {provenance->llvm(), "version of LLVM"},
      {provenance->family(), "family's name"},
      {provenance->ptxas(), "version of the assembler"}};
  for (auto [text, what] : kTexts)
    if (Check error = checkText(text, what))
      return error;
  if (Check error = checkCount(provenance->options(), kMaxOptions, "options"))
    return error;
  if (provenance->options())
    for (const flatbuffers::String *option : *provenance->options())
      if (Check error = checkText(option, "text of an option"))
        return error;
  if (Check error = checkCount(provenance->sources(), kMaxSources, "sources"))
    return error;
  if (provenance->sources())
    for (const artifact::SourceFile *source : *provenance->sources())
      if (Check error = checkName(source->name(), "source"))
        return error;
  return {};
}

/// The inner values are all of a row.
Check rt::checkTaps(const artifact::Program &program) {
  const auto *taps = program.taps();
  if (!taps)
    return {};
  if (Check error = checkCount(taps, kMaxTaps, "inner values"))
    return error;
  uint64_t columns = 0;
  for (const artifact::Tap *tap : *taps) {
    if (Check error = checkName(tap->name(), "row's inner value"))
      return error;
    if (tap->shape()->size() == 0 || tap->shape()->size() > kMaxRank)
      return badData("inner value '", tap->name()->string_view(), "' has ",
                     tap->shape()->size(), " dimensions, but 1 to ", kMaxRank,
                     " are expected");
    uint64_t count = 1;
    for (uint32_t extent : *tap->shape()) {
      count *= extent;
      if (count == 0 || count > kMaxVocabulary)
        return badData("inner value '", tap->name()->string_view(),
                       "' has a shape of none, or of more than ",
                       kMaxVocabulary, " numbers");
    }
    columns += count;
  }
  if (columns != program.hidden_width().value_or(0))
    return badData("inner values have ", columns,
                   " numbers together, but rows have ",
                   program.hidden_width().value_or(0));
  return {};
}

Check rt::checkProgram(const artifact::Program &program, uint64_t programEnd,
                       uint64_t fileSize) {
  if (program.vocabulary_size() == 0 ||
      program.vocabulary_size() > kMaxVocabulary)
    return badData("the vocabulary has ", program.vocabulary_size(),
                   " tokens, but 1 to ", kMaxVocabulary, " are expected");
  if (auto width = program.hidden_width();
      width && (*width == 0 || *width > kMaxVocabulary))
    return badData("rows have ", *width, " numbers, but 1 to ", kMaxVocabulary,
                   " are expected");
  if (Check error = checkTaps(program))
    return error;
  if (program.max_context() > kMaxContext)
    return badData("the longest context is ", program.max_context(),
                   " tokens, but at most ", kMaxContext, " are expected");
  if (Check error = checkSegments(program, programEnd, fileSize))
    return error;
  if (Check error = checkWeights(program))
    return error;
  if (Check error = checkStates(program))
    return error;
  if (Check error = checkGeneration(program))
    return error;
  if (Check error = checkProvenance(program))
    return error;
  return checkPlans(program);
}
