#include "runtime/src/devices/host/ThreadPool.h"

#include "runtime/src/Limits.h"

#include <algorithm>
#include <cstdio>
#include <sched.h>
#include <thread>

using namespace effc::rt;

/// Cores' worth of time that the control group grants, rounded up; 0: no limit.
static unsigned quotaCores() {
  std::FILE *file = std::fopen("/sys/fs/cgroup/cpu.max", "re");
  if (!file)
    return 0;
  unsigned long quota = 0, period = 0;
  // "max 100000" does not match: there is no limit.
  int fields = std::fscanf(file, "%lu %lu", &quota, &period);
  std::fclose(file);
  if (fields != 2 || quota == 0 || period == 0)
    return 0;
  return static_cast<unsigned>(
      std::min<unsigned long>((quota + period - 1) / period, kMaxThreads));
}

unsigned effc::rt::usableCores() {
  unsigned cores = std::thread::hardware_concurrency();
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0)
    cores = static_cast<unsigned>(CPU_COUNT(&set));
  if (unsigned quota = quotaCores())
    cores = std::min(cores, quota);
  return std::clamp(cores, 1u, static_cast<unsigned>(kMaxThreads));
}
