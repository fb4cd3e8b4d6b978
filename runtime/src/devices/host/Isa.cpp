#include "runtime/src/devices/host/Isa.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <cstdint>
#endif

using namespace effc::rt;

#if defined(__x86_64__)

namespace {
struct Registers {
  unsigned a = 0, b = 0, c = 0, d = 0;
};
} // namespace

static Registers cpuid(unsigned leaf, unsigned subleaf) {
  Registers r;
  if (!__get_cpuid_count(leaf, subleaf, &r.a, &r.b, &r.c, &r.d))
    return {};
  return r;
}

/// Whether the system saves the wide registers on a task switch.
static bool systemSavesYmm(const Registers &leaf1) {
  constexpr unsigned kOsXsave = 1u << 27;
  if (!(leaf1.c & kOsXsave))
    return false;
  unsigned low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (low & 6) == 6;
}

std::optional<std::vector<Feature>> effc::rt::featuresOf(std::string_view isa) {
  if (isa != "x86-64-v3")
    return std::nullopt;
  Registers one = cpuid(1, 0), seven = cpuid(7, 0),
            extended = cpuid(0x80000001u, 0);
  auto bit = [](unsigned value, unsigned index) {
    return (value >> index & 1) != 0;
  };
  bool ymm = systemSavesYmm(one);
  // The psABI's level 3; what level 2 adds is implied by any of these in
  // practice, but costs nothing to ask.
  return std::vector<Feature>{
      {"sse4.2", bit(one.c, 20)},       {"popcnt", bit(one.c, 23)},
      {"movbe", bit(one.c, 22)},        {"avx", ymm && bit(one.c, 28)},
      {"f16c", ymm && bit(one.c, 29)},  {"fma", ymm && bit(one.c, 12)},
      {"avx2", ymm && bit(seven.b, 5)}, {"bmi1", bit(seven.b, 3)},
      {"bmi2", bit(seven.b, 8)},        {"lzcnt", bit(extended.c, 5)}};
}

unsigned effc::rt::rankOf(std::string_view isa) {
  return isa == "x86-64-v3" ? 3 : 0;
}

#else

std::optional<std::vector<Feature>> effc::rt::featuresOf(std::string_view) {
  return std::nullopt;
}

unsigned effc::rt::rankOf(std::string_view) { return 0; }

#endif

std::string effc::rt::missingFor(const std::vector<Feature> &features) {
  std::string missing;
  for (const Feature &feature : features)
    if (!feature.present)
      missing += (missing.empty() ? "" : ", ") + std::string(feature.name);
  return missing;
}
