// The passes of each phase.
#ifndef EFFC_COMPILER_PIPELINES_H
#define EFFC_COMPILER_PIPELINES_H

#include "compiler/Phases.h"
#include "compiler/Target.h"
#include "mlir/Pass/PassManager.h"
#include "passes/seq/ForcedForm.h"
#include "passes/seq/Passes.h"

#include <string>

namespace effc {

/// "f32", "bf16", "f16" or "int8"; none for other names.
std::optional<StateStorage> findStateStorage(llvm::StringRef name);
llvm::StringRef nameOf(StateStorage storage);

/// The options that shape the passes.
struct PipelineOptions {
  llvm::SmallVector<int64_t> prefillRows = {16, 64, 256};
  llvm::SmallVector<int64_t> decodeRows = {1, 2, 4, 8, 16, 32, 64};
  StateStorage stateStorage = StateStorage::F32;
  Products products = Products::Usual;
  /// Whether weights in blocks lie in panels for the host's products, where no other
  /// target reads them.
  bool panels = true;
  /// Whether weights in blocks lie in bundles for GPUs, where no target reads them
  /// otherwise.
  bool bundles = true;
  /// Whether results that rounded products alone read lie in memory as what
  /// they are rounded to, if it has 16 bits.
  /// The bits are the same without.
  bool narrowResults = true;
  /// Whether GPUs convolve values in the kernels of the recurrences that take
  /// them. The bits are the same without.
  bool convolutionPrologues = true;
  /// Whether products of many rows of bf16 may go to cuBLASLt, on GPUs.
  bool libraryProducts = false;
  /// Whether the host's code is optimised. The bits are the same without.
  bool optimised = true;
  /// Of every mixer in prefill; none: the cheapest.
  std::optional<ForcedForm> forceForm = {};
  bool bitStable = true;
  /// The same for GPUs, where it costs the chunkwise forms.
  bool bitStableOnGpu = false;
  /// Positions that growing states are made for; 0: unbounded.
  int64_t maxContext = 0;
  const Target *target = &hostTarget();
  /// Of the host: levels of its instruction set that the same plan gets code for
  /// besides the target's own.
  llvm::SmallVector<const Target *, 0> further = {};
};

/// Rows of the decode entries for at most `batch` sequences: 1, 2, 4, ... and
/// `batch`.
llvm::SmallVector<int64_t> decodeRowsFor(int64_t batch);

/// What the phases read on a module that is compiled with `options`.
tile::TargetAttr describeTarget(const PipelineOptions &options,
                                mlir::MLIRContext *context);

/// What of a target decides which passes a phase has.
struct PhaseTarget {
  bool isGpu = false, isSimulated = false;
  bool roundsProducts = false;
  bool hasPanels = false; // of the host
  bool hasBundles = false;
  bool hasLevels = false; // of the host, more than one

  /// As a module names it; the host where the attribute is null.
  static PhaseTarget of(tile::TargetAttr attr);
};

/// Adds the passes that lead from the phase before `phase` to it; none for
/// import and artifact, which are not passes. Of `options` only the phase seq
/// reads anything: what later phases must know stands in the module.
void addPhase(mlir::OpPassManager &passes, Phase phase,
              const PipelineOptions &options, const PhaseTarget &target);

/// Registers each phase's passes as `effc-phase-<name>`: with default options,
/// for the target that the module names.
void registerPipelines();

} // namespace effc

#endif // EFFC_COMPILER_PIPELINES_H
