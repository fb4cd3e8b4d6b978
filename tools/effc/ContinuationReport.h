// What scored continuations come to, for people and as JSON.
#ifndef EFFC_TOOLS_EFFC_CONTINUATIONREPORT_H
#define EFFC_TOOLS_EFFC_CONTINUATIONREPORT_H

#include "tools/effc/Continuations.h"

#include <nlohmann/json.hpp>

namespace effc::cli {

/// Over all requests. Names as the lm-evaluation-harness has them.
struct ContinuationSummary {
  uint64_t requests = 0, continuations = 0,
           tokens = 0;       // tokens: predicted ones
  uint64_t greedy = 0;       // continuations that the model would write itself
  uint64_t judged = 0;       // requests that name the right continuation
  uint64_t right = 0;        // where it is the likeliest: "acc"
  uint64_t rightPerByte = 0; // likewise for each byte of its text: "acc_norm"
  double sumNll = 0;         // of the right ones, or of only ones
  uint64_t nllTokens = 0, nllBytes = 0, nllTexts = 0; // of the same
};

ContinuationSummary
summarize(const std::vector<ScoringRequest> &requests,
          const std::vector<std::vector<ContinuationScore>> &scores);

/// Prints `summary` in lines.
void printSummary(const ContinuationSummary &summary);

/// The summary, and each request's scores as "requests".
nlohmann::ordered_json
toJson(const ContinuationSummary &summary,
       const std::vector<ScoringRequest> &requests,
       const std::vector<std::vector<ContinuationScore>> &scores);

} // namespace effc::cli

#endif // EFFC_TOOLS_EFFC_CONTINUATIONREPORT_H
