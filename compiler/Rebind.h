// Other weights for a file that is compiled already: its code, plan, tokenizer and
// settings stay.
#ifndef EFFC_COMPILER_REBIND_H
#define EFFC_COMPILER_REBIND_H

#include "codegen/artifact/ReadArtifact.h"
#include "compiler/Compiler.h"
#include "frontend/Import.h"

namespace effc {

struct RebindOptions {
  std::string file; // the artifact
  /// As CompileOptions have them: what a file does not keep of how it was made.
  std::string model, weightsFrom, importance;
  /// May be `file`.
  std::string output;
  bool durable = true;
};

struct Rebound {
  CompiledFile file;
  /// All of them, and those whose bytes are others than before.
  uint64_t weights = 0, changed = 0;
  /// What of the checkpoint is left aside though it differs, a line each.
  std::vector<std::string> notes;
};

/// Writes the file that compile() would write for `model` by the options that the
/// file was compiled with, but for tokenizer, template and settings, which are the
/// file's own: where the model has others, a note says so. Fails and writes nothing
/// where the two differ by more of the model than the numbers of its weights. The model is imported and lowered as far as
/// weights have their places, so that no rule of the compiler stands here again, and
/// nothing is made into code. `progress` is told as CompileEvents::weights is.
llvm::Expected<Rebound>
rebind(const RebindOptions &options,
       const std::function<void(uint64_t done, uint64_t total)> &progress);

/// The same for what was read of a file, by options that were read from it
/// (Compiler.cpp). Gives how many weights differ.
llvm::Expected<uint64_t> rebindParts(codegen::ArtifactParts parts,
                                     const CompileOptions &options,
                                     const CompileEvents &events,
                                     std::vector<std::string> &notes);

/// Special tokens that a model names and of which the file has others, a line for
/// each kind.
std::vector<std::string> listOtherIds(const artifact::ProgramT &own,
                                      const frontend::Generation &found);

/// The files that a rebound file was made from: those of the model that are `found`,
/// and of its own those that stay: of tokenizer, template and settings.
std::vector<codegen::SourceFile>
mergeSources(const artifact::ProvenanceT &own,
             const std::vector<frontend::SourceFile> &found);

} // namespace effc

#endif // EFFC_COMPILER_REBIND_H
