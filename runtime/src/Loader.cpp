// Model::load: from a path to a checked model, outermost layer first. Nothing
// is believed before the layer around it has been checked: file size, header,
// program checksum, flatbuffer structure, meaning, segment checksums.

#include "runtime/src/Checksum.h"
#include "runtime/src/DrawnWeights.h"
#include "runtime/src/Limits.h"
#include "runtime/src/Model.h"
#include "runtime/src/ModelChecks.h"
#include "runtime/src/tokenizer/Tokenizer.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

using namespace effc;
using namespace effc::rt;

Model::Model(MappedFile opened) : file(std::move(opened)) {}
Model::~Model() = default;

const std::string &Model::description() const {
  std::call_once(described, [this] { json = describe(*this); });
  return json;
}

Result<std::shared_ptr<const Model>> Model::load(const std::string &path,
                                                 const LoadOptions &options) {
  Result<MappedFile> file = MappedFile::open(path, options.access);
  if (!file)
    return file.error();
  std::shared_ptr<Model> model(new Model(std::move(*file)));
  Check error = model->checkSha256(options);
  if (!error)
    error = model->readHeader();
  if (!error)
    error = model->readProgram();
  if (!error)
    error = model->readSegments();
  if (!error)
    error = model->openWeightFiles(path, options);
  if (!error && options.drawSeed && !model->weightsThere)
    error = model->drawWeights(options.drawSeed);
  if (error)
    return fail(error->code, "'", path, "': ", error->message);
  return std::shared_ptr<const Model>(std::move(model));
}

