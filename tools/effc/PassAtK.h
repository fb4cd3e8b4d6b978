// How often one of k samples is right, from how many of n were.
#ifndef EFFC_TOOLS_EFFC_PASSATK_H
#define EFFC_TOOLS_EFFC_PASSATK_H

#include <cstdint>

namespace effc::cli {

/// The unbiased estimate 1 - C(n - c, k) / C(n, k) of the probability that one of `k`
/// samples is right, where `right` of `samples` were (Chen et al., arXiv:2107.03374,
/// equation 1). `k` is from 1 to `samples`.
double passAtK(uint64_t samples, uint64_t right, uint64_t k);

} // namespace effc::cli

#endif // EFFC_TOOLS_EFFC_PASSATK_H
