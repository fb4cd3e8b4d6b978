// Header, program, segments. The program holds the segments' places and
// checksums, so room for it is left first and it is written last; every scalar
// is stored, which makes its size independent of their values.
#include "codegen/artifact/Artifact.h"
#include "codegen/artifact/OutputFile.h"
#include "codegen/artifact/ProgramTables.h"
#include "codegen/artifact/WeightRows.h"

#include "runtime/src/FileHeader.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

using namespace llvm;
using namespace effc;
using namespace effc::codegen;
using namespace effc::artifact;
using rt::FileHeader;

namespace {

class ArtifactWriter {
public:
  ArtifactWriter(OutputFile &file, const Contents &contents)
      : file(file), contents(contents) {}

  Error write(WeightReader reader, Progress progress);

private:
  void declareSegment(SegmentKind kind, StringRef isa = {});
  void declareWeights();
  flatbuffers::DetachedBuffer packProgram() const;
  Error writeSegment(SegmentT &segment, ArrayRef<uint8_t> bytes,
                     uint64_t alignment);
  Error writeWeights(SegmentT &segment, WeightReader reader, Progress progress);
  Error writeWeight(seq::WeightOp op, const SourceTensor &tensor,
                    WeightT &weight);
  uint64_t layoutId() const;

  OutputFile &file;
  const Contents &contents;
  ProgramT program;
};

void ArtifactWriter::declareSegment(SegmentKind kind, StringRef isa) {
  auto segment = std::make_unique<SegmentT>();
  segment->kind = kind;
  segment->isa = isa.str();
  program.segments.push_back(std::move(segment));
}

void ArtifactWriter::declareWeights() {
  auto module = contents.module;
  for (auto op : module.getOps<seq::WeightOp>()) {
    auto type = cast<mlir::RankedTensorType>(op.getType());
    auto weight = std::make_unique<WeightT>();
    weight->name = op.getSymName().str();
    weight->source = op.getSource().str();
    weight->type =
        type.getElementType().isBF16() ? ElementType::BF16 : ElementType::F32;
    weight->shape.assign(type.getShape().begin(), type.getShape().end());
    program.parameters += type.getNumElements();
    program.weights.push_back(std::move(weight));
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

Error ArtifactWriter::writeWeight(seq::WeightOp op, const SourceTensor &tensor,
                                  WeightT &weight) {
  Expected<WeightRows> rows = WeightRows::create(op, tensor);
  if (!rows)
    return rows.takeError();
  weight.row_stride_bytes = rows->rowBytes();
  weight.size = rows->rows() * rows->rowBytes();
  XXH3_state_t *hash = XXH3_createState();
  XXH3_64bits_reset(hash);
  for (uint64_t row = 0; row < rows->rows(); ++row) {
    ArrayRef<uint8_t> bytes = rows->row(row);
    XXH3_64bits_update(hash, bytes.data(), bytes.size());
    if (Error error = file.write(bytes)) {
      XXH3_freeState(hash);
      return error;
    }
  }
  weight.checksum = XXH3_64bits_digest(hash);
  XXH3_freeState(hash);
  return Error::success();
}

Error ArtifactWriter::writeWeights(SegmentT &segment, WeightReader reader,
                                   Progress progress) {
  if (Error error = file.align(FileHeader::kPageAlignment))
    return error;
  segment.offset = file.position();
  uint64_t done = 0;
  auto module = contents.module;
  for (auto [op, weight] :
       zip_equal(module.getOps<seq::WeightOp>(), program.weights)) {
    if (Error error = file.align(FileHeader::kSegmentAlignment))
      return error;
    weight->offset = file.position() - segment.offset;
    Expected<SourceTensor> tensor = reader(op.getSource());
    if (!tensor)
      return tensor.takeError();
    if (Error error = writeWeight(op, *tensor, *weight))
      return error;
    done += cast<mlir::RankedTensorType>(op.getType()).getNumElements();
    progress(done, program.parameters);
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
uint64_t ArtifactWriter::layoutId() const {
  std::string text;
  raw_string_ostream stream(text);
  for (const auto &state : program.states) {
    stream << state->name << ' ' << static_cast<int>(state->kind) << ' '
           << static_cast<int>(state->growth) << ' ';
    interleave(state->shape, stream, "x");
    stream << '\n';
  }
  for (const auto &weight : program.weights)
    stream << weight->name << ' ' << weight->checksum << '\n';
  return XXH3_64bits(text.data(), text.size());
}

Error ArtifactWriter::write(WeightReader reader, Progress progress) {
  Expected<CodeImage> code = fillProgram(contents, program);
  if (!code)
    return code.takeError();
  declareSegment(SegmentKind::HostCode, code->isa);
  if (!contents.seqBytecode.empty())
    declareSegment(SegmentKind::SeqModule);
  if (!contents.tokenizer.empty())
    declareSegment(SegmentKind::Tokenizer);
  declareSegment(SegmentKind::Weights);
  declareWeights();

  size_t programBytes = packProgram().size();
  if (programBytes > FileHeader::kMaxProgramBytes)
    return createStringError(
        "the program has %zu bytes, more than the format can hold",
        programBytes);
  std::vector<uint8_t> start(FileHeader::kBytes + programBytes, 0);
  if (Error error = file.write(start))
    return error;
  for (const auto &segment : program.segments) {
    Error error = Error::success();
    switch (segment->kind) {
    case SegmentKind::HostCode:
      error = writeSegment(*segment, code->bytes, FileHeader::kPageAlignment);
      break;
    case SegmentKind::SeqModule:
      error =
          writeSegment(*segment, arrayRefFromStringRef(contents.seqBytecode),
                       FileHeader::kSegmentAlignment);
      break;
    case SegmentKind::Tokenizer:
      error = writeSegment(*segment, contents.tokenizer,
                           FileHeader::kSegmentAlignment);
      break;
    case SegmentKind::Weights:
      error = writeWeights(*segment, reader, progress);
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

Error effc::codegen::writeArtifact(StringRef path, const Contents &contents,
                                   WeightReader reader, Progress progress,
                                   SourceCheck check) {
  Expected<OutputFile> file = OutputFile::create(path);
  if (!file)
    return file.takeError();
  if (Error error = ArtifactWriter(*file, contents).write(reader, progress))
    return error;
  if (Error error = check())
    return error;
  return file->commit();
}
