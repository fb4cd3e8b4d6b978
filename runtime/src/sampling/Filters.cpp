#include "runtime/src/sampling/Filters.h"

#include "runtime/src/sampling/RowPasses.h"

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace effc::rt;

/// How far sums of quickExp() and those that are exact may lie apart, relative to
/// them: roundings of 2^20 terms, tokens that are passed over, and quickExp().
static constexpr double kApart = 1e-9;
/// What the error of a rough sum is beside it, and the same of sums of quickExp(), which
/// it is compared with.
static double apartOf(const RoughMass &mass) {
  return 1.5 * mass.error / mass.sum + kApart;
}

static bool comesBefore(const Candidate &a, const Candidate &b) {
  return a.comesBefore(b);
}

/// typical_p looks no farther: what is below 2^-51 of the best one adds nothing.
static constexpr double kFarthest = 36;

/// The filters over one row.
class Filters::Pass {
public:
  Pass(const Filters &filters, const LogitRow &row, Candidates &kept,
       std::vector<float> &scratch)
      : filters(filters), row(row), kept(kept), scratch(scratch),
        distance{row.best().logit, 1.0 / filters.temperature} {}

  void run() {
    kept.clear();
    if (keepsFew())
      keepTopK();
    else if (filters.topP < 1)
      keepTopPOfAll();
    else if (filters.minP > 0)
      gatherWithin(-std::log(double(filters.minP)));
    else
      return keepTypicalOfAll();
    if (filters.minP > 0)
      keepMinP();
    if (isTypical())
      keepTypicalOfKept();
  }

private:
  bool isTypical() const {
    return filters.typicalP > 0 && filters.typicalP < 1;
  }
  bool keepsFew() const {
    return filters.topK > 0 && filters.topK < row.size();
  }
  double exactWeight(const Candidate &candidate) const {
    return expOfNegative(distance.of(candidate.logit));
  }
  double quickWeight(const Candidate &candidate) const {
    return quickExp(distance.of(candidate.logit));
  }
  double quickSum() const {
    double sum = 0;
    for (const Candidate &candidate : kept)
      sum += quickWeight(candidate);
    return sum;
  }
  /// Whether quick sums say anything: no overflow, and units that can be told
  /// apart.
  bool isTame() const {
    return std::isfinite(row.best().logit) && filters.temperature > 0x1p-40f &&
           filters.temperature < 0x1p40f;
  }

  void gatherWithin(double farthest);
  void keepTopK();
  void keepTopPOfAll();
  /// Where the last token that is kept lies: in [first, last); `sum` is the weight of
  /// all before.
  struct Part {
    size_t first, last;
    double sum;
  };
  Part wholePart() const { return {0, kept.size(), 0}; }
  template <typename Order>
  bool cutByQuickSums(double share, double total, double apart, Order order,
                      Part part);
  void cutByExactSums();
  void keepMinP();
  Moments momentsOfKept();
  /// What is known of the distance that is expected, and of the weight of all.
  struct Expected {
    double distance, error; // it may be off by so much
    double mass, apart;     // and by this share

    explicit Expected(const Moments &exact)
        : distance(exact.distances / exact.mass), error(0), mass(exact.mass),
          apart(kApart) {}
    explicit Expected(const RoughMoments &rough)
        : distance(rough.distances() / rough.mass()), error(0),
          mass(rough.mass()), apart(kApart) {
      if (rough.areExact())
        return;
      double off = RoughMoments::kError * rough.far.mass / mass;
      apart += 1.5 * off;
      // Terms are off by a share of themselves, of their weights and their sum.
      error = 1.5 * (RoughMoments::kError * -rough.far.distances / mass -
                     off * distance) +
              kApart;
    }
  };
  void keepTypicalOfAll();
  void keepTypicalOfKept();
  bool keepTypicalWithin(const Expected &expected, double &near);
  /// The bucket in which tokens reach what is asked for, and what those before weigh.
  struct Last {
    size_t bucket;
    double before;
  };
  Last placeOfLast(const Expected &expected, const Buckets &buckets) const;
  bool isLikelyOpen(const Expected &expected, const Buckets &buckets,
                    const Last &last) const;
  Part partOf(const Buckets &buckets, const Last &last);
  bool keepTypical(const Expected &expected, const Buckets &buckets,
                   const Last &place, double reach);
  bool isSurelyLast(const Expected &expected, const Buckets &buckets,
                    size_t count, double reach);

