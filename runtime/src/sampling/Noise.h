//===- Noise.h - What is added to logits before the largest is taken ------===//
//
// The noise of a token is -ln(-ln u) with a u in (0, 1) of its own (Gumbel-max).
// It comes from a counter and from arithmetic that is written out, so that every
// machine and every kernel computes the same bits.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_RUNTIME_SRC_SAMPLING_NOISE_H
#define EFFC_RUNTIME_SRC_SAMPLING_NOISE_H

#include <array>
#include <cstdint>

namespace effc::rt {

/// Philox-2x32 with 10 rounds (Salmon et al., "Parallel Random Numbers: As Easy
/// as 1, 2, 3", SC'11).
std::array<uint32_t, 2> philox(std::array<uint32_t, 2> counter, uint32_t key);

struct Philox {
  static constexpr int kRounds = 10;
  static constexpr uint32_t kMultiplier = 0xD256D193;
  static constexpr uint32_t kKeyStep = 0x9E3779B9;
};

/// The noise of the tokens in one draw.
struct Noise {
  uint32_t key, counter;

  /// That of the `index`-th draw of a seed; no two draws of a seed share it.
  static Noise of(uint64_t seed, uint64_t index);
  /// -ln(-ln u), where u follows from the first word of
  /// philox({token, counter}, key); kernels compute the same bits
  /// (passes/seq_to_tile/builders/dense/Draw.cpp).
  float at(uint32_t token) const;

  /// The word's lower 31 bits are a number n. With its highest bit clear u is
  /// (n + 1/2) / 2^32, else 1 - (n + 1/2) / 2^32: evenly spread over (0, 1),
  /// and exact near 1, where noise is large. Within 2^-22 and one unit in the
  /// last place of the exact noise, for each of the 2^32 words.
  static float from(uint32_t word);
  /// No noise is more.
  static constexpr float kMost = 22.875f;
};

/// By what one token is drawn: the largest logit * scale + amount * noise.
struct Draw {
  float scale = 1;
  float amount = 0; // 1, or 0 for the likeliest token
  Noise noise = {};
};

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_SAMPLING_NOISE_H
