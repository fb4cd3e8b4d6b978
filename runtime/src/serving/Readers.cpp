// Events on their way to readers, and readers that hand them on to somebody slower.

#include "runtime/src/serving/Scheduler.h"

#include <algorithm>
#include <chrono>
#include <sys/eventfd.h>
#include <utility>

using namespace effc::rt;

/// Hands on what was said since it was called last. Readers are woken once for all of
/// it: each time they take a core from those who compute.
void Scheduler::tell() {
  if (untold.empty())
    return;
  uint64_t time = now();
  bool rings = false;
  {
    std::lock_guard guard(lock);
    // Where memory ends none is told twice.
    for (; !untold.empty(); untold.pop_front()) {
      auto &[job, event] = untold.front();
      events.push_back(std::move(event));
      if (++job->unread >= options.max_unread && job->unreadSince == 0)
        job->unreadSince = std::max<uint64_t>(time, 1);
    }
    rings = bell >= 0 && !std::exchange(isRung, true);
  }
  // Who hears it wants the lock.
  news.notify_one();
  if (rings)
    eventfd_write(bell, 1);
}

/// With no events left. One who was quick may have read them before the bell rang for
/// them, and hears it later for nothing. The lock is held.
void Scheduler::stopRinging() {
  if (eventfd_t rung; isRung && bell >= 0 && eventfd_read(bell, &rung) == 0)
    isRung = false;
}

Result<const effc_event_t *> Scheduler::poll(uint64_t timeout) {
  std::unique_lock guard(lock);
  if (events.empty() && timeout > 0) {
    // What a clock can hold and a wait can take: a day.
    constexpr uint64_t kMost = uint64_t(86400) * 1000000000;
    news.wait_for(guard,
                  std::chrono::nanoseconds(std::min<uint64_t>(timeout, kMost)),
                  [&] { return !events.empty() || broken; });
  }
  if (events.empty() && broken)
    return *broken;
  if (events.empty()) {
    stopRinging();
    return static_cast<const effc_event_t *>(nullptr);
  }
  polled = std::move(events.front());
  events.pop_front();
  if (events.empty())
    stopRinging();
  auto found = jobs.find(polled.shown.request + polled.shown.choice);
  if (found != jobs.end()) {
    Job &job = *found->second;
    --job.unread;
    if (job.unreadSince != 0 && !job.isHeld) {
      job.unreadSince = 0;
      work.notify_one();
    }
  }
  return &polled.asShown();
}

void Scheduler::hold(uint64_t number, bool isHeld) {
  uint64_t time = now();
  std::lock_guard guard(lock);
  for (auto at = jobs.lower_bound(number);
       at != jobs.end() && at->second->place.number == number; ++at) {
    Job &job = *at->second;
    job.isHeld = isHeld;
    // As where too many events are unread, which may be so besides.
    if (!isHeld && job.unread < options.max_unread)
      job.unreadSince = 0;
    else if (job.unreadSince == 0)
      job.unreadSince = std::max<uint64_t>(time, 1);
  }
  work.notify_one();
}
