// A model as an artifact stores it: the seq module and its weights.
#ifndef EFFC_COMPILER_STOREDMODEL_H
#define EFFC_COMPILER_STOREDMODEL_H

#include "compiler/Compiler.h"
#include "dialects/seq/Work.h"

#include <functional>
#include <vector>

namespace effc {

/// The elements of a weight in the order and the storage of its own type,
/// row-major, nothing between rows.
struct StoredWeight {
  std::vector<uint64_t> shape;
  std::vector<uint8_t> bytes; // little-endian
};

struct StoredModel {
  /// The module of the phase `import`, as MLIR bytecode.
  std::string seqBytecode;
  /// Gives a weight by its symbol, its rows one by one. Called as often as one is
  /// needed.
  std::function<llvm::Expected<StoredWeight>(llvm::StringRef symbol)> weights;
};

/// Compiles a stored model once more and writes it to `options.output`.
/// `options.model`, `weightsType`, `weights` and `tokenizer` mean
/// nothing here.
llvm::Error recompile(const StoredModel &model, const CompileOptions &options);

/// The same, but of weights only the shapes are written, and none is read: the
/// file's plan and code are those of one with weights.
llvm::Error recompilePlan(const StoredModel &model,
                          const CompileOptions &options);

/// Lowers a stored model up to its kernels, which are returned as text: for one
/// target the same kernels are the same machine code. Weights are not read.
llvm::Expected<std::string> lowerToKernels(const StoredModel &model,
                                           const CompileOptions &options);

/// The FLOPs of a sequence through a stored model, as papers count them.
llvm::Expected<seq::PublishedWork>
countPublishedWork(const StoredModel &model,
                   const seq::PublishedSettings &settings);

} // namespace effc

#endif // EFFC_COMPILER_STOREDMODEL_H
