#include "runtime/src/sampling/RowPasses.h"

#include "runtime/src/sampling/LogitRow.h"

#include <cstring>

using namespace effc::rt;

namespace {
/// Vectors of `Count` numbers of 64 bits, or twice as many of 32.
template <int Count> struct Lanes {
  typedef uint64_t U64 __attribute__((vector_size(8 * Count)));
  typedef double F64 __attribute__((vector_size(8 * Count)));
  typedef uint32_t U32 __attribute__((vector_size(8 * Count)));
  typedef int32_t I32 __attribute__((vector_size(8 * Count)));
  typedef float F32 __attribute__((vector_size(8 * Count)));
  typedef float Half __attribute__((vector_size(4 * Count)));
  static constexpr size_t kFloats = 2 * Count;
  static_assert(LogitRow::kBlock % (2 * kFloats) == 0);
};
} // namespace

// Everything below is inlined into functions that may use wider vectors than the
// rest of the library.
#define EFFC_INLINE inline __attribute__((always_inline))

template <typename Vector>
EFFC_INLINE static void load(const float *from, Vector &to) {
  std::memcpy(&to, from, sizeof to);
}

template <int Count>
EFFC_INLINE static bool isAnySet(const typename Lanes<Count>::I32 &mask) {
  uint64_t words[Count], any = 0;
  std::memcpy(words, &mask, sizeof words);
  for (uint64_t word : words)
    any |= word;
  return any != 0;
}

template <int Count>
EFFC_INLINE static bool maximaOf(const float *row, size_t blocks, float *out) {
  using L = Lanes<Count>;
  typename L::I32 isNan = {};
  for (size_t b = 0; b < blocks; ++b, row += LogitRow::kBlock) {
    typename L::F32 most;
    load(row, most);
    isNan |= most != most;
    for (size_t i = L::kFloats; i < LogitRow::kBlock; i += L::kFloats) {
      typename L::F32 more;
      load(row + i, more);
      isNan |= more != more;
      most = more > most ? more : most;
    }
    float lanes[L::kFloats];
    std::memcpy(lanes, &most, sizeof lanes);
    for (size_t width = L::kFloats / 2; width > 0; width /= 2)
      for (size_t i = 0; i < width; ++i)
        lanes[i] = lanes[i + width] > lanes[i] ? lanes[i + width] : lanes[i];
    out[b] = lanes[0];
  }
  return !isAnySet<Count>(isNan);
}

/// At least the noise of each word, by the leading bits of what it leaves below
/// 1: -ln(-ln u) <= -ln(1 - u), and a float read as an integer is a logarithm to
/// the base 2 that is never too large.
template <int Count>
EFFC_INLINE static void noiseBound(const typename Lanes<Count>::U32 &words,
                                   typename Lanes<Count>::F32 &bound) {
  using L = Lanes<Count>;
  constexpr float kLn2 = 0x1.62e43p-1f, kMargin = 0.01f;
  auto number = __builtin_convertvector(
      reinterpret_cast<typename L::I32>(words & 0x7FFFFFFF), typename L::F32);
  auto bits = reinterpret_cast<typename L::I32>(number + 0.5f);
  typename L::F32 large =
      __builtin_convertvector(bits, typename L::F32) * (-kLn2 * 0x1p-23f) +
      (159 * kLn2 + kMargin);
  // With its highest bit clear u is below 1/2, and the noise below 0.37.
  typename L::F32 small = large * 0 + 0.5f;
  bound = reinterpret_cast<typename L::I32>(words) < 0 ? large : small;
}

