//===- CudaSwitches.h - What the environment turns off --------------------===//
//
// A wrong number on a GPU is narrowed down by these, without compiling the model
// again. With all of them off, launches follow each other one by one.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_RUNTIME_SRC_DEVICES_CUDA_CUDASWITCHES_H
#define EFFC_RUNTIME_SRC_DEVICES_CUDA_CUDASWITCHES_H

#include "runtime/src/Error.h"

namespace effc::rt {

struct CudaSwitches {
  /// EFFC_CUDA_CHECK_LAUNCHES=1: every launch is waited for, so that a message
  /// names the one that fails. No call is recorded then.
  bool checkLaunches = false;
  /// EFFC_CUDA_OVERLAP=0: no launch begins before the one before it has ended.
  bool overlap = true;
  /// EFFC_CUDA_GRAPHS=0: calls of decoding are launched, not replayed.
  bool graphs = true;

  /// Fails where one of the last two is neither 0 nor 1.
  static Result<CudaSwitches> ofEnvironment();
};

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_DEVICES_CUDA_CUDASWITCHES_H
