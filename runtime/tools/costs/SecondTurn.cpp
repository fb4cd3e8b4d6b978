// The first token of a chat's next turn, by a scheduler with a cache, against what
// its new tokens take where the history is in place.
//
//   effc-second-turn MODEL.effc [HISTORY [NEW [THREADS]]]
//
// In milliseconds of the processor, of all threads together: medians of 7 turns, each
// with other new tokens, one way and the other by turns. The first token and its
// log-probability have to be the same both ways; else the program fails.

#include "runtime/include/effc/effc.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <random>

using namespace effc;
using Tokens = std::vector<int32_t>;

static constexpr int kTurns = 7;

static double millisecondsOf(const std::function<void()> &body) {
  auto now = [] {
    timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) * 1e3 +
           static_cast<double>(time.tv_nsec) * 1e-6;
  };
  double begin = now();
  body();
  return now() - begin;
}

static double medianOf(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

static Tokens randomTokens(size_t count, uint32_t vocabulary, uint32_t seed) {
  std::mt19937 random(seed);
  Tokens tokens(count);
  for (int32_t &token : tokens)
    token = static_cast<int32_t>(random() % vocabulary);
  return tokens;
}

/// The first token of a request, greedy, and what the cache had of its prompt.
struct First {
  double milliseconds;
  effc_logprob_t token;
  uint64_t cached;
};

static First serve(Scheduler &scheduler, const Tokens &prompt) {
  effc_sampler_options_t sampling = effc_sampler_options_default();
  sampling.temperature = 0;
  sampling.logprobs = 1;
  effc_request_t request = effc_request_default();
  request.tokens = prompt.data();
  request.token_count = prompt.size();
  request.sampling = &sampling;
  request.max_tokens = 2; // so that it does not end in the step that is timed
  request.ignore_end = true;
  First first = {};
  effc_event_t event = {};
  first.milliseconds = millisecondsOf([&] {
    scheduler.submit(request);
    do
      scheduler.step();
    while ((event = scheduler.poll()).kind == EFFC_EVENT_NONE);
  });
  first.token = event.logprobs[0];
  while ((event = scheduler.poll()).kind != EFFC_EVENT_END)
    scheduler.step();
  first.cached = event.cached_tokens;
  return first;
}

/// What a row of logits says of its likeliest token.
static effc_logprob_t likeliestOf(const std::vector<float> &logits) {
  effc_logprob_t found = {};
  auto best = std::max_element(logits.begin(), logits.end());
  check(effc_logprobs(logits.data(), static_cast<uint32_t>(logits.size()),
                      static_cast<int32_t>(best - logits.begin()), &found, 1));
  return found;
}

static void measure(const Model &model, size_t history, size_t more,
                    uint32_t threads) {
  Device device = Device::host(threads);
  Engine engine(model, device), other(model, device, 2);
  uint32_t vocabulary = model.vocabularySize();
  Tokens before = randomTokens(history, vocabulary, 1);
  Session session(other);
  other.prefill(session, before, EFFC_LOGITS_NONE);
  effc_scheduler_options_t options = effc_scheduler_options_default();
  options.cache_bytes = uint64_t(1) << 30;
  Scheduler scheduler(engine, options);
  double cold = serve(scheduler, before).milliseconds;
  std::vector<double> alone, turns;
  uint64_t hits = 0;
  for (int i = 0; i < kTurns; ++i) {
    Tokens prompt = before,
           added = randomTokens(more, vocabulary, 10 + uint32_t(i));
    prompt.insert(prompt.end(), added.begin(), added.end());
    Session turn = session.fork();
    std::vector<float> logits;
    alone.push_back(
        millisecondsOf([&] { logits = other.prefill(turn, added); }));
    First first = serve(scheduler, prompt);
    turns.push_back(first.milliseconds);
    hits += first.cached;
    effc_logprob_t expected = likeliestOf(logits);
    if (first.token.token != expected.token ||
        first.token.logprob != expected.logprob)
      throw Error(EFFC_INTERNAL,
                  "turn " + std::to_string(i) + " has other bits: token " +
                      std::to_string(first.token.token) + " instead of " +
                      std::to_string(expected.token));
  }
  std::printf("%zu tokens of history: %.1f ms to the first token; %zu new "
              "ones: %.1f ms, with the history in place %.1f, so %.2f times; "
              "%.1f tokens of a turn came from the cache\n",
              history, cold, more, medianOf(turns), medianOf(alone),
              medianOf(turns) / medianOf(alone),
              static_cast<double>(hits) / kTurns);
}

int main(int count, char **arguments) {
  if (count < 2) {
    std::fprintf(stderr, "effc-second-turn MODEL.effc [HISTORY [NEW "
                         "[THREADS]]]\n");
    return 2;
  }
  auto number = [&](int index, size_t otherwise) {
    return count > index ? std::strtoul(arguments[index], nullptr, 10)
                         : otherwise;
  };
  try {
    measure(Model(arguments[1]), number(2, 2000), number(3, 64),
            static_cast<uint32_t>(number(4, 0)));
  } catch (const std::exception &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
