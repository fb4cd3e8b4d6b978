#include "runtime/src/devices/host/SystemMemory.h"

#include "runtime/src/devices/host/ControlGroups.h"

#include <algorithm>
#include <sys/sysinfo.h>

using namespace effc::rt;

uint64_t effc::rt::systemMemory() {
  struct sysinfo info;
  uint64_t memory = UINT64_MAX, swap = 0;
  if (sysinfo(&info) == 0) {
    memory = uint64_t(info.totalram) * info.mem_unit;
    swap = uint64_t(info.totalswap) * info.mem_unit;
  }
  GroupLimits limits = readGroupLimits();
  memory = std::min(memory, limits.memory);
  swap = std::min(swap, limits.swap);
  uint64_t both = memory > UINT64_MAX - swap ? UINT64_MAX : memory + swap;
  return std::min(both, limits.memoryAndSwap);
}
