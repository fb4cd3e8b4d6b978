//===- ThreadPool.h - The host device's threads ---------------------------===//
//
// A job runs once on every thread of the pool: thread 0 is the one that calls
// run(), or a spare worker when the caller's stack would not do. Inside a job
// the threads meet at barriers. Both waits spin for some microseconds, then
// yield, then sleep on a futex, so that an oversubscribed machine is not stalled
// by threads that only wait.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_RUNTIME_SRC_DEVICES_HOST_THREADPOOL_H
#define EFFC_RUNTIME_SRC_DEVICES_HOST_THREADPOOL_H

#include "runtime/src/Error.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <pthread.h>
#include <vector>

namespace effc::rt {

class ThreadPool {
public:
  using Job = void (*)(void *context, unsigned thread, unsigned threads);

  /// `threads` of at least 1, the caller of run() included.
  static Result<std::unique_ptr<ThreadPool>> create(unsigned threads);
  ~ThreadPool();

  unsigned threads() const { return count; }

  /// How much stack a worker's job may use.
  static constexpr size_t kWorkerStackBytes = size_t(8) << 20;
  /// How much of it a job may use that runs on the caller's thread.
  static constexpr size_t kCallerStackBytes = size_t(64) << 10;

  /// Makes sure that run() with `onCaller` false is possible.
  Check startSpareWorker();

  /// Runs `job` on all threads and returns when all are done. With `onCaller`
  /// the calling thread is thread 0. Callers take turns.
  void run(Job job, void *context, bool onCaller);

  /// Called by every thread of a running job: returns when all have called it.
  void barrier();

private:
  /// A number that threads wait on, alone on its cache line.
  struct alignas(64) Counter {
    std::atomic<uint32_t> value{0};
  };
  struct Worker {
    ThreadPool *pool;
    unsigned index;
    pthread_t thread;
  };

  explicit ThreadPool(unsigned threads) : count(threads) {}
  Check startWorker(unsigned index);
  static void *workerMain(void *worker);
  void serve(unsigned index);
  uint32_t waitForChange(Counter &counter, uint32_t old);
  Counter &epochOf(unsigned index) { return index == 0 ? spareEpoch : epoch; }

  const unsigned count;
  unsigned spins = 0;
  std::vector<std::unique_ptr<Worker>> workers;
  bool hasSpare = false;
  std::mutex turn;

  Job job = nullptr;
  void *context = nullptr;
  std::atomic<bool> stopping{false};
  Counter epoch;      // counts the jobs given to workers 1, 2, ...
  Counter spareEpoch; // and to the spare worker, which is thread 0
  Counter pending;    // workers that have not finished the current job
  Counter arrived;    // threads at the current barrier
  Counter passed;     // barriers passed
};

/// How many cores this process may use: its affinity, and the quota of its
/// control group, rounded up.
unsigned usableCores();

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_DEVICES_HOST_THREADPOOL_H
