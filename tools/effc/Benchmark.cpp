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

double Measurement::floorSeconds(const Machine &machine,
                                 bool *byBandwidth) const {
  double moving = static_cast<double>(work.bytes) / machine.readBytesPerSecond;
  double computing =
      static_cast<double>(work.flops) / machine.gemmFlopsPerSecond;
  *byBandwidth = moving > computing;
  return (decode ? static_cast<double>(tokens) : 1) *
         std::max(moving, computing);
}

double Measurement::fraction(const Machine &machine) const {
  bool byBandwidth;
  return floorSeconds(machine, &byBandwidth) / seconds.median;
}

Benchmark::Benchmark(const Model &model, Engine &engine, uint32_t repeat)
    : model(model), engine(engine),
      work(nlohmann::ordered_json::parse(model.describe())), repeat(repeat) {}

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

template <typename Body> Timing Benchmark::time(Body body) {
  body(); // warms up
  std::vector<double> seconds;
  for (uint32_t run = 0; run < repeat; ++run)
    seconds.push_back(body());
  return summarise(std::move(seconds));
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
  void reset() {
    for (Session &session : sessions)
      session.reset();
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
                       EFFC_LOGITS_LAST, logits.data() + i * vocabulary});
  return prompts;
}

Measurement Benchmark::prefill(uint64_t tokens, uint32_t batch) {
  Sequences sequences(engine, batch);
  Tokens prompt = makeTokens(model.vocabularySize(), tokens);
  std::vector<float> logits(size_t(batch) * model.vocabularySize());
  std::vector<effc_prompt_t> prompts = makePrompts(sequences, prompt, logits);
  Timing timing = time([&] {
    sequences.reset();
    auto start = std::chrono::steady_clock::now();
    engine.prefill(prompts);
    return secondsSince(start);
  });
  return {false, tokens, batch, timing, work.prefill(tokens, batch)};
}

Measurement Benchmark::decode(uint64_t steps, uint32_t batch) {
  Sequences sequences(engine, batch);
  Tokens prompt = makeTokens(model.vocabularySize(), 16);
  Tokens fed = makeTokens(model.vocabularySize(), steps * batch);
  std::vector<float> logits(size_t(batch) * model.vocabularySize());
  std::vector<effc_prompt_t> prompts = makePrompts(sequences, prompt, logits);
  Timing timing = time([&] {
    sequences.reset();
    engine.prefill(prompts);
    auto start = std::chrono::steady_clock::now();
    for (uint64_t step = 0; step < steps; ++step)
      check(effc_engine_decode(engine.get(), sequences.handles.data(),
                               fed.data() + step * batch, batch,
                               logits.data()));
    return secondsSince(start);
  });
  return {true, steps, batch, timing, work.decode(batch)};
}
