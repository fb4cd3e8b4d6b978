// Which launches a library that multiplies matrices could do as they are.
#ifndef EFFC_PASSES_SEQTOTILE_LIBRARYPRODUCTS_H
#define EFFC_PASSES_SEQTOTILE_LIBRARYPRODUCTS_H

#include "passes/seq_to_tile/KernelBuilder.h"

namespace effc {

/// The product that a launch of the kernel is, where it is one of many rows of
/// bf16 and nothing else; null otherwise. A remark says which, and of a product
/// that stays with its kernel why.
plan::ProductAttr productForLibrary(seq::KernelOp source,
                                    const CallContext &call,
                                    BuiltKernel &built);

} // namespace effc

#endif // EFFC_PASSES_SEQTOTILE_LIBRARYPRODUCTS_H
