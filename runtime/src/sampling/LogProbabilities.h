//===- LogProbabilities.h - What a row of logits says of tokens -----------===//
#ifndef EFFC_RUNTIME_SRC_SAMPLING_LOGPROBABILITIES_H
#define EFFC_RUNTIME_SRC_SAMPLING_LOGPROBABILITIES_H

#include "runtime/include/effc/effc.h"
#include "runtime/src/sampling/LogitRow.h"

namespace effc::rt {

/// Fills `out` with the log-probability of `token`, below the row's size, and of
/// the likeliest, the likeliest first; it has at least one place, and at most one
/// more than the row. Lists are used as scratch.
void logProbabilities(const LogitRow &row, int32_t token,
                      std::span<effc_logprob_t> out, Candidates &candidates,
                      std::vector<float> &numbers);

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_SAMPLING_LOGPROBABILITIES_H
