#include "runtime/src/sampling/RowPasses.h"

#include "runtime/src/sampling/RowRaces.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

using namespace effc::rt;

// Where a last bit decides nothing, a product and a sum may be one instruction.
#if defined(__clang__)
#define EFFC_FUSED _Pragma("clang fp contract(fast)")
#else
#define EFFC_FUSED
#endif

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

/// 2^x for x <= 0 in f32, within 3 * 2^-20 of itself; of x below -100 as there.
template <int Count>
EFFC_INLINE static void roughPower(typename Lanes<Count>::F32 &x,
                                   typename Lanes<Count>::F32 &result) {
  EFFC_FUSED
  using L = Lanes<Count>;
  using F32 = typename L::F32;
  constexpr float kLeast = -100, kRound = 0x1.8p23f;
  // The polynomial with the least largest error from -1/2 to 1/2.
  constexpr float kTerms[] = {0x1.3997d6p-7f, 0x1.ca1440p-5f, 0x1.ec06dap-3f,
                              0x1.62e0dcp-1f, 0x1.ffffe8p-1f};
  x = x > kLeast ? x : F32{} + kLeast;
  F32 shifted = x + kRound;
  F32 r = x - (shifted - kRound);
  F32 sum = r * kTerms[0] + kTerms[1];
  for (size_t n = 2; n < std::size(kTerms); ++n)
    sum = sum * r + kTerms[n];
  result =
      reinterpret_cast<F32>(reinterpret_cast<typename L::U32>(sum) +
                            (reinterpret_cast<typename L::U32>(shifted) << 23));
}

/// Moments of one block in f32, added to `masses` and `distances`, in which a distance
/// is one of powers of 2.
template <int Count>
EFFC_INLINE static void
addRoughMoments(const float *block, float best, float inverse,
                typename Lanes<Count>::F32 (&masses)[2],
                typename Lanes<Count>::F32 (&distances)[2]) {
  EFFC_FUSED
  using L = Lanes<Count>;
  for (size_t i = 0; i < LogitRow::kBlock; i += 2 * L::kFloats)
    for (size_t half = 0; half < 2; ++half) {
      typename L::F32 logits, weights;
      load(block + i + half * L::kFloats, logits);
      typename L::F32 x = (logits - best) * inverse;
      roughPower<Count>(x, weights);
      masses[half] += weights;
      distances[half] += weights * x;
    }
}

/// The least logit that lies at most so far below the best.
static float leastWithin(const Distance &distance, double farthest) {
  auto least = static_cast<float>(distance.best - farthest / distance.inverse);
  while (distance.of(least) < -farthest)
    least = std::nextafter(least, INFINITY);
  for (float next = least; distance.of(next) >= -farthest;
       next = std::nextafter(next, -INFINITY))
    least = next;
  return least;
}

/// Adds lanes of 32 bits to half as many of 64.
template <int Count>
EFFC_INLINE static void addHalves(const typename Lanes<Count>::F32 &from,
                                  typename Lanes<Count>::F64 &to) {
  typename Lanes<Count>::Half halves[2];
  std::memcpy(halves, &from, sizeof halves);
  for (const auto &half : halves)
    to += __builtin_convertvector(half, typename Lanes<Count>::F64);
}

/// Moments of one block by quickExp(): token i is added to lane i % 16.
template <int Count, size_t Vectors>
EFFC_INLINE static void
addMoments(const float *block, const Distance &distance,
           typename Lanes<Count>::F64 (&masses)[Vectors],
           typename Lanes<Count>::F64 (&distances)[Vectors]) {
  using F64 = typename Lanes<Count>::F64;
  static_assert(Count * Vectors == 16 && LogitRow::kBlock % 16 == 0);
  for (size_t i = 0; i < LogitRow::kBlock; i += Count * Vectors)
    for (size_t v = 0; v < Vectors; ++v) {
      typename Lanes<Count>::Half logits;
      load(block + i + v * Count, logits);
      F64 x = (__builtin_convertvector(logits, F64) - distance.best) *
              distance.inverse;
      F64 weights;
      quickExps<Count>(x, weights);
      masses[v] += weights;
      distances[v] += weights > Moments::kLeastWeight ? weights * x : F64{};
    }
}

