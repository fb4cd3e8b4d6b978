// Readers that hand events on to somebody slower.

#include "runtime/src/serving/Scheduler.h"

#include <algorithm>

using namespace effc::rt;

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
