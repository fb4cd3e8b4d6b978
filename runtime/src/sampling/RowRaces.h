//===- RowRaces.h - The race of a row's tokens, in vectors -----------------===//
//
// A token that lies far below the best needs much noise to win, and thousands of tokens
// of real text may. Tokens near the best race first, so that hardly any
// better one is found later. Those farther below all need more noise than a certain one:
// their words are compared with one number, and few of them race at all.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_RUNTIME_SRC_SAMPLING_ROWRACES_H
#define EFFC_RUNTIME_SRC_SAMPLING_ROWRACES_H

#include "runtime/src/sampling/RowVectors.h"

#include <algorithm>
#include <cmath>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace effc::rt {

/// Tokens that have not lost, whatever their noise, and have not raced yet.
struct Sieved {
  static constexpr size_t kBlocks = 32;     // at a time
  static constexpr size_t kMostTokens = 64; // that race at once
  // What is left of the last blocks, these, and what a vector writes beyond.
  static constexpr size_t kRoom =
      kMostTokens + kBlocks * LogitRow::kBlock + kMostTokens;
  uint32_t ids[kRoom];
  size_t count = 0;

  /// Ends with tokens that are none, as many as race at once.
  void fill() { std::fill(ids + count, ids + count + kMostTokens, 0); }
  /// Leaves those from `at` on, which are fewer than race at once.
  void dropUntil(size_t at) {
    std::memmove(ids, ids + at, kMostTokens * sizeof *ids);
    count -= at;
  }
};

/// Adds the tokens of at least this logit, of the blocks from `first` to before `last`.
inline void sieve(const float *row, const float *maxima, size_t first,
                  size_t last, float least, Sieved &out) {
  size_t count = out.count;
  for (size_t b = first; b < last; ++b) {
    if (maxima[b] < least)
      continue;
    // Without a branch: which of them are in is hard to guess.
    for (size_t id = b * LogitRow::kBlock; id < (b + 1) * LogitRow::kBlock;
         ++id) {
      out.ids[count] = static_cast<uint32_t>(id);
      count += row[id] >= least;
    }
  }
  out.count = count;
}

#if defined(__x86_64__)
/// Of each eight bits those that are set, as eight bytes.
struct SetBits {
  uint64_t places[256];
};
inline constexpr SetBits kSetBits = [] {
  SetBits table = {};
  for (uint64_t bits = 0; bits < 256; ++bits)
    for (uint64_t bit = 0, count = 0; bit < 8; ++bit)
      if (bits >> bit & 1)
        table.places[bits] |= bit << (8 * count++);
  return table;
}();

__attribute__((target("avx2"))) inline void sieve256(const float *row,
                                                     const float *maxima,
                                                     size_t first, size_t last,
                                                     float least, Sieved &out) {
  const __m256 bound = _mm256_set1_ps(least);
  size_t count = out.count;
  for (size_t b = first; b < last; ++b) {
    if (maxima[b] < least)
      continue;
    for (size_t id = b * LogitRow::kBlock; id < (b + 1) * LogitRow::kBlock;
         id += 8) {
      auto isIn = static_cast<unsigned>(_mm256_movemask_ps(
          _mm256_cmp_ps(_mm256_loadu_ps(row + id), bound, _CMP_GE_OQ)));
      __m256i places = _mm256_cvtepu8_epi32(
          _mm_cvtsi64_si128(static_cast<int64_t>(kSetBits.places[isIn])));
      _mm256_storeu_si256(
          reinterpret_cast<__m256i *>(out.ids + count),
          _mm256_add_epi32(places, _mm256_set1_epi32(static_cast<int>(id))));
      count += static_cast<size_t>(__builtin_popcount(isIn));
    }
  }
  out.count = count;
}

/// Which blocks from `first` to before `last` have a token of at least the logit in all
/// of `least`, by bits.
__attribute__((target("avx512f"), always_inline)) inline uint32_t
blocksWith512(const float *maxima, size_t first, size_t last, __m512 least) {
  static_assert(Sieved::kBlocks <= 32);
  uint32_t isIn = 0;
  for (size_t b = first; b < last; b += 16) {
    auto isThere =
        static_cast<__mmask16>((1u << std::min<size_t>(16, last - b)) - 1);
    isIn |= static_cast<uint32_t>(_mm512_mask_cmp_ps_mask(
                isThere, _mm512_maskz_loadu_ps(isThere, maxima + b), least,
                _CMP_GE_OQ))
            << (b - first);
  }
  return isIn;
}

