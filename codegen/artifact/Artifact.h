// Writes an .effc file from a module of the binary phase, or with other weights.
#ifndef EFFC_CODEGEN_ARTIFACT_ARTIFACT_H
#define EFFC_CODEGEN_ARTIFACT_ARTIFACT_H

#include "codegen/artifact/ReadArtifact.h"
#include "codegen/artifact/WeightLoss.h"
#include "dialects/seq/Seq.h"
#include "dialects/seq/Work.h"
#include "dialects/storage/Storage.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <functional>
#include <string>
#include <vector>

namespace effc::codegen {

/// The elements of a checkpoint's tensor: little-endian, row-major, nothing
/// between them, at any alignment; and where they lie.
struct SourceTensor {
  storage::Storage storage;
  llvm::ArrayRef<uint64_t> shape;
  llvm::ArrayRef<uint8_t> bytes;
  uint32_t file = 0;       // number in Contents::weightFiles
  uint64_t fileOffset = 0; // of the bytes in that file
  /// Whether the file has the rows in this order.
  bool isInOrder = true;
  /// How much each column counts where numbers are rounded: of each of a few equal
  /// parts of the weight's first dimension; empty: nobody knows.
  llvm::ArrayRef<float> importance = {};
};

/// A file of the checkpoint that the artifact may name.
struct WeightFile {
  std::string name; // from the artifact's folder
  uint64_t size = 0;
  /// What lies before its tensors' data: their names and places.
  llvm::ArrayRef<uint8_t> start;
};

/// Where weights go. Embed: into the artifact. Reference: matrices stay in the
/// checkpoint's files where kernels can read them as they lie there; the others
/// are embedded if they are small, else an error (whyNotReferenced()). None:
/// only their shapes are written, and no tensor is read.
enum class WeightsMode { Embed, Reference, None };

/// Default sampling and the tokens with a meaning; -1 where there is none.
struct Generation {
  int32_t bos = -1, pad = -1;
  std::vector<int32_t> eos;
  bool doSample = false;
  float temperature = 1.0f;
  uint32_t topK = 0;
  float topP = 1.0f;
  float minP = 0.0f;
  float repeatPenalty = 1.0f;
  std::vector<std::string> stops;
};

struct SourceFile {
  std::string name;
  uint64_t size = 0;
  uint64_t checksum = 0; // XXH3-64
};

/// What goes into the file besides the module.
struct Contents {
  /// What a target runs: entries, states, weights and code.
  struct Plan {
    std::string target;    // "sm_80"
    mlir::ModuleOp module; // its `tile.target` says what runs it
  };
  std::vector<Plan> plans;        // at least one
  std::string seqBytecode;        // the model in seq; empty: not stored
  std::vector<uint8_t> tokenizer; // a tokenizer segment; empty: none
  Generation generation;
  std::string compiler, commit, llvmVersion;
  std::vector<std::string> options;
  std::vector<SourceFile> sources;
  WeightsMode weights = WeightsMode::Embed;
  std::vector<WeightFile> weightFiles; // Reference only
  /// FLOPs that no way of computing the model avoids (dialects/seq/Work.h).
  uint64_t flopsPerToken = 0, headFlopsPerRow = 0;
  /// Of these what depends on how many tokens a token sees.
  std::vector<seq::Work::Keys> keyWork;
};

/// Gives the elements of the tensor that a `seq.weight` names as its source.
using WeightReader =
    llvm::function_ref<llvm::Expected<SourceTensor>(seq::WeightOp weight)>;
/// Told after each weight: elements written so far, elements in all.
using Progress = llvm::function_ref<void(uint64_t done, uint64_t total)>;

/// Asked once the file is complete at `written`, but before it has its name: fails
/// if what was read has changed since, or if the file is of no use.
using FileCheck = llvm::function_ref<llvm::Error(llvm::StringRef written)>;
/// Told what was decided about a weight, and why.
using WeightRemark =
    llvm::function_ref<void(llvm::StringRef weight, llvm::StringRef text)>;

/// Told of each matrix that is embedded what storing it has lost; null: nothing is
/// measured, which takes longer than writing.
using LossReport = std::function<void(
    seq::WeightOp weight, const SourceTensor &source, const WeightLoss &loss)>;

/// Writes `path` by way of a sibling file that is renamed at the end, so that a
/// failure leaves whatever was there. The same contents give the same bytes.
/// `durable`: it is renamed when the disk has it.
llvm::Error writeArtifact(llvm::StringRef path, const Contents &contents,
                          WeightReader reader, Progress progress,
                          FileCheck check, WeightRemark remark,
                          bool durable = true, const LossReport &report = {});

/// The weights that a file gets in place of those it has.
struct NewWeights {
  mlir::ModuleOp module; // of the phase seq or a later one
  WeightsMode mode = WeightsMode::Embed;
  std::vector<WeightFile> files; // Reference only
  /// What the provenance then says.
  std::vector<std::string> options;
  std::vector<SourceFile> sources;
};

/// Writes a file again to `path`, which may be its own, with other weights: the
/// bytes are those that writeArtifact() writes for them. Gives the number of weights
/// whose bytes differ. Fails, and writes nothing, where the module's weights are not
/// those of the file in order, shape, type and place.
llvm::Expected<uint64_t> rebindArtifact(llvm::StringRef path,
                                        ArtifactParts parts,
                                        const NewWeights &weights,
                                        WeightReader reader, Progress progress,
                                        FileCheck check, WeightRemark remark,
                                        bool durable = true);

} // namespace effc::codegen

#endif // EFFC_CODEGEN_ARTIFACT_ARTIFACT_H
