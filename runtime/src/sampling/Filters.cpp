#include "runtime/src/sampling/Filters.h"

#include <algorithm>
#include <cmath>
#include <optional>

using namespace effc::rt;

/// How far sums of quickExp() and those that are exact may lie apart, relative to
/// them: roundings of 2^20 terms, tokens that are passed over, and quickExp().
static constexpr double kApart = 1e-9;
/// The same of sums in f32.
static constexpr double kRoughlyApart = 1.5e-5;

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
      gatherWithin(kFarthest);
    if (filters.minP > 0)
      keepMinP();
    if (filters.typicalP > 0 && filters.typicalP < 1)
      keepTypical();
  }

private:
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
  bool cutByQuickSums(double total, double apart);
  void cutByExactSums();
  void keepMinP();
  void keepTypical();

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
    double total = row.roughMass(distance);
    // What lies farther weighs less than what may be left out, all together.
    double rest = (1 - filters.topP) * total;
    double farthest = std::log(static_cast<double>(row.size()) / rest) + 1;
    // Mostly few tokens near the best one have enough.
    constexpr double kNear = 5, kStep = 2;
    for (double near = kNear;; near += kStep) {
      kept.clear();
      gatherWithin(std::min(near, farthest));
      if (near >= farthest || quickSum() >= filters.topP * total * 1.01)
        break;
    }
    size_t gathered = kept.size();
    if (cutByQuickSums(total, kRoughlyApart))
      return;
    kept.cut(gathered); // in another order, which does not matter
    if (cutByQuickSums(row.mass(distance), kApart))
      return;
    kept.clear();
  }
  row.gather(-INFINITY, kept);
  cutByExactSums();
}

/// `total` is known but for a share `apart`. False where it stays open which tokens reach top_p.
bool Filters::Pass::cutByQuickSums(double total, double apart) {
  double least = filters.topP * total * (1 - apart);
  double most = filters.topP * total * (1 + apart);
  // The end of what is kept lies in [first, last); `sum` is that of all before.
  size_t first = 0, last = kept.size(), step = 64;
  double sum = 0;
  bool isBounded = false;
  while (last - first > 16) {
    size_t middle = isBounded ? first + (last - first) / 2
                              : std::min(first + step, last - 1);
    std::nth_element(kept.begin() + first, kept.begin() + middle,
                     kept.begin() + last, comesBefore);
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
  std::sort(kept.begin() + first, kept.begin() + last, comesBefore);
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

/// Keeps the tokens whose surprise is nearest to what is expected of it, up to the
/// one with which they reach typical_p, and those that are as near (Meister et
/// al., "Locally Typical Sampling", TACL 2023).
void Filters::Pass::keepTypical() {
  // Sums have one order, also where filters before have left another.
  auto byId = [](const Candidate &a, const Candidate &b) {
    return a.id < b.id;
  };
  if (!std::is_sorted(kept.begin(), kept.end(), byId))
    std::sort(kept.begin(), kept.end(), byId);
  double total = 0, expected = 0;
  for (const Candidate &candidate : kept) {
    double weight = quickWeight(candidate);
    total += weight;
    if (weight > 0x1p-900) // others lie so far that the product is no number
      expected += weight * distance.of(candidate.logit);
  }
  expected /= total;
  auto apart = [&](const Candidate &candidate) {
    return std::abs(distance.of(candidate.logit) - expected);
  };
  auto isNearer = [&](const Candidate &a, const Candidate &b) {
    double nearA = apart(a), nearB = apart(b);
    return nearA != nearB ? nearA < nearB : a.id < b.id;
  };
  size_t sorted = 0;
  double sum = 0;
  std::optional<double> last; // how far the last one is that is needed
  for (size_t i = 0; i < kept.size(); ++i) {
    if (i == sorted) {
      sorted = std::min(kept.size(), std::max<size_t>(256, 4 * sorted));
      std::partial_sort(kept.begin() + i, kept.begin() + sorted, kept.end(),
                        isNearer);
    }
    const Candidate &candidate = kept.begin()[i];
    if (last && apart(candidate) > *last)
      return kept.cut(i);
    sum += quickWeight(candidate);
    if (!last && sum >= filters.typicalP * total)
      last = apart(candidate);
  }
}

bool Filters::leaveOut(size_t vocabulary) const {
  return temperature > 0 && ((topK > 0 && topK < vocabulary) || topP < 1 ||
                             minP > 0 || (typicalP > 0 && typicalP < 1));
}

void Filters::apply(const LogitRow &row, Candidates &kept,
                    std::vector<float> &scratch) const {
  Pass(*this, row, kept, scratch).run();
}
