// What kernels have become, so that equal ones are built once.
#ifndef EFFC_PASSES_SEQTOTILE_KNOWNKERNELS_H
#define EFFC_PASSES_SEQTOTILE_KNOWNKERNELS_H

#include "passes/seq_to_tile/KernelBuilder.h"

#include <memory>
#include <optional>
#include <unordered_map>

namespace effc {

/// What a seq.kernel becomes: kernels that are launched one after another.
using BuiltKernels = llvm::SmallVector<BuiltKernel, 1>;

/// Kernels are equal whose bodies have the same ops, wherever they stand, of which
/// the same is the root, and whose contexts are equal: builders see nothing else.
class KnownKernels {
public:
  /// A kernel's body and context as they are now, whatever a builder does to them.
  struct Description {
    Description(seq::KernelOp kernel, const KernelContext &context);
    std::unique_ptr<mlir::Region> body;
    std::optional<uint64_t> root; ///< its number among the body's ops
    KernelContext context;
  };

  /// What a kernel equal to this one has become; null: none is known.
  const BuiltKernels *find(seq::KernelOp kernel,
                           const KernelContext &context) const;
  void add(Description described, BuiltKernels built);
  size_t size() const { return kernels.size(); }

private:
  /// By the hash of the body's ops.
  std::unordered_multimap<size_t, std::pair<Description, BuiltKernels>> kernels;
};

} // namespace effc

#endif // EFFC_PASSES_SEQTOTILE_KNOWNKERNELS_H
