// Runs kernels of the host for another process, which may be of another architecture:
// test/unit/codegen/host/ForeignKernels.h says what comes in and goes out.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { kMost = 64 }; // memories, and operands, of a launch

typedef void (*Kernel)(const void *const *operands, const int64_t *counts,
                       int64_t begin, int64_t end);

struct Launch {
  uint64_t image_bytes; // 0: the image of the launch before
  uint64_t entry, memories, operands;
  int64_t counts[4], begin, end;
};
struct Memory {
  uint64_t bytes, is_written;
};
struct Operand {
  uint64_t memory, offset;
};

static int take(void *to, size_t bytes) {
  return fread(to, 1, bytes, stdin) == bytes;
}

static void need(int holds, const char *what) {
  if (holds)
    return;
  fprintf(stderr, "run_kernels: %s\n", what);
  exit(1);
}

static uint8_t *map(size_t bytes, int protection) {
  void *mapping =
      mmap(NULL, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  need(mapping != MAP_FAILED, "there is no memory");
  return mapping;
}

int main(void) {
  uint8_t *image = NULL;
  size_t image_bytes = 0, page = (size_t)sysconf(_SC_PAGESIZE);
  struct Launch launch;
  while (take(&launch, sizeof launch)) {
    if (launch.image_bytes > 0) {
      if (image)
        munmap(image, image_bytes);
      image_bytes = launch.image_bytes;
      image = map(image_bytes, PROT_READ | PROT_WRITE);
      need(take(image, image_bytes), "the image is cut");
      need(mprotect(image, image_bytes, PROT_READ | PROT_EXEC) == 0,
           "code is not executable");
      __builtin___clear_cache((char *)image, (char *)image + image_bytes);
    }
    need(launch.memories <= kMost && launch.operands <= kMost,
         "too many operands");
    struct Memory memories[kMost];
    struct Operand operands[kMost];
    uint8_t *starts[kMost], *mapped[kMost];
    size_t pages[kMost];
    const void *addresses[kMost];
    for (size_t i = 0; i < launch.memories; ++i) {
      need(take(&memories[i], sizeof memories[i]), "a memory is cut");
      // It ends at a page that cannot be touched.
      pages[i] = (memories[i].bytes + page - 1) / page * page;
      mapped[i] = map(pages[i] + page, PROT_READ | PROT_WRITE);
      mprotect(mapped[i] + pages[i], page, PROT_NONE);
      starts[i] = mapped[i] + pages[i] - memories[i].bytes;
      need(take(starts[i], memories[i].bytes), "a memory is cut");
    }
    for (size_t i = 0; i < launch.operands; ++i) {
      need(take(&operands[i], sizeof operands[i]), "an operand is cut");
      addresses[i] = starts[operands[i].memory] + operands[i].offset;
    }
    Kernel kernel;
    void *entry = image + launch.entry;
    memcpy(&kernel, &entry, sizeof kernel);
    kernel(addresses, launch.counts, launch.begin, launch.end);
    for (size_t i = 0; i < launch.memories; ++i) {
      if (memories[i].is_written)
        need(fwrite(starts[i], 1, memories[i].bytes, stdout) ==
                 memories[i].bytes,
             "nobody reads");
      munmap(mapped[i], pages[i] + page);
    }
    fflush(stdout);
  }
  return 0;
}
