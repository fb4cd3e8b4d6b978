#include "tools/effc/MachineProbes.h"

#include "runtime/src/system/SystemMemory.h"
#include "tools/terminal/Quantities.h"

#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace effc::cli;
using Clock = std::chrono::steady_clock;

namespace {
// Eight lanes and sixteen, whatever the target makes of them.
typedef float Vector __attribute__((vector_size(32), aligned(4)));
typedef float WideVector __attribute__((vector_size(64), aligned(4)));
typedef uint64_t Words __attribute__((vector_size(32), aligned(8)));

constexpr int kRows = 6, kDepth = 256;
constexpr int kMostColumns = 32;
constexpr int kTiles = 32; // of rows: their 192 KiB stay in the L2 cache
} // namespace

#if defined(__x86_64__)
#define EFFC_FAST __attribute__((target("avx2,fma"), noinline))
#define EFFC_WIDE __attribute__((target("avx512f"), noinline))
#else
#define EFFC_FAST __attribute__((noinline))
#define EFFC_WIDE EFFC_FAST
#endif

/// One tile of a product, two vectors wide: `a` is [kDepth, kRows], `b` [kDepth,
/// columns]. Inlined into functions for one instruction set each.
template <typename V>
__attribute__((always_inline)) static inline void
multiply(const float *a, const float *b, float *c) {
  constexpr int kLanes = sizeof(V) / sizeof(float), kColumns = 2 * kLanes;
  V sums[kRows][2] = {};
  for (int k = 0; k < kDepth; ++k) {
    V left, right;
    std::memcpy(&left, b + k * kColumns, sizeof left);
    std::memcpy(&right, b + k * kColumns + kLanes, sizeof right);
    for (int row = 0; row < kRows; ++row) {
      float scale = a[k * kRows + row];
      sums[row][0] += scale * left;
      sums[row][1] += scale * right;
    }
  }
  for (int row = 0; row < kRows; ++row)
    std::memcpy(c + row * kColumns, sums[row], sizeof sums[row]);
}

EFFC_FAST static void multiplyTile(const float *a, const float *b, float *c) {
  multiply<Vector>(a, b, c);
}

EFFC_WIDE static void multiplyWideTile(const float *a, const float *b,
                                       float *c) {
  multiply<WideVector>(a, b, c);
}

namespace {
/// How products are measured that stand beside those of a level's code.
struct ProductProbe {
  const char *isa; // null: any other
  void (*multiplyTile)(const float *, const float *, float *);
  int columns;
};
constexpr ProductProbe kProductProbes[] = {{"x86-64-v4", multiplyWideTile, 32},
                                           {nullptr, multiplyTile, 16}};
} // namespace

static const ProductProbe &productProbeFor(const std::string &isa) {
  const ProductProbe *probe = kProductProbes;
  while (probe->isa && isa != probe->isa)
    ++probe;
  return *probe;
}

/// Reads `count` words, a multiple of 16; the result keeps them from being
/// skipped.
EFFC_FAST static uint64_t readWords(const uint64_t *words, size_t count) {
  Words sums[4] = {};
  for (size_t i = 0; i < count; i += 16)
    for (int part = 0; part < 4; ++part) {
      Words four;
      std::memcpy(&four, words + i + 4 * part, sizeof four);
      sums[part] += four;
    }
  Words sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  return sum[0] + sum[1] + sum[2] + sum[3];
}

/// Runs `body(thread)` on all threads at once, `rounds` times with a pause for
/// the slowest between them; returns the seconds of the fastest round.
static double fastestRound(uint32_t threads, int rounds,
                           const std::function<void(uint32_t)> &body) {
  double best = 0;
  Clock::time_point start;
  std::barrier gate(threads);
  auto work = [&](uint32_t thread) {
    for (int round = 0; round < rounds; ++round) {
      gate.arrive_and_wait();
      if (thread == 0)
        start = Clock::now();
      gate.arrive_and_wait();
      body(thread);
      gate.arrive_and_wait();
      if (thread == 0) {
        double taken =
            std::chrono::duration<double>(Clock::now() - start).count();
        best = round == 0 ? taken : std::min(best, taken);
      }
    }
  };
  std::vector<std::thread> others;
  for (uint32_t thread = 1; thread < threads; ++thread)
    others.emplace_back(work, thread);
  work(0);
  for (std::thread &other : others)
    other.join();
  return best;
}

