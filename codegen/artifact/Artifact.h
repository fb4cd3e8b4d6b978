// Writes an .effc file from a module of the binary phase.
#ifndef EFFC_CODEGEN_ARTIFACT_ARTIFACT_H
#define EFFC_CODEGEN_ARTIFACT_ARTIFACT_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace effc::codegen {

/// The elements of a checkpoint's tensor: little-endian, dense, row-major, at
/// any alignment.
struct SourceTensor {
  enum class Type { F32, BF16, F16 } type;
  llvm::ArrayRef<uint64_t> shape;
  llvm::ArrayRef<uint8_t> bytes;
};

/// Default sampling and the tokens with a meaning; -1 where there is none.
struct Generation {
  int32_t bos = -1, pad = -1;
  std::vector<int32_t> eos;
  bool doSample = false;
  float temperature = 1.0f;
  uint32_t topK = 0;
  float topP = 1.0f;
};

struct SourceFile {
  std::string name;
  uint64_t size = 0;
  uint64_t checksum = 0; // XXH3-64
};

/// What goes into the file besides the module.
struct Contents {
  mlir::ModuleOp module;          // entries, states, weights and code
  std::string seqBytecode;        // the model in seq; empty: not stored
  std::vector<uint8_t> tokenizer; // a tokenizer segment; empty: none
  Generation generation;
  std::string compiler, commit, llvmVersion;
  std::vector<std::string> options;
  std::vector<SourceFile> sources;
};

/// Gives the elements of the tensor that a `seq.weight` names as its source.
using WeightReader =
    llvm::function_ref<llvm::Expected<SourceTensor>(llvm::StringRef source)>;
/// Told after each weight: elements written so far, elements in all.
using Progress = llvm::function_ref<void(uint64_t done, uint64_t total)>;

/// Asked once all weights are written: fails if what was read has changed
/// since.
using SourceCheck = llvm::function_ref<llvm::Error()>;

/// Writes `path` by way of a sibling file that is renamed at the end, so that a
/// failure leaves whatever was there. The same contents give the same bytes.
llvm::Error writeArtifact(llvm::StringRef path, const Contents &contents,
                          WeightReader reader, Progress progress,
                          SourceCheck check);

} // namespace effc::codegen

#endif // EFFC_CODEGEN_ARTIFACT_ARTIFACT_H
