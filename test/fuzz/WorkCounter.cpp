#include "test/fuzz/WorkCounter.h"

#include <cinttypes>
#include <cstdio>

using namespace effc::test;

static uint64_t reads;

// What the compiler calls before each read, by its bytes.
#define EFFC_COUNT_READS(bytes, type)                                          \
  extern "C"                                                                   \
      __attribute__((no_sanitize("coverage", "address", "undefined"))) void    \
      __sanitizer_cov_load##bytes(const type *) {                              \
    ++reads;                                                                   \
  }
EFFC_COUNT_READS(1, uint8_t)
EFFC_COUNT_READS(2, uint16_t)
EFFC_COUNT_READS(4, uint32_t)
EFFC_COUNT_READS(8, uint64_t)
EFFC_COUNT_READS(16, __uint128_t)

WorkCounter::WorkCounter() : before(reads) {}

void WorkCounter::expectAtMost(uint64_t most) const {
  uint64_t found = reads - before;
  if (found <= most)
    return;
  std::fprintf(stderr,
               "too slow for its size: %" PRIu64 " reads, but at most %" PRIu64
               " are expected\n",
               found, most);
  __builtin_trap();
}
