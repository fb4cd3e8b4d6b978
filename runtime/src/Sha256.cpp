#include "runtime/src/Sha256.h"

#include <algorithm>
#include <bit>
#include <cstring>
#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

using namespace effc::rt;

static constexpr size_t kBlockBytes = 64;
/// Between two calls of a progress: some milliseconds.
static constexpr size_t kStepBytes = size_t(16) << 20;

namespace {
using State = std::array<uint32_t, 8>;
using Compress = void (*)(State &state, const uint8_t *blocks, size_t count);
} // namespace

/// The first 32 bits of the fractions of the cube roots of the first 64 primes
/// (4.2.2), and of the square roots of the first eight (5.3.3).
alignas(16) static constexpr uint32_t kRounds[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
    0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
    0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
    0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
    0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
    0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
    0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
    0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
    0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};
static constexpr State kStart = {0x6a09e667, 0xbb67ae85, 0x3c6ef372,
                                 0xa54ff53a, 0x510e527f, 0x9b05688c,
                                 0x1f83d9ab, 0x5be0cd19};

static uint32_t readBigEndian(const uint8_t *at) {
  return uint32_t(at[0]) << 24 | uint32_t(at[1]) << 16 | uint32_t(at[2]) << 8 |
         at[3];
}

/// 6.2.2, with the names that it has.
static void compressPortable(State &state, const uint8_t *blocks,
                             size_t count) {
  for (; count > 0; --count, blocks += kBlockBytes) {
    uint32_t w[64];
    for (int t = 0; t < 16; ++t)
      w[t] = readBigEndian(blocks + 4 * t);
    for (int t = 16; t < 64; ++t) {
      uint32_t x = w[t - 15], y = w[t - 2];
      w[t] = w[t - 16] + w[t - 7] +
             (std::rotr(x, 7) ^ std::rotr(x, 18) ^ (x >> 3)) +
             (std::rotr(y, 17) ^ std::rotr(y, 19) ^ (y >> 10));
    }
    auto [a, b, c, d, e, f, g, h] = state;
    for (int t = 0; t < 64; ++t) {
      uint32_t t1 = h +
                    (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) +
                    ((e & f) ^ (~e & g)) + kRounds[t] + w[t];
      uint32_t t2 = (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) +
                    ((a & b) ^ (a & c) ^ (b & c));
      h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
    }
    uint32_t after[8] = {a, b, c, d, e, f, g, h};
    for (size_t i = 0; i < state.size(); ++i)
      state[i] += after[i];
  }
}

#if defined(__x86_64__)
/// Some six times as fast: four rounds by two instructions each, on the words
/// ABEF and CDGH.
__attribute__((target("sha,sse4.1"))) static void
compressByInstructions(State &state, const uint8_t *blocks, size_t count) {
  const __m128i bigEndian =
      _mm_set_epi64x(0x0c0d0e0f08090a0bLL, 0x0405060700010203LL);
  auto load = [](const void *at) __attribute__((target("sha,sse4.1"))) {
    return _mm_loadu_si128(static_cast<const __m128i *>(at));
  };
  __m128i cdab = _mm_shuffle_epi32(load(&state[0]), 0xB1);
  __m128i efgh = _mm_shuffle_epi32(load(&state[4]), 0x1B);
  __m128i abef = _mm_alignr_epi8(cdab, efgh, 8);
  __m128i cdgh = _mm_blend_epi16(efgh, cdab, 0xF0);
  for (; count > 0; --count, blocks += kBlockBytes) {
    __m128i abefBefore = abef, cdghBefore = cdgh, w[4];
    for (int i = 0; i < 16; ++i) {
      __m128i &now = w[i & 3];
      const __m128i &next = w[(i + 1) & 3], &before = w[(i + 3) & 3];
      if (i < 4)
        now = _mm_shuffle_epi8(load(blocks + 16 * i), bigEndian);
      else
        now = _mm_sha256msg2_epu32(
            _mm_add_epi32(_mm_sha256msg1_epu32(now, next),
                          _mm_alignr_epi8(before, w[(i + 2) & 3], 4)),
            before);
      __m128i sum = _mm_add_epi32(now, load(&kRounds[4 * i]));
      cdgh = _mm_sha256rnds2_epu32(cdgh, abef, sum);
      abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(sum, 0x0E));
    }
    abef = _mm_add_epi32(abef, abefBefore);
    cdgh = _mm_add_epi32(cdgh, cdghBefore);
  }
  __m128i feba = _mm_shuffle_epi32(abef, 0x1B);
  __m128i dchg = _mm_shuffle_epi32(cdgh, 0xB1);
  _mm_storeu_si128(reinterpret_cast<__m128i *>(&state[0]),
                   _mm_blend_epi16(feba, dchg, 0xF0));
  _mm_storeu_si128(reinterpret_cast<__m128i *>(&state[4]),
                   _mm_alignr_epi8(dchg, feba, 8));
}
#endif

