// Header, program, segments. The program holds the segments' places and
// checksums, so room for it is left first and it is written last; every scalar
// is stored, which makes its size independent of their values.
#include "codegen/artifact/Artifact.h"
#include "codegen/artifact/DrawnBlocks.h"
#include "codegen/artifact/NonFinite.h"
#include "codegen/artifact/OutputFile.h"
#include "codegen/artifact/ParameterCount.h"
#include "codegen/artifact/ProgramTables.h"
#include "codegen/artifact/RowThreads.h"
#include "codegen/artifact/WeightRows.h"

#include "runtime/abi/FileHeader.h"
#include "llvm/ADT/StringExtras.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <limits>

using namespace llvm;
using namespace effc;
using namespace effc::codegen;
using namespace effc::artifact;
using rt::FileHeader;

namespace {

class ArtifactWriter {
public:
  /// `module` has the weights, and `weightFiles` those that may stay in files.
  ArtifactWriter(OutputFile &file, mlir::ModuleOp module, WeightsMode mode,
                 ArrayRef<codegen::WeightFile> weightFiles,
                 const LossReport &report)
      : file(file), module(module), mode(mode), weightFiles(weightFiles),
        report(report) {}

  Error write(const Contents &contents, WeightReader reader, Progress progress,
              WeightRemark remark);
  /// Writes a file again but for its weights; gives how many of them differ.
  Expected<uint64_t> write(ArtifactParts parts, const NewWeights &weights,
                           WeightReader reader, Progress progress,
                           WeightRemark remark);

private:
  /// `bytes` outlive the writer; of weights none.
  void declareSegment(SegmentKind kind, ArrayRef<uint8_t> bytes,
                      StringRef isa = {});
  void declareWeights();
  void declareWeightFiles();
  Error writeDeclared(WeightReader reader, Progress progress,
                      WeightRemark remark);
  flatbuffers::DetachedBuffer packProgram() const;
  Error writeSegment(SegmentT &segment, ArrayRef<uint8_t> bytes,
                     uint64_t alignment);
  Error writeWeights(SegmentT &segment, WeightReader reader, Progress progress,
                     WeightRemark remark);
  Error writeComputed(seq::WeightOp op, uint64_t segmentOffset,
                      WeightT &weight);
  Error writeWeight(seq::WeightOp op, const SourceTensor &tensor,
                    uint64_t segmentOffset, WeightT &weight);
  Expected<bool> isReferenced(seq::WeightOp op, const SourceTensor &tensor,
                              const WeightT &weight, WeightRemark remark) const;
  uint64_t layoutId() const;

