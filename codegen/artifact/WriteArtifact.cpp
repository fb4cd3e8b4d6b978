// Segments first, the program that describes them last, the header at the end.
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
  ArtifactWriter(OutputFile &file, const Contents &contents) : file(file), contents(contents) {}

  Error write(WeightReader reader, Progress progress);

private:
  Error writeSegment(SegmentKind kind, ArrayRef<uint8_t> bytes, uint64_t alignment, StringRef isa = {});
  Error writeWeights(WeightReader reader, Progress progress);
  Error writeWeight(seq::WeightOp op, const SourceTensor &tensor, WeightT &weight);
  uint64_t layoutId() const;

  OutputFile &file;
  const Contents &contents;
  ProgramT program;
};

Error ArtifactWriter::writeSegment(SegmentKind kind, ArrayRef<uint8_t> bytes, uint64_t alignment,
                                   StringRef isa) {
  if (Error error = file.align(alignment))
    return error;
  auto segment = std::make_unique<SegmentT>();
  segment->kind = kind;
  segment->offset = file.position();
  segment->size = bytes.size();
  segment->checksum = XXH3_64bits(bytes.data(), bytes.size());
  segment->isa = isa.str();
  program.segments.push_back(std::move(segment));
  return file.write(bytes);
}

Error ArtifactWriter::writeWeight(seq::WeightOp op, const SourceTensor &tensor, WeightT &weight) {
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

Error ArtifactWriter::writeWeights(WeightReader reader, Progress progress) {
  if (Error error = file.align(FileHeader::kPageAlignment))
    return error;
  auto segment = std::make_unique<SegmentT>();
  segment->kind = SegmentKind::Weights;
  segment->offset = file.position();
  uint64_t total = 0;
  auto module = contents.module;
  for (auto op : module.getOps<seq::WeightOp>())
    total += cast<mlir::RankedTensorType>(op.getType()).getNumElements();
  for (auto op : module.getOps<seq::WeightOp>()) {
    auto type = cast<mlir::RankedTensorType>(op.getType());
    auto weight = std::make_unique<WeightT>();
    weight->name = op.getSymName().str();
    weight->source = op.getSource().str();
    weight->type = type.getElementType().isBF16() ? ElementType::BF16 : ElementType::F32;
    weight->shape.assign(type.getShape().begin(), type.getShape().end());
    if (Error error = file.align(FileHeader::kSegmentAlignment))
      return error;
    weight->offset = file.position() - segment->offset;
    Expected<SourceTensor> tensor = reader(op.getSource());
    if (!tensor)
      return tensor.takeError();
    if (Error error = writeWeight(op, *tensor, *weight))
      return error;
    program.weights.push_back(std::move(weight));
    program.parameters += type.getNumElements();
    progress(program.parameters, total);
  }
  segment->size = file.position() - segment->offset;
  // The weights are checked one by one; the segment's own checksum covers theirs.
  std::vector<uint64_t> checksums;
  for (const auto &weight : program.weights)
    checksums.push_back(weight->checksum);
  segment->checksum = XXH3_64bits(checksums.data(), checksums.size() * sizeof(uint64_t));
  program.segments.push_back(std::move(segment));
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
  FileHeader header;
  if (Error error = file.write(header.encode()))
    return error;
  Expected<CodeImage> code = fillProgram(contents, program);
  if (!code)
    return code.takeError();
  if (Error error = writeSegment(SegmentKind::HostCode, code->bytes, FileHeader::kPageAlignment, code->isa))
    return error;
  if (!contents.seqBytecode.empty())
    if (Error error = writeSegment(SegmentKind::SeqModule, arrayRefFromStringRef(contents.seqBytecode),
                                   FileHeader::kSegmentAlignment))
      return error;
  if (!contents.tokenizer.empty())
    if (Error error = writeSegment(SegmentKind::Tokenizer, contents.tokenizer, FileHeader::kSegmentAlignment))
      return error;
  if (Error error = writeWeights(reader, progress))
    return error;
  program.layout_id = layoutId();

  flatbuffers::FlatBufferBuilder builder;
  FinishProgramBuffer(builder, Program::Pack(builder, &program));
  if (builder.GetSize() > FileHeader::kMaxProgramBytes)
    return createStringError("the program has %u bytes, more than the format can hold", builder.GetSize());
  if (Error error = file.align(FileHeader::kSegmentAlignment))
    return error;
  ArrayRef<uint8_t> bytes(builder.GetBufferPointer(), builder.GetSize());
  header.programOffset = file.position();
  header.programSize = bytes.size();
  header.programChecksum = XXH3_64bits(bytes.data(), bytes.size());
  if (Error error = file.write(bytes))
    return error;
  header.fileSize = file.position();
  header.headerChecksum = XXH3_64bits(header.encode().data(), FileHeader::kCheckedBytes);
  return file.rewriteStart(header.encode());
}

} // namespace

Error effc::codegen::writeArtifact(StringRef path, const Contents &contents, WeightReader reader,
                                    Progress progress) {
  Expected<OutputFile> file = OutputFile::create(path);
  if (!file)
    return file.takeError();
  if (Error error = ArtifactWriter(*file, contents).write(reader, progress))
    return error;
  return file->commit();
}
