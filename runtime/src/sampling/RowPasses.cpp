#include "runtime/src/sampling/RowPasses.h"

#include "runtime/src/sampling/LogitRow.h"

#include <algorithm>
#include <cstring>
#include <utility>
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

/// Rows come from memory, and machines stop fetching at the end of a page: what lies
/// so far ahead is asked for. Behind the row's end nothing is read.
static constexpr size_t kFetchAhead = 8192 / sizeof(float);

/// The larger of neighbours: lane 2 i of the result is that of lanes i and i + n of
/// `a`, lane 2 i + 1 that of `b`, where vectors have 2 n lanes.
template <typename Vector, size_t... I>
EFFC_INLINE static void largerOf(const Vector &a, const Vector &b, Vector &out,
                                 std::index_sequence<I...>) {
  constexpr int kLanes = sizeof...(I);
  Vector low =
      __builtin_shufflevector(a, b, int(I / 2 + (I % 2 ? kLanes : 0))...);
  Vector high = __builtin_shufflevector(
      a, b, int(I / 2 + kLanes / 2 + (I % 2 ? kLanes : 0))...);
  out = high > low ? high : low;
}

template <int Count>
EFFC_INLINE static bool maximaOf(const float *row, size_t blocks, float *out) {
  using L = Lanes<Count>;
  constexpr size_t kFloats = L::kFloats;
  typename L::I32 isNan = {};
  size_t b = 0;
  // As many blocks as there are lanes: their largest become one vector.
  for (; b + kFloats <= blocks; b += kFloats) {
    typename L::F32 most[kFloats];
    for (size_t k = 0; k < kFloats; ++k, row += LogitRow::kBlock) {
      for (size_t i = 0; i < LogitRow::kBlock; i += 16)
        __builtin_prefetch(row + kFetchAhead + i);
      load(row, most[k]);
      isNan |= most[k] != most[k];
      for (size_t i = kFloats; i < LogitRow::kBlock; i += kFloats) {
        typename L::F32 more;
        load(row + i, more);
        isNan |= more != more;
        most[k] = more > most[k] ? more : most[k];
      }
    }
    for (size_t half = kFloats / 2; half > 0; half /= 2)
      for (size_t k = 0; k < half; ++k)
        largerOf(most[k], most[k + half], most[k],
                 std::make_index_sequence<kFloats>());
    std::memcpy(out + b, &most[0], sizeof most[0]);
  }
  bool areNumbers = !isAnySet<Count>(isNan);
  for (; b < blocks; ++b, row += LogitRow::kBlock) {
    out[b] = row[0];
    for (size_t i = 0; i < LogitRow::kBlock; ++i) {
      areNumbers &= row[i] == row[i];
      out[b] = row[i] > out[b] ? row[i] : out[b];
    }
  }
  return areNumbers;
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
/// Tokens that have not lost, whatever their noise, and have not raced yet.
struct Sieved {
  static constexpr size_t kBlocks = 32;     // at a time, so that the best grows
  static constexpr size_t kMostTokens = 64; // that race at once
  // What is left of the last blocks, these, and what a vector writes beyond.
  static constexpr size_t kRoom =
      kMostTokens + kBlocks * LogitRow::kBlock + kMostTokens;
  uint32_t ids[kRoom];
  float scaled[kRoom];
  size_t count = 0;
};
} // namespace

/// Adds the tokens of the blocks from `first` to before `last` to `out`.
static void sieve(const float *row, const float *maxima, size_t first,
                  size_t last, const Race &race, Sieved &out) {
  size_t count = out.count;
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
  static_assert(Sieved::kBlocks <= 32);
  const __m512 scale = _mm512_set1_ps(race.scale);
  const __m512 best = _mm512_set1_ps(race.best);
  const __m512 most = _mm512_set1_ps(Noise::kMost);
  const __m512i lanes =
      _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
  // Which blocks are looked at is hard to guess too: bits of a word say.
  uint32_t isIn = 0;
  for (size_t b = first; b < last; b += 16) {
    auto isThere =
        static_cast<__mmask16>((1u << std::min<size_t>(16, last - b)) - 1);
    __m512 scaled =
        _mm512_mul_ps(_mm512_maskz_loadu_ps(isThere, maxima + b), scale);
    isIn |= static_cast<uint32_t>(_mm512_mask_cmp_ps_mask(
                isThere, _mm512_add_ps(scaled, most), best, _CMP_NLT_UQ))
            << (b - first);
  }
  size_t count = out.count;
  for (; isIn != 0; isIn &= isIn - 1) {
    size_t begin =
        (first + static_cast<size_t>(__builtin_ctz(isIn))) * LogitRow::kBlock;
    for (size_t id = begin; id < begin + LogitRow::kBlock; id += 16) {
      __m512 scaled = _mm512_mul_ps(_mm512_loadu_ps(row + id), scale);
      __mmask16 mask =
          _mm512_cmp_ps_mask(_mm512_add_ps(scaled, most), best, _CMP_NLT_UQ);
      __m512i ids =
          _mm512_add_epi32(lanes, _mm512_set1_epi32(static_cast<int>(id)));
      _mm512_storeu_si512(out.ids + count,
                          _mm512_maskz_compress_epi32(mask, ids));
      _mm512_storeu_ps(out.scaled + count,
                       _mm512_maskz_compress_ps(mask, scaled));
      count += static_cast<size_t>(__builtin_popcount(mask));
    }
  }
  out.count = count;
}
#endif

