#include "tools/effc/ContinuationReport.h"

#include "tools/terminal/Quantities.h"
#include "tools/terminal/Terminal.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <optional>

using namespace effc::cli;
using Json = nlohmann::ordered_json;

/// The first index with the largest value.
static size_t largest(size_t count,
                      const std::function<double(size_t)> &value) {
  size_t best = 0;
  for (size_t i = 1; i < count; ++i)
    if (value(i) > value(best))
      best = i;
  return best;
}

static size_t choiceOf(const std::vector<ContinuationScore> &scores) {
  return largest(scores.size(), [&](size_t i) { return scores[i].logprob; });
}

/// By the log-probability of a byte; none where a continuation has no text.
static std::optional<size_t>
choicePerByte(const ScoringRequest &request,
              const std::vector<ContinuationScore> &scores) {
  for (const auto &continuation : request.continuations)
    if (continuation.bytes == 0)
      return std::nullopt;
  return largest(scores.size(), [&](size_t i) {
    return scores[i].logprob / double(request.continuations[i].bytes);
  });
}

ContinuationSummary effc::cli::summarize(
    const std::vector<ScoringRequest> &requests,
    const std::vector<std::vector<ContinuationScore>> &scores) {
  ContinuationSummary summary;
  summary.requests = requests.size();
  for (size_t i = 0; i < requests.size(); ++i) {
    const ScoringRequest &request = requests[i];
    summary.continuations += scores[i].size();
    for (size_t c = 0; c < scores[i].size(); ++c) {
      summary.tokens += request.continuations[c].tokens.size();
      summary.greedy += scores[i][c].isGreedy;
    }
    if (request.right) {
      ++summary.judged;
      summary.right += choiceOf(scores[i]) == *request.right;
      summary.rightPerByte +=
          choicePerByte(request, scores[i]) == request.right;
    }
    // What a text costs is asked of the right one, or where there is no choice.
    if (!request.right && scores[i].size() != 1)
      continue;
    size_t one = request.right.value_or(0);
    summary.sumNll -= scores[i][one].logprob;
    summary.nllTokens += request.continuations[one].tokens.size();
    summary.nllBytes += request.continuations[one].bytes;
    ++summary.nllTexts;
  }
  return summary;
}

static double share(uint64_t part, uint64_t whole) {
  return double(part) / double(whole);
}

static double bitsPerByte(const ContinuationSummary &summary) {
  return summary.sumNll / std::numbers::ln2 / double(summary.nllBytes);
}

void effc::cli::printSummary(const ContinuationSummary &summary) {
  auto line = [](const char *name, const std::string &value) {
    std::string text = name;
    text.resize(16, ' ');
    print(text + value + "\n");
  };
  auto fraction = [](uint64_t part, uint64_t whole) {
    return formatNumber(share(part, whole), 6) + ", " + formatCount(part) +
           " of " + formatCount(whole);
  };
  line("requests", formatCount(summary.requests));
  line("continuations", formatCount(summary.continuations) + ", " +
                            formatCount(summary.tokens) + " tokens");
  line("greedy", fraction(summary.greedy, summary.continuations));
  if (summary.judged > 0) {
    line("acc", fraction(summary.right, summary.judged));
    line("acc_norm", fraction(summary.rightPerByte, summary.judged));
  }
  if (summary.nllTexts == 0)
    return;
  // As the harness has it: of a text, not of a token.
  line("perplexity",
       formatNumber(std::exp(summary.sumNll / double(summary.nllTexts)), 6) +
           " a continuation, " +
           formatNumber(std::exp(summary.sumNll / double(summary.nllTokens)),
                        6) +
           " a token");
  if (summary.nllBytes > 0)
    line("bits per byte", formatNumber(bitsPerByte(summary), 6));
}

Json effc::cli::toJson(
    const ContinuationSummary &summary,
    const std::vector<ScoringRequest> &requests,
    const std::vector<std::vector<ContinuationScore>> &scores) {
  // null where there is nothing to divide by.
  auto number = [](bool known, double value) {
    return known ? Json(value) : Json();
  };
  Json json = {
      {"continuations", summary.continuations},
      {"tokens", summary.tokens},
      {"greedy", summary.greedy},
      {"judged", summary.judged},
      {"acc", number(summary.judged, share(summary.right, summary.judged))},
      {"acc_norm",
       number(summary.judged, share(summary.rightPerByte, summary.judged))},
      {"perplexity",
       number(summary.nllTexts,
              std::exp(summary.sumNll / double(summary.nllTexts)))},
      {"token_perplexity",
       number(summary.nllTexts,
              std::exp(summary.sumNll / double(summary.nllTokens)))},
      {"bits_per_byte", number(summary.nllBytes, bitsPerByte(summary))}};
  json["requests"] = Json::array();
  for (size_t i = 0; i < requests.size(); ++i) {
    Json list = Json::array();
    for (size_t c = 0; c < scores[i].size(); ++c)
      list.push_back({{"logprob", scores[i][c].logprob},
                      {"logprobs", scores[i][c].logprobs},
                      {"greedy", scores[i][c].isGreedy},
                      {"tokens", requests[i].continuations[c].tokens.size()},
                      {"bytes", requests[i].continuations[c].bytes}});
    std::optional<size_t> perByte = choicePerByte(requests[i], scores[i]);
    json["requests"].push_back(
        {{"context_tokens", requests[i].context.size()},
         {"continuations", std::move(list)},
         {"choice", choiceOf(scores[i])},
         {"choice_per_byte", perByte ? Json(*perByte) : Json()}});
  }
  return json;
}
