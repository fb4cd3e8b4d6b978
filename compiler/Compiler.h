// The compiler as a library: from a model on disk to an .effc file.
#ifndef EFFC_COMPILER_COMPILER_H
#define EFFC_COMPILER_COMPILER_H

#include "codegen/artifact/Artifact.h"
#include "compiler/CompiledFile.h"
#include "compiler/Phases.h"
#include "compiler/Pipelines.h"
#include "compiler/Target.h"

#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace effc {

/// Names that CompileOptions::weightsType may have: "f32", "q8_0", "q4_k_m", ...
std::vector<std::string> weightTypes();
/// Whether a text may be such types: names that are known, and what begins as the
/// description of a storage does (`!storage.block<...>`), which the compilation
/// checks.
bool isWeightsType(llvm::StringRef text);

struct CompileOptions {
  /// A Hugging Face directory, or a .mlir file of the seq dialect.
  std::string model;
  /// For a .mlir file: the directory that its weights name.
  std::string weightsFrom;
  /// Where the artifact, or the module of `compileTo`, goes; "-": standard
  /// output.
  std::string output;
  /// How matrices of weights are stored (frontend/weights/WeightTypes.h); empty: as the
  /// checkpoint has them.
  std::string weightsType;
  /// A file of importances by which matrices are rounded to that type (frontend/Import.h);
  /// empty: none. It is among the sources of an artifact.
  std::string importance;
  /// Where weights go; None: the checkpoint need not have any.
  codegen::WeightsMode weights = codegen::WeightsMode::Embed;
  /// Gated norms take one mean over all channels (frontend/Import.h).
  bool ungroupedNorm = false;
  /// Entries give what the model's head would have multiplied, and no logits.
  bool hidden = false;
  /// Entries give inner values of these names in place of logits (compiler/Taps.h); empty:
  /// logits. Excludes `hidden`.
  std::vector<std::string> taps;
  /// Whether rows hold what products with matrices read (ProductInputs.h), in place of
  /// logits. Excludes `hidden` and `taps`.
  bool productInputs = false;
  /// The first and the last tokens that layers of attention see instead of
  /// more; a window of 0: all (frontend/Import.h).
  int64_t sinks = 0, window = 0;
  /// Keys of config.json that are left aside (frontend/Import.h); sorted.
  std::vector<std::string> allow;
  Phase compileTo = Phase::Artifact;
  /// The phase whose modules lie in `phases`, a folder that `dumpPhases` filled:
  /// those before it, and itself, do not run. Weights, tokenizer and settings
  /// are the model's.
  std::optional<Phase> compileFrom;
  std::string phases;
  /// A folder that gets one file per phase; empty: none.
  std::string dumpPhases;
  /// What to compile for, each once. Levels of the host get one plan; of
  /// `pipeline` nothing about targets is read.
  std::vector<const Target *> targets = {&hostTarget()};
  PipelineOptions pipeline;
  /// Whether a checkpoint's tokenizer goes into the artifact.
  bool tokenizer = true;
  /// The directory of another tokenizer; empty: the checkpoint's own.
  std::string tokenizerFrom;
  /// Leaves the seq module out of the artifact.
  bool stripIr = false;
  /// Makes every remark of a fallback an error.
  bool fallbackIsError = false;
  bool timing = false;
  /// Whether the output gets its name only when the disk has it.
  bool durable = true;

  /// Whether weights may lie as the host's products of integers want them: code for a
  /// GPU and the files of a checkpoint have them in rows.
  bool canPackWeights() const;
  /// Whether they may lie in bundles, as loads of GPUs want them: all targets take the
  /// same, and no weight stays in the files of a checkpoint.
  bool canBundleWeights() const;
};

/// What a compilation says besides its result.
struct CompileEvents {
  /// What follows is of one target; empty: of none in particular.
  std::function<void(llvm::StringRef name)> target = [](auto) {};
  /// A choice that was made, one line; `where` names the op or tensor.
  std::function<void(llvm::StringRef where, llvm::StringRef text)> remark =
      [](auto, auto) {};
  /// One of these that is not what was asked for, or not the fast one, or something
  /// that a checkpoint asks for in vain, once more.
  std::function<void(llvm::StringRef where, llvm::StringRef text)> fallback =
      [](auto, auto) {};
  /// Elements of weights written so far and in all.
  std::function<void(uint64_t done, uint64_t total)> weights = [](auto, auto) {
  };
  /// What storing a matrix in the type `as` lost; null: nothing is measured, which
  /// takes longer than writing.
  std::function<void(llvm::StringRef weight, llvm::StringRef from,
                     llvm::StringRef as, const codegen::WeightLoss &loss)>
      loss;
  /// The artifact, or the module of the phase seq or a later one, is in its place;
  /// not called for what goes to standard output.
  std::function<void(const CompiledFile &file)> written = [](auto &) {};
};

/// Compiles. The error's first line is the reason; notes follow on lines of
/// their own. On failure no output file is made or changed.
llvm::Error compile(const CompileOptions &options, const CompileEvents &events);

/// "0.1.0".
llvm::StringRef getVersion();
/// The commit that the compiler was built from, or "unknown".
llvm::StringRef getCommit();

} // namespace effc

#endif // EFFC_COMPILER_COMPILER_H
