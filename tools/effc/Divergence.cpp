#include "tools/effc/Divergence.h"

#include <algorithm>
#include <bit>
#include <cmath>

using namespace effc::cli;

namespace {
struct Normalised {
  size_t choice; // place of the largest
  double shift;  // log of the sum of exp
};
} // namespace

static Normalised normalise(std::span<const float> logits) {
  auto most = std::max_element(logits.begin(), logits.end());
  double sum = 0;
  for (float logit : logits)
    sum += std::exp(double(logit) - double(*most));
  return {size_t(most - logits.begin()), double(*most) + std::log(sum)};
}

void Divergence::add(std::span<const float> own, std::span<const float> other) {
  Normalised a = normalise(own), b = normalise(other);
  double kl = 0;
  for (size_t i = 0; i < own.size(); ++i) {
    double logOther = double(other[i]) - b.shift;
    double share = std::exp(logOther);
    if (share > 0) // where it is 0, so is the term
      kl += share * (logOther - (double(own[i]) - a.shift));
  }
  ++rows;
  sumKl += kl;
  largestKl = std::max(largestKl, kl);
  same += a.choice == b.choice;
}

void Divergence::add(const Divergence &further) {
  rows += further.rows;
  sumKl += further.sumKl;
  largestKl = std::max(largestKl, further.largestKl);
  same += further.same;
  sumNll += further.sumNll;
}

static constexpr uint64_t kFirstBand = 16;

std::pair<uint64_t, uint64_t> Drift::rangeOf(size_t band) {
  uint64_t end = kFirstBand << band;
  return {band == 0 ? 0 : end / 2, end};
}

void Drift::add(uint64_t position, const Divergence &row) {
  auto band = size_t(std::bit_width(position / kFirstBand));
  bands.resize(std::max(bands.size(), band + 1));
  bands[band].add(row);
}

void Drift::add(const Drift &further) {
  bands.resize(std::max(bands.size(), further.bands.size()));
  for (size_t i = 0; i < further.bands.size(); ++i)
    bands[i].add(further.bands[i]);
}