/// The tokens of `in` from `at` on take part, `Vectors` times `Count` of them, of
/// which those from `end` on are none.
template <int Count, size_t Vectors>
EFFC_INLINE static void raceTogether(const Sieved &in, size_t at, size_t end,
                                     const float *row, Race &race) {
  using L = Lanes<Count>;
  // Two vectors of 64 bits for each of 32: tokens at even and odd places.
  typename L::U64 x[Vectors], y[Vectors];
  for (size_t v = 0; v < Vectors; v += 2) {
    std::memcpy(&x[v], in.ids + at + v * Count, sizeof x[v]);
    x[v + 1] = x[v] >> 32;
    y[v] = y[v + 1] = typename L::U64{} + race.noise.counter;
  }
  uint32_t key = race.noise.key;
  for (int round = 0; round < Philox::kRounds; ++round) {
    // The upper halves are anything: what follows takes the lower ones.
    for (size_t v = 0; v < Vectors; ++v) {
      typename L::U64 product =
          (x[v] & 0xFFFFFFFF) * uint64_t(Philox::kMultiplier);
      x[v] = (product >> 32) ^ y[v] ^ key;
      y[v] = product;
    }
    key += Philox::kKeyStep;
  }
  typename L::I32 isIn[Vectors / 2], isAny = {};
  for (size_t v = 0; v < Vectors / 2; ++v) {
    auto words = reinterpret_cast<typename L::U32>((x[2 * v] & 0xFFFFFFFF) |
                                                   (x[2 * v + 1] << 32));
    typename L::F32 scaled, bound;
    load(in.scaled + at + v * L::kFloats, scaled);
    noiseBound<Count>(words, bound);
    isIn[v] = scaled + bound >= race.best;
    isAny |= isIn[v];
  }
  if (!isAnySet<Count>(isAny))
    return;
  for (size_t i = 0; i < Vectors * Count && at + i < end; ++i)
    if (isIn[i / L::kFloats][i % L::kFloats])
      race.enter(row[in.ids[at + i]], static_cast<int32_t>(in.ids[at + i]));
}

template <int Count, auto Sieve>
EFFC_INLINE static void raceOf(const float *row, const float *maxima,
                               size_t blocks, Race &given) {
  // In flight at once, as far as there are registers: a round waits for its product.
  constexpr size_t kVectors = Count == 8 ? 8 : 4, kTokens = kVectors * Count;
  static_assert(kTokens <= Sieved::kMostTokens);
  Race race = given;
  Sieved sieved;
  for (size_t b = 0; b < blocks; b += Sieved::kBlocks) {
    Sieve(row, maxima, b, std::min(blocks, b + Sieved::kBlocks), race, sieved);
    size_t at = 0;
    for (; at + kTokens <= sieved.count; at += kTokens)
      raceTogether<Count, kVectors>(sieved, at, sieved.count, row, race);
    if (at == 0)
      continue;
    // What is left races with tokens of the next blocks.
    std::memcpy(sieved.ids, sieved.ids + at, kTokens * sizeof *sieved.ids);
    std::memcpy(sieved.scaled, sieved.scaled + at,
                kTokens * sizeof *sieved.scaled);
    sieved.count -= at;
  }
  if (size_t count = sieved.count) {
    for (size_t i = count; i < kTokens; ++i) {
      sieved.ids[i] = 0;
      sieved.scaled[i] = -INFINITY;
    }
    raceTogether<Count, kVectors>(sieved, 0, count, row, race);
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
