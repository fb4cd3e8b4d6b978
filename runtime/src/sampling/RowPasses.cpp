#include "runtime/src/sampling/RowPasses.h"

#include "runtime/src/sampling/LogitRow.h"

#include <algorithm>
#include <cstring>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

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

namespace {
/// The tokens of some blocks that have not lost, whatever their noise.
struct Sieved {
  static constexpr size_t kBlocks = 32; // so that the best grows meanwhile
  static constexpr size_t kRoom = kBlocks * LogitRow::kBlock + 64;
  uint32_t ids[kRoom];
  float scaled[kRoom];
  size_t count;
};
} // namespace

/// Fills `out` with tokens of the blocks from `first` to before `last`.
static void sieve(const float *row, const float *maxima, size_t first,
                  size_t last, const Race &race, Sieved &out) {
  size_t count = 0;
  for (size_t b = first; b < last; ++b) {
    if (race.isLost(maxima[b]))
      continue;
    // Without a branch: which of them are in is hard to guess.
    for (size_t id = b * LogitRow::kBlock; id < (b + 1) * LogitRow::kBlock;
         ++id) {
      float scaled = row[id] * race.scale;
      out.ids[count] = static_cast<uint32_t>(id);
      out.scaled[count] = scaled;
      count += !(scaled + Noise::kMost < race.best);
    }
  }
  out.count = count;
}

#if defined(__x86_64__)
__attribute__((target("avx512f"))) static void
sieve512(const float *row, const float *maxima, size_t first, size_t last,
         const Race &race, Sieved &out) {
  const __m512 scale = _mm512_set1_ps(race.scale);
  const __m512 best = _mm512_set1_ps(race.best);
  const __m512 most = _mm512_set1_ps(Noise::kMost);
  const __m512i lanes =
      _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
  size_t count = 0;
  for (size_t b = first; b < last; ++b) {
    if (race.isLost(maxima[b]))
      continue;
    for (size_t id = b * LogitRow::kBlock; id < (b + 1) * LogitRow::kBlock;
         id += 16) {
      __m512 scaled = _mm512_mul_ps(_mm512_loadu_ps(row + id), scale);
      __mmask16 isIn =
          _mm512_cmp_ps_mask(_mm512_add_ps(scaled, most), best, _CMP_NLT_UQ);
      __m512i ids =
          _mm512_add_epi32(lanes, _mm512_set1_epi32(static_cast<int>(id)));
      _mm512_storeu_si512(out.ids + count,
                          _mm512_maskz_compress_epi32(isIn, ids));
      _mm512_storeu_ps(out.scaled + count,
                       _mm512_maskz_compress_ps(isIn, scaled));
      count += static_cast<size_t>(__builtin_popcount(isIn));
    }
  }
  out.count = count;
}
#endif

/// The tokens of `in` take part.
template <int Count>
EFFC_INLINE static void raceSieved(Sieved &in, const float *row, Race &race) {
  using L = Lanes<Count>;
  constexpr size_t kVectors = 4; // in flight: a round waits for its product
  constexpr size_t kTokens = kVectors * Count;
  for (size_t i = in.count; i < in.count + kTokens; ++i) {
    in.ids[i] = 0;
    in.scaled[i] = -INFINITY; // whatever stands behind the last one loses
  }
  for (size_t at = 0; at < in.count; at += kTokens) {
    // Two vectors of 64 bits for each of 32: tokens at even and odd places.
    typename L::U64 x[kVectors], y[kVectors];
    for (size_t v = 0; v < kVectors; v += 2) {
      std::memcpy(&x[v], in.ids + at + v * Count, sizeof x[v]);
      x[v + 1] = x[v] >> 32;
      y[v] = y[v + 1] = typename L::U64{} + race.noise.counter;
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
      typename L::F32 scaled, bound;
      load(in.scaled + at + v * L::kFloats, scaled);
      noiseBound<Count>(words, bound);
      isIn[v] = scaled + bound >= race.best;
      isAny |= isIn[v];
    }
    if (!isAnySet<Count>(isAny))
      continue;
    for (size_t i = 0; i < kTokens && at + i < in.count; ++i)
      if (isIn[i / L::kFloats][i % L::kFloats])
        race.enter(row[in.ids[at + i]], static_cast<int32_t>(in.ids[at + i]));
  }
}

