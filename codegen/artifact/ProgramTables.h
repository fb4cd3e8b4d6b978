// From the module's plan to the tables of the artifact's program.
#ifndef EFFC_CODEGEN_ARTIFACT_PROGRAMTABLES_H
#define EFFC_CODEGEN_ARTIFACT_PROGRAMTABLES_H

#include "codegen/artifact/Artifact.h"
#include "runtime/schema/program_generated.h"

namespace effc::codegen {

/// The machine code of a module, as its one segment will hold it.
struct CodeImage {
  std::string isa;
  std::vector<uint8_t> bytes;
};

/// Fills states, kernels, entries, generation defaults and provenance; the code
/// is segment 0. Fails when the module has no plan, no code, or a launch of a
/// kernel that has none.
llvm::Expected<CodeImage> fillProgram(const Contents &contents,
                                      artifact::ProgramT &program);

} // namespace effc::codegen

#endif // EFFC_CODEGEN_ARTIFACT_PROGRAMTABLES_H
