#include "runtime/src/Sampler.h"

#include <algorithm>
#include <bit>
#include <cmath>

using namespace effc::rt;

double effc::rt::expOfNegative(double x) {
  if (!(x > -708.0))
    return 0.0;
  // x = k ln 2 + r with |r| <= ln 2 / 2; exp(r) by its Taylor polynomial, whose
  // first missing term is below 2^-56. ln 2 is split so that k * high is exact.
  constexpr double kLog2e = 0x1.71547652b82fep0;
  constexpr double kLn2High = 0x1.62e42feep-1;
  constexpr double kLn2Low = 0x1.a39ef35793c76p-33;
  double k = std::floor(x * kLog2e + 0.5);
  double r = (x - k * kLn2High) - k * kLn2Low;
  double sum = 1.0;
  for (int n = 14; n >= 1; --n)
    sum = 1.0 + sum * r / n;
  auto exponent = static_cast<uint64_t>(static_cast<int64_t>(k) + 1023);
  return sum * std::bit_cast<double>(exponent << 52);
}

double effc::rt::uniformAt(uint64_t seed, uint64_t index) {
  auto mix = [](uint64_t z) { // SplitMix64's finaliser
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  };
  constexpr uint64_t kStep = 0x9E3779B97F4A7C15u;
  // The seed is mixed first, so that neighbouring seeds share no stretch.
  uint64_t bits = mix(mix(seed + kStep) + (index + 1) * kStep);
  return static_cast<double>(bits >> 11) * 0x1p-53;
}

Sampler::Sampler(const effc_sampler_options_t &given, uint32_t vocabularySize)
    : options(given), seen(vocabularySize) {
  if (options.temperature > 0)
    candidates.reserve(vocabularySize);
}

Result<Sampler> Sampler::create(const effc_sampler_options_t &options,
                                uint32_t vocabularySize) {
  if (vocabularySize == 0)
    return invalidArgument("the vocabulary is empty");
  if (!std::isfinite(options.temperature) || options.temperature < 0)
    return invalidArgument("'temperature' is ", options.temperature,
                           ", but a finite number from 0 on is expected");
  if (!(options.top_p > 0 && options.top_p <= 1))
    return invalidArgument("'top_p' is ", options.top_p,
                           ", but a number above 0 and up to 1 is expected");
  if (!(options.min_p >= 0 && options.min_p <= 1))
    return invalidArgument("'min_p' is ", options.min_p,
                           ", but a number from 0 to 1 is expected");
  if (!std::isfinite(options.repeat_penalty) || options.repeat_penalty <= 0)
    return invalidArgument("'repeat_penalty' is ", options.repeat_penalty,
                           ", but a positive finite number is expected");
  return Sampler(options, vocabularySize);
}

Check Sampler::accept(std::span<const int32_t> tokens) {
  for (size_t i = 0; i < tokens.size(); ++i)
    if (tokens[i] < 0 || static_cast<size_t>(tokens[i]) >= seen.size())
      return invalidArgument("token ", i, " is ", tokens[i],
                             ", but the vocabulary has ", seen.size());
  for (int32_t token : tokens)
    seen[token] = true;
  return {};
}

float Sampler::penalised(float logit, size_t id) const {
  if (options.repeat_penalty == 1 || !seen[id])
    return logit;
  return logit > 0 ? logit / options.repeat_penalty
                   : logit * options.repeat_penalty;
}

/// The likeliest token, the first of several.
Result<int32_t> Sampler::best(std::span<const float> logits) const {
  size_t bestId = 0;
  float bestLogit = -INFINITY;
  for (size_t id = 0; id < logits.size(); ++id) {
    float logit = penalised(logits[id], id);
    if (std::isnan(logit))
      return badData("the logit of token ", id, " is not a number");
    if (logit > bestLogit) {
      bestLogit = logit;
      bestId = id;
    }
  }
  if (bestLogit == -INFINITY)
    return badData("all logits are minus infinity");
  return static_cast<int32_t>(bestId);
}

/// Every token with its probability relative to the best one. A token at plus
/// infinity excludes all that are not.
void Sampler::gather(std::span<const float> logits, float bestLogit) {
  candidates.clear();
  double inverse = 1.0 / options.temperature;
  for (size_t id = 0; id < logits.size(); ++id) {
    float logit = penalised(logits[id], id);
    double distance =
        logit == bestLogit ? 0.0 : (double(logit) - bestLogit) * inverse;
    candidates.push_back(
        {logit, static_cast<int32_t>(id), expOfNegative(distance)});
  }
}

static bool comesFirst(const auto &a, const auto &b) {
  return a.logit != b.logit ? a.logit > b.logit : a.id < b.id;
}

void Sampler::keepTopK() {
  if (options.top_k == 0 || options.top_k >= candidates.size())
    return;
  auto end = candidates.begin() + options.top_k;
  std::nth_element(
      candidates.begin(), end - 1, candidates.end(),
      [](const auto &a, const auto &b) { return comesFirst(a, b); });
  candidates.erase(end, candidates.end());
}

/// Keeps the likeliest tokens up to the one with which they reach top_p.
void Sampler::keepTopP() {
  if (options.top_p == 1)
    return;
  auto order = [](const auto &a, const auto &b) { return comesFirst(a, b); };
  if (options.top_k > 0) // nth_element's order is not a defined one to sum in
    std::sort(candidates.begin(), candidates.end(), order);
  double total = 0;
  for (const Candidate &candidate : candidates)
    total += candidate.probability;
  // Few are kept as a rule: sort only as far as needed.
  size_t sorted = options.top_k > 0 ? candidates.size() : 0;
  double sum = 0;
  for (size_t i = 0; i < candidates.size(); ++i) {
    if (i == sorted) {
      sorted = std::min(candidates.size(), std::max<size_t>(256, 4 * sorted));
      std::partial_sort(candidates.begin() + i, candidates.begin() + sorted,
                        candidates.end(), order);
    }
    sum += candidates[i].probability;
    if (sum >= options.top_p * total) {
      candidates.erase(candidates.begin() + i + 1, candidates.end());
      return;
    }
  }
}

void Sampler::keepMinP() {
  if (options.min_p > 0)
    std::erase_if(candidates, [&](const Candidate &candidate) {
      return candidate.probability < options.min_p;
    });
}

int32_t Sampler::draw() {
  if (options.top_k > 0 && options.top_p == 1)
    std::sort(candidates.begin(), candidates.end(),
              [](const auto &a, const auto &b) { return comesFirst(a, b); });
  double total = 0;
  for (const Candidate &candidate : candidates)
    total += candidate.probability;
  double target = uniformAt(options.seed, drawn++) * total;
  double sum = 0;
  int32_t last = candidates.front().id;
  for (const Candidate &candidate : candidates) {
    if (candidate.probability == 0)
      continue;
    sum += candidate.probability;
    last = candidate.id;
    if (sum > target)
      break;
  }
  return last;
}

Result<int32_t> Sampler::sample(std::span<const float> logits) {
  Result<int32_t> choice = best(logits);
  if (!choice)
    return choice;
  int32_t token = *choice;
  if (options.temperature > 0) {
    gather(logits, penalised(logits[token], token));
    keepTopK();
    keepTopP();
    keepMinP();
    token = draw();
  }
  seen[token] = true;
  return token;
}