__attribute__((target("avx512f,popcnt"))) inline void
sieve512(const float *row, const float *maxima, size_t first, size_t last,
         float least, Sieved &out) {
  const __m512 bound = _mm512_set1_ps(least);
  const __m512i lanes =
      _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
  size_t count = out.count;
  // Which blocks are looked at is hard to guess too: bits of a word say.
  for (uint32_t isIn = blocksWith512(maxima, first, last, bound); isIn != 0;
       isIn &= isIn - 1) {
    size_t begin =
        (first + static_cast<size_t>(__builtin_ctz(isIn))) * LogitRow::kBlock;
    for (size_t id = begin; id < begin + LogitRow::kBlock; id += 16) {
      __mmask16 mask =
          _mm512_cmp_ps_mask(_mm512_loadu_ps(row + id), bound, _CMP_GE_OQ);
      __m512i ids =
          _mm512_add_epi32(lanes, _mm512_set1_epi32(static_cast<int>(id)));
      _mm512_storeu_si512(out.ids + count,
                          _mm512_maskz_compress_epi32(mask, ids));
      count += static_cast<size_t>(__builtin_popcount(mask));
    }
  }
  out.count = count;
}

/// The same where bytes can be put together: those of a whole block at once.
__attribute__((
    target("avx512f,avx512bw,avx512vl,avx512vbmi2,popcnt"))) inline void