template <int Count>
EFFC_INLINE static void raceOf(const float *row, const float *maxima,
                               size_t blocks, Race &given) {
  using L = Lanes<Count>;
  constexpr size_t kVectors = 4; // in flight: a round waits for its product
  constexpr size_t kTokens = kVectors * Count;
  Race race = given;
  typename L::U64 even = {}; // tokens at even places of a vector of 32 bits
  for (size_t i = 0; i < Count; ++i)
    even[i] = 2 * i;
  for (size_t b = 0; b < blocks; ++b) {
    if (race.isLost(maxima[b]))
      continue;
    for (size_t at = b * LogitRow::kBlock, end = at + LogitRow::kBlock;
         at < end; at += kTokens) {
      typename L::F32 scaled[kVectors / 2];
      typename L::I32 mayWin = {};
      for (size_t v = 0; v < kVectors / 2; ++v) {
        load(row + at + v * L::kFloats, scaled[v]);
        scaled[v] *= race.scale;
        mayWin |= scaled[v] + Noise::kMost >= race.best;
      }
      if (!isAnySet<Count>(mayWin))
        continue;
      // Two vectors of 64 bits for each of 32: tokens at even and odd places.
      typename L::U64 x[kVectors], y[kVectors];
      for (size_t v = 0; v < kVectors; ++v) {
        x[v] = even + (at + (v / 2) * L::kFloats + v % 2);
        y[v] = typename L::U64{} + race.noise.counter;
      }
      uint32_t key = race.noise.key;
      for (int round = 0; round < Philox::kRounds; ++round) {
        // The upper halves are anything: what follows takes the lower ones.
        for (size_t v = 0; v < kVectors; ++v) {
          typename L::U64 product =
              (x[v] & 0xFFFFFFFF) * uint64_t(Philox::kMultiplier);
          x[v] = (product >> 32) ^ y[v] ^ key;
          y[v] = product;
        }
        key += Philox::kKeyStep;
      }
      typename L::I32 isIn[kVectors / 2], isAny = {};
      for (size_t v = 0; v < kVectors / 2; ++v) {
        auto words = reinterpret_cast<typename L::U32>((x[2 * v] & 0xFFFFFFFF) |
                                                       (x[2 * v + 1] << 32));
        typename L::F32 bound;
        noiseBound<Count>(words, bound);
        isIn[v] = scaled[v] + bound >= race.best;
        isAny |= isIn[v];
      }
      if (!isAnySet<Count>(isAny))
        continue;
      for (size_t i = 0; i < kTokens; ++i)
        if (isIn[i / L::kFloats][i % L::kFloats])
          race.enter(row[at + i], static_cast<int32_t>(at + i));
    }
  }
  given = race;
}

template <int Count>
EFFC_INLINE static double massOf(const float *row, const float *maxima,
                                 size_t blocks, const Distance &distance,
                                 double farthest) {
  using L = Lanes<Count>;
  using F64 = typename L::F64;
  F64 sums[2] = {};
  for (size_t b = 0; b < blocks; ++b) {
    if (distance.of(maxima[b]) < -farthest)
      continue;
    for (size_t i = 0; i < LogitRow::kBlock; i += 2 * Count)
      for (size_t half = 0; half < 2; ++half) {
        typename L::Half logits;
        load(row + b * LogitRow::kBlock + i + half * Count, logits);
        F64 x = (__builtin_convertvector(logits, F64) - distance.best) *
                distance.inverse;
        x = x > QuickExp::kLeast ? x : F64{} + QuickExp::kLeast;
        F64 shifted = x * QuickExp::kLog2e + QuickExp::kRound;
        F64 k = shifted - QuickExp::kRound;
        F64 r = (x - k * QuickExp::kLn2High) - k * QuickExp::kLn2Low;
        F64 sum = r * QuickExp::kTerms[0] + QuickExp::kTerms[1];
        for (size_t n = 2; n < std::size(QuickExp::kTerms); ++n)
          sum = sum * r + QuickExp::kTerms[n];
        sums[half] += reinterpret_cast<F64>(
            reinterpret_cast<typename L::U64>(sum) +
            (reinterpret_cast<typename L::U64>(shifted) << 52));
      }
  }
  double all = 0;
  for (size_t i = 0; i < Count; ++i)
    all += sums[0][i] + sums[1][i];
  return all;
}

// One set of passes: `attributes` are those of functions that may use the vectors.
#define EFFC_PASSES(Name, Count, attributes)                                   \
  namespace {                                                                  \
  struct Name {                                                                \
    attributes static bool maxima(const float *row, size_t blocks,             \
                                  float *out) {                                \
      return maximaOf<Count>(row, blocks, out);                                \
    }                                                                          \
    attributes static void race(const float *row, const float *maxima,         \
                                size_t blocks, Race &race) {                   \
      raceOf<Count>(row, maxima, blocks, race);                                \
    }                                                                          \
    attributes static double mass(const float *row, const float *maxima,       \
                                  size_t blocks, const Distance &distance,     \
                                  double farthest) {                           \
      return massOf<Count>(row, maxima, blocks, distance, farthest);           \
    }                                                                          \
    static constexpr RowPasses kPasses = {maxima, race, mass, #Name};          \
  };                                                                           \
  }

EFFC_PASSES(Baseline, 2, )
#if defined(__x86_64__)
EFFC_PASSES(Avx2, 4, __attribute__((target("avx2"))))
EFFC_PASSES(Avx512, 8, __attribute__((target("avx512f"))))
#endif

std::span<const RowPasses> effc::rt::allRowPasses() {
#if defined(__x86_64__)
  static const RowPasses passes[] = {Baseline::kPasses, Avx2::kPasses,
                                     Avx512::kPasses};
  size_t count = 1;
  if (__builtin_cpu_supports("avx2"))
    count = __builtin_cpu_supports("avx512f") ? 3 : 2;
  return {passes, count};
#else
  static const RowPasses passes[] = {Baseline::kPasses};
  return passes;
#endif
}

const RowPasses &effc::rt::rowPasses() {
  static const RowPasses &fastest = allRowPasses().back();
  return fastest;
}
