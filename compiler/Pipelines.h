// The passes of each phase.
#ifndef EFFC_COMPILER_PIPELINES_H
#define EFFC_COMPILER_PIPELINES_H

#include "compiler/Phases.h"
#include "compiler/Target.h"
#include "mlir/Pass/PassManager.h"
#include "passes/seq/Passes.h"

#include <string>

namespace effc {

/// The options that shape the passes.
struct PipelineOptions {
  llvm::SmallVector<int64_t> prefillRows = {16, 64, 256};
  llvm::SmallVector<int64_t> decodeRows = {1, 2, 4, 8, 16, 32, 64};
  StateStorage stateStorage = StateStorage::F32;
  Products products = Products::F32;
  /// Whether results that rounded products alone read lie in memory as what
  /// they are rounded to, if it has 16 bits.
  /// The bits are the same without.
  bool narrowResults = true;
  /// Whether GPUs convolve values in the kernels of the recurrences that take
  /// them. The bits are the same without.
  bool convolutionPrologues = true;
  /// Whether products of many rows of bf16 may go to cuBLASLt, on GPUs.
  bool libraryProducts = false;
  std::string forceForm;
  bool bitStable = true;
  /// The same for GPUs, where it costs the chunkwise forms.
  bool bitStableOnGpu = false;
  /// Positions that growing states are made for; 0: unbounded.
  int64_t maxContext = 0;
  const Target *target = &kTargets[0];
};

/// Rows of the decode entries for at most `batch` sequences: 1, 2, 4, ... and
/// `batch`.
llvm::SmallVector<int64_t> decodeRowsFor(int64_t batch);

/// Adds the passes that lead from the phase before `phase` to it; none for
/// import and artifact, which are not passes.
void addPhase(mlir::OpPassManager &passes, Phase phase,
              const PipelineOptions &options);

/// Registers each phase's passes, with their defaults, as `effc-phase-<name>`.
void registerPipelines();

} // namespace effc

#endif // EFFC_COMPILER_PIPELINES_H
