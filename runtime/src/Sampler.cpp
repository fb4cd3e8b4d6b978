#include "runtime/src/Sampler.h"
#include "runtime/schema/GenerationLimits.h"

#include "runtime/schema/GenerationLimits.h"

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

std::array<uint32_t, 2> effc::rt::philox(std::array<uint32_t, 2> counter,
                                         uint32_t key) {
  auto [x, y] = counter;
  for (int round = 0; round < 10; ++round) {
    uint64_t product = uint64_t(0xD256D193) * x;
    x = static_cast<uint32_t>(product >> 32) ^ key ^ y;
    y = static_cast<uint32_t>(product);
    key += 0x9E3779B9;
  }
  return {x, y};
}

Noise Noise::of(uint64_t seed, uint64_t index) {
  auto mix = [](uint64_t z) { // SplitMix64's finaliser
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  };
  constexpr uint64_t kStep = 0x9E3779B97F4A7C15u;
  // The seed is mixed first, so that neighbouring seeds share no stretch.
  uint64_t bits = mix(mix(seed + kStep) + (index + 1) * kStep);
  return {static_cast<uint32_t>(bits >> 32), static_cast<uint32_t>(bits)};
}

/// -ln x of a positive normal number x = m 2^e, m from sqrt(1/2) on. With an e
/// of 0 it is -ln(1 + `rest`), where that is given: x - 1 before it was
/// rounded.
static float negativeLog(float x, const float *rest = nullptr) {
  constexpr uint32_t kRootOfHalf = 0x3F3504F3;
  uint32_t above = std::bit_cast<uint32_t>(x) - kRootOfHalf;
  int32_t e = static_cast<int32_t>(above) >> 23;
  float f = std::bit_cast<float>((above & 0x7FFFFF) + kRootOfHalf) - 1.0f;
  if (rest && e == 0)
    f = *rest;
  // ln(1 + f) = f - f^2 / 2 + f^3 p(f); the polynomial of least relative error
  // in ln(1 + f), which is below 2^-27.
  constexpr float kP[] = {-0x1.38b58p-4f,  0x1.055b6ap-3f,  -0x1.0d8542p-3f,
                          0x1.22da1cp-3f,  -0x1.547244p-3f, 0x1.99a008p-3f,
                          -0x1.000226p-2f, 0x1.555554p-2f};
  float p = kP[0];
  for (size_t i = 1; i < std::size(kP); ++i)
    p = p * f + kP[i];
  // ln 2 in two parts, of which e times the first is exact.
  constexpr float kLn2High = 0x1.62e4p-1f, kLn2Low = 0x1.7f7d1cp-20f;
  float small = f * f * (f * p - 0.5f) + static_cast<float>(e) * kLn2Low;
  return -((f + small) + static_cast<float>(e) * kLn2High);
}

float Noise::from(uint32_t word) {
  float n = static_cast<float>(static_cast<int32_t>(word & 0x7FFFFFFF));
  float v = (n + 0.5f) * 0x1p-32f, rest = -v;
  float u = word >> 31 ? 1.0f - v : v;
  return negativeLog(negativeLog(u, &rest));
}

float Noise::at(uint32_t token) const {
  return from(philox({token, counter}, key)[0]);
}

/// A number by which noise is lost beside any difference of logits, but logits
/// up to 2^32 stay finite; not 0, nor lost where small numbers are flushed.
static float scaleOf(float temperature) {
  constexpr float kLeast = 0x1p-126f, kMost = 0x1p95f;
  return temperature > 0 ? std::clamp(1.0f / temperature, kLeast, kMost) : 1.0f;
}

Sampler::Sampler(const effc_sampler_options_t &given, uint32_t vocabularySize)
    : options(given), scale(scaleOf(given.temperature)), seen(vocabularySize) {
  if (hasFilters())
    candidates.reserve(vocabularySize);
}

/// Whether fewer tokens are drawn from than there are.
bool Sampler::hasFilters() const {
  bool keepsFew = options.top_k > 0 && options.top_k < vocabularySize();
  return options.temperature > 0 &&
         (keepsFew || options.top_p < 1 || options.min_p > 0);
}

Result<Sampler> Sampler::create(const effc_sampler_options_t &options,
                                uint32_t vocabularySize) {
  if (vocabularySize == 0)
    return invalidArgument("the vocabulary is empty");
  if (!std::isfinite(options.temperature) || options.temperature < 0)
    return invalidArgument("'temperature' is ", options.temperature,
                           ", but a finite number from 0 on is expected");
  if (!artifact::isTopP(options.top_p))
    return invalidArgument("'top_p' is ", options.top_p,
                           ", but a number from 0 to 1 is expected");
  if (!artifact::isMinP(options.min_p))
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

namespace {
/// Finds the largest sum of a scaled logit and noise, the lowest token of
/// several; -1 while all are minus infinity.
struct Race {
  Noise noise;
  float scale;
  float best = -INFINITY;
  int32_t token = -1;

  void enter(float logit, int32_t id) {
    float scaled = logit * scale;
    if (scaled + Noise::kMost < best) // whatever its noise
      return;
    float sum = scaled + noise.at(static_cast<uint32_t>(id));
    if (sum > best || (sum == best && id < token)) {
      best = sum;
      token = id;
    }
  }
};
} // namespace

Result<int32_t> Sampler::largest(std::span<const float> logits,
                                 Draw draw) const {
  Race race = {draw.noise, draw.scale};
  if (hasFilters())
    for (const Candidate &candidate : candidates)
      race.enter(candidate.logit, candidate.id);
  else
    for (size_t id = 0; id < logits.size(); ++id)
      race.enter(penalised(logits[id], id), static_cast<int32_t>(id));
  if (race.token < 0)
    return badData("all logits over the temperature are minus infinity");
  return race.token;
}

bool Sampler::needsLogits() const {
  return options.repeat_penalty != 1 || hasFilters();
}

Draw Sampler::nextDraw() {
  if (isGreedy())
    return {};
  return {scale, 1, Noise::of(options.seed, drawn++)};
}

Result<int32_t> Sampler::sample(std::span<const float> logits) {
  Draw draw = nextDraw();
  Result<int32_t> token = best(logits);
  if (token && hasFilters()) {
    gather(logits, penalised(logits[*token], *token));
    keepTopK();
    keepTopP();
    keepMinP();
  }
  if (token && !isGreedy())
    token = largest(logits, draw);
  if (token)
    seen[*token] = true;
  return token;
}
