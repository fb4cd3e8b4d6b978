#include "runtime/src/sampling/LogProbabilities.h"

#include <algorithm>
#include <cmath>

using namespace effc::rt;

void effc::rt::logProbabilities(const LogitRow &row, int32_t token,
                                std::span<effc_logprob_t> out,
                                Candidates &candidates,
                                std::vector<float> &numbers) {
  Distance distance = {row.best().logit, 1};
  double ofBest;
  if (std::isfinite(distance.best))
    ofBest = -std::log(row.mass(distance));
  else // tokens at plus infinity share all there is
    ofBest = -std::log(static_cast<double>(row.count(row.best().logit)));
  auto of = [&](float logit, int32_t id) {
    return effc_logprob_t{id, static_cast<float>(distance.of(logit) + ofBest)};
  };
  out[0] = of(row.logit(token), token);
  size_t likeliest = out.size() - 1;
  if (likeliest == 0)
    return;
  candidates.clear();
  row.gather(row.reachedBy(likeliest, numbers), candidates);
  std::partial_sort(
      candidates.begin(), candidates.begin() + likeliest, candidates.end(),
      [](const Candidate &a, const Candidate &b) { return a.comesBefore(b); });
  for (size_t i = 0; i < likeliest; ++i)
    out[i + 1] = of(candidates.begin()[i].logit, candidates.begin()[i].id);
}
