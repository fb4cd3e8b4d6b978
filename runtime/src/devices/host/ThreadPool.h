//===- ThreadPool.h - The host device's threads ---------------------------===//
//
// A job is a sequence of phases of independent work items; a phase starts when
// the one before is done. Threads take chunks of items from one shared ticket:
//
//   ticket = (serial of the phase, next chunk, chunks in all)
//
// Taking one is a fetch-and-add. The thread that finishes the last chunk of a
// phase publishes the next phase. So a phase waits only for chunks that
// somebody has taken, never for a thread that the system has put aside: on a
// busy machine the others, or the caller alone, do the work. No thread touches
// a job without holding a chunk of it, hence a job may vanish as soon as run()
// returns, however late the other threads are.
//
// A thread with nothing to take spins for some microseconds, yields, then
// sleeps on a futex. A caller whose place a spare worker has sleeps until the
// job is done.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_RUNTIME_SRC_DEVICES_HOST_THREADPOOL_H
#define EFFC_RUNTIME_SRC_DEVICES_HOST_THREADPOOL_H

#include "runtime/src/Error.h"
#include "runtime/src/OwnProcess.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <pthread.h>
#include <vector>

namespace effc::rt {

class ThreadPool {
public:
  /// Work for the pool. All functions may be called from any of its threads.
  class Job {
  public:
    virtual ~Job() = default;
    virtual uint32_t phases() const = 0;
    /// At most 2^50.
    virtual int64_t items(uint32_t phase) const = 0;
    virtual void run(uint32_t phase, int64_t begin, int64_t end) const = 0;
  };

  /// `threads` of at least 1, the caller of run() included.
  static Result<std::unique_ptr<ThreadPool>> create(unsigned threads);
  ~ThreadPool();

  unsigned threads() const { return count; }

  /// How much stack a worker's job may use.
  static constexpr size_t kWorkerStackBytes = size_t(8) << 20;
  /// How much of it a job may use that runs on the caller's thread.
  static constexpr size_t kCallerStackBytes = size_t(64) << 10;

  /// Makes sure that run() with `onCaller` false has as many threads.
  Check startSpareWorker();

  /// Returns when `job` is done. With `onCaller` the calling thread works too,
  /// else a spare worker takes its place. Callers take turns.
  void run(const Job &job, bool onCaller);

private:
  struct Worker {
    ThreadPool *pool;
    bool spare;
    pthread_t thread;
  };

  explicit ThreadPool(unsigned threads);
  Check startWorker(bool spare);
  static void *workerMain(void *worker);

  void beginPhase(uint32_t first);
  bool canTake() const;
  bool takeChunk();
  template <typename Ready> void waitUntil(Ready ready);
  void wake();

  const OwnProcess process; // that the workers are threads of
  const unsigned count;
  const unsigned spins;
  const uint32_t mostChunks; // of one phase
  std::vector<std::unique_ptr<Worker>> workers;
  bool hasSpare = false;
  std::mutex turn;

  // What the ticket stands for. Written before a ticket is published, read by
  // those who hold a chunk of it, left alone until all chunks are done.
  const Job *job = nullptr;
  uint32_t phase = 0;
  int64_t phaseItems = 0;

  alignas(64) std::atomic<uint64_t> ticket{0};
  alignas(64) std::atomic<uint32_t> done{0};     // chunks of the phase
  alignas(64) std::atomic<uint32_t> finished{1}; // 1: the job is done
  std::atomic<bool> spareWanted{false};
  std::atomic<bool> stopping{false};
  // Sleepers wait for `pulse` to change; who publishes something changes it
  // when there are any.
  std::atomic<uint32_t> sleepers{0};
  std::atomic<uint32_t> pulse{0};
};

/// How many cores this process may use: its affinity, and the quota of its
/// control groups, rounded down (ControlGroups.h).
unsigned usableCores();

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_DEVICES_HOST_THREADPOOL_H