  OutputFile &file;
  mlir::ModuleOp module;
  WeightsMode mode;
  ArrayRef<codegen::WeightFile> weightFiles;
  const LossReport &report;
  ProgramT program;
  std::vector<ArrayRef<uint8_t>> segmentBytes; // of the program's segments
};

void ArtifactWriter::declareSegment(SegmentKind kind, ArrayRef<uint8_t> bytes,
                                    StringRef isa) {
  auto segment = std::make_unique<SegmentT>();
  segment->kind = kind;
  segment->isa = isa.str();
  program.segments.push_back(std::move(segment));
  segmentBytes.push_back(bytes);
}

// The number of a storage in the program's table, from 1 on; 0 for elements that
// have bytes of their own.
static uint32_t storageNumber(ProgramT &program, mlir::Type element) {
  storage::Storage storage = storage::Storage::get(element);
  if (storage.isDense())
    return 0;
  for (auto [i, known] : enumerate(program.storages))
    if (known->name == storage.name() &&
        known->rows == uint64_t(storage.blockRows()) &&
        known->elements == uint64_t(storage.blockElements()) &&
        known->bytes == uint64_t(storage.blockBytes()))
      return i + 1;
  auto filled = std::make_unique<StorageT>();
  filled->name = storage.name().str();
  filled->rows = storage.blockRows();
  filled->elements = storage.blockElements();
  filled->bytes = storage.blockBytes();
  storage::BlockType block = storage.block();
  if (storage::PanelType panel = storage.panel())
    block = storage::PanelLayout::of(panel.getRows()).describe();
  DrawnBits bits = drawnBits(block);
  filled->drawn = std::move(bits.drawn);
  filled->set = std::move(bits.set);
  program.storages.push_back(std::move(filled));
  return program.storages.size();
}

// Offsets are those of a segment that holds every weight; embedding fewer moves
// them.
void ArtifactWriter::declareWeights() {
  program.parameters = countParameters(module);
  uint64_t offset = 0;
  for (auto op : module.getOps<seq::WeightOp>()) {
    auto type = cast<mlir::RankedTensorType>(op.getType());
    auto weight = std::make_unique<WeightT>();
    weight->name = op.getSymName().str();
    weight->source = op.getSource().str();
    weight->type = elementTypeOf(op.getStoredElement());
    weight->storage = storageNumber(program, op.getStoredElement());
    weight->shape.assign(type.getShape().begin(), type.getShape().end());
    weight->row_stride_bytes = rowBytes(op);
    weight->size = rowCount(op) * weight->row_stride_bytes;
    weight->offset = offset;
    // Blocks are not padded.
    offset = alignTo(offset + weight->size, FileHeader::kSegmentAlignment);
    program.weights.push_back(std::move(weight));
  }
}

void ArtifactWriter::declareWeightFiles() {
  for (const codegen::WeightFile &from : weightFiles) {
    auto file = std::make_unique<WeightFileT>();
    file->name = from.name;
    file->size = from.size;
    file->start_size = from.start.size();
    file->start_checksum = XXH3_64bits(from.start.data(), from.start.size());
    program.weight_files.push_back(std::move(file));
  }
}

flatbuffers::DetachedBuffer ArtifactWriter::packProgram() const {
  flatbuffers::FlatBufferBuilder builder;
  builder.ForceDefaults(true);
  FinishProgramBuffer(builder, Program::Pack(builder, &program));
  return builder.Release();
}

Error ArtifactWriter::writeSegment(SegmentT &segment, ArrayRef<uint8_t> bytes,
                                   uint64_t alignment) {
  if (Error error = file.align(alignment))
    return error;
  segment.offset = file.position();
  segment.size = bytes.size();
  segment.checksum = XXH3_64bits(bytes.data(), bytes.size());
  return file.write(bytes);
}

Expected<bool> ArtifactWriter::isReferenced(seq::WeightOp op,
                                            const SourceTensor &tensor,
                                            const WeightT &weight,
                                            WeightRemark remark) const {
  if (mode != WeightsMode::Reference)
    return false;
  std::optional<std::string> reason = whyNotReferenced(op, tensor);
  if (!reason) {
    remark(op.getSymName(), "stays in " + weightFiles[tensor.file].name);
    return true;
  }
  if (weight.size > kSmallWeightBytes)
    return createStringError("tensor '" + op.getSource() +
                             "' cannot be used where it is stored: " + *reason +
                             "; use --weights embed");
  remark(op.getSymName(), "is embedded: " + *reason);
  return false;
}

// A NaN reaches every token, so that no output would be a number. So does an
// infinity that meets a zero or another one, which some token brings: a file of
// such weights was written by a training that went wrong, or is damaged.
static Error checkFinite(seq::WeightOp op, const SourceTensor &tensor) {
  std::optional<NonFinite> found = findNonFinite(tensor);
  if (!found)
    return Error::success();
  return createStringError("tensor '" + op.getSource() +
                           "' expects finite numbers, but got " + found->text +
                           " at " + found->place);
}

Error ArtifactWriter::writeWeight(seq::WeightOp op, const SourceTensor &tensor,
                                  uint64_t segmentOffset, WeightT &weight) {
  if (Error error = file.align(FileHeader::kSegmentAlignment))
    return error;
  weight.offset = file.position() - segmentOffset;
  Expected<WeightRows> rows = WeightRows::create(op, tensor);
  if (!rows)
    return rows.takeError();
  bool isMatrix = cast<mlir::RankedTensorType>(op.getType()).getRank() > 1;
  if (report && isMatrix && !op.getComputed())
    rows->measure();
  std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> hash(
      XXH3_createState(), XXH3_freeState);
  XXH3_64bits_reset(hash.get());
  auto take = [&](ArrayRef<uint8_t> bytes) {
    XXH3_64bits_update(hash.get(), bytes.data(), bytes.size());
    return file.write(bytes);
  };
  if (!rows->getLoss()) {
    if (Error error = makeRows(*rows, take, threadsForRows()))
      return error;
  } else
    // Losses are added up in the order of rows.
    for (uint64_t row = 0; row < rows->rows(); ++row) {
      Expected<ArrayRef<uint8_t>> bytes = rows->row(row);
      if (!bytes)
        return bytes.takeError();
      if (Error error = take(*bytes))
        return error;
    }
  weight.checksum = XXH3_64bits_digest(hash.get());
  if (rows->getLoss())
    report(op, tensor, *rows->getLoss());
  return Error::success();
}

// Numbers by the config's rule, as little-endian f32.
static std::vector<uint8_t> computedBytes(seq::WeightOp op) {
  std::vector<uint8_t> bytes;
  auto type = cast<mlir::RankedTensorType>(op.getType());
  int64_t count = type.getShape().back(), rows = type.getNumElements() / count;
  for (int64_t row = 0; row < rows; ++row)
    for (double number : op.getComputed()->computeRow(row, count)) {
      uint32_t bits = bit_cast<uint32_t>(static_cast<float>(number));
      for (int shift = 0; shift < 32; shift += 8)
        bytes.push_back(static_cast<uint8_t>(bits >> shift));
    }
  return bytes;
}

Error ArtifactWriter::writeComputed(seq::WeightOp op, uint64_t segmentOffset,
                                    WeightT &weight) {
  std::vector<uint8_t> bytes = computedBytes(op);
  SourceTensor tensor{
      storage::Storage::get(mlir::Float32Type::get(op.getContext())),
      weight.shape, bytes};
  return writeWeight(op, tensor, segmentOffset, weight);
}

// What a reader compares each time (schema/program.fbs).
static uint64_t sampleChecksum(ArrayRef<uint8_t> bytes) {
  constexpr uint64_t kSamples = FileHeader::kSamples;
  constexpr uint64_t kSampleBytes = FileHeader::kSampleBytes;
  if (bytes.size() <= kSamples * kSampleBytes)
    return XXH3_64bits(bytes.data(), bytes.size());
  std::vector<uint8_t> samples;
  for (uint64_t i = 0; i < kSamples; ++i)
    append_range(samples, bytes.slice(FileHeader::sampleStart(bytes.size(), i),
                                      kSampleBytes));
  return XXH3_64bits(samples.data(), samples.size());
}

Error ArtifactWriter::writeWeights(SegmentT &segment, WeightReader reader,
                                   Progress progress, WeightRemark remark) {
  if (Error error = file.align(FileHeader::kPageAlignment))
    return error;
  segment.offset = file.position();
  uint64_t done = 0, total = 0;
  for (auto op : module.getOps<seq::WeightOp>())
    if (!op.getComputed())
      total += cast<mlir::RankedTensorType>(op.getType()).getNumElements();
  for (auto [op, weight] :
       zip_equal(module.getOps<seq::WeightOp>(), program.weights)) {
    if (op.getComputed()) {
      if (Error error = writeComputed(op, segment.offset, *weight))
        return error;
      continue;
    }
    Expected<SourceTensor> tensor = reader(op);
    if (!tensor)
      return tensor.takeError();
    if (Error error = checkFinite(op, *tensor))
      return error;
    Expected<bool> referenced = isReferenced(op, *tensor, *weight, remark);
    if (!referenced)
      return referenced.takeError();
    if (*referenced) {
      weight->offset = 0;
      weight->file = tensor->file + 1;
      weight->file_offset = tensor->fileOffset;
      weight->checksum =
          XXH3_64bits(tensor->bytes.data(), tensor->bytes.size());
      weight->sample_checksum = sampleChecksum(tensor->bytes);
    } else if (Error error =
                   writeWeight(op, *tensor, segment.offset, *weight)) {
      return error;
    }
    done += cast<mlir::RankedTensorType>(op.getType()).getNumElements();
    progress(done, total);
  }
  segment.size = file.position() - segment.offset;
  // The weights are checked one by one; the segment's own checksum covers
  // theirs.
  std::vector<uint64_t> checksums;
  for (const auto &weight : program.weights)
    checksums.push_back(weight->checksum);
  segment.checksum =
      XXH3_64bits(checksums.data(), checksums.size() * sizeof(uint64_t));
  return Error::success();
}

// Hash of the logical states and of the weights: what a saved state must match.
// How many tokens there is room for is not part of what a state means.
uint64_t ArtifactWriter::layoutId() const {
  std::string text;
  raw_string_ostream stream(text);
  for (const auto &state : program.states) {
    stream << state->name << ' ' << static_cast<int>(state->kind) << ' '
           << static_cast<int>(state->growth) << ' ';
    bool grows = state->growth != Growth::Fixed;
    interleave(ArrayRef(state->shape).drop_front(grows), stream, "x");
    stream << '\n';
  }
  for (const auto &weight : program.weights)
    stream << weight->name << ' ' << weight->checksum << '\n';
  return XXH3_64bits(text.data(), text.size());
}

Error ArtifactWriter::write(const Contents &contents, WeightReader reader,
                            Progress progress, WeightRemark remark) {
  Expected<std::vector<CodeImage>> images = fillProgram(contents, program);
  if (!images)
    return images.takeError();
  for (const CodeImage &image : *images)
    declareSegment(image.kind, image.bytes, image.isa);
  if (!contents.seqBytecode.empty())
    declareSegment(SegmentKind::SeqModule,
                   arrayRefFromStringRef(contents.seqBytecode));
  if (!contents.tokenizer.empty())
    declareSegment(SegmentKind::Tokenizer, contents.tokenizer);
  if (mode != WeightsMode::None)
    declareSegment(SegmentKind::Weights, {});
  declareWeights();
  declareWeightFiles();
  return writeDeclared(reader, progress, remark);
}

/// "'a' of 4x6 bf16 in rows of 64 bytes, from tensor 't'".
static std::string describeWeight(const ProgramT &program,
                                  const WeightT &weight) {
  std::string text;
  raw_string_ostream stream(text);
  stream << "'" << weight.name << "' of ";
  interleave(weight.shape, stream, "x");
  stream << ' ';
  if (weight.storage > 0 && weight.storage <= program.storages.size())
    stream << program.storages[weight.storage - 1]->name;
  else
    stream << StringRef(EnumNameElementType(weight.type)).lower();
  stream << " in rows of " << weight.row_stride_bytes << " bytes";
  if (!weight.source.empty())
    stream << ", from tensor '" << weight.source << "'";
  return text;
}

/// Code finds weights by their numbers, and knows how each lies.
static Error checkSameWeights(const ProgramT &expected, const ProgramT &found) {
  for (const auto &[i, old] : enumerate(expected.weights)) {
    if (i == found.weights.size())
      break;
    std::string own = describeWeight(expected, *old),
                other = describeWeight(found, *found.weights[i]);
    if (own != other || old->size != found.weights[i]->size)
      return createStringError("expects weight " + own + ", but got " + other);
  }
  if (expected.weights.size() != found.weights.size())
    return createStringError("expects %zu weights, but got %zu",
                             expected.weights.size(), found.weights.size());
  return Error::success();
}

Expected<uint64_t> ArtifactWriter::write(ArtifactParts parts,
                                         const NewWeights &weights,
                                         WeightReader reader, Progress progress,
                                         WeightRemark remark) {
  ProgramT &old = *parts.program;
  program = old;
  for (const std::vector<uint8_t> &bytes : parts.segments)
    segmentBytes.push_back(bytes);
  program.weights.clear();
  program.storages.clear();
  program.weight_files.clear();
  declareWeights();
  declareWeightFiles();
  if (Error error = checkSameWeights(old, program))
    return std::move(error);
  program.provenance->options = weights.options;
  program.provenance->sources = describeSources(weights.sources);
  if (Error error = writeDeclared(reader, progress, remark))
    return std::move(error);
  uint64_t changed = 0;
  for (const auto &[before, after] : zip_equal(old.weights, program.weights))
    changed += before->checksum != after->checksum;
  return changed;
}

Error ArtifactWriter::writeDeclared(WeightReader reader, Progress progress,
                                    WeightRemark remark) {
  size_t programBytes = packProgram().size();
  if (programBytes > FileHeader::kMaxProgramBytes)
    return createStringError(
        "the program has %zu bytes, more than the format can hold",
        programBytes);
  std::vector<uint8_t> start(FileHeader::kBytes + programBytes, 0);
  if (Error error = file.write(start))
    return error;
  for (auto [i, segment] : enumerate(program.segments)) {
    Error error = Error::success();
    switch (segment->kind) {
    case SegmentKind::HostCode:
    case SegmentKind::SimCode:
    case SegmentKind::Cubin:
    case SegmentKind::Ptx:
      error =
          writeSegment(*segment, segmentBytes[i], FileHeader::kPageAlignment);
      break;
    case SegmentKind::SeqModule:
    case SegmentKind::Tokenizer:
      error = writeSegment(*segment, segmentBytes[i],
                           FileHeader::kSegmentAlignment);
      break;
    case SegmentKind::Weights:
      error = writeWeights(*segment, reader, progress, remark);
      break;
    }
    if (error)
      return error;
  }
  program.layout_id = layoutId();

  flatbuffers::DetachedBuffer packed = packProgram();
  assert(packed.size() == programBytes &&
         "the program's size depends on its values");
  FileHeader header;
  header.fileSize = file.position();
  header.programOffset = FileHeader::kBytes;
  header.programSize = programBytes;
  header.programChecksum = XXH3_64bits(packed.data(), packed.size());
  header.headerChecksum =
      XXH3_64bits(header.encode().data(), FileHeader::kCheckedBytes);
  FileHeader::Bytes headerBytes = header.encode();
  std::copy(headerBytes.begin(), headerBytes.end(), start.begin());
  std::copy_n(packed.data(), packed.size(), start.begin() + FileHeader::kBytes);
  return file.rewriteStart(start);
}

} // namespace

