//===- FakeCuda.h - A CUDA driver that plays itself -----------------------===//
//
// A library with the driver's functions, and cuBLASLt's: memory is malloc's,
// the kernels are the host's of the toy model, calls are written down, and each
// can be made to fail. The runtime opens it by EFFC_CUDA_DRIVER and
// EFFC_CUBLASLT; a test opens it once more and asks for its state. For programs
// that tests start the environment changes it: FAKE_CUDA_FREE,
// FAKE_CUDA_CAPABILITY (80), FAKE_CUDA_REFUSES (an image), FAKE_CUDA_LOST (a file:
// nothing is waited for with success while it is there).
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_TEST_UNIT_RUNTIME_CUDA_FAKECUDA_H
#define EFFC_TEST_UNIT_RUNTIME_CUDA_FAKECUDA_H

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace effc::test {

struct FakeCuda {
  // What it claims to be.
  int version = 13000;
  int devices = 1;
  int major = 9, minor = 0;
  int mostSharedBytes = 232448;
  int staticSharedBytes = 0; // of every function
  size_t free = size_t(1) << 30, total = size_t(2) << 30;
  bool knowsProducts = true; // as cuBLASLt

  /// The result that a function gives, by its symbol; "cuLaunchKernelEx
  /// toy_scan" of one kernel alone, "cuModuleLoadDataEx text 80" of one image.
  std::map<std::string, int> failures;
  /// Every call, in order: its symbol, and of some what they are given.
  std::vector<std::string> calls;
  std::vector<std::string> images; // that were loaded
  int marks = 0;                   // of time, in the order of the stream
  uint64_t tensorMaps = 0;         // encoded; each holds its number
  /// How many of them a kernel takes, by its name.
  std::map<std::string, int> mapsOf;
  int pushed = 0; // contexts that nobody has popped
  int live = 0;   // objects and stretches of memory that nobody has freed

  size_t count(const std::string &call) const {
    size_t found = 0;
    for (const std::string &one : calls)
      found += one.compare(0, call.size(), call) == 0;
    return found;
  }
};

} // namespace effc::test

/// The state of the library, which a test may change.
extern "C" effc::test::FakeCuda *fakeCuda();

#endif // EFFC_TEST_UNIT_RUNTIME_CUDA_FAKECUDA_H
