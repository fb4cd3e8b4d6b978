//===- Model.h - A loaded and checked .effc file --------------------------===//
#ifndef EFFC_RUNTIME_SRC_MODEL_H
#define EFFC_RUNTIME_SRC_MODEL_H

#include "runtime/abi/FileHeader.h"
#include "runtime/schema/program_generated.h"
#include "runtime/src/Error.h"
#include "runtime/src/MappedFile.h"
#include "runtime/src/Plan.h"
#include "runtime/src/Sha256.h"

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace effc::rt {

class Tokenizer;

struct LoadOptions {
  /// Where the files of weights are, by their last names; empty: where the
  /// artifact says, from its own folder.
  std::string weightsFolder;
  Access access = Access::Mapped;
  /// Not 0: a file that was compiled from shapes gets weights drawn at random
  /// from this seed (DrawnWeights.h).
  uint64_t drawSeed = 0;
  /// What the file's bytes must have; none: any.
  std::optional<Sha256Digest> sha256;
};

/// Immutable once loaded, hence shared between threads without care. The
/// program is a private copy, so that what was checked cannot change; weights
/// and code are used where they are mapped.
class Model {
public:
  /// Opens `path`, checks header, checksums, structure and meaning
  /// (Loader.cpp).
  static Result<std::shared_ptr<const Model>>
  load(const std::string &path, const LoadOptions &options = {});
  ~Model();

  const FileHeader &header() const { return fileHeader; }
  const artifact::Program &program() const { return *root; }
  /// Null when the file carries none.
  const Tokenizer *tokenizer() const { return vocabulary.get(); }

  /// Of the whole file.
  std::span<const uint8_t> bytes() const { return file.bytes(); }
  std::span<const uint8_t>
  segmentBytes(const artifact::Segment &segment) const {
    return file.bytes().subspan(segment.offset(), segment.size());
  }
  /// False when the model was compiled from shapes alone.
  bool hasWeights() const { return weightsThere; }
  /// The first byte of weight `index`, at a multiple of its element's size;
  /// only with weights.
  const uint8_t *weight(uint32_t index) const { return weightStarts[index]; }

  /// Maps a HostCode or SimCode segment read-execute.
  Result<Mapping> mapCode(const artifact::Segment &segment) const {
    return file.mapExecutable(segment.offset(), segment.size());
  }

  /// The JSON document of effc_model_describe(), made when it is first asked for.
  const std::string &description() const;

  /// Compares every segment and weight with its checksum, and what lies between
  /// them with zero.
  Check checkSegmentsAndWeights(void (*progress)(void *, uint64_t, uint64_t),
                                void *user) const;

private:
  explicit Model(MappedFile file);
  Check checkSha256(const LoadOptions &options) const;
  Check readHeader();
  Check readProgram();
  Check readSegments();
  Check openWeightFiles(const std::string &path, const LoadOptions &options);
  Check checkCodeStarts() const;
  Check compareWeightFiles() const;
  Check compareWeight(uint32_t index, bool sampled) const;
  Check drawWeights(uint64_t seed);
  const uint8_t *startOf(const artifact::Weight &weight) const;
  Check checkPadding() const;

  MappedFile file;
  std::vector<MappedFile> weightFiles; // in the program's order
  FileHeader fileHeader;
  std::vector<uint64_t> programBytes; // 8-byte aligned for the flatbuffer
  const artifact::Program *root = nullptr;
  bool weightsThere = false;
  Mapping drawnWeights; // empty: they are the file's
  std::vector<const uint8_t *> weightStarts;
  std::unique_ptr<Tokenizer> vocabulary;
  mutable std::once_flag described;
  mutable std::string json;
};

/// Writes what a model says about itself as JSON (ModelDescription.cpp).
std::string describe(const Model &model);

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_MODEL_H
