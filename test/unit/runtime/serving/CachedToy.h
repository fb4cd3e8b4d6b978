//===- CachedToy.h - A scheduler with a cache over the toy model ----------===//
#ifndef EFFC_TEST_UNIT_RUNTIME_SERVING_CACHEDTOY_H
#define EFFC_TEST_UNIT_RUNTIME_SERVING_CACHEDTOY_H

#include "test/unit/runtime/serving/Requests.h"

#include <gtest/gtest.h>

namespace effc::test {

/// What a request's choice came to, and what it had of the cache.
struct Served : Heard {
  std::vector<effc_logprob_t> logprobs; // of the tokens drawn
  effc_event_t last = {};               // its pointers lead nowhere
};

/// The toy of one kind of states: those of a fixed size, keys and a window besides,
/// or keys alone.
enum class ToyStates { Fixed, Hybrid, KeysAlone };
inline constexpr ToyStates kToyStates[] = {ToyStates::Fixed, ToyStates::Hybrid,
                                           ToyStates::KeysAlone};

/// `chunk` 1: exact anywhere; else on its grid.
inline ToyOptions toyOf(ToyStates states, uint32_t chunk = 1) {
  ToyOptions options;
  options.chunk = chunk;
  options.withKeys = states == ToyStates::Hybrid;
  options.keysAlone = states == ToyStates::KeysAlone;
  return options;
}

inline effc_scheduler_options_t withCache(uint64_t bytes = uint64_t(1) << 30) {
  effc_scheduler_options_t options = effc_scheduler_options_default();
  options.cache_bytes = bytes;
  return options;
}

struct CachedToy {
  explicit CachedToy(ToyStates states, uint32_t sessions = 3,
                     effc_scheduler_options_t options = withCache(),
                     uint32_t chunk = 1)
      : CachedToy(toyOf(states, chunk), sessions, options) {}
  CachedToy(const ToyOptions &toy, uint32_t sessions,
            const effc_scheduler_options_t &options)
      : file(makeToyArtifact(toy)), model(file.path()),
        engine(model, Device::host(1), sessions), scheduler(engine, options) {}

  bool isBusy() const {
    effc_scheduler_stats_t stats = scheduler.stats();
    return stats.queued_now + stats.running_now > 0;
  }
  void hearAll() {
    for (effc_event_t event = scheduler.poll(); event.kind != EFFC_EVENT_NONE;
         event = scheduler.poll()) {
      Served &one = served[event.request + event.choice];
      one.take(event);
      if (event.logprob_count > 0)
        one.logprobs.push_back(event.logprobs[0]);
      one.last = event;
    }
  }
  void finish() {
    while (isBusy()) {
      scheduler.step();
      hearAll();
    }
  }
  /// Runs one request, which has to get what it gets alone.
  effc_event_t serve(const Asked &asked,
                     void (*change)(effc_request_t &) = nullptr) {
    effc_request_t request = asked.request();
    if (change)
      change(request);
    uint64_t number = scheduler.submit(request);
    finish();
    EXPECT_EQ(served[number].tokens, alone(asked)) << served[number].message;
    return served[number].last;
  }

  TemporaryFile file;
  Model model;
  Engine engine;
  Scheduler scheduler;
  std::map<uint64_t, Served> served;
};

/// A request for a few greedy tokens.
inline Asked askedOf(std::vector<int32_t> prompt, uint64_t maxTokens = 4) {
  Asked asked;
  asked.prompt = std::move(prompt);
  asked.sampling.temperature = 0;
  asked.maxTokens = maxTokens;
  return asked;
}

/// `count` tokens that are those of no other seed.
inline std::vector<int32_t> textOf(size_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<int32_t> tokens(count);
  for (int32_t &token : tokens)
    token = static_cast<int32_t>(random() % 250);
  return tokens;
}

inline std::vector<int32_t> joined(std::vector<int32_t> a,
                                   const std::vector<int32_t> &b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

} // namespace effc::test

#endif // EFFC_TEST_UNIT_RUNTIME_SERVING_CACHEDTOY_H
