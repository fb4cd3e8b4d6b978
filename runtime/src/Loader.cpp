// Model::load: from a path to a checked model, outermost layer first. Nothing
// is believed before the layer around it has been checked: file size, header,
// program checksum, flatbuffer structure, meaning, segment checksums.

#include "runtime/src/Checksum.h"
#include "runtime/src/Limits.h"
#include "runtime/src/Model.h"
#include "runtime/src/ModelChecks.h"
#include "runtime/src/tokenizer/Tokenizer.h"

#include <cstring>

using namespace effc;
using namespace effc::rt;

Model::Model(MappedFile opened) : file(std::move(opened)) {}
Model::~Model() = default;

Result<std::shared_ptr<const Model>> Model::load(const std::string &path) {
  Result<MappedFile> file = MappedFile::open(path);
  if (!file)
    return file.error();
  std::shared_ptr<Model> model(new Model(std::move(*file)));
  Check error = model->readHeader();
  if (!error)
    error = model->readProgram();
  if (!error)
    error = model->readSegments();
  if (error)
    return fail(error->code, "'", path, "': ", error->message);
  model->json = describe(*model);
  return std::shared_ptr<const Model>(std::move(model));
}

Check Model::readHeader() {
  std::span<const uint8_t> bytes = file.bytes();
  if (bytes.size() < FileHeader::kMagic.size() ||
      std::memcmp(bytes.data(), FileHeader::kMagic.data(),
                  FileHeader::kMagic.size()))
    return badData("not an effc artifact: it does not start with \"EFFC\"");
  if (bytes.size() < FileHeader::kBytes)
    return badData("cut short: ", bytes.size(),
                   " bytes cannot hold the header of ", FileHeader::kBytes);
  fileHeader = FileHeader::decode(bytes.data());
  // The version comes before the checksum: what a checksum covers may change
  // with it, and this message says more.
  if (fileHeader.major > FileHeader::kMajor)
    return fail(EFFC_UNSUPPORTED, "written in format ", fileHeader.major, ".",
                fileHeader.minor, ", but this runtime reads up to ",
                FileHeader::kMajor, ".x");
  if (fileHeader.major == 0)
    return badData("format 0 does not exist");
  if (fileHeader.headerChecksum !=
      checksum(bytes.data(), FileHeader::kCheckedBytes))
    return badData("the header is damaged: its checksum differs");
  for (size_t at = FileHeader::kCheckedBytes + 8; at < FileHeader::kBytes; ++at)
    if (bytes[at] != 0)
      return badData("byte ", at, " of the header is ", int(bytes[at]),
                     ", but should be 0");
  if (fileHeader.fileSize != bytes.size())
    return badData("the header states a size of ", fileHeader.fileSize,
                   " bytes, but the file has ", bytes.size());
  if (fileHeader.programOffset < FileHeader::kBytes ||
      fileHeader.programSize > FileHeader::kMaxProgramBytes ||
      !fits(fileHeader.programOffset, fileHeader.programSize, bytes.size()))
    return badData("the program lies at byte ", fileHeader.programOffset,
                   " with ", fileHeader.programSize, " bytes in a file of ",
                   bytes.size());
  return {};
}

Check Model::readProgram() {
  const uint8_t *bytes = file.bytes().data() + fileHeader.programOffset;
  size_t size = fileHeader.programSize;
  programBytes.resize((size + sizeof(uint64_t) - 1) / sizeof(uint64_t));
  std::memcpy(programBytes.data(), bytes, size);
  const uint8_t *copy = reinterpret_cast<const uint8_t *>(programBytes.data());
  if (fileHeader.programChecksum != checksum(copy, size))
    return badData("the program is damaged: its checksum differs");
  flatbuffers::Verifier verifier(copy, size, /*max_depth=*/64, kMaxTables);
  if (!artifact::VerifyProgramBuffer(verifier))
    return badData("the program is not a well-formed flatbuffer \"",
                   artifact::ProgramIdentifier(), "\"");
  root = artifact::GetProgram(copy);
  return checkProgram(*root, fileHeader.programOffset + size,
                      fileHeader.fileSize);
}

static Error damaged(const artifact::Segment &segment, uint32_t index) {
  return badData("segment ", index, " (",
                 artifact::EnumNameSegmentKind(segment.kind()),
                 ") is damaged: its checksum differs");
}

/// What a Weights segment has for a checksum: that of the weights' checksums.
static uint64_t checksumOfWeights(const artifact::Program &program) {
  std::vector<uint64_t> checksums;
  for (const artifact::Weight *weight : *program.weights())
    checksums.push_back(flatbuffers::EndianScalar(weight->checksum()));
  return checksum(checksums.data(), checksums.size() * sizeof(uint64_t));
}

Check Model::readSegments() {
  for (uint32_t i = 0; i < root->segments()->size(); ++i) {
    const artifact::Segment &segment = *root->segments()->Get(i);
    std::span<const uint8_t> bytes = segmentBytes(segment);
    uint64_t found = segment.checksum();
    switch (segment.kind()) {
    case artifact::SegmentKind::HostCode:
    case artifact::SegmentKind::Tokenizer:
      found = checksum(bytes.data(), bytes.size());
      break;
    case artifact::SegmentKind::Weights:
      found = checksumOfWeights(*root);
      firstWeight = bytes.data();
      break;
    case artifact::SegmentKind::SeqModule:
      break; // not used here; effc_model_check() reads it
    }
    if (found != segment.checksum())
      return damaged(segment, i);
  }
  if (const auto *segment =
          findSegment(*root, artifact::SegmentKind::Tokenizer)) {
    Result<std::unique_ptr<Tokenizer>> made =
        Tokenizer::create(segmentBytes(*segment));
    if (!made)
      return fail(made.error().code, "tokenizer: ", made.error().message);
    vocabulary = std::move(*made);
  }
  return {};
}

namespace {
/// Tells a caller how far a long read has come, at most once per step.
struct Progress {
  void (*report)(void *, uint64_t, uint64_t);
  void *user;
  uint64_t total;
  uint64_t done = 0;
  static constexpr uint64_t kStepBytes = uint64_t(16) << 20;

  /// Hashes `bytes` piece by piece.
  uint64_t hash(std::span<const uint8_t> bytes) {
    ChecksumStream stream;
    while (!bytes.empty()) {
      size_t count = std::min<uint64_t>(bytes.size(), kStepBytes);
      stream.add(bytes.data(), count);
      bytes = bytes.subspan(count);
      done += count;
      if (report)
        report(user, done, total);
    }
    return stream.finish();
  }
};
} // namespace

Check Model::checkSegmentsAndWeights(void (*report)(void *, uint64_t, uint64_t),
                                     void *user) const {
  Progress progress{report, user, 0};
  for (const artifact::Segment *segment : *root->segments())
    if (segment->kind() != artifact::SegmentKind::Weights)
      progress.total += segment->size();
  if (firstWeight)
    for (const artifact::Weight *weight : *root->weights())
      progress.total += weight->size();

  for (uint32_t i = 0; i < root->segments()->size(); ++i) {
    const artifact::Segment &segment = *root->segments()->Get(i);
    if (segment.kind() != artifact::SegmentKind::Weights &&
        progress.hash(segmentBytes(segment)) != segment.checksum())
      return damaged(segment, i);
  }
  if (firstWeight)
    for (const artifact::Weight *weight : *root->weights())
      if (progress.hash({firstWeight + weight->offset(), weight->size()}) !=
          weight->checksum())
        return badData("weight '", weight->name()->string_view(),
                       "' is damaged: its checksum differs");
  return {};
}
