// #seq.head_decays: the rules of public models, in double.
#include "dialects/seq/SeqAttributes.h"

#include <cmath>

using namespace mlir;
using namespace effc::seq;

LogicalResult
HeadDecaysAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                       DecayRule rule, int64_t layer, int64_t layers, bool) {
  std::string kind = "'" + stringifyDecayRule(rule).str() + "'";
  // Public models begin before the first one.
  int64_t first = rule == DecayRule::Alibi && layers > 0 ? -1 : 0;
  if (layers < 0 || layer < first || layer >= std::max<int64_t>(layers, 1))
    return emitError() << "expects 'layer' from " << first << " to "
                       << std::max<int64_t>(layers, 1) - 1 << ", but got "
                       << layer;
  if (rule == DecayRule::Retention && layers > 0)
    return emitError() << "expects no 'layers' for " << kind << ", but got "
                       << layers;
  if (rule == DecayRule::Linear && layers == 0)
    return emitError() << "expects 'layers' for " << kind;
  if ((rule == DecayRule::Alibi || rule == DecayRule::Lengths) && layers == 1)
    return emitError() << "expects 'layers' of at least 2 for " << kind
                       << ", but got 1";
  return success();
}

LogicalResult HeadDecaysAttr::verifyCount(
    int64_t count, function_ref<InFlightDiagnostic()> emitError) const {
  if (getRule() == DecayRule::Lengths && count < 2)
    return emitError() << "expects at least 2 heads for 'lengths', but got "
                       << count;
  return success();
}

// Slopes of a power of two of heads; of other numbers those of the power below
// and every other one of the power above.
static double alibiSlope(int64_t head, int64_t heads) {
  int64_t power = 1;
  while (2 * power <= heads)
    power *= 2;
  if (head < power)
    return std::exp2(-8.0 * double(head + 1) / double(power));
  return std::exp2(-8.0 * double(2 * (head - power) + 1) / double(2 * power));
}

SmallVector<double> HeadDecaysAttr::compute(int64_t heads) const {
  double layer = double(getLayer()), layers = double(getLayers());
  double factor = 1;
  if (getLayers() > 0)
    factor = getRule() == DecayRule::Powers
                 ? 1 - layer / (layers - 1 + 1e-5) + 1e-5
                 : 1 - layer / (layers - 1) + 1e-5;
  SmallVector<double> decays;
  for (int64_t h = 0; h < heads; ++h) {
    double share = double(h) / double(heads);
    double decay = 0;
    switch (getRule()) {
    case DecayRule::Retention:
      decay = std::log1p(-std::exp2(-5.0 - double(h)));
      break;
    case DecayRule::Alibi:
      decay = -factor * alibiSlope(h, heads);
      break;
    case DecayRule::Powers:
      decay = -factor * std::exp2(-8.0 * double(h + 1) / double(heads));
      break;
    case DecayRule::Lengths:
      decay = -factor / (2 * std::pow(128.0, double(h) / double(heads - 1)));
      break;
    case DecayRule::Linear:
      decay = -8 * share * (1 - layer / layers);
      break;
    }
    decays.push_back(getNegated() ? -decay : decay);
  }
  return decays;
}