sieveBytes512(const float *row, const float *maxima, size_t first, size_t last,
              float least, Sieved &out) {
  static_assert(LogitRow::kBlock == 32);
  const __m512 bound = _mm512_set1_ps(least);
  const __m256i places = _mm256_set_epi8(31, 30, 29, 28, 27, 26, 25, 24, 23, 22,
                                         21, 20, 19, 18, 17, 16, 15, 14, 13, 12,
                                         11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
  size_t count = out.count;
  for (uint32_t isIn = blocksWith512(maxima, first, last, bound); isIn != 0;
       isIn &= isIn - 1) {
    size_t begin =
        (first + static_cast<size_t>(__builtin_ctz(isIn))) * LogitRow::kBlock;
    const __m512i start = _mm512_set1_epi32(static_cast<int>(begin));
    __mmask32 mask = _mm512_kunpackw(
        _mm512_cmp_ps_mask(_mm512_loadu_ps(row + begin + 16), bound,
                           _CMP_GE_OQ),
        _mm512_cmp_ps_mask(_mm512_loadu_ps(row + begin), bound, _CMP_GE_OQ));
    __m256i these = _mm256_maskz_compress_epi8(mask, places);
    auto add = [&](size_t from,
                   __m128i sixteen) __attribute__((target("avx512f"))) {
      _mm512_storeu_si512(
          out.ids + count + from,
          _mm512_add_epi32(_mm512_maskz_cvtepu8_epi32(0xFFFF, sixteen), start));
    };
    add(0, _mm256_castsi256_si128(these));
    auto found = static_cast<size_t>(__builtin_popcount(mask));
    if (found > 16)
      add(16, _mm256_extracti128_si256(these, 1));
    count += found;
  }
  out.count = count;
}
#endif

/// The words that `ids` draw: `Vectors` times `Count` of them.
template <int Count, size_t Vectors>
EFFC_INLINE static void
drawWords(const uint32_t *ids, const Noise &noise,
          typename Lanes<Count>::U32 (&words)[Vectors / 2]) {
  using L = Lanes<Count>;
  // Two vectors of 64 bits for each of 32: tokens at even and odd places.
  typename L::U64 x[Vectors], y[Vectors];
  for (size_t v = 0; v < Vectors; v += 2) {
    std::memcpy(&x[v], ids + v * Count, sizeof x[v]);
    x[v + 1] = x[v] >> 32;
    y[v] = y[v + 1] = typename L::U64{} + noise.counter;
  }
  uint32_t key = noise.key;
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
  for (size_t v = 0; v < Vectors / 2; ++v)
    words[v] = reinterpret_cast<typename L::U32>((x[2 * v] & 0xFFFFFFFF) |
                                                 (x[2 * v + 1] << 32));
}

/// The words of the noises that are at least `need`, and of few below: as integers with
/// a sign they are below the number given. 0: any may be.
inline int32_t wordsOfNoise(double need) {
  // -ln(-ln u) <= -ln(1 - u), which the word leaves as (n + 1/2) / 2^32.
  constexpr double kLeastNeed = 3, kMargin = 0.01;
  if (!(need >= kLeastNeed))
    return 0;
  double most = expOfNegative(kMargin - need) * 0x1p32 + 1;
  return static_cast<int32_t>(INT32_MIN + static_cast<int64_t>(most));
}

/// The tokens of `in` that may win take part, all of which lie so far below the best
/// that their words have to be below `limit`. Returns how many had a turn.
template <int Count, size_t Vectors>
EFFC_INLINE static void raceBelow(const Sieved &in, size_t at, size_t end,
                                  const float *row, int32_t limit, Race &race) {
  using L = Lanes<Count>;
  typename L::U32 words[Vectors / 2];
  drawWords<Count, Vectors>(in.ids + at, race.noise, words);
  auto least = reinterpret_cast<typename L::I32>(words[0]);
  for (size_t v = 1; v < Vectors / 2; ++v) {
    auto other = reinterpret_cast<typename L::I32>(words[v]);
    least = other < least ? other : least;
  }
  if (!isAnySet<Count>(least < limit))
    return;
  int32_t each[Vectors * Count];
  std::memcpy(each, words, sizeof each);
  for (size_t i = 0; i < Vectors * Count && at + i < end; ++i)
    if (each[i] < limit)
      race.enter(row[in.ids[at + i]], static_cast<int32_t>(in.ids[at + i]));
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

/// The tokens of `in` from `at` to before `end` that may win take part, wherever they
/// lie.
template <int Count, size_t Vectors>
EFFC_INLINE static void raceAnywhere(const Sieved &in, size_t at, size_t end,
                                     const float *row, Race &race) {
  using L = Lanes<Count>;
  float logits[Vectors * Count];
  for (size_t i = 0; i < Vectors * Count; ++i)
    logits[i] = row[in.ids[at + i]];
  typename L::U32 words[Vectors / 2];
  drawWords<Count, Vectors>(in.ids + at, race.noise, words);
  typename L::I32 isIn[Vectors / 2], isAny = {};
  for (size_t v = 0; v < Vectors / 2; ++v) {
    typename L::F32 logit, bound;
    load(logits + v * L::kFloats, logit);
    noiseBound<Count>(words[v], bound);
    isIn[v] = logit * race.scale + bound >= race.best;
    isAny |= isIn[v];
  }
  if (!isAnySet<Count>(isAny))
    return;
  for (size_t i = 0; i < Vectors * Count && at + i < end; ++i)
    if (isIn[i / L::kFloats][i % L::kFloats])
      race.enter(logits[i], static_cast<int32_t>(in.ids[at + i]));
}

/// Calls `body` with the tokens of at least the logit `least()` as they come: a list, a
/// place in it from which on there are `Tokens`, and the end of those that are tokens.
template <size_t Tokens, auto Sieve, typename Least, typename Body>
EFFC_INLINE static void forEachGroup(const float *row, const float *maxima,
                                     size_t blocks, Least least, Body body) {
  static_assert(Tokens <= Sieved::kMostTokens);
  Sieved sieved;
  for (size_t b = 0; b < blocks; b += Sieved::kBlocks) {
    Sieve(row, maxima, b, std::min(blocks, b + Sieved::kBlocks), least(),
          sieved);
    size_t at = 0;
    for (; at + Tokens <= sieved.count; at += Tokens)
      body(sieved, at, sieved.count);
    // What is left races with tokens of the next blocks.
    if (at > 0)
      sieved.dropUntil(at);
  }
  if (sieved.count == 0)
    return;
  sieved.fill();
  body(sieved, 0, sieved.count);
}

template <int Count, auto Sieve>
EFFC_INLINE static void raceOf(const float *row, const float *maxima,
                               size_t blocks, Race &given) {
  // In flight at once, as far as there are registers: a round waits for its product.
  constexpr size_t kVectors = Count == 8 ? 8 : 4, kTokens = kVectors * Count;
  Race race = given;
  auto anywhere = [&](const Sieved &in, size_t at, size_t end)
                      __attribute__((always_inline)) {
                        raceAnywhere<Count, kVectors>(in, at, end, row, race);
                      };
  // More noise has one of 10,000 tokens.
  constexpr float kNear = 9;
  float near = race.logitAt(kNear);
  uint32_t nearBlocks = 0;
  for (size_t b = 0; b < blocks; ++b)
    nearBlocks += maxima[b] >= near;
  int32_t limit = 0;
  // Flat rows have all tokens near, and race once.
  if (nearBlocks <= blocks / 4) {
    forEachGroup<kTokens, Sieve>(
        row, maxima, blocks, [&] { return near; }, anywhere);
    limit = wordsOfNoise(race.leastNoiseUpTo(near));
  }
  if (limit == 0) {
    // Where many tokens are as good as the best, the winner has much noise.
    float top = blocks > 0 ? *std::max_element(maxima, maxima + blocks) : 0;
    float known = NAN;
    forEachGroup<kTokens, Sieve>(
        row, maxima, blocks, [&] { return race.logitAt(Noise::kMost); },
        [&](const Sieved &in, size_t at, size_t end)
            __attribute__((always_inline)) {
              if (race.best != known) {
                known = race.best;
                limit = wordsOfNoise(race.leastNoiseUpTo(top));
              }
              if (limit != 0)
                raceBelow<Count, kVectors>(in, at, end, row, limit, race);
              else
                anywhere(in, at, end);
            });
  } else {
    float least = race.logitAt(Noise::kMost);
    forEachGroup<kTokens, Sieve>(
        row, maxima, blocks, [&] { return least; },
        [&](const Sieved &in, size_t at, size_t end)
            __attribute__((always_inline)) {
              raceBelow<Count, kVectors>(in, at, end, row, limit, race);
            });
  }
  given = race;
}

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_SAMPLING_ROWRACES_H
