#include "runtime/src/devices/host/ThreadPool.h"

#include "runtime/src/Limits.h"

#include <cerrno>
#include <cstring>
#include <sched.h>

using namespace effc::rt;

static_assert(ThreadPool::kWorkerStackBytes >= 2 * kMaxStackBytes,
              "a worker's stack holds the hungriest kernel and the pool's frames");

/// About 50 microseconds of pauses before a waiting thread yields.
static constexpr unsigned kSpins = 2000;
static constexpr unsigned kYields = 32;

static void pauseBriefly() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

Result<std::unique_ptr<ThreadPool>> ThreadPool::create(unsigned threads) {
  std::unique_ptr<ThreadPool> pool(new ThreadPool(threads));
  // Spinning only makes sense when the one waited for has a core of its own.
  pool->spins = threads <= usableCores() ? kSpins : 0;
  for (unsigned index = 1; index < threads; ++index)
    if (Check error = pool->startWorker(index))
      return *error;
  return pool;
}

ThreadPool::~ThreadPool() {
  stopping.store(true, std::memory_order_relaxed);
  for (Counter *counter : {&epoch, &spareEpoch}) {
    counter->value.fetch_add(1, std::memory_order_release);
    counter->value.notify_all();
  }
  for (auto &worker : workers)
    pthread_join(worker->thread, nullptr);
}

Check ThreadPool::startWorker(unsigned index) {
  auto worker = std::make_unique<Worker>(Worker{this, index, {}});
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kWorkerStackBytes);
  int failure = pthread_create(&worker->thread, &attributes, workerMain, worker.get());
  pthread_attr_destroy(&attributes);
  if (failure)
    return fail(EFFC_EXHAUSTED, "cannot start thread ", index, " of ", count, ": ",
                std::strerror(failure));
  workers.push_back(std::move(worker));
  return {};
}

Check ThreadPool::startSpareWorker() {
  std::lock_guard<std::mutex> lock(turn);
  if (hasSpare)
    return {};
  if (Check error = startWorker(0))
    return error;
  hasSpare = true;
  return {};
}

void *ThreadPool::workerMain(void *argument) {
  Worker *worker = static_cast<Worker *>(argument);
  worker->pool->serve(worker->index);
  return nullptr;
}

uint32_t ThreadPool::waitForChange(Counter &counter, uint32_t old) {
  uint32_t now;
  for (unsigned i = 0; i < spins; ++i) {
    if ((now = counter.value.load(std::memory_order_acquire)) != old)
      return now;
    pauseBriefly();
  }
  for (unsigned i = 0; i < kYields; ++i) {
    if ((now = counter.value.load(std::memory_order_acquire)) != old)
      return now;
    sched_yield();
  }
  while ((now = counter.value.load(std::memory_order_acquire)) == old)
    counter.value.wait(old, std::memory_order_acquire);
  return now;
}

void ThreadPool::serve(unsigned index) {
  Counter &mine = epochOf(index);
  uint32_t seen = 0; // no job has been given before the pool is handed out
  while (true) {
    seen = waitForChange(mine, seen);
    if (stopping.load(std::memory_order_relaxed))
      return;
    job(context, index, count);
    if (pending.value.fetch_sub(1, std::memory_order_acq_rel) == 1)
      pending.value.notify_all();
  }
}

void ThreadPool::run(Job newJob, void *newContext, bool onCaller) {
  std::lock_guard<std::mutex> lock(turn);
  job = newJob;
  context = newContext;
  uint32_t others = onCaller ? count - 1 : count;
  pending.value.store(others, std::memory_order_relaxed);
  if (count > 1) {
    epoch.value.fetch_add(1, std::memory_order_release);
    epoch.value.notify_all();
  }
  if (onCaller) {
    job(context, 0, count);
  } else {
    spareEpoch.value.fetch_add(1, std::memory_order_release);
    spareEpoch.value.notify_all();
  }
  uint32_t left;
  while ((left = pending.value.load(std::memory_order_acquire)) != 0)
    waitForChange(pending, left);
}

void ThreadPool::barrier() {
  if (count == 1)
    return;
  uint32_t round = passed.value.load(std::memory_order_acquire);
  if (arrived.value.fetch_add(1, std::memory_order_acq_rel) + 1 == count) {
    arrived.value.store(0, std::memory_order_relaxed);
    passed.value.fetch_add(1, std::memory_order_release);
    passed.value.notify_all();
  } else {
    waitForChange(passed, round);
  }
}
