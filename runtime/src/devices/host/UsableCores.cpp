#include "runtime/src/devices/host/ThreadPool.h"

#include "runtime/src/Limits.h"
#include "runtime/src/system/ControlGroups.h"

#include <algorithm>
#include <sched.h>
#include <thread>

using namespace effc::rt;

unsigned effc::rt::usableCores() {
  uint64_t cores = std::thread::hardware_concurrency();
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0)
    cores = static_cast<unsigned>(CPU_COUNT(&set));
  cores = std::min(cores, readGroupLimits().cores);
  return static_cast<unsigned>(std::clamp<uint64_t>(cores, 1, kMaxThreads));
}
