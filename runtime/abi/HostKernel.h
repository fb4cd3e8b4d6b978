//===- HostKernel.h - The signature of a compiled host kernel -------------===//
//
// Version 1 of the ABI between generated host code and the runtime; a change
// raises FileHeader::kMajor. Depends on nothing, so that tests and the compiler
// can include it.
//
// A kernel is called with the addresses of its launch's operands and does the
// work items `begin <= i < end`. Items are independent: the runtime deals them
// out to threads as it likes, and the result depends on no such choice. A
// kernel uses the caller's stack (at most the `stack_bytes` of its record), the
// memory behind its operands, and nothing else: no import, no allocation, no
// state of its own.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_RUNTIME_ABI_HOSTKERNEL_H
#define EFFC_RUNTIME_ABI_HOSTKERNEL_H

#include <cstdint>

namespace effc::rt {

/// `operands[i]` is the address of operand i with its offset added. `counts`
/// are the call's rows, segments and outputs, and 1: indexed by the schema's
/// enum Count.
using HostKernel = void (*)(const void *const *operands, const int64_t *counts,
                            int64_t begin, int64_t end);

} // namespace effc::rt

#endif // EFFC_RUNTIME_ABI_HOSTKERNEL_H
