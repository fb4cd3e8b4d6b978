//===- Filters.h - Which tokens of a row are drawn from -------------------===//
//
// top_k, top_p, min_p and typical_p, in this order, as the Hugging Face library
// has them. What is kept follows from weights by expOfNegative() and their sums in
// one order: of all tokens in that of ids, of the top_k in that of likelihood. A
// row of 50,000 takes a millisecond that way. So sums are first bounded by faster
// ones, and the exact ones taken only where the bound leaves it open which tokens
// are kept: for one row in some thousands.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_RUNTIME_SRC_SAMPLING_FILTERS_H
#define EFFC_RUNTIME_SRC_SAMPLING_FILTERS_H

#include "runtime/src/sampling/LogitRow.h"

namespace effc::rt {

struct Filters {
  float temperature;
  uint32_t topK;    // 0: all
  float topP, minP; // 1 and 0: all
  float typicalP;   // 0 or 1: all

  /// Whether some of `vocabulary` tokens may be left out.
  bool leaveOut(size_t vocabulary) const;
  /// Fills `kept`, in no order. `scratch` is used as it likes.
  void apply(const LogitRow &row, Candidates &kept,
             std::vector<float> &scratch) const;

private:
  class Pass;
};

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_SAMPLING_FILTERS_H