  const Filters &filters;
  const LogitRow &row;
  Candidates &kept;
  std::vector<float> &scratch;
  Distance distance;
};

/// Gathers the tokens that lie at most so far below the best, and perhaps some
/// more.
void Filters::Pass::gatherWithin(double farthest) {
  if (!isTame() || !std::isfinite(farthest))
    return row.gather(-INFINITY, kept);
  auto least = static_cast<float>(distance.best -
                                  (farthest + 0x1p-10) * filters.temperature);
  // It may have been rounded up.
  row.gather(std::nextafter(least, -INFINITY), kept);
}

/// The tokens of the k largest are among those that reach what the k largest
/// blocks reach.
void Filters::Pass::keepTopK() {
  row.gather(row.reachedBy(filters.topK, scratch), kept);
  std::nth_element(kept.begin(), kept.begin() + filters.topK - 1, kept.end(),
                   comesBefore);
  kept.cut(filters.topK);
  if (filters.topP < 1)
    cutByExactSums();
}

/// Keeps the likeliest tokens up to the one with which they reach top_p.
void Filters::Pass::keepTopPOfAll() {
  if (isTame()) {
    // Most tokens lie far below the best, and weigh little together.
    constexpr double kCoarsely = 11, kRoughly = 2e-5;
    RoughMass rough = row.roughMass(distance, kCoarsely);
    double total = rough.sum, most = total + rough.error;
    // What lies farther weighs less than what may be left out, all together.
    double rest = (1 - filters.topP) * total;
    double farthest = std::log(static_cast<double>(row.size()) / rest) + 1;
    // Mostly few tokens near the best one have enough.
    constexpr double kNear = 5, kStep = 2;
    for (double near = kNear;; near += kStep) {
      kept.clear();
      gatherWithin(std::min(near, farthest));
      if (near >= farthest || quickSum() >= filters.topP * most * 1.01)
        break;
    }
    size_t gathered = kept.size();
    if (cutByQuickSums(filters.topP, total, apartOf(rough), comesBefore,
                       wholePart()))
      return;
    kept.cut(gathered); // in another order, which does not matter
    if (rough.error > kRoughly * rough.sum) {
      rough = row.roughMass(distance, kFarthest);
      if (cutByQuickSums(filters.topP, rough.sum, apartOf(rough), comesBefore,
                         wholePart()))
        return;
      kept.cut(gathered);
    }
    if (cutByQuickSums(filters.topP, row.mass(distance), kApart, comesBefore,
                       wholePart()))
      return;
    kept.clear();
  }
  row.gather(-INFINITY, kept);
  cutByExactSums();
}

/// Keeps the first tokens in `order` up to the one with which they reach `share` of
/// `total`, which is known but for a share `apart`. False where it stays open which
/// tokens those are.
template <typename Order>
bool Filters::Pass::cutByQuickSums(double share, double total, double apart,
                                   Order order, Part part) {
  double least = share * total * (1 - apart);
  double most = share * total * (1 + apart);
  auto [first, last, sum] = part;
  size_t step = 64;
  bool isBounded = false;
  while (last - first > 16) {
    size_t middle = isBounded ? first + (last - first) / 2
                              : std::min(first + step, last - 1);
    std::nth_element(kept.begin() + first, kept.begin() + middle,
                     kept.begin() + last, order);
    double more = 0;
    for (size_t i = first; i < middle; ++i)
      more += quickWeight(kept.begin()[i]);
    if (sum + more < least) {
      sum += more;
      first = middle;
      step *= 4;
    } else {
      last = middle;
      isBounded = true;
    }
  }
  std::sort(kept.begin() + first, kept.begin() + last, order);
  for (size_t i = first; i < last; ++i) {
    sum += quickWeight(kept.begin()[i]);
    if (sum < least)
      continue;
    kept.cut(i + 1);
    return sum >= most;
  }
  return false;
}

void Filters::Pass::cutByExactSums() {
  // Of all tokens, sums are taken in the order of ids, in which they stand.
  bool isSorted = filters.topK > 0;
  if (isSorted)
    std::sort(kept.begin(), kept.end(), comesBefore);
  double total = 0, sum = 0;
  for (const Candidate &candidate : kept)
    total += exactWeight(candidate);
  // Few are kept as a rule: sort only as far as needed.
  size_t sorted = isSorted ? kept.size() : 0;
  for (size_t i = 0; i < kept.size(); ++i) {
    if (i == sorted) {
      sorted = std::min(kept.size(), std::max<size_t>(256, 4 * sorted));
      std::partial_sort(kept.begin() + i, kept.begin() + sorted, kept.end(),
                        comesBefore);
    }
    sum += exactWeight(kept.begin()[i]);
    if (sum >= filters.topP * total)
      return kept.cut(i + 1);
  }
}

