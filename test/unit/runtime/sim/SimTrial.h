//===- SimTrial.h - A kernel of the test, tried on one block --------------===//
//
// Kernels are written as one CUDA thread, with the ABI's calls where codegen
// would put them.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_TEST_UNIT_RUNTIME_SIM_SIMTRIAL_H
#define EFFC_TEST_UNIT_RUNTIME_SIM_SIMTRIAL_H

#include "runtime/src/devices/sim/SimBlock.h"

#include <string>
#include <vector>

namespace effc::test {

/// What a thread of a kernel has in hand.
class Thread {
public:
  Thread(const rt::SimCalls *calls, rt::SimThread *thread)
      : calls(*calls), thread(thread),
        index(calls->special(thread, uint32_t(rt::SimSpecial::ThreadX))),
        block(calls->special(thread, uint32_t(rt::SimSpecial::BlockX))) {}

  const rt::SimCalls &calls;
  rt::SimThread *const thread;
  const uint32_t index;
  const uint32_t block;

  template <typename T> T *shared(uint32_t offset = 0) const {
    return reinterpret_cast<T *>(static_cast<uint8_t *>(calls.shared(thread)) +
                                 offset);
  }
  template <typename T> T read(const T *at, const char *site) const {
    calls.access(thread, at, sizeof(T), alignof(T), rt::kSimRead, site);
    return *at;
  }
  template <typename T> void write(T *at, T value, const char *site) const {
    calls.access(thread, at, sizeof(T), alignof(T), rt::kSimWrite, site);
    *at = value;
  }
  template <typename T> T readShared(const T *at, const char *site) const {
    calls.access(thread, at, sizeof(T), alignof(T),
                 rt::kSimRead | rt::kSimShared, site);
    return *at;
  }
  template <typename T>
  void writeShared(T *at, T value, const char *site) const {
    calls.access(thread, at, sizeof(T), alignof(T),
                 rt::kSimWrite | rt::kSimShared, site);
    *at = value;
  }
  void barrier(const char *site) const { calls.barrier(thread, site); }
  uint32_t shuffle(rt::SimShuffle kind, uint32_t value, uint32_t lane,
                   uint32_t clamp, const char *site) const {
    return calls.shuffle(thread, uint32_t(kind), UINT32_MAX, value, lane, clamp,
                         site);
  }
};

/// A block, and the memory that its kernels' operands name.
class SimTrial {
public:
  explicit SimTrial(uint32_t threads = 64, uint32_t sharedBytes = 1024);

  /// The kernels' next operand: `bytes` bytes from `start` on.
  SimTrial &operand(const void *start, uint64_t bytes, bool writable,
                    const char *what);
  /// Runs `kernel` for block `block`: "" or "thread 3 at 'site': what".
  std::string run(rt::SimKernel kernel, uint32_t block = 0);

  uint64_t switches() const { return machine->switches(); }

  int64_t counts[4] = {0, 0, 0, 1};
  bool overlaps = false; // with the launches before

private:
  uint32_t threads, sharedBytes;
  std::unique_ptr<rt::SimBlock> machine;
  std::vector<rt::OperandRange> ranges;
  rt::LaunchWatch watch; // of all runs, which are blocks of one launch
  std::vector<const void *> addresses;
};

} // namespace effc::test

#endif // EFFC_TEST_UNIT_RUNTIME_SIM_SIMTRIAL_H
