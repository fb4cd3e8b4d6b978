//===- Model.h - A loaded and checked .effc file --------------------------===//
#ifndef EFFC_RUNTIME_SRC_MODEL_H
#define EFFC_RUNTIME_SRC_MODEL_H

#include "runtime/schema/program_generated.h"
#include "runtime/src/Error.h"
#include "runtime/src/FileHeader.h"
#include "runtime/src/MappedFile.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace effc::rt {

class Tokenizer;

/// Immutable once loaded, hence shared between threads without care. The
/// program is a private copy, so that what was checked cannot change; weights
/// and code are used where they are mapped.
class Model {
public:
  /// Opens `path`, checks header, checksums, structure and meaning
  /// (Loader.cpp).
  static Result<std::shared_ptr<const Model>> load(const std::string &path);
  ~Model();

  const FileHeader &header() const { return fileHeader; }
  const artifact::Program &program() const { return *root; }
  /// Null when the file carries none.
  const Tokenizer *tokenizer() const { return vocabulary.get(); }

  std::span<const uint8_t>
  segmentBytes(const artifact::Segment &segment) const {
    return file.bytes().subspan(segment.offset(), segment.size());
  }
  /// The first byte of the Weights segment; null when the file carries none.
  const uint8_t *weights() const { return firstWeight; }

  /// Maps a HostCode segment read-execute.
  Result<Mapping> mapCode(const artifact::Segment &segment) const {
    return file.mapExecutable(segment.offset(), segment.size());
  }

  /// The JSON document of effc_model_describe().
  const std::string &description() const { return json; }

  /// Compares every segment and weight with its checksum.
  Check checkSegmentsAndWeights(void (*progress)(void *, uint64_t, uint64_t),
                                void *user) const;

private:
  explicit Model(MappedFile file);
  Check readHeader();
  Check readProgram();
  Check readSegments();

  MappedFile file;
  FileHeader fileHeader;
  std::vector<uint64_t> programBytes; // 8-byte aligned for the flatbuffer
  const artifact::Program *root = nullptr;
  const uint8_t *firstWeight = nullptr;
  std::unique_ptr<Tokenizer> vocabulary;
  std::string json;
};

/// What running `program` takes; the tables are those of a host engine.
struct Memory {
  uint64_t weights = 0;
  uint64_t perSession = 0;
  uint64_t arena = 0;
  uint64_t logits = 0;
  uint64_t tables = 0;
};
Memory memoryOf(const artifact::Program &program);

/// The most rows of any entry.
uint32_t mostRows(const artifact::Program &program);

/// Writes what a model says about itself as JSON (ModelDescription.cpp).
std::string describe(const Model &model);

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_MODEL_H
