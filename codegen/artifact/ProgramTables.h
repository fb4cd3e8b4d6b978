// From the module's plan to the tables of the artifact's program.
#ifndef EFFC_CODEGEN_ARTIFACT_PROGRAMTABLES_H
#define EFFC_CODEGEN_ARTIFACT_PROGRAMTABLES_H

#include "codegen/artifact/Artifact.h"
#include "runtime/schema/program_generated.h"

namespace effc::codegen {

/// Machine code, as one segment will hold it.
struct CodeImage {
  artifact::SegmentKind kind;
  std::string isa;
  std::vector<uint8_t> bytes;
};

/// What the artifact calls an element type; blocks are one of them, and the
/// program's table of storages says which.
artifact::ElementType elementTypeOf(mlir::Type element);

/// What the provenance says of files.
std::vector<std::unique_ptr<artifact::SourceFileT>>
describeSources(llvm::ArrayRef<SourceFile> files);

/// Fills states, the kernels and entries of every target, generation defaults
/// and provenance; image `i` of those returned is segment `i`. Fails when a
/// module has no plan, no code, or a launch of a kernel that has none, and
/// where targets keep states in different ways.
llvm::Expected<std::vector<CodeImage>> fillProgram(const Contents &contents,
                                                   artifact::ProgramT &program);

} // namespace effc::codegen

#endif // EFFC_CODEGEN_ARTIFACT_PROGRAMTABLES_H
