// The end of a process that gets no more memory.
#include "compiler/OutOfMemory.h"

#include "llvm/Support/MemAlloc.h"
#include "gtest/gtest.h"

#include <sys/resource.h>

using namespace effc;

namespace {

/// Holds what is allocated, so that it is.
void *volatile kept = nullptr;

/// From here on the process gets no more than it has, which is beyond 16 MiB.
void limitMemory() {
  rlimit limit = {};
  getrlimit(RLIMIT_AS, &limit);
  limit.rlim_cur = rlim_t(16) << 20;
  setrlimit(RLIMIT_AS, &limit);
}

// By operator new, and by malloc() as LLVM's containers call it; through a frame
// that lets no exception pass.
TEST(OutOfMemoryDeathTest, OneLineAndTheStatus) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        endWhenOutOfMemory(7);
        limitMemory();
        []() noexcept { kept = ::operator new(size_t(1) << 30); }();
      },
      testing::ExitedWithCode(7), "^effc: error: out of memory\n$");
  EXPECT_EXIT(
      {
        endWhenOutOfMemory(5);
        limitMemory();
        kept = llvm::safe_malloc(size_t(1) << 30);
      },
      testing::ExitedWithCode(5), "^effc: error: out of memory\n$");
}

} // namespace