void Filters::Pass::keepMinP() {
  double least = filters.minP;
  Candidate *end =
      std::remove_if(kept.begin(), kept.end(), [&](const Candidate &candidate) {
        double weight = quickWeight(candidate);
        if (std::abs(weight - least) <= kApart * least || weight < 0x1p-900)
          weight = exactWeight(candidate);
        return weight < least;
      });
  kept.cut(static_cast<size_t>(end - kept.begin()));
}

/// Of what filters before have left. Sums have one order, also where those filters
/// have left another.
Moments Filters::Pass::momentsOfKept() {
  auto byId = [](const Candidate &a, const Candidate &b) {
    return a.id < b.id;
  };
  if (!std::is_sorted(kept.begin(), kept.end(), byId))
    std::sort(kept.begin(), kept.end(), byId);
  Moments moments;
  for (const Candidate &candidate : kept)
    moments.add(quickWeight(candidate), distance.of(candidate.logit));
  return moments;
}

/// What is expected is mostly known well enough from rough sums.
void Filters::Pass::keepTypicalOfAll() {
  if (!isTame()) {
    gatherWithin(kFarthest);
    return keepTypicalOfKept();
  }
  constexpr double kNearly = 8;
  RoughMoments moments = row.moments(distance, kNearly);
  Expected first(moments);
  // In flat rows all tokens are that near; the best one of others weighs more than what
  // may be left out.
  double near = std::clamp(-2 * first.distance, 0x1p-20, 1.0);
  if ((1 - filters.typicalP) * first.mass < 1)
    near = std::max(near, -1.01 * first.distance);
  if (!moments.areExact()) {
    if (keepTypicalWithin(first, near))
      return;
    moments = row.moments(distance, kFarthest);
  }
  keepTypicalWithin(Expected(moments), near);
}

void Filters::Pass::keepTypicalOfKept() {
  Expected expected(momentsOfKept());
  Buckets buckets(expected.distance, kFarthest);
  rowPasses().spread(kept.begin(), kept.size(), distance, buckets);
  keepTypical(expected, buckets, placeOfLast(expected, buckets), kFarthest);
}

/// The nearest tokens are mostly few: those within `near` of what is expected are tried,
/// then within twice as much, and so on, until they are sure to have enough. False where
/// it stays open which tokens those are.
bool Filters::Pass::keepTypicalWithin(const Expected &expected, double &near) {
  double enough = filters.typicalP * expected.mass * (1 + expected.apart);
  for (;; near = std::max(1.0, 2 * near)) {
    double farthest = std::min(near - expected.distance, kFarthest);
    kept.clear();
    gatherWithin(farthest);
    Buckets buckets(expected.distance, near);
    rowPasses().spread(kept.begin(), kept.size(), distance, buckets);
    double sum = std::accumulate(buckets.weights,
                                 buckets.weights + Buckets::kCount, 0.0);
    if (sum < enough && farthest < kFarthest)
      continue;
    Last last = placeOfLast(expected, buckets);
    return !isLikelyOpen(expected, buckets, last) &&
           keepTypical(expected, buckets, last, farthest + expected.distance);
  }
}

Filters::Pass::Last Filters::Pass::placeOfLast(const Expected &expected,
                                               const Buckets &buckets) const {
  double enough = filters.typicalP * expected.mass * (1 - expected.apart);
  Last last = {0, 0};
  while (last.bucket < Buckets::kCount &&
         last.before + buckets.weights[last.bucket] < enough)
    last.before += buckets.weights[last.bucket++];
  return last;
}

/// Whether it is not worth while to look which token is the last: others may well be as
/// near, where many are, or what is asked for may end at another, where each weighs
/// little.
bool Filters::Pass::isLikelyOpen(const Expected &expected,
                                 const Buckets &buckets,
                                 const Last &last) const {
  constexpr double kLikely = 0.2;
  double count = buckets.counts[last.bucket];
  double tokens = count * buckets.scale * 4 * expected.error;
  double sums = count / buckets.weights[last.bucket] * 2 * filters.typicalP *
                expected.mass * expected.apart;
  return expected.error > 0 && tokens + sums > kLikely;
}

