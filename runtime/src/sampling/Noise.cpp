#include "runtime/src/sampling/Noise.h"

#include <bit>
#include <iterator>

using namespace effc::rt;

std::array<uint32_t, 2> effc::rt::philox(std::array<uint32_t, 2> counter,
                                         uint32_t key) {
  auto [x, y] = counter;
  for (int round = 0; round < Philox::kRounds; ++round) {
    uint64_t product = uint64_t(Philox::kMultiplier) * x;
    x = static_cast<uint32_t>(product >> 32) ^ key ^ y;
    y = static_cast<uint32_t>(product);
    key += Philox::kKeyStep;
  }
  return {x, y};
}

Noise Noise::of(uint64_t seed, uint64_t index) {
  auto mix = [](uint64_t z) { // SplitMix64's finaliser
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  };
  constexpr uint64_t kStep = 0x9E3779B97F4A7C15u;
  // The seed is mixed first, so that neighbouring seeds share no stretch.
  uint64_t bits = mix(mix(seed + kStep) + (index + 1) * kStep);
  return {static_cast<uint32_t>(bits >> 32), static_cast<uint32_t>(bits)};
}

/// -ln x of a positive normal number x = m 2^e, m from sqrt(1/2) on. With an e
/// of 0 it is -ln(1 + `rest`), where that is given: x - 1 before it was
/// rounded.
static float negativeLog(float x, const float *rest = nullptr) {
  constexpr uint32_t kRootOfHalf = 0x3F3504F3;
  uint32_t above = std::bit_cast<uint32_t>(x) - kRootOfHalf;
  int32_t e = static_cast<int32_t>(above) >> 23;
  float f = std::bit_cast<float>((above & 0x7FFFFF) + kRootOfHalf) - 1.0f;
  if (rest && e == 0)
    f = *rest;
  // ln(1 + f) = f - f^2 / 2 + f^3 p(f); the polynomial of least relative error
  // in ln(1 + f), which is below 2^-27.
  constexpr float kP[] = {-0x1.38b58p-4f,  0x1.055b6ap-3f,  -0x1.0d8542p-3f,
                          0x1.22da1cp-3f,  -0x1.547244p-3f, 0x1.99a008p-3f,
                          -0x1.000226p-2f, 0x1.555554p-2f};
  float p = kP[0];
  for (size_t i = 1; i < std::size(kP); ++i)
    p = p * f + kP[i];
  // ln 2 in two parts, of which e times the first is exact.
  constexpr float kLn2High = 0x1.62e4p-1f, kLn2Low = 0x1.7f7d1cp-20f;
  float small = f * f * (f * p - 0.5f) + static_cast<float>(e) * kLn2Low;
  return -((f + small) + static_cast<float>(e) * kLn2High);
}

float Noise::from(uint32_t word) {
  float n = static_cast<float>(static_cast<int32_t>(word & 0x7FFFFFFF));
  float v = (n + 0.5f) * 0x1p-32f, rest = -v;
  float u = word >> 31 ? 1.0f - v : v;
  return negativeLog(negativeLog(u, &rest));
}

float Noise::at(uint32_t token) const {
  return from(philox({token, counter}, key)[0]);
}
