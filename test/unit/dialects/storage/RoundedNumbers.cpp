#include "test/unit/dialects/storage/RoundedNumbers.h"

#include <bit>
#include <cmath>
#include <cstdint>

using namespace effc;

namespace {

constexpr uint32_t kCount = 4096;

// A multiple of 2^-23 in [-1, 1): the mixing function of MurmurHash3 on a counter.
float uniform(uint32_t seed, uint32_t i) {
  uint32_t x = i * 0x9E3779B9u + seed * 0x51ED2701u;
  x = (x ^ x >> 16) * 0x85EBCA6Bu;
  x = (x ^ x >> 13) * 0xC2B2AE35u;
  x ^= x >> 16;
  return float(x >> 8) * 0x1p-23f - 1;
}

float bell(uint32_t seed, uint32_t i) {
  float first = uniform(seed, i) + uniform(seed + 1, i);
  float second = uniform(seed + 2, i) + uniform(seed + 3, i);
  return (first + second) * 0x1p-5f;
}

struct Distribution {
  std::string_view name;
  float (*number)(uint32_t i);
};

constexpr Distribution kDistributions[] = {
    {"uniform", [](uint32_t i) { return uniform(1, i); }},
    {"bell", [](uint32_t i) { return bell(10, i); }},
    {"tails",
     [](uint32_t i) {
       float wide = bell(20, i) * 16, squared = wide * wide;
       return squared * wide;
     }},
    {"brain",
     [](uint32_t i) {
       return std::bit_cast<float>(std::bit_cast<uint32_t>(bell(30, i)) &
                                   0xFFFF0000u);
     }},
    {"positive", [](uint32_t i) { return std::fabs(bell(40, i)) + 0.125f; }},
    {"spikes",
     [](uint32_t i) { return i % 97 == 0 ? bell(10, i) * 1024 : bell(10, i); }},
    {"sparse",
     [](uint32_t i) {
       return i / 128 % 2 == 0 || i % 7 > 0 ? 0 : bell(10, i);
     }},
    {"small", [](uint32_t i) { return bell(10, i) * 0x1p-20f; }},
    {"tiny", [](uint32_t i) { return bell(10, i) * 0x1p-90f; }},
    {"equal", [](uint32_t i) { return uniform(50, i / 32 * 32); }},
    {"large", [](uint32_t i) { return bell(10, i) * 0x1p14f; }},
};

} // namespace

std::vector<float> test::roundedNumbers(std::string_view distribution) {
  std::vector<float> numbers;
  for (const Distribution &known : kDistributions)
    if (known.name == distribution)
      for (uint32_t i = 0; i < kCount; ++i)
        numbers.push_back(known.number(i));
  return numbers;
}

std::vector<float> test::roundedImportance() {
  std::vector<float> importance;
  for (uint32_t i = 0; i < 512; ++i) {
    float root = uniform(60, i) + 1, squared = root * root;
    bool isIdle = i % 11 == 0 || i / 32 == 5;
    importance.push_back(isIdle ? 0 : squared * squared);
  }
  return importance;
}
