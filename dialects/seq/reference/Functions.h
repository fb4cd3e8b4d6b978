// Scalar functions in the precision of their argument.
#ifndef EFFC_DIALECTS_SEQ_REFERENCE_FUNCTIONS_H
#define EFFC_DIALECTS_SEQ_REFERENCE_FUNCTIONS_H

#include <cmath>
#include <optional>

namespace effc::seq::reference {

template <typename S> S sigmoid(S x) { return S(1) / (S(1) + std::exp(-x)); }

template <typename S> S silu(S x) { return x * sigmoid(x); }

/// log(1 + e^x) without overflow.
template <typename S> S softplus(S x) {
  return std::fmax(x, S(0)) + std::log1p(std::exp(-std::fabs(x)));
}

/// `x` within bounds of which an absent one does not bind; NaN stays NaN.
template <typename S>
S clamp(S x, std::optional<double> lower, std::optional<double> upper) {
  if (lower && x < S(*lower))
    x = S(*lower);
  if (upper && x > S(*upper))
    x = S(*upper);
  return x;
}

} // namespace effc::seq::reference

#endif // EFFC_DIALECTS_SEQ_REFERENCE_FUNCTIONS_H
