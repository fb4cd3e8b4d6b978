// The thread that steps where nobody else does.

#include "runtime/src/serving/Scheduler.h"

#include <algorithm>
#include <chrono>
#include <sys/eventfd.h>
#include <utility>

using namespace effc::rt;

/// Whether a step would find something to do. The lock is held.
bool Scheduler::hasWork() const {
  return std::any_of(jobs.begin(), jobs.end(), [](const auto &each) {
    return each.second->unreadSince == 0 || each.second->isCancelled;
  });
}

void Scheduler::loop() {
  while (true) {
    {
      std::unique_lock guard(lock);
      work.wait(guard, [&] { return stopping || !jobs.empty(); });
      // Jobs that wait for their readers have deadlines, and so have the readers.
      constexpr auto kPatience = std::chrono::milliseconds(20);
      work.wait_for(guard, kPatience, [&] { return stopping || hasWork(); });
      if (stopping)
        return;
    }
    try {
      Result<bool> did = step();
      if (!did)
        return;
      if (!*did) // all wait for their readers
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    } catch (const std::exception &error) {
      // What was said before is counted already.
      try {
        tell();
      } catch (const std::exception &) { // without memory for it
      }
      std::lock_guard guard(lock);
      broken =
          Error{EFFC_INTERNAL,
                std::string("the scheduler's thread ended: ") + error.what()};
      news.notify_all();
      if (bell >= 0 && !std::exchange(isRung, true))
        eventfd_write(bell, 1);
      return;
    }
  }
}

void Scheduler::start() {
  std::lock_guard threadGuard(threadLock);
  if (thread.joinable())
    return;
  {
    std::lock_guard guard(lock);
    stopping = false;
  }
  thread = std::thread([this] { loop(); });
}

void Scheduler::stop() {
  std::lock_guard threadGuard(threadLock);
  if (!thread.joinable())
    return;
  if (!process.isThis()) { // a forked child has no such thread
    thread.detach();
    return;
  }
  {
    std::lock_guard guard(lock);
    stopping = true;
  }
  work.notify_all();
  thread.join();
}