Check Model::checkSha256(const LoadOptions &options) const {
  if (!options.sha256)
    return {};
  Sha256Digest found = sha256(file.bytes());
  if (found == *options.sha256)
    return {};
  return badData("its SHA-256 is ", describeSha256(found), ", but ",
                 describeSha256(*options.sha256), " is expected");
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
  if (!fileHeader.isReadable())
    return fail(EFFC_UNSUPPORTED, "written in format ", fileHeader.major, ".",
                fileHeader.minor, ", but this runtime reads ",
                FileHeader::kMajor, ".", FileHeader::kMinor,
                ": compile the model again with the effc of this runtime, or "
                "run the file with the one that wrote it");
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
      fileHeader.programSize < FileHeader::kLeastProgramBytes ||
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
  if (Check error = checkSharing(*root, size))
    return error;
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

/// Whether kernels of a segment start at a byte of it; of others they have names.
static bool hasEntryPoints(artifact::SegmentKind kind) {
  return kind == artifact::SegmentKind::HostCode ||
         kind == artifact::SegmentKind::SimCode;
}

/// Code is entered where kernels start, and nowhere else.
Check Model::checkCodeStarts() const {
  for (const Plan &plan : plansOf(*root))
    for (const artifact::Kernel *kernel : *plan.kernels)
      for (const artifact::KernelCode *code : *kernel->code()) {
        std::span<const uint8_t> bytes =
            segmentBytes(*root->segments()->Get(code->segment()))
                .subspan(code->offset());
        if (hasEntryPoints(root->segments()->Get(code->segment())->kind()) &&
            checksum(bytes.data(),
                     std::min<uint64_t>(bytes.size(),
                                        FileHeader::kCodeStartBytes)) !=
                code->start_checksum())
          return badData("kernel '", kernel->name()->string_view(),
                         "' does not start at byte ", code->offset(),
                         " of segment ", code->segment(),
                         ": the checksum of what is there differs");
      }
  return {};
}

Check Model::readSegments() {
  for (uint32_t i = 0; i < root->segments()->size(); ++i) {
    const artifact::Segment &segment = *root->segments()->Get(i);
    std::span<const uint8_t> bytes = segmentBytes(segment);
    uint64_t found = segment.checksum();
    switch (segment.kind()) {
    case artifact::SegmentKind::HostCode:
    case artifact::SegmentKind::SimCode:
    case artifact::SegmentKind::Cubin:
    case artifact::SegmentKind::Ptx:
    case artifact::SegmentKind::Tokenizer:
      found = checksum(bytes.data(), bytes.size());
      break;
    case artifact::SegmentKind::Weights:
      found = checksumOfWeights(*root);
      weightsThere = true;
      break;
    case artifact::SegmentKind::SeqModule:
      break; // not used here; effc_model_check() reads it
    }
    if (found != segment.checksum())
      return damaged(segment, i);
  }
  if (Check error = checkCodeStarts())
    return error;
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

/// The path of a file of weights: `name` from the artifact's folder, or its
/// last part in a folder that the caller gives.
static std::string placeOf(const std::string &artifact, std::string_view name,
                           const std::string &folder) {
  if (!folder.empty())
    return folder + "/" + std::string(name.substr(name.rfind('/') + 1));
  // Where the file is, were `artifact` a link.
  std::unique_ptr<char, void (*)(void *)> real(
      realpath(artifact.c_str(), nullptr), std::free);
  std::string path = real ? real.get() : artifact;
  return path.substr(0, path.rfind('/') + 1) + std::string(name);
}

Check Model::openWeightFiles(const std::string &path,
                             const LoadOptions &options) {
  // A program whose weights all lie in files has a segment of no bytes, so that
  // its presence alone says whether there are weights.
  if (!weightsThere)
    weightsThere = root->weights()->size() == 0;
  else if (root->weight_files())
    for (const artifact::WeightFile *expected : *root->weight_files()) {
      std::string place =
          placeOf(path, expected->name()->string_view(), options.weightsFolder);
      Result<MappedFile> opened = MappedFile::open(place, options.access);
      if (!opened)
        return fail(opened.error().code, "weights: ", opened.error().message);
      std::span<const uint8_t> bytes = opened->bytes();
      if (bytes.size() != expected->size())
        return badData("weights: '", place, "' has ", bytes.size(),
                       " bytes, but the file that the model was compiled with "
                       "had ",
                       expected->size());
      if (checksum(bytes.data(), expected->start_size()) !=
          expected->start_checksum())
        return badData("weights: '", place,
                       "' is not the file that the model was compiled with: "
                       "the list of its tensors differs");
      weightFiles.push_back(std::move(*opened));
    }
  if (weightsThere)
    for (const artifact::Weight *weight : *root->weights())
      weightStarts.push_back(startOf(*weight));
  return compareWeightFiles();
}

/// What a weight in a file of its own has for `sample_checksum`.
static uint64_t sampleChecksum(std::span<const uint8_t> bytes) {
  constexpr uint64_t kSamples = FileHeader::kSamples;
  constexpr uint64_t kSampleBytes = FileHeader::kSampleBytes;
  if (bytes.size() <= kSamples * kSampleBytes)
    return checksum(bytes.data(), bytes.size());
  ChecksumStream stream;
  for (uint64_t i = 0; i < kSamples; ++i)
    stream.add(bytes.data() + FileHeader::sampleStart(bytes.size(), i),
               kSampleBytes);
  return stream.finish();
}

Check Model::compareWeight(uint32_t index, bool sampled) const {
  const artifact::Weight &weight = *root->weights()->Get(index);
  std::span<const uint8_t> bytes(weightStarts[index], weight.size());
  if (sampled ? sampleChecksum(bytes) == weight.sample_checksum()
              : checksum(bytes.data(), bytes.size()) == weight.checksum())
    return {};
  return badData(
      "weights: weight '", weight.name()->string_view(), "' in '",
      root->weight_files()->Get(weight.file() - 1)->name()->string_view(),
      "' is not what the model was compiled with: its checksum differs; the "
      "artifact holds other weights beside these, so it has to be compiled "
      "again");
}

/// Files of the same names and sizes may hold other numbers, which would be mixed
/// with the weights of the artifact. Small ones are read as a whole, of others four
/// blocks of each weight, so that this takes 64 MiB of reading at most.
Check Model::compareWeightFiles() const {
  constexpr uint64_t kMostBytes = uint64_t(64) << 20;
  constexpr uint64_t kMostSampled =
      kMostBytes / (FileHeader::kSamples * FileHeader::kSampleBytes);
  uint64_t bytes = 0;
  std::vector<uint32_t> elsewhere;
  for (uint32_t i = 0; i < weightStarts.size(); ++i)
    if (const artifact::Weight &weight = *root->weights()->Get(i);
        weight.file() != 0) {
      bytes += weight.size();
      elsewhere.push_back(i);
    }
  bool sampled = bytes > kMostBytes;
  uint64_t count = sampled ? std::min<uint64_t>(elsewhere.size(), kMostSampled)
                           : elsewhere.size();
  for (uint64_t i = 0; i < count; ++i)
    if (Check error =
            compareWeight(elsewhere[i * elsewhere.size() / count], sampled))
      return error;
  return {};
}

Check Model::drawWeights(uint64_t seed) {
  uint64_t bytes = 0;
  for (const artifact::Weight *weight : *root->weights()) {
    Result<uint64_t> each = drawnBytes(*root, *weight);
    if (!each)
      return each.error();
    bytes += *each;
  }
  Result<Mapping> memory = Mapping::anonymous(bytes, "weights");
  if (!memory)
    return memory.error();
  drawnWeights = std::move(*memory);
  uint8_t *at = drawnWeights.data();
  for (const artifact::Weight *weight : *root->weights()) {
    drawWeight(*root, *weight, seed++, at);
    weightStarts.push_back(at);
    at += *drawnBytes(*root, *weight);
  }
  weightsThere = true;
  return {};
}

const uint8_t *Model::startOf(const artifact::Weight &weight) const {
  if (weight.file() != 0)
    return weightFiles[weight.file() - 1].bytes().data() + weight.file_offset();
  return segmentBytes(*findSegment(*root, artifact::SegmentKind::Weights))
             .data() +
         weight.offset();
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

/// No checksum covers what lies between header, program and segments.
Check Model::checkPadding() const {
  std::vector<std::pair<uint64_t, uint64_t>> used = {
      {0, FileHeader::kBytes},
      {fileHeader.programOffset,
       fileHeader.programOffset + fileHeader.programSize}};
  for (const artifact::Segment *segment : *root->segments())
    used.emplace_back(segment->offset(), segment->offset() + segment->size());
  used.emplace_back(fileHeader.fileSize, fileHeader.fileSize);
  std::sort(used.begin(), used.end());
  uint64_t at = 0;
  for (auto [begin, end] : used) {
    for (; at < begin; ++at)
      if (file.bytes()[at] != 0)
        return badData("byte ", at, " of the padding is ",
                       unsigned(file.bytes()[at]), ", but should be 0");
    at = std::max(at, end);
  }
  return {};
}

Check Model::checkSegmentsAndWeights(void (*report)(void *, uint64_t, uint64_t),
                                     void *user) const {
  Progress progress{report, user, 0};
  for (const artifact::Segment *segment : *root->segments())
    if (segment->kind() != artifact::SegmentKind::Weights)
      progress.total += segment->size();
  // What was drawn is in no file.
  size_t stored = drawnWeights.data() ? 0 : weightStarts.size();
  for (uint32_t i = 0; i < stored; ++i)
    progress.total += root->weights()->Get(i)->size();

  for (uint32_t i = 0; i < root->segments()->size(); ++i) {
    const artifact::Segment &segment = *root->segments()->Get(i);
    if (segment.kind() != artifact::SegmentKind::Weights &&
        progress.hash(segmentBytes(segment)) != segment.checksum())
      return damaged(segment, i);
  }
  if (Check error = checkPadding())
    return error;
  for (uint32_t i = 0; i < stored; ++i) {
    const artifact::Weight &weight = *root->weights()->Get(i);
    if (progress.hash({weightStarts[i], weight.size()}) == weight.checksum())
      continue;
    if (weight.file() == 0)
      return badData("weight '", weight.name()->string_view(),
                     "' is damaged: its checksum differs");
    return badData(
        "weight '", weight.name()->string_view(), "' in '",
        root->weight_files()->Get(weight.file() - 1)->name()->string_view(),
        "' is not what the model was compiled with: its checksum differs");
  }
  return {};
}
