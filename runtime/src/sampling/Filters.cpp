#include "runtime/src/sampling/Filters.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

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
      keepTypical(momentsOfKept(), kFarthest);
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
  template <typename Apart>
  Part partByBuckets(double enough, double near, Apart apart);
  void cutByExactSums();
  void keepMinP();
  Moments momentsOfKept();
  void keepTypicalOfAll();
  void keepTypical(const Moments &moments, double near);

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

/// The nearest tokens are mostly few: those within 1 of what is expected are tried,
/// then within 2, and so on, until they are sure to have enough.
void Filters::Pass::keepTypicalOfAll() {
  if (!isTame()) {
    gatherWithin(kFarthest);
    return keepTypical(momentsOfKept(), kFarthest);
  }
  Moments moments = row.moments(distance);
  double expected = moments.distances / moments.mass;
  double enough = filters.typicalP * moments.mass * (1 + kApart);
  for (double near = 1;; near *= 2) {
    double farthest = std::min(near - expected, kFarthest);
    kept.clear();
    gatherWithin(farthest);
    if (farthest == kFarthest)
      return keepTypical(moments, near);
    double sum = 0;
    for (const Candidate &candidate : kept)
      if (std::abs(distance.of(candidate.logit) - expected) <= near)
        sum += quickWeight(candidate);
    if (sum >= enough)
      return keepTypical(moments, near);
  }
}

/// The part in which tokens reach `enough`, by `apart`, of which most are below
/// `near`: tokens are put in order but for those of 256 buckets.
template <typename Apart>
Filters::Pass::Part Filters::Pass::partByBuckets(double enough, double near,
                                                 Apart apart) {
  constexpr size_t kBuckets = 256, kFew = 512;
  if (kept.size() <= kFew)
    return wholePart();
  auto bucketOf = [&](const Candidate &candidate) {
    return static_cast<size_t>(
        std::min(apart(candidate) * (kBuckets / near), kBuckets - 1.0));
  };
  std::array<double, kBuckets> weights = {};
  for (const Candidate &candidate : kept)
    weights[bucketOf(candidate)] += quickWeight(candidate);
  size_t bucket = 0;
  double sum = 0;
  while (bucket < kBuckets - 1 && sum + weights[bucket] < enough)
    sum += weights[bucket++];
  Candidate *first =
      std::partition(kept.begin(), kept.end(), [&](const Candidate &each) {
        return bucketOf(each) < bucket;
      });
  Candidate *last =
      std::partition(first, kept.end(), [&](const Candidate &each) {
        return bucketOf(each) == bucket;
      });
  return {static_cast<size_t>(first - kept.begin()),
          static_cast<size_t>(last - kept.begin()), sum};
}

/// Keeps the tokens whose surprise is nearest to what is expected of it, up to the
/// one with which they reach typical_p, and those that are as near (Meister et
/// al., "Locally Typical Sampling", TACL 2023).
void Filters::Pass::keepTypical(const Moments &moments, double near) {
  double total = moments.mass, expected = moments.distances / total;
  auto apart = [&](const Candidate &candidate) {
    return std::abs(distance.of(candidate.logit) - expected);
  };
  auto isNearer = [&](const Candidate &a, const Candidate &b) {
    double nearA = apart(a), nearB = apart(b);
    return nearA != nearB ? nearA < nearB : a.id < b.id;
  };
  size_t all = kept.size();
  Part part =
      partByBuckets(filters.typicalP * total * (1 - kApart), near, apart);
  if (!cutByQuickSums(filters.typicalP, total, kApart, isNearer, part)) {
    kept.cut(all);
    std::sort(kept.begin(), kept.end(), isNearer);
    double sum = 0;
    for (size_t i = 0; i < all && sum < filters.typicalP * total; ++i) {
      sum += quickWeight(kept.begin()[i]);
      kept.cut(i + 1);
    }
  }
  // Of those behind, some may be as near as the last one.
  double last = apart(kept.end()[-1]);
  size_t count = kept.size();
  kept.cut(all);
  for (size_t i = count; i < all; ++i)
    if (apart(kept.begin()[i]) <= last)
      std::swap(kept.begin()[count++], kept.begin()[i]);
  kept.cut(count);
}

bool Filters::leaveOut(size_t vocabulary) const {
  return temperature > 0 && ((topK > 0 && topK < vocabulary) || topP < 1 ||
                             minP > 0 || (typicalP > 0 && typicalP < 1));
}

void Filters::apply(const LogitRow &row, Candidates &kept,
                    std::vector<float> &scratch) const {
  Pass(*this, row, kept, scratch).run();
}