template <int Count, auto Sieve>
EFFC_INLINE static void raceOf(const float *row, const float *maxima,
                               size_t blocks, Race &given) {
  Race race = given;
  Sieved sieved;
  for (size_t b = 0; b < blocks; b += Sieved::kBlocks) {
    Sieve(row, maxima, b, std::min(blocks, b + Sieved::kBlocks), race, sieved);
    raceSieved<Count>(sieved, row, race);
  }
  given = race;
}

/// quickExp() of each, which is not taken below QuickExp::kLeast.
template <int Count>
EFFC_INLINE static void quickExps(typename Lanes<Count>::F64 x,
                                  typename Lanes<Count>::F64 &result) {
  using F64 = typename Lanes<Count>::F64;
  using U64 = typename Lanes<Count>::U64;
  x = x > QuickExp::kLeast ? x : F64{} + QuickExp::kLeast;
  F64 shifted = x * QuickExp::kLog2e + QuickExp::kRound;
  F64 k = shifted - QuickExp::kRound;
  F64 r = (x - k * QuickExp::kLn2High) - k * QuickExp::kLn2Low;
  F64 sum = r * QuickExp::kTerms[0] + QuickExp::kTerms[1];
  for (size_t n = 2; n < std::size(QuickExp::kTerms); ++n)
    sum = sum * r + QuickExp::kTerms[n];
  result = reinterpret_cast<F64>(reinterpret_cast<U64>(sum) +
                                 (reinterpret_cast<U64>(shifted) << 52));
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
        F64 weights;
        quickExps<Count>(
            (__builtin_convertvector(logits, F64) - distance.best) *
                distance.inverse,
            weights);
        sums[half] += weights;
      }
  }
  double all = 0;
  for (size_t i = 0; i < Count; ++i)
    all += sums[0][i] + sums[1][i];
  return all;
}

/// Sixteen sums, whatever the width: token i of a block is in sum i % 16.
template <int Count>
EFFC_INLINE static Moments momentsOf(const float *row, const float *maxima,
                                     size_t blocks, const Distance &distance,
                                     double farthest) {
  using L = Lanes<Count>;
  using F64 = typename L::F64;
  constexpr size_t kSums = 16, kVectors = kSums / Count;
  static_assert(LogitRow::kBlock % kSums == 0);
  F64 masses[kVectors] = {}, distances[kVectors] = {};
  for (size_t b = 0; b < blocks; ++b) {
    if (distance.of(maxima[b]) < -farthest)
      continue;
    for (size_t i = 0; i < LogitRow::kBlock; i += kSums)
      for (size_t v = 0; v < kVectors; ++v) {
        typename L::Half logits;
        load(row + b * LogitRow::kBlock + i + v * Count, logits);
        F64 x = (__builtin_convertvector(logits, F64) - distance.best) *
                distance.inverse;
        F64 weights;
        quickExps<Count>(x, weights);
        masses[v] += weights;
        distances[v] += weights > Moments::kLeastWeight ? weights * x : F64{};
      }
  }
  Moments all;
  for (size_t v = 0; v < kVectors; ++v)
    for (size_t i = 0; i < Count; ++i) {
      all.mass += masses[v][i];
      all.distances += distances[v][i];
    }
  return all;
}

