// The phases of a compilation, in order. Each ends with a module that can be
// printed, dumped and read again.
#ifndef EFFC_COMPILER_PHASES_H
#define EFFC_COMPILER_PHASES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <optional>

namespace effc {

enum class Phase { Import, Seq, Tile, Plan, Binary, Artifact };

struct PhaseInfo {
  Phase phase;
  llvm::StringRef name;
  llvm::StringRef
      dumpFile; // in the folder of --dump-phases; empty: no module of its own
  llvm::StringRef summary;
};

inline constexpr PhaseInfo kPhases[] = {
    {Phase::Import, "import", "00-import.mlir",
     "the model as it was read, in seq"},
    {Phase::Seq, "seq", "10-seq.mlir",
     "entries, forms and kernels chosen, states laid out"},
    {Phase::Tile, "tile", "20-tile.mlir", "kernels in tile, entries in plan"},
    {Phase::Plan, "plan", "30-plan.mlir", "buffers placed in the arenas"},
    {Phase::Binary, "binary", "40-binary.mlir",
     "kernels compiled to machine code"},
    {Phase::Artifact, "artifact", "", "the .effc file"},
};

inline const PhaseInfo &getPhaseInfo(Phase phase) {
  return kPhases[static_cast<int>(phase)];
}

inline std::optional<Phase> findPhase(llvm::StringRef name) {
  for (const PhaseInfo &info : kPhases)
    if (info.name == name)
      return info.phase;
  return std::nullopt;
}

} // namespace effc

#endif // EFFC_COMPILER_PHASES_H