/// The part in which tokens reach what is asked for: they are put in order but for
/// those of one bucket.
Filters::Pass::Part Filters::Pass::partOf(const Buckets &buckets,
                                          const Last &last) {
  constexpr size_t kFew = 64;
  if (kept.size() <= kFew)
    return wholePart();
  auto bucketOf = [&](const Candidate &candidate) {
    return buckets.placeOf(buckets.apart(distance.of(candidate.logit)));
  };
  Candidate *first =
      std::partition(kept.begin(), kept.end(), [&](const Candidate &each) {
        return bucketOf(each) < last.bucket;
      });
  Candidate *end =
      std::partition(first, kept.end(), [&](const Candidate &each) {
        return bucketOf(each) == last.bucket;
      });
  return {static_cast<size_t>(first - kept.begin()),
          static_cast<size_t>(end - kept.begin()), last.before};
}

/// Whether the last of `count` tokens stays the farthest of these, and all others
/// farther, wherever within its error the expected distance lies.
bool Filters::Pass::isSurelyLast(const Expected &expected,
                                 const Buckets &buckets, size_t count,
                                 double reach) {
  auto apart = [&](size_t i) {
    return buckets.apart(distance.of(kept.begin()[i].logit));
  };
  double before = 0, behind = reach;
  for (size_t i = 0; i + 1 < count; ++i)
    before = std::max(before, apart(i));
  for (size_t i = count; i < kept.size(); ++i)
    behind = std::min(behind, apart(i));
  double last = apart(count - 1), least = 2 * expected.error;
  return behind - last > least && (count == 1 || last - before > least);
}

/// Keeps the tokens whose surprise is nearest to what is expected of it, up to the
/// one with which they reach typical_p, and those that are as near (Meister et
/// al., "Locally Typical Sampling", TACL 2023). All that are apart by less than `reach`
/// are there. False where it stays open which tokens those are.
bool Filters::Pass::keepTypical(const Expected &expected,
                                const Buckets &buckets, const Last &place,
                                double reach) {
  auto apart = [&](const Candidate &candidate) {
    return buckets.apart(distance.of(candidate.logit));
  };
  auto isNearer = [&](const Candidate &a, const Candidate &b) {
    double nearA = apart(a), nearB = apart(b);
    return nearA != nearB ? nearA < nearB : a.id < b.id;
  };
  size_t all = kept.size();
  Part part = partOf(buckets, place);
  // Where all of the bucket are as near they stay together: nobody need be the last.
  bool isReached = place.before + buckets.weights[place.bucket] >=
                   filters.typicalP * expected.mass * (1 + expected.apart);
  bool isCut = true;
  auto isAsNear = [&](const Candidate &each) {
    return apart(each) == apart(kept.begin()[part.first]);
  };
  if (expected.error == 0 &&
      buckets.counts[place.bucket] == part.last - part.first && isReached &&
      std::all_of(kept.begin() + part.first, kept.begin() + part.last,
                  isAsNear))
    kept.cut(part.last);
  else
    isCut = cutByQuickSums(filters.typicalP, expected.mass, expected.apart,
                           isNearer, part);
  size_t count = kept.size();
  kept.cut(all);
  if (expected.error > 0) {
    if (!isCut || !isSurelyLast(expected, buckets, count, reach))
      return false;
    kept.cut(count);
    return true;
  }
  if (!isCut) {
    std::sort(kept.begin(), kept.end(), isNearer);
    double sum = 0;
    for (count = 0; count < all && sum < filters.typicalP * expected.mass;
         ++count)
      sum += quickWeight(kept.begin()[count]);
  }
  // Of those behind, some may be as near as the last one.
  double last = apart(kept.begin()[count - 1]);
  for (size_t i = count; i < all; ++i)
    if (apart(kept.begin()[i]) <= last)
      std::swap(kept.begin()[count++], kept.begin()[i]);
  kept.cut(count);
  return true;
}

bool Filters::leaveOut(size_t vocabulary) const {
  return temperature > 0 && ((topK > 0 && topK < vocabulary) || topP < 1 ||
                             minP > 0 || (typicalP > 0 && typicalP < 1));
}

void Filters::apply(const LogitRow &row, Candidates &kept,
                    std::vector<float> &scratch) const {
  Pass(*this, row, kept, scratch).run();
}
