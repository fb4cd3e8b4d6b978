#include "tools/effc/Benchmark.h"

#include <algorithm>
#include <chrono>

using namespace effc;
using namespace effc::cli;

Timing effc::cli::summarise(std::vector<double> seconds) {
  std::sort(seconds.begin(), seconds.end());
  auto at = [&](double part) {
    double place = part * static_cast<double>(seconds.size() - 1);
    auto below = static_cast<size_t>(place);
    size_t above = std::min(below + 1, seconds.size() - 1);
    double share = place - static_cast<double>(below);
    return seconds[below] + share * (seconds[above] - seconds[below]);
  };
  return {at(0.5), at(0.1), at(0.9)};
}

double Measurement::tokensPerSecond() const {
  return static_cast<double>(tokens) * batch / seconds.median;
}

double Measurement::floorSeconds(bool *byBandwidth) const {
  double moving = static_cast<double>(work.bytes) / rates.readBytesPerSecond;
  double computing = static_cast<double>(work.flops) / rates.gemmFlopsPerSecond;
  *byBandwidth = moving > computing;
  return (decode ? static_cast<double>(tokens) : 1) *
         std::max(moving, computing);
}

double Measurement::fraction() const {
  bool byBandwidth;
  return floorSeconds(&byBandwidth) / seconds.median;
}

bool Measurement::isFromCache(uint64_t cacheBytes) const {
  bool byBandwidth;
  floorSeconds(&byBandwidth);
  return byBandwidth && fraction() > 1 && work.bytes <= cacheBytes;
}

Benchmark::Benchmark(const Model &model, Engine &engine,
                     std::optional<float> temperature)
    : model(model), engine(engine), temperature(temperature),
      work(nlohmann::ordered_json::parse(model.describe())) {}

/// Tokens in no order that a cache would know.
static Tokens makeTokens(uint32_t vocabulary, uint64_t count) {
  Tokens tokens(count);
  uint64_t state = 1;
  for (int32_t &token : tokens) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    token = static_cast<int32_t>((state >> 33) % vocabulary);
  }
  return tokens;
}

namespace {
/// Sequences that live for one case.
struct Sequences {
  Sequences(Engine &engine, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
      sessions.emplace_back(engine);
      handles.push_back(sessions.back().get());
    }
  }
  std::vector<Session> sessions;
  std::vector<effc_session_t *> handles;
};

double secondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
      .count();
}
} // namespace

/// A prompt for each sequence, logits of the last token only.
static std::vector<effc_prompt_t> makePrompts(const Sequences &sequences,
                                              const Tokens &tokens,
                                              std::vector<float> &logits) {
  size_t vocabulary = logits.size() / sequences.handles.size();
  std::vector<effc_prompt_t> prompts;
  for (size_t i = 0; i < sequences.handles.size(); ++i)
    prompts.push_back({sequences.handles[i], tokens.data(), tokens.size(),
                       EFFC_LOGITS_LAST, logits.data() + i * vocabulary,
                       sizeof(effc_prompt_t)});
  return prompts;
}

Benchmark::Seconds Benchmark::run(const BenchCase &one) {
  uint32_t vocabulary = model.vocabularySize();
  Sequences sequences(engine, one.batch);
  Tokens before = makeTokens(vocabulary, one.depth);
  Tokens prompt = makeTokens(vocabulary, one.decode ? 0 : one.tokens);
  Tokens fed = makeTokens(vocabulary, one.decode ? one.tokens * one.batch : 0);
  std::vector<float> logits(size_t(one.batch) * vocabulary);
  std::vector<Sampler> samplers;
  std::vector<effc_sampler_t *> drawing;
  for (uint32_t i = 0; temperature && i < one.batch; ++i) {
    effc_sampler_options_t options = effc_sampler_options_default();
    options.temperature = *temperature;
    options.seed = i;
    drawing.push_back(samplers.emplace_back(options, vocabulary).get());
  }
  Tokens drawn(one.batch);
  if (one.depth > 0) {
    // All hold the same: the first reads it, the others take its states.
    std::vector<effc_prompt_t> first = makePrompts(sequences, before, logits);
    first.resize(1);
    engine.prefill(first);
    for (size_t i = 1; i < sequences.sessions.size(); ++i)
      sequences.sessions[i].assign(sequences.sessions[0]);
  }
  auto start = std::chrono::steady_clock::now();
  double startOnDevice = engine.deviceSeconds();
  auto passed = [&]() -> Seconds {
    return {secondsSince(start), startOnDevice < 0
                                     ? startOnDevice
                                     : engine.deviceSeconds() - startOnDevice};
  };
  if (!one.decode) {
    engine.prefill(makePrompts(sequences, prompt, logits));
    return passed();
  }
  for (uint64_t step = 0; step < one.tokens; ++step) {
    const int32_t *tokens = fed.data() + step * one.batch;
    if (temperature)
      check(effc_engine_decode_draw(engine.get(), sequences.handles.data(),
                                    drawing.data(), tokens, one.batch,
                                    drawn.data()));
    else
      check(effc_engine_decode(engine.get(), sequences.handles.data(), tokens,
                               one.batch, logits.data()));
  }
  return passed();
}

double Benchmark::warmUp(const BenchCase &one) {
  auto start = std::chrono::steady_clock::now();
  run(one);
  return secondsSince(start);
}

Measurement Benchmark::measure(const BenchCase &one, const Repeats &repeats,
                               MachineProbes *probes, const Rates &known) {
  std::vector<double> seconds, hostSeconds;
  std::vector<Rates> rates;
  bool byDevice = engine.deviceSeconds() >= 0;
  auto start = std::chrono::steady_clock::now();
  for (uint32_t i = 0; i < repeats.most; ++i) {
    if (i > 0 && secondsSince(start) >= repeats.seconds)
      break;
    if (probes)
      rates.push_back(probes->sample());
    Seconds passed = run(one);
    seconds.push_back(byDevice ? passed.device : passed.host);
    hostSeconds.push_back(passed.host);
  }
  if (probes)
    rates.push_back(probes->sample());
  Measurement measurement;
  static_cast<BenchCase &>(measurement) = one;
  measurement.runs = static_cast<uint32_t>(seconds.size());
  measurement.seconds = summarise(std::move(seconds));
  measurement.work = one.decode
                         ? work.decode(one.batch, one.depth, one.tokens)
                         : work.prefill(one.tokens, one.batch, one.depth);
  measurement.rates = rates.empty() ? known : medianOf(rates);
  measurement.hostSeconds = summarise(std::move(hostSeconds));
  measurement.byDevice = byDevice;
  return measurement;
}