template <int Count>
EFFC_INLINE static RoughMoments
momentsOf(const float *row, const float *maxima, size_t blocks,
          const Distance &distance, double nearly, double farthest) {
  using L = Lanes<Count>;
  constexpr size_t kVectors = 16 / Count;
  auto best = static_cast<float>(distance.best),
       inverse = static_cast<float>(distance.inverse * QuickExp::kLog2e);
  float nearest = leastWithin(distance, nearly),
        least = leastWithin(distance, farthest);
  typename L::F64 masses[kVectors] = {}, distances[kVectors] = {},
                  farMasses = {}, farDistances = {};
  // So few blocks that their sums in f32 are rounded by less than 2^-17.
  constexpr size_t kTogether = 64;
  for (size_t first = 0; first < blocks; first += kTogether) {
    typename L::F32 roughMasses[2] = {}, roughDistances[2] = {};
    bool isRough = false;
    for (size_t b = first; b < std::min(blocks, first + kTogether); ++b) {
      if (maxima[b] < least)
        continue;
      const float *block = row + b * LogitRow::kBlock;
      if (maxima[b] >= nearest) {
        addMoments<Count>(block, distance, masses, distances);
        continue;
      }
      isRough = true;
      addRoughMoments<Count>(block, best, inverse, roughMasses, roughDistances);
    }
    if (!isRough)
      continue;
    for (size_t half = 0; half < 2; ++half) {
      addHalves<Count>(roughMasses[half], farMasses);
      addHalves<Count>(roughDistances[half], farDistances);
    }
  }
  RoughMoments all;
  for (size_t v = 0; v < kVectors; ++v)
    for (size_t i = 0; i < Count; ++i) {
      all.near.mass += masses[v][i];
      all.near.distances += distances[v][i];
    }
  constexpr double kLn2 = 0x1.62e42fefa39efp-1;
  for (size_t i = 0; i < Count; ++i) {
    all.far.mass += farMasses[i];
    all.far.distances += kLn2 * farDistances[i];
  }
  return all;
}

/// Candidates in one vector of 64 bits each.
template <int Count>
EFFC_INLINE static void spreadVector(const Candidate *candidates,
                                     const Distance &distance, double expected,
                                     double scale, double (&weights)[Count],
                                     uint64_t (&places)[Count]) {
  using L = Lanes<Count>;
  using F64 = typename L::F64;
  typedef uint32_t Words __attribute__((vector_size(4 * Count)));
  static_assert(sizeof(Candidate) == 8 && offsetof(Candidate, logit) == 0 &&
                std::endian::native == std::endian::little);
  typename L::U64 packed;
  std::memcpy(&packed, candidates, sizeof packed);
  auto logits = reinterpret_cast<typename L::Half>(
      __builtin_convertvector(packed, Words));
  F64 x = __builtin_convertvector(logits, F64);
  // As Distance::of().
  x = x == distance.best ? F64{} : (x - distance.best) * distance.inverse;
  F64 found;
  quickExps<Count>(x, found);
  F64 apart = x - expected;
  apart = (apart < 0 ? -apart : apart) * scale;
  constexpr double kEnd = Buckets::kCount;
  apart = apart < kEnd ? apart : F64{} + kEnd;
  auto bits = reinterpret_cast<typename L::U64>(apart + QuickExp::kRound);
  bits &= Buckets::kPlaceBits;
  std::memcpy(weights, &found, sizeof weights);
  std::memcpy(places, &bits, sizeof places);
}

