#include "runtime/src/system/SystemMemory.h"

#include "runtime/src/system/ControlGroups.h"

#include <algorithm>
#include <cstdio>
#include <sys/sysinfo.h>

using namespace effc::rt;

uint64_t effc::rt::systemMemory(const std::string &root) {
  struct sysinfo info;
  uint64_t memory = UINT64_MAX, swap = 0;
  if (sysinfo(&info) == 0) {
    memory = uint64_t(info.totalram) * info.mem_unit;
    swap = uint64_t(info.totalswap) * info.mem_unit;
  }
  GroupLimits limits = readGroupLimits(root);
  memory = std::min(memory, limits.memory);
  swap = std::min(swap, limits.swap);
  uint64_t both = memory > UINT64_MAX - swap ? UINT64_MAX : memory + swap;
  return std::min(both, limits.memoryAndSwap);
}

/// Bytes of the process's own memory (proc_pid_status(5)); 0 where the system
/// does not say.
static uint64_t ownMemory() {
  std::FILE *file = std::fopen("/proc/self/status", "re");
  if (!file)
    return 0;
  char line[256];
  unsigned long long resident = 0, swapped = 0; // kibibytes
  while (std::fgets(line, sizeof line, file)) {
    std::sscanf(line, "RssAnon: %llu", &resident);
    std::sscanf(line, "VmSwap: %llu", &swapped);
  }
  std::fclose(file);
  return (resident + swapped) * 1024;
}

uint64_t effc::rt::memoryLeft() {
  uint64_t memory = systemMemory();
  return memory - std::min(memory, ownMemory());
}
