#include "frontend/checkpoint/BusErrorGuard.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <mutex>
#include <sys/mman.h>
#include <unistd.h>

using namespace effc::frontend;

namespace {

struct Range {
  std::atomic<bool> taken{false};
  std::atomic<uintptr_t> begin{0};
  std::atomic<uintptr_t> end{0};
  std::atomic<bool> faulted{false};
};

// What a signal handler reads is without locks and of static storage.
Range ranges[kMostGuardedRanges];
std::atomic<uintptr_t> pageMask{0};
struct sigaction previous;
std::mutex installation;

} // namespace

/// Puts zeros in place of the missing pages; true if the address is covered.
static bool patch(uintptr_t address) {
  for (Range &range : ranges) {
    uintptr_t end = range.end.load(std::memory_order_acquire);
    if (address < range.begin.load(std::memory_order_relaxed) || address >= end)
      continue;
    // A file that lacks this page lacks all that follow.
    uintptr_t page = address & pageMask.load(std::memory_order_relaxed);
    void *zeros =
        mmap(reinterpret_cast<void *>(page), end - page, PROT_READ,
             MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (zeros == MAP_FAILED)
      return false;
    range.faulted.store(true, std::memory_order_release);
    return true;
  }
  return false;
}

static void onBusError(int signal, siginfo_t *info, void *context) {
  int savedErrno = errno;
  bool patched = patch(reinterpret_cast<uintptr_t>(info->si_addr));
  errno = savedErrno;
  if (patched)
    return;
  if (previous.sa_flags & SA_SIGINFO) {
    previous.sa_sigaction(signal, info, context);
  } else if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) {
    previous.sa_handler(signal);
  } else {
    // The access is tried again and ends the process the usual way.
    struct sigaction usual = {};
    usual.sa_handler = SIG_DFL;
    sigaction(SIGBUS, &usual, nullptr);
  }
}

void BusErrorGuard::rearm() const {
  std::lock_guard<std::mutex> lock(installation);
  struct sigaction current;
  if (sigaction(SIGBUS, nullptr, &current) != 0)
    return;
  if ((current.sa_flags & SA_SIGINFO) && current.sa_sigaction == onBusError)
    return;
  previous = current;
  struct sigaction ours = {};
  ours.sa_sigaction = onBusError;
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&ours.sa_mask);
  sigaction(SIGBUS, &ours, nullptr);
}

bool BusErrorGuard::cover(const void *address, size_t size) {
  uintptr_t pageBytes = sysconf(_SC_PAGESIZE);
  pageMask.store(~(pageBytes - 1), std::memory_order_relaxed);
  for (size_t i = 0; i < kMostGuardedRanges; ++i) {
    bool expected = false;
    if (!ranges[i].taken.compare_exchange_strong(expected, true))
      continue;
    uintptr_t begin = reinterpret_cast<uintptr_t>(address);
    uintptr_t end = (begin + size + pageBytes - 1) & ~(pageBytes - 1);
    ranges[i].faulted.store(false, std::memory_order_relaxed);
    ranges[i].begin.store(begin, std::memory_order_relaxed);
    ranges[i].end.store(end, std::memory_order_release);
    place = i;
    rearm();
    return true;
  }
  return false;
}

bool BusErrorGuard::hasFaulted() const {
  return place < kMostGuardedRanges &&
         ranges[place].faulted.load(std::memory_order_acquire);
}

BusErrorGuard::~BusErrorGuard() {
  if (place >= kMostGuardedRanges)
    return;
  ranges[place].end.store(0, std::memory_order_release);
  ranges[place].taken.store(false);
}