/// exp(x) for x <= 0 in f32, within 2^-22 of itself and what x is rounded to.
template <int Count>
EFFC_INLINE static void roughExp(typename Lanes<Count>::F32 x,
                                 typename Lanes<Count>::F32 &result) {
  using L = Lanes<Count>;
  using F32 = typename L::F32;
  constexpr float kLeast = -80, kLog2e = 0x1.715476p0f, kRound = 0x1.8p23f;
  constexpr float kLn2High = 0x1.62e4p-1f, kLn2Low = 0x1.7f7d1cp-20f;
  constexpr float kTerms[] = {0x1.6c16c2p-10f,
                              0x1.111112p-7f,
                              0x1.555556p-5f,
                              0x1.555556p-3f,
                              0x1p-1f,
                              1,
                              1};
  x = x > kLeast ? x : F32{} + kLeast;
  F32 shifted = x * kLog2e + kRound;
  F32 k = shifted - kRound;
  F32 r = (x - k * kLn2High) - k * kLn2Low;
  F32 sum = r * kTerms[0] + kTerms[1];
  for (size_t n = 2; n < std::size(kTerms); ++n)
    sum = sum * r + kTerms[n];
  result =
      reinterpret_cast<F32>(reinterpret_cast<typename L::U32>(sum) +
                            (reinterpret_cast<typename L::U32>(shifted) << 23));
}

template <int Count>
EFFC_INLINE static double roughMassOf(const float *row, const float *maxima,
                                      size_t blocks, const Distance &distance,
                                      double farthest) {
  using L = Lanes<Count>;
  auto best = static_cast<float>(distance.best),
       inverse = static_cast<float>(distance.inverse);
  typename L::F64 sums[2] = {};
  for (size_t b = 0; b < blocks; ++b) {
    if (distance.of(maxima[b]) < -farthest)
      continue;
    typename L::F32 sum = {};
    for (size_t i = 0; i < LogitRow::kBlock; i += L::kFloats) {
      typename L::F32 logits, weights;
      load(row + b * LogitRow::kBlock + i, logits);
      roughExp<Count>((logits - best) * inverse, weights);
      sum += weights;
    }
    typename L::Half halves[2];
    std::memcpy(halves, &sum, sizeof halves);
    for (size_t half = 0; half < 2; ++half)
      sums[half] += __builtin_convertvector(halves[half], typename L::F64);
  }
  double all = 0;
  for (size_t i = 0; i < Count; ++i)
    all += sums[0][i] + sums[1][i];
  return all;
}

// One set of passes: `attributes` are those of functions that may use the vectors.
#define EFFC_PASSES(Name, Count, Sieve, attributes)                            \
  namespace {                                                                  \
  struct Name {                                                                \
    attributes static bool maxima(const float *row, size_t blocks,             \
                                  float *out) {                                \
      return maximaOf<Count>(row, blocks, out);                                \
    }                                                                          \
    attributes static void race(const float *row, const float *maxima,         \
                                size_t blocks, Race &race) {                   \
      raceOf<Count, Sieve>(row, maxima, blocks, race);                         \
    }                                                                          \
    attributes static double mass(const float *row, const float *maxima,       \
                                  size_t blocks, const Distance &distance,     \
                                  double farthest) {                           \
      return massOf<Count>(row, maxima, blocks, distance, farthest);           \
    }                                                                          \
    attributes static double roughMass(const float *row, const float *maxima,  \
                                       size_t blocks,                          \
                                       const Distance &distance,               \
                                       double farthest) {                      \
      return roughMassOf<Count>(row, maxima, blocks, distance, farthest);      \
    }                                                                          \
    attributes static Moments moments(const float *row, const float *maxima,   \
                                      size_t blocks, const Distance &distance, \
                                      double farthest) {                       \
      return momentsOf<Count>(row, maxima, blocks, distance, farthest);        \
    }                                                                          \
    static constexpr RowPasses kPasses = {maxima,    race,    mass,            \
                                          roughMass, moments, #Name};          \
  };                                                                           \
  }

EFFC_PASSES(Baseline, 2, sieve, )
#if defined(__x86_64__)
EFFC_PASSES(Avx2, 4, sieve, __attribute__((target("avx2"))))
EFFC_PASSES(Avx512, 8, sieve512, __attribute__((target("avx512f"))))
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
