// Header, program, segments, each checked before what it leads to is believed.
#include "codegen/artifact/ReadArtifact.h"

#include "runtime/abi/FileHeader.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

using namespace llvm;
using namespace effc;
using namespace effc::codegen;
using namespace effc::artifact;
using rt::FileHeader;

ArrayRef<uint8_t> ArtifactParts::find(SegmentKind kind) const {
  for (const auto &[segment, bytes] : zip_equal(program->segments, segments))
    if (segment->kind == kind)
      return bytes;
  return {};
}

bool ArtifactParts::has(SegmentKind kind) const {
  return any_of(program->segments,
                [&](const auto &segment) { return segment->kind == kind; });
}

namespace {
/// Reads pieces of a file whose size is known.
class PieceReader {
public:
  PieceReader(StringRef path, sys::fs::file_t file, uint64_t size)
      : path(path), file(file), size(size) {}
  ~PieceReader() { sys::fs::closeFile(file); }
  PieceReader(const PieceReader &) = delete;
  PieceReader &operator=(const PieceReader &) = delete;

  Expected<std::vector<uint8_t>> read(uint64_t offset, uint64_t count) const {
    if (offset > size || count > size - offset)
      return refuse("it is cut short");
    std::vector<uint8_t> bytes(count);
    size_t done = 0;
    while (done < count) {
      Expected<size_t> more = sys::fs::readNativeFileSlice(
          file,
          MutableArrayRef(reinterpret_cast<char *>(bytes.data()) + done,
                          count - done),
          offset + done);
      if (!more)
        return refuse(toString(more.takeError()));
      if (*more == 0)
        return refuse("it is cut short");
      done += *more;
    }
    return bytes;
  }
  Error refuse(const Twine &reason) const {
    return createStringError("'" + path + "': " + reason);
  }
  uint64_t getSize() const { return size; }

private:
  StringRef path;
  sys::fs::file_t file;
  uint64_t size;
};
} // namespace

static Expected<FileHeader> readHeader(const PieceReader &reader) {
  constexpr size_t kMagicBytes = FileHeader::kMagic.size();
  Expected<std::vector<uint8_t>> bytes =
      reader.read(0, std::min<uint64_t>(FileHeader::kBytes, reader.getSize()));
  if (!bytes)
    return bytes.takeError();
  if (bytes->size() < kMagicBytes ||
      !std::equal(FileHeader::kMagic.begin(), FileHeader::kMagic.end(),
                  bytes->begin()))
    return reader.refuse(
        "not an effc artifact: it does not start with \"EFFC\"");
  if (bytes->size() < FileHeader::kBytes)
    return reader.refuse("it is cut short");
  FileHeader header = FileHeader::decode(bytes->data());
  if (!header.isReadable())
    return reader.refuse(
        "written in format " + Twine(header.major) + "." + Twine(header.minor) +
        ", but this effc writes " + Twine(FileHeader::kMajor) + "." +
        Twine(FileHeader::kMinor) + ": compile the model again");
  if (header.headerChecksum !=
          XXH3_64bits(bytes->data(), FileHeader::kCheckedBytes) ||
      header.programSize > FileHeader::kMaxProgramBytes)
    return reader.refuse("the header is damaged: its checksum differs");
  return header;
}

static Expected<std::unique_ptr<ProgramT>>
readProgram(const PieceReader &reader, const FileHeader &header) {
  Expected<std::vector<uint8_t>> bytes =
      reader.read(header.programOffset, header.programSize);
  if (!bytes)
    return bytes.takeError();
  if (XXH3_64bits(bytes->data(), bytes->size()) != header.programChecksum)
    return reader.refuse("the program is damaged: its checksum differs");
  // A schema nests its tables five deep.
  constexpr flatbuffers::uoffset_t kMostDepth = 64, kMostTables = 1u << 31;
  flatbuffers::Verifier verifier(bytes->data(), bytes->size(), kMostDepth,
                                 kMostTables);
  if (bytes->size() < FileHeader::kLeastProgramBytes ||
      !VerifyProgramBuffer(verifier))
    return reader.refuse("the program is not a well-formed flatbuffer \"" +
                         Twine(ProgramIdentifier()) + "\"");
  return std::unique_ptr<ProgramT>(GetProgram(bytes->data())->UnPack());
}

Expected<ArtifactParts> effc::codegen::readArtifact(StringRef path) {
  sys::fs::file_status status;
  if (std::error_code code = sys::fs::status(path, status))
    return createStringError("cannot open '" + path + "': " + code.message());
  if (!sys::fs::is_regular_file(status))
    return createStringError("cannot open '" + path +
                             "': it is not a regular file");
  Expected<sys::fs::file_t> file = sys::fs::openNativeFileForRead(path);
  if (!file)
    return createStringError("cannot open '" + path +
                             "': " + toString(file.takeError()));
  PieceReader reader(path, *file, status.getSize());
  Expected<FileHeader> header = readHeader(reader);
  if (!header)
    return header.takeError();
  ArtifactParts parts;
  Expected<std::unique_ptr<ProgramT>> program = readProgram(reader, *header);
  if (!program)
    return program.takeError();
  parts.program = std::move(*program);
  for (const auto &[i, segment] : enumerate(parts.program->segments)) {
    parts.segments.emplace_back();
    if (segment->kind == SegmentKind::Weights)
      continue;
    Expected<std::vector<uint8_t>> bytes =
        reader.read(segment->offset, segment->size);
    if (!bytes)
      return bytes.takeError();
    if (XXH3_64bits(bytes->data(), bytes->size()) != segment->checksum)
      return reader.refuse("segment " + Twine(i) + " (" +
                           EnumNameSegmentKind(segment->kind) +
                           ") is damaged: its checksum differs");
    parts.segments.back() = std::move(*bytes);
  }
  return parts;
}