static Compress chooseCompress() {
#if defined(__x86_64__)
  unsigned a, b, c, d;
  constexpr unsigned kSsse3 = 1u << 9, kSse41 = 1u << 19, kSha = 1u << 29;
  if (__get_cpuid(1, &a, &b, &c, &d) && (c & kSsse3) && (c & kSse41) &&
      __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & kSha))
    return compressByInstructions;
#endif
  return compressPortable;
}

static Sha256Digest hash(std::span<const uint8_t> bytes, Compress compress,
                         void (*progress)(void *, uint64_t, uint64_t),
                         void *user) {
  State state = kStart;
  size_t whole = bytes.size() / kBlockBytes * kBlockBytes;
  for (size_t at = 0; at < whole; at += kStepBytes) {
    size_t step = std::min(kStepBytes, whole - at);
    compress(state, bytes.data() + at, step / kBlockBytes);
    if (progress)
      progress(user, at + step, bytes.size());
  }
  // The rest, a one, zeros, and the size in bits.
  uint8_t last[2 * kBlockBytes] = {};
  size_t rest = bytes.size() - whole;
  if (rest > 0)
    std::memcpy(last, bytes.data() + whole, rest);
  last[rest] = 0x80;
  size_t blocks = rest + 9 > kBlockBytes ? 2 : 1;
  uint64_t bits = uint64_t(bytes.size()) * 8;
  for (size_t i = 0; i < 8; ++i)
    last[blocks * kBlockBytes - 1 - i] = static_cast<uint8_t>(bits >> (8 * i));
  compress(state, last, blocks);
  Sha256Digest digest;
  for (size_t i = 0; i < digest.size(); ++i)
    digest[i] = static_cast<uint8_t>(state[i / 4] >> (24 - 8 * (i % 4)));
  return digest;
}

Sha256Digest effc::rt::sha256(std::span<const uint8_t> bytes,
                              void (*progress)(void *, uint64_t, uint64_t),
                              void *user) {
  static const Compress compress = chooseCompress();
  return hash(bytes, compress, progress, user);
}

Sha256Digest effc::rt::sha256Portable(std::span<const uint8_t> bytes) {
  return hash(bytes, compressPortable, nullptr, nullptr);
}

static constexpr std::string_view kDigits = "0123456789abcdef";

std::string effc::rt::describeSha256(const Sha256Digest &digest) {
  std::string text;
  for (uint8_t byte : digest)
    text.append({kDigits[byte >> 4], kDigits[byte & 15]});
  return text;
}

std::optional<Sha256Digest> effc::rt::readSha256(std::string_view text) {
  if (text.size() != kSha256Digits)
    return std::nullopt;
  Sha256Digest digest = {};
  for (size_t i = 0; i < text.size(); ++i) {
    char lower = text[i] >= 'A' && text[i] <= 'F'
                     ? static_cast<char>(text[i] - 'A' + 'a')
                     : text[i];
    size_t value = kDigits.find(lower);
    if (value == kDigits.npos)
      return std::nullopt;
    digest[i / 2] = static_cast<uint8_t>(digest[i / 2] << 4 | value);
  }
  return digest;
}
