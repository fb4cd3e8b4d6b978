// From a seq.kernel to its builder, and to what is launched behind it.
#ifndef EFFC_PASSES_SEQTOTILE_KERNELWAYS_H
#define EFFC_PASSES_SEQTOTILE_KERNELWAYS_H

#include "passes/seq_to_tile/KernelBuilder.h"

#include <optional>

namespace effc {

/// Builds a kernel in the first of the ways in which it can be built; a remark
/// says which were passed by, and why. The builder keeps `call`, whose sizes are
/// those of the way that was taken.
mlir::LogicalResult buildInAWay(std::optional<KernelBuilder> &builder,
                                seq::KernelOp kernel, CallContext &call,
                                mlir::OpBuilder &b, llvm::StringRef name);

/// A kernel behind a seq.kernel's first one: what builds it, null where there
/// is none, and how its name ends.
struct Follower {
  mlir::LogicalResult (*build)(KernelBuilder &) = nullptr;
  llvm::StringRef suffix;
};

/// Items of one launch run in any order, so what all of them read is written by
/// the next, and what all of them write is read by it.
Follower followerOf(KernelBuilder &first);

} // namespace effc

#endif // EFFC_PASSES_SEQTOTILE_KERNELWAYS_H
