// An .effc file as it was written, read to be written again.
#ifndef EFFC_CODEGEN_ARTIFACT_READARTIFACT_H
#define EFFC_CODEGEN_ARTIFACT_READARTIFACT_H

#include "runtime/schema/program_generated.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <string>
#include <vector>

namespace effc::codegen {

/// All of a file but its weights, which need not even be there.
struct ArtifactParts {
  std::unique_ptr<artifact::ProgramT> program;
  /// Of each of the program's segments its bytes; of weights none.
  std::vector<std::vector<uint8_t>> segments;

  /// Those of the first segment of a kind; empty where there is none.
  llvm::ArrayRef<uint8_t> find(artifact::SegmentKind kind) const;
  bool has(artifact::SegmentKind kind) const;
};

/// Reads a file, and holds what is read to its checksums. Whether a runtime would
/// take it is not asked: whoever writes it again loads the result.
llvm::Expected<ArtifactParts> readArtifact(llvm::StringRef path);

} // namespace effc::codegen

#endif // EFFC_CODEGEN_ARTIFACT_READARTIFACT_H
