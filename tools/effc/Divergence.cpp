#include "tools/effc/Divergence.h"

#include <algorithm>
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
