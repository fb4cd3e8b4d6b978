//===- KernelWork.h - What launches must move and compute -----------------===//
//
// What no implementation of a kernel avoids: weights read once, states read and
// written as needed, the FLOPs that the file states. What passes between
// kernels is not counted, since a file does not say how large it is.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_RUNTIME_SRC_KERNELWORK_H
#define EFFC_RUNTIME_SRC_KERNELWORK_H

#include "runtime/schema/program_generated.h"
#include "runtime/src/Plan.h"

#include <cstdint>
#include <set>
#include <vector>

namespace effc::rt {

/// Whether a launch belongs to calls that want `result`.
bool isPartOf(const artifact::Launch &launch, artifact::CallResult result);

/// Bytes of weights that a launch must read whole, but for those in `seen`, to
/// which they are added. A launch that takes the tokens looks rows up, and
/// reads no more than those.
uint64_t streamedBytes(const artifact::Program &program,
                       const artifact::Launch &launch,
                       std::set<uint32_t> &seen);

/// All launches of a kernel in a decode step of one sequence.
struct StepWork {
  uint64_t bytes = 0;
  uint64_t flops = 0;
};

/// One for each kernel. All zero without a decode entry.
std::vector<StepWork> stepWorkOf(const artifact::Program &program,
                                 const Plan &plan);

/// One launch of a kernel, of those of `entry` the one with the most.
struct LaunchWork {
  const artifact::Entry *entry = nullptr; // null: nothing launches the kernel
  uint64_t bytes = 0; // 0: neither weights nor states, so it is unknown
  uint64_t flops = 0; // 0: the file states none
};

/// One for each kernel, in the decode step of one sequence if that has it, else
/// in the smallest entry that has it, full of rows: a prefill of one sequence,
/// which wants the logits of its last row, or a step of as many sequences.
std::vector<LaunchWork> launchWorkOf(const artifact::Program &program,
                                     const Plan &plan);

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_KERNELWORK_H
