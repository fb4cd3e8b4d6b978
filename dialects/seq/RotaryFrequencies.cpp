// #seq.rotary_frequencies: the rules of public configs, in double.
#include "dialects/seq/SeqAttributes.h"

#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace effc::seq;

static double numberOf(FloatAttr attr) { return attr.getValueAsDouble(); }

LogicalResult
RotaryFrequenciesAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                              RotaryScaling scaling, FloatAttr theta,
                              FloatAttr factor, int64_t originalContext,
                              int64_t plannedContext, FloatAttr low,
                              FloatAttr high, DenseF64ArrayAttr divisors) {
  std::string kind = "'" + stringifyRotaryScaling(scaling).str() + "'";
  if (!theta.getValue().isFinite() || numberOf(theta) <= 0)
    return emitError() << "expects a finite 'theta' above 0, but got " << theta;
  bool divides = scaling == RotaryScaling::Longrope ||
                 scaling == RotaryScaling::LongropeSteps;
  bool stretches = scaling != RotaryScaling::Default && !divides;
  if (stretches != bool(factor))
    return emitError() << "expects " << (stretches ? "a" : "no")
                       << " 'factor' for " << kind;
  if (factor && !(factor.getValue().isFinite() && numberOf(factor) >= 1))
    return emitError() << "expects a finite 'factor' of at least 1, but got "
                       << factor;
  bool ramps =
      scaling == RotaryScaling::Llama3 || scaling == RotaryScaling::Yarn;
  bool dynamic = scaling == RotaryScaling::Dynamic,
       steps = scaling == RotaryScaling::DynamicSteps;
  bool changes = steps || scaling == RotaryScaling::LongropeSteps;
  if ((ramps || dynamic || changes) && originalContext < 1)
    return emitError() << "expects 'original_context' of at least 1 for "
                       << kind << ", but got " << originalContext;
  if (dynamic && plannedContext < 1)
    return emitError() << "expects 'planned_context' of at least 1 for " << kind
                       << ", but got " << plannedContext;
  if (steps && plannedContext != 0)
    return emitError() << "expects no 'planned_context' for " << kind
                       << ", but got " << plannedContext;
  if (ramps != bool(low) || ramps != bool(high))
    return emitError() << "expects " << (ramps ? "" : "no ")
                       << "'low' and 'high' for " << kind;
  if (ramps && !(numberOf(low) > 0 && numberOf(high) > 0 &&
                 numberOf(low) != numberOf(high)))
    return emitError()
           << "expects 'low' and 'high' above 0 that differ, but got " << low
           << " and " << high;
  if (divides != bool(divisors))
    return emitError() << "expects " << (divides ? "" : "no ")
                       << "'divisors' for " << kind;
  if (divisors && !llvm::all_of(divisors.asArrayRef(),
                                [](double divisor) { return divisor > 0; }))
    return emitError() << "expects 'divisors' above 0, but got " << divisors;
  return success();
}

// The share of the stretched frequency in each pair's: a ramp from the pair
// that turns `fast` times in the original context to the one that turns `slow`
// times. The pair that turns n times has theta^(i / P) = o / (2 pi n).
static SmallVector<double> yarnShares(RotaryFrequenciesAttr attr,
                                      int64_t pairs) {
  auto pairOf = [&](double turns) {
    return double(pairs) *
           std::log(double(attr.getOriginalContext()) / (turns * 2 * M_PI)) /
           std::log(numberOf(attr.getTheta()));
  };
  double first = std::max(std::floor(pairOf(numberOf(attr.getHigh()))), 0.0);
  double last = std::min(std::ceil(pairOf(numberOf(attr.getLow()))),
                         double(2 * pairs - 1));
  if (first == last)
    last += 0.001; // a step, as public code has it
  SmallVector<double> shares;
  for (int64_t i = 0; i < pairs; ++i)
    shares.push_back(
        std::clamp((double(i) - first) / (last - first), 0.0, 1.0));
  return shares;
}

LogicalResult RotaryFrequenciesAttr::verifyCount(
    int64_t count, function_ref<InFlightDiagnostic()> emitError) const {
  bool both = getScaling() == RotaryScaling::LongropeSteps;
  if (getDivisors() && getDivisors().size() != (both ? 2 * count : count))
    return emitError() << "expects " << (both ? "two divisors" : "a divisor")
                       << " for each of the " << count
                       << " frequencies, but got " << getDivisors().size();
  return success();
}

bool RotaryFrequenciesAttr::hasRows() const {
  return getScaling() == RotaryScaling::DynamicSteps ||
         getScaling() == RotaryScaling::LongropeSteps;
}

SmallVector<double> RotaryFrequenciesAttr::compute(int64_t pairs) const {
  return computeRow(/*position=*/0, pairs);
}

SmallVector<double> RotaryFrequenciesAttr::computeRow(int64_t position,
                                                      int64_t pairs) const {
  double theta = numberOf(getTheta());
  double factor = getFactor() ? numberOf(getFactor()) : 1;
  double original = double(getOriginalContext());
  bool steps = getScaling() == RotaryScaling::DynamicSteps;
  if (getScaling() == RotaryScaling::Dynamic || steps) {
    int64_t length = steps ? position + 1 : getPlannedContext();
    double context = std::max(double(length), original);
    theta *= std::pow(factor * context / original - (factor - 1),
                      double(pairs) / double(pairs - 1));
  }
  SmallVector<double> shares;
  if (getScaling() == RotaryScaling::Yarn)
    shares = yarnShares(*this, pairs);
  SmallVector<double> frequencies;
  for (int64_t i = 0; i < pairs; ++i) {
    double f = std::pow(theta, -double(i) / double(pairs));
    switch (getScaling()) {
    case RotaryScaling::Default:
    case RotaryScaling::Dynamic:
    case RotaryScaling::DynamicSteps:
      break;
    case RotaryScaling::Linear:
      f /= factor;
      break;
    case RotaryScaling::Llama3: {
      double low = numberOf(getLow()), high = numberOf(getHigh());
      double kept = std::clamp((original * f / (2 * M_PI) - low) / (high - low),
                               0.0, 1.0);
      f = (1 - kept) * f / factor + kept * f;
      break;
    }
    case RotaryScaling::Yarn:
      f = shares[i] * f / factor + (1 - shares[i]) * f;
      break;
    case RotaryScaling::Longrope:
      f /= getDivisors()[i];
      break;
    case RotaryScaling::LongropeSteps:
      f /= getDivisors()[position < getOriginalContext() ? i : pairs + i];
      break;
    }
    frequencies.push_back(f);
  }
  return frequencies;
}