/// Gives what is written a name once `check` has passed.
static Error finish(OutputFile &file, FileCheck check, bool durable) {
  if (Error error = file.flush())
    return error;
  if (Error error = check(file.name()))
    return error;
  return file.commit(durable);
}

Error effc::codegen::writeArtifact(StringRef path, const Contents &contents,
                                   WeightReader reader, Progress progress,
                                   FileCheck check, WeightRemark remark,
                                   bool durable, const LossReport &report) {
  Expected<OutputFile> file = OutputFile::create(path);
  if (!file)
    return file.takeError();
  ArtifactWriter writer(*file, contents.plans.front().module, contents.weights,
                        contents.weightFiles, report);
  if (Error error = writer.write(contents, reader, progress, remark))
    return error;
  return finish(*file, check, durable);
}

Expected<uint64_t>
effc::codegen::rebindArtifact(StringRef path, ArtifactParts parts,
                              const NewWeights &weights, WeightReader reader,
                              Progress progress, FileCheck check,
                              WeightRemark remark, bool durable) {
  Expected<OutputFile> file = OutputFile::create(path);
  if (!file)
    return file.takeError();
  LossReport none;
  ArtifactWriter writer(*file, weights.module, weights.mode, weights.files,
                        none);
  Expected<uint64_t> changed =
      writer.write(std::move(parts), weights, reader, progress, remark);
  if (!changed)
    return changed;
  if (Error error = finish(*file, check, durable))
    return std::move(error);
  return changed;
}
