#include "runtime/src/devices/host/SystemMemory.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <sys/sysinfo.h>

using namespace effc::rt;

/// The number that a file of the control group holds; UINT64_MAX: no limit.
static uint64_t groupLimit(const char *path) {
  std::FILE *file = std::fopen(path, "re");
  if (!file)
    return UINT64_MAX;
  uint64_t limit = 0;
  // "max" does not match.
  int fields = std::fscanf(file, "%" SCNu64, &limit);
  std::fclose(file);
  return fields == 1 ? limit : UINT64_MAX;
}

uint64_t effc::rt::systemMemory() {
  struct sysinfo info;
  uint64_t memory = UINT64_MAX, swap = 0;
  if (sysinfo(&info) == 0) {
    memory = uint64_t(info.totalram) * info.mem_unit;
    swap = uint64_t(info.totalswap) * info.mem_unit;
  }
  memory = std::min(memory, groupLimit("/sys/fs/cgroup/memory.max"));
  return memory > UINT64_MAX - swap ? UINT64_MAX : memory + swap;
}
