// The order in which rows are chosen, and the weights of those chosen.
#ifndef EFFC_DIALECTS_SEQ_REFERENCE_SELECTION_H
#define EFFC_DIALECTS_SEQ_REFERENCE_SELECTION_H

#include "dialects/seq/reference/Functions.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace effc::seq::reference {

template <typename S> struct ScoredRow {
  S score;
  int64_t row;
};

/// Whether `a` is chosen before `b`: the higher score first, of equal ones the
/// lower number. NaN counts as the highest of all, so that it is chosen and
/// shows in the result.
template <typename S>
bool precedes(const ScoredRow<S> &a, const ScoredRow<S> &b) {
  bool aIsNan = std::isnan(a.score), bIsNan = std::isnan(b.score);
  if (aIsNan != bIsNan)
    return aIsNan;
  if (!aIsNan && a.score != b.score)
    return a.score > b.score;
  return a.row < b.row;
}

/// The first `count` of `rows` in that order.
template <typename S>
std::vector<ScoredRow<S>> best(std::vector<ScoredRow<S>> rows, int64_t count) {
  std::partial_sort(rows.begin(), rows.begin() + count, rows.end(),
                    precedes<S>);
  rows.resize(count);
  return rows;
}

/// Replaces numbers by the softmax over them.
template <typename S> void softmax(llvm::MutableArrayRef<S> numbers) {
  S highest = numbers[0], sum = 0;
  for (S number : numbers)
    if (!(number <= highest)) // NaN spreads
      highest = number;
  for (S &number : numbers)
    sum += number = std::exp(number - highest);
  for (S &number : numbers)
    number /= sum;
}

/// The weights of a head's chosen rows. `logTotal` is the logarithm of the sum
/// of e^score over all rows of the head, asked for where it matters.
template <typename S>
std::vector<S> weigh(RetrievalWeighting weighting,
                     llvm::ArrayRef<ScoredRow<S>> chosen,
                     llvm::function_ref<S()> logTotal) {
  std::vector<S> weights;
  for (const ScoredRow<S> &row : chosen)
    weights.push_back(row.score);
  switch (weighting) {
  case RetrievalWeighting::Softmax:
    softmax<S>(weights);
    break;
  case RetrievalWeighting::SoftmaxAll: {
    S total = logTotal();
    for (S &weight : weights)
      weight = std::exp(weight - total);
    break;
  }
  case RetrievalWeighting::Sigmoid:
    for (S &weight : weights)
      weight = sigmoid(weight);
    break;
  case RetrievalWeighting::Relu:
    for (S &weight : weights)
      weight = relu(weight);
    break;
  case RetrievalWeighting::Score:
    break;
  case RetrievalWeighting::Share: {
    S sum = S(1e-20);
    for (S weight : weights)
      sum += weight;
    for (S &weight : weights)
      weight /= sum;
    break;
  }
  }
  return weights;
}

/// log(sum of e^number) without overflow.
template <typename S> S logSumExp(llvm::ArrayRef<S> numbers) {
  S highest = numbers[0], sum = 0;
  for (S number : numbers)
    if (!(number <= highest))
      highest = number;
  for (S number : numbers)
    sum += std::exp(number - highest);
  return highest + std::log(sum);
}

} // namespace effc::seq::reference

#endif // EFFC_DIALECTS_SEQ_REFERENCE_SELECTION_H
