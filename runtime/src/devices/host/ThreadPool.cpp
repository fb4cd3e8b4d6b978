#include "runtime/src/devices/host/ThreadPool.h"

#include "runtime/src/Limits.h"
#include "runtime/src/system/FloatMode.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sched.h>

using namespace effc::rt;

static_assert(
    ThreadPool::kWorkerStackBytes >= 2 * kMaxStackBytes,
    "a worker's stack holds the hungriest kernel and the pool's frames");

/// Some tens of microseconds of pauses before a waiting thread yields.
static constexpr unsigned kSpins = 1000;
static constexpr unsigned kYields = 32;

namespace {
/// A ticket in one word: serial 36 bits, next 14, total 14. `next` may run past
/// `total` by one for each thread that comes too late.
struct Ticket {
  uint64_t serial;
  uint32_t next;
  uint32_t total;

  static constexpr uint32_t kFieldBits = 14;
  static constexpr uint64_t kField = (1u << kFieldBits) - 1;

  static Ticket unpack(uint64_t word) {
    return {word >> (2 * kFieldBits), static_cast<uint32_t>(word & kField),
            static_cast<uint32_t>(word >> kFieldBits & kField)};
  }
  uint64_t pack() const {
    return serial << (2 * kFieldBits) | uint64_t(total) << kFieldBits | next;
  }
};

/// Few threads take several chunks each, so that one that is held up leaves
/// work to the others; for many the ticket itself would become the bottleneck.
uint32_t chunksFor(unsigned threads) {
  if (threads == 1)
    return 1;
  return threads * (threads <= 8 ? 4 : threads <= 32 ? 2 : 1);
}
static_assert(kMaxThreads + (kMaxThreads + 1) < Ticket::kField,
              "chunks and late comers fit in a ticket's field");
} // namespace

static void pauseBriefly() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

// Spinning only makes sense when the one waited for has a core of its own.
ThreadPool::ThreadPool(unsigned threads)
    : count(threads), spins(threads <= usableCores() ? kSpins : 0),
      mostChunks(chunksFor(threads)) {}

Result<std::unique_ptr<ThreadPool>> ThreadPool::create(unsigned threads) {
  std::unique_ptr<ThreadPool> pool(new ThreadPool(threads));
  for (unsigned i = 1; i < threads; ++i)
    if (Check error = pool->startWorker(/*spare=*/false))
      return *error;
  return pool;
}

ThreadPool::~ThreadPool() {
  if (!process.isThis()) // there is nobody to wait for
    return;
  stopping.store(true, std::memory_order_release);
  wake();
  for (auto &worker : workers)
    pthread_join(worker->thread, nullptr);
}

Check ThreadPool::startWorker(bool spare) {
  auto worker = std::make_unique<Worker>(Worker{this, spare, {}});
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kWorkerStackBytes);
  int failure =
      pthread_create(&worker->thread, &attributes, workerMain, worker.get());
  pthread_attr_destroy(&attributes);
  if (failure)
    return fail(EFFC_EXHAUSTED, "cannot start thread ", workers.size() + 1,
                " of ", count, ": ", std::strerror(failure));
  workers.push_back(std::move(worker));
  return {};
}

Check ThreadPool::startSpareWorker() {
  std::lock_guard<std::mutex> lock(turn);
  if (hasSpare)
    return {};
  if (Check error = startWorker(/*spare=*/true))
    return error;
  hasSpare = true;
  return {};
}

template <typename Ready> void ThreadPool::waitUntil(Ready ready) {
  for (unsigned i = 0; i < spins; ++i) {
    if (ready())
      return;
    pauseBriefly();
  }
  for (unsigned i = 0; i < kYields; ++i) {
    if (ready())
      return;
    sched_yield();
  }
  while (!ready()) {
    // Announce the sleep, then look once more: either this look or wake()'s
    // sees the other's write.
    sleepers.fetch_add(1, std::memory_order_seq_cst);
    uint32_t seen = pulse.load(std::memory_order_seq_cst);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (!ready())
      pulse.wait(seen, std::memory_order_acquire);
    sleepers.fetch_sub(1, std::memory_order_relaxed);
  }
}

/// After something was published: lets those look who sleep.
void ThreadPool::wake() {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (sleepers.load(std::memory_order_seq_cst) == 0)
    return;
  pulse.fetch_add(1, std::memory_order_seq_cst);
  pulse.notify_all();
}

/// Publishes the first phase from `first` on that has items, or the end. Only
/// one thread is here at a time: who starts a job, or who finished a phase's
/// last chunk.
void ThreadPool::beginPhase(uint32_t first) {
  Ticket next = {
      Ticket::unpack(ticket.load(std::memory_order_relaxed)).serial + 1, 0, 0};
  uint32_t end = job->phases();
  int64_t items = 0;
  while (first < end && (items = job->items(first)) == 0)
    ++first;
  done.store(0, std::memory_order_relaxed);
  if (first == end) {
    ticket.store(next.pack(), std::memory_order_relaxed);
    finished.store(1, std::memory_order_release);
    finished.notify_all();
  } else {
    phase = first;
    phaseItems = items;
    next.total = static_cast<uint32_t>(std::min<int64_t>(items, mostChunks));
    ticket.store(next.pack(), std::memory_order_release);
  }
  wake();
}

bool ThreadPool::canTake() const {
  Ticket now = Ticket::unpack(ticket.load(std::memory_order_relaxed));
  return now.next < now.total;
}

/// Does one chunk of whatever phase is on; returns false when there is none
/// left.
bool ThreadPool::takeChunk() {
  if (!canTake())
    return false;
  Ticket mine = Ticket::unpack(ticket.fetch_add(1, std::memory_order_acq_rel));
  if (mine.next >= mine.total)
    return false;
  uint32_t current = phase;
  // At most 2^50 items and 2^11 chunks: no overflow.
  int64_t begin = phaseItems * mine.next / mine.total;
  int64_t end = phaseItems * (mine.next + 1) / mine.total;
  job->run(current, begin, end);
  if (done.fetch_add(1, std::memory_order_acq_rel) + 1 == mine.total)
    beginPhase(current + 1);
  return true;
}

void *ThreadPool::workerMain(void *argument) {
  Worker *worker = static_cast<Worker *>(argument);
  ThreadPool &pool = *worker->pool;
  DefaultFloatMode mode; // threads inherit that of their creator
  auto stopping = [&] { return pool.stopping.load(std::memory_order_acquire); };
  auto wanted = [&] {
    return !worker->spare || pool.spareWanted.load(std::memory_order_relaxed);
  };
  while (!stopping())
    if (!wanted() || !pool.takeChunk())
      pool.waitUntil(
          [&] { return stopping() || (wanted() && pool.canTake()); });
  return nullptr;
}

void ThreadPool::run(const Job &newJob, bool onCaller) {
  std::lock_guard<std::mutex> lock(turn);
  DefaultFloatMode mode;
  job = &newJob;
  finished.store(0, std::memory_order_relaxed);
  spareWanted.store(!onCaller, std::memory_order_relaxed);
  beginPhase(0);
  auto over = [&] { return finished.load(std::memory_order_acquire) != 0; };
  if (onCaller) {
    while (!over())
      if (!takeChunk())
        waitUntil([&] { return over() || canTake(); });
    return;
  }
  // Told of the end alone: as one of the sleepers it would be woken by each phase.
  for (unsigned i = 0; i < spins && !over(); ++i)
    pauseBriefly();
  while (!over())
    finished.wait(0, std::memory_order_acquire);
}