template <int Count>
EFFC_INLINE static void spreadOf(const Candidate *candidates, size_t count,
                                 const Distance &distance, Buckets &buckets) {
  double weights[Count];
  uint64_t places[Count];
  auto add = [&](const Candidate *from, size_t these)
                 __attribute__((always_inline)) {
                   spreadVector<Count>(from, distance, buckets.expected,
                                       buckets.scale, weights, places);
                   for (size_t k = 0; k < these; ++k) {
                     buckets.weights[places[k]] += weights[k];
                     ++buckets.counts[places[k]];
                   }
                 };
  size_t i = 0;
  for (; i + Count <= count; i += Count)
    add(candidates + i, Count);
  if (i == count)
    return;
  Candidate rest[Count] = {};
  std::copy(candidates + i, candidates + count, rest);
  add(rest, count - i);
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

/// exp(x) for x <= 0 times a factor of 1 to 1.0615, or a little more than that of -87:
/// the whole part of x / ln 2 is the exponent of a float, and what follows its mantissa.
template <int Count>
EFFC_INLINE static void coarseExp(typename Lanes<Count>::F32 x,
                                  typename Lanes<Count>::F32 &result) {
  using L = Lanes<Count>;
  constexpr float kLog2e = 0x1.715476p0f, kBias = 127;
  typename L::F32 bits = x * (kLog2e * 0x1p23f) + kBias * 0x1p23f;
  bits = bits > 0 ? bits : typename L::F32{};
  result = reinterpret_cast<typename L::F32>(
      __builtin_convertvector(bits, typename L::I32));
}

/// The sum of coarseExp() in one block, added to `sums`.
template <int Count>
EFFC_INLINE static void addCoarsely(const float *block, float best,
                                    float inverse,
                                    typename Lanes<Count>::F32 (&sums)[2]) {
  using L = Lanes<Count>;
  for (size_t i = 0; i < LogitRow::kBlock; i += 2 * L::kFloats)
    for (size_t half = 0; half < 2; ++half) {
      typename L::F32 logits, weights;
      load(block + i + half * L::kFloats, logits);
      coarseExp<Count>((logits - best) * inverse, weights);
      sums[half] += weights;
    }
}

/// The same of roughExp().
template <int Count>
EFFC_INLINE static void addRoughly(const float *block, float best,
                                   float inverse,
                                   typename Lanes<Count>::F64 (&sums)[2]) {
  using L = Lanes<Count>;
  typename L::F32 sum = {};
  for (size_t i = 0; i < LogitRow::kBlock; i += L::kFloats) {
    typename L::F32 logits, weights;
    load(block + i, logits);
    roughExp<Count>((logits - best) * inverse, weights);
    sum += weights;
  }
  typename L::Half halves[2];
  std::memcpy(halves, &sum, sizeof halves);
  for (size_t half = 0; half < 2; ++half)
    sums[half] += __builtin_convertvector(halves[half], typename L::F64);
}

template <int Count>
EFFC_INLINE static RoughMass
roughMassOf(const float *row, const float *maxima, size_t blocks,
            const Distance &distance, double coarsely, double farthest) {
  using L = Lanes<Count>;
  auto best = static_cast<float>(distance.best),
       inverse = static_cast<float>(distance.inverse);
  auto logitAt = [&](double below) {
    return static_cast<float>(distance.best - below / distance.inverse);
  };
  float nearest = logitAt(coarsely), least = logitAt(farthest);
  typename L::F64 sums[2] = {};
  double far = 0;
  // So few blocks that their sums in f32 are rounded by less than 10^-3.
  constexpr size_t kTogether = 256;
  for (size_t first = 0; first < blocks; first += kTogether) {
    typename L::F32 coarse[2] = {};
    for (size_t b = first; b < std::min(blocks, first + kTogether); ++b) {
      const float *block = row + b * LogitRow::kBlock;
      if (maxima[b] >= nearest)
        addRoughly<Count>(block, best, inverse, sums);
      else if (maxima[b] >= least)
        addCoarsely<Count>(block, best, inverse, coarse);
    }
    for (size_t i = 0; i < L::kFloats; ++i)
      far += double(coarse[0][i]) + coarse[1][i];
  }
  double near = 0;
  for (size_t i = 0; i < Count; ++i)
    near += sums[0][i] + sums[1][i];
  // Of the factors of coarseExp() the middle, and how far they are from it.
  constexpr double kMiddle = 1.03075, kEitherSide = 0.03075 / kMiddle + 0.002;
  far /= kMiddle;
  return {near + far, near * 1e-5 + far * kEitherSide};
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
    attributes static RoughMass roughMass(const float *row,                    \
                                          const float *maxima, size_t blocks,  \
                                          const Distance &distance,            \
                                          double coarsely, double farthest) {  \
      return roughMassOf<Count>(row, maxima, blocks, distance, coarsely,       \
                                farthest);                                     \
    }                                                                          \
    attributes static RoughMoments moments(const float *row,                   \
                                           const float *maxima, size_t blocks, \
                                           const Distance &distance,           \
                                           double nearly, double farthest) {   \
      return momentsOf<Count>(row, maxima, blocks, distance, nearly,           \
                              farthest);                                       \
    }                                                                          \
    attributes static void spread(const Candidate *candidates, size_t count,   \
                                  const Distance &distance,                    \
                                  Buckets &buckets) {                          \
      spreadOf<Count>(candidates, count, distance, buckets);                   \
    }                                                                          \
    static constexpr RowPasses kPasses = {maxima,  race,   mass, roughMass,    \
                                          moments, spread, #Name};             \
  };                                                                           \
  }

EFFC_PASSES(Baseline, 2, sieve, )
#if defined(__x86_64__)
EFFC_PASSES(Avx2, 4, sieve256, __attribute__((target("avx2"))))
EFFC_PASSES(Avx512, 8, sieve512, __attribute__((target("avx512f"))))
EFFC_PASSES(Avx512Bytes, 8, sieveBytes512,
            __attribute__((target("avx512f,avx512bw,avx512vl,avx512vbmi2"))))
#endif

std::span<const RowPasses> effc::rt::allRowPasses() {
#if defined(__x86_64__)
  static const RowPasses passes[] = {Baseline::kPasses, Avx2::kPasses,
                                     Avx512::kPasses, Avx512Bytes::kPasses};
  size_t count = 1;
  if (__builtin_cpu_supports("avx2"))
    count = __builtin_cpu_supports("avx512f") ? 3 : 2;
  if (count == 3 && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512vbmi2"))
    count = 4;
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
