// Scalar functions in the precision of their argument.
#ifndef EFFC_DIALECTS_SEQ_REFERENCE_FUNCTIONS_H
#define EFFC_DIALECTS_SEQ_REFERENCE_FUNCTIONS_H

#include "dialects/seq/SeqAttributes.h"

#include <cmath>
#include <optional>

namespace effc::seq::reference {

template <typename S> S sigmoid(S x) { return S(1) / (S(1) + std::exp(-x)); }

template <typename S> S silu(S x) { return x * sigmoid(x); }

/// log(1 + e^x) without overflow.
template <typename S> S softplus(S x) {
  return std::fmax(x, S(0)) + std::log1p(std::exp(-std::fabs(x)));
}

/// The larger of two numbers; NaN where one of them is NaN.
template <typename S> S larger(S a, S b) {
  return std::isnan(a) || a > b ? a : b;
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

/// x times the probability that a standard normal number is below x.
template <typename S> S gelu(S x) {
  return S(0.5) * x * std::erfc(-x * S(0.70710678118654752440));
}

/// The approximation of gelu by tanh that public models name `gelu_tanh`.
template <typename S> S geluTanh(S x) {
  S inner = S(0.79788456080286535588) * (x + S(0.044715) * x * x * x);
  return S(0.5) * x * (S(1) + std::tanh(inner));
}

/// max(x, 0); NaN stays NaN.
template <typename S> S relu(S x) { return x < S(0) ? S(0) : x; }

template <typename S> S apply(Nonlinearity kind, S x) {
  switch (kind) {
  case Nonlinearity::Identity:
    return x;
  case Nonlinearity::Silu:
    return silu(x);
  case Nonlinearity::Gelu:
    return gelu(x);
  case Nonlinearity::GeluTanh:
    return geluTanh(x);
  case Nonlinearity::Relu:
    return relu(x);
  case Nonlinearity::SquaredRelu:
    return relu(x) * relu(x);
  case Nonlinearity::Sigmoid:
    return sigmoid(x);
  }
  llvm_unreachable("a nonlinearity of no kind");
}

} // namespace effc::seq::reference

#endif // EFFC_DIALECTS_SEQ_REFERENCE_FUNCTIONS_H
