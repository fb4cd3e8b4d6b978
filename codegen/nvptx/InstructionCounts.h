// What a kernel is made of, by the text of its PTX.
#ifndef EFFC_CODEGEN_NVPTX_INSTRUCTIONCOUNTS_H
#define EFFC_CODEGEN_NVPTX_INSTRUCTIONCOUNTS_H

#include "mlir/IR/BuiltinAttributes.h"

namespace effc::nvptx {

/// How often each kind of instruction that decides its speed stands in a
/// kernel's text (not how often it runs): "mma", "wgmma", "cp.async", "tma",
/// "ldmatrix", "ex2", "fma", "bar.sync", "mbarrier", "shfl", and loads and
/// stores of global and shared memory by the bits of one access,
/// "ld.global.128". Kinds that do not occur are not there.
mlir::DictionaryAttr countInstructions(llvm::StringRef ptx,
                                       llvm::StringRef kernel,
                                       mlir::MLIRContext *context);

} // namespace effc::nvptx

#endif // EFFC_CODEGEN_NVPTX_INSTRUCTIONCOUNTS_H
