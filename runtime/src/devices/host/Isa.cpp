#include "runtime/src/devices/host/Isa.h"

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__)
#include <sys/auxv.h>
#endif

using namespace effc::rt;

#if defined(__x86_64__)

namespace {
struct Registers {
  unsigned a = 0, b = 0, c = 0, d = 0;
};
} // namespace

static Registers cpuid(unsigned leaf, unsigned subleaf = 0) {
  Registers r;
  if (!__get_cpuid_count(leaf, subleaf, &r.a, &r.b, &r.c, &r.d))
    return {};
  return r;
}

/// The register XCR0: what the system saves on a task switch; 0 where it cannot
/// be read.
static uint32_t savedState() {
  constexpr unsigned kOsXsave = 1u << 27;
  if (!(cpuid(1).c & kOsXsave))
    return 0;
  unsigned low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

static constexpr const char *kTripleHere = kX86Triple;

static bool isPresent(const CpuidBit &bit) {
  Registers leaf = cpuid(bit.leaf, bit.subleaf);
  unsigned value = bit.reg == 'a'   ? leaf.a
                   : bit.reg == 'b' ? leaf.b
                   : bit.reg == 'c' ? leaf.c
                                    : leaf.d;
  return (value >> bit.bit & 1) != 0 &&
         (savedState() & bit.savedState) == bit.savedState;
}

#else

static bool isPresent(const CpuidBit &) { return false; }

#endif

#if defined(__aarch64__)

static constexpr const char *kTripleHere = kArmTriple;

static bool isPresent(const HwcapBit &bit) {
  return getauxval(bit.isSecond ? AT_HWCAP2 : AT_HWCAP) >> bit.bit & 1;
}

#else

static bool isPresent(const HwcapBit &) { return false; }

#endif

#if !defined(__x86_64__) && !defined(__aarch64__)
static constexpr const char *kTripleHere = "";
#endif

static bool isOfThisArchitecture(const HostIsa &isa) {
  return std::string_view(isa.triple) == kTripleHere;
}

const HostIsa *effc::rt::findIsaHere(std::string_view name) {
  const HostIsa *isa = findHostIsa(name);
  return isa && isOfThisArchitecture(*isa) ? isa : nullptr;
}

std::vector<const HostIsa *> effc::rt::isasHere() {
  std::vector<const HostIsa *> all;
  for (const HostIsa &isa : hostIsas())
    if (isOfThisArchitecture(isa))
      all.push_back(&isa);
  return all;
}

std::vector<Feature> effc::rt::featuresOf(const HostIsa &isa) {
  std::vector<Feature> features;
  if (isa.below)
    features = featuresOf(*isa.below);
  for (const CpuidBit &bit : isa.needs)
    features.push_back({bit.name, isPresent(bit)});
  for (const HwcapBit &bit : isa.needsOnArm)
    features.push_back({bit.name, isPresent(bit)});
  return features;
}

std::string effc::rt::missingFor(const std::vector<Feature> &features) {
  std::string missing;
  for (const Feature &feature : features)
    if (!feature.present)
      missing += (missing.empty() ? "" : ", ") + std::string(feature.name);
  return missing;
}

bool effc::rt::runsHere(const HostIsa &isa) {
  return isOfThisArchitecture(isa) && missingFor(featuresOf(isa)).empty();
}

const HostIsa *effc::rt::bestIsaHere() {
  const HostIsa *best = nullptr;
  for (const HostIsa &isa : hostIsas())
    if (runsHere(isa) && (!best || isa.rank > best->rank))
      best = &isa;
  return best;
}