/// The processor's word for its last cache; 0 where it has none. Of a guest it
/// may be that of the whole host, of which each of its cores reaches a part, so
/// it is asked only where the system says nothing.
static uint64_t processorCacheBytes() {
#ifdef _SC_LEVEL3_CACHE_SIZE
  if (long size = sysconf(_SC_LEVEL3_CACHE_SIZE); size > 0)
    return static_cast<uint64_t>(size);
#endif
  return 0;
}

uint64_t effc::cli::lastCacheBytes() {
  int last = 0;
  std::map<std::string, uint64_t> caches; // of that level, by who shares it
  for (long core = 0, cores = sysconf(_SC_NPROCESSORS_CONF); core < cores;
       ++core)
    for (int index = 0;; ++index) {
      std::string folder = "/sys/devices/system/cpu/cpu" +
                           std::to_string(core) + "/cache/index" +
                           std::to_string(index) + "/";
      int level = 0;
      uint64_t kibibytes = 0; // written as 32768K
      std::string cores;
      std::ifstream(folder + "level") >> level;
      std::ifstream(folder + "size") >> kibibytes;
      std::ifstream(folder + "shared_cpu_list") >> cores;
      if (level == 0)
        break;
      if (level > last)
        caches.clear();
      last = std::max(last, level);
      if (level == last)
        caches[cores] = kibibytes * 1024;
    }
  uint64_t bytes = 0;
  for (const auto &[cores, size] : caches)
    bytes += size;
  return bytes ? bytes : processorCacheBytes();
}

uint64_t effc::cli::freeBytes() {
  // Pages of files that can be given back are free as well.
  std::ifstream file("/proc/meminfo");
  for (std::string line; std::getline(file, line);)
    if (unsigned long long kibibytes = 0;
        std::sscanf(line.c_str(), "MemAvailable: %llu kB", &kibibytes) == 1)
      return std::min<uint64_t>(rt::memoryLeft(), kibibytes * 1024);
  return rt::memoryLeft();
}

StreamSize effc::cli::streamSize(uint64_t cache, uint64_t free) {
  if (cache == 0)
    cache = 32 << 20; // as much as most groups of cores share
  StreamSize size;
  if (kCachesStreamed * cache <= free / 4) {
    size.bytes = kCachesStreamed * cache;
    return size;
  }
  size.whyNone = "a stream of " + std::to_string(kCachesStreamed) +
                 " times the last cache takes " +
                 formatBytes(kCachesStreamed * cache) +
                 ", but no more than a quarter of the memory that is left (" +
                 formatBytes(free) + ") is taken for it";
  return size;
}

struct MachineProbes::Operands {
  float a[kTiles][kDepth * kRows], b[kDepth * kMostColumns],
      c[kRows * kMostColumns];
};

MachineProbes::MachineProbes(uint32_t threads, uint64_t bytes, std::string isa)
    : count(threads), share(bytes / threads / 4096 * 4096), isa(std::move(isa)),
      streams(threads), operands(threads) {
  // Each thread writes its share first, so that it lies where the thread runs.
  fastestRound(count, 1, [&](uint32_t thread) {
    streams[thread] = std::make_unique_for_overwrite<uint64_t[]>(share / 8);
    std::memset(streams[thread].get(), 1, share);
    operands[thread] = std::make_unique<Operands>();
  });
}

MachineProbes::~MachineProbes() = default;

Rates MachineProbes::sample() {
  constexpr int kRounds = 2, kRepeats = 60;
#if defined(__x86_64__)
  // The models' code needs them as well; an engine has refused before.
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma"))
    return {};
#endif
  const ProductProbe &product = productProbeFor(isa);
  std::atomic<uint64_t> kept = 0;
  double reading = fastestRound(count, kRounds, [&](uint32_t thread) {
    kept += readWords(streams[thread].get(), share / 8);
  });
  double computing = fastestRound(count, kRounds, [&](uint32_t thread) {
    Operands &mine = *operands[thread];
    for (int repeat = 0; repeat < kRepeats; ++repeat)
      for (int tile = 0; tile < kTiles; ++tile)
        product.multiplyTile(mine.a[tile], mine.b, mine.c);
  });
  return {static_cast<double>(share) * count / reading,
          2.0 * kRows * product.columns * kDepth * kTiles * kRepeats * count /
              computing};
}

static double median(std::vector<double> values) {
  auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

Rates effc::cli::medianOf(const std::vector<Rates> &samples) {
  std::vector<double> reading, computing;
  for (const Rates &sample : samples) {
    reading.push_back(sample.readBytesPerSecond);
    computing.push_back(sample.gemmFlopsPerSecond);
  }
  return {median(std::move(reading)), median(std::move(computing))};
}
