// The first token of a chat's next turn, by a scheduler with a cache, against what
// its new tokens take where the history is in place.
//
//   effc-second-turn MODEL.effc [HISTORY [NEW [THREADS]]]
//
// In milliseconds of the processor, of all threads together: medians of 7 turns, each
// with other new tokens, one way and the other by turns.

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

/// Until the first token; then the rest. What the cache had is in `last`.
static double serve(Scheduler &scheduler, const Tokens &prompt,
                    effc_event_t &last) {
  effc_request_t request = effc_request_default();
  request.tokens = prompt.data();
  request.token_count = prompt.size();
  request.max_tokens = 1;
  double time = millisecondsOf([&] {
    scheduler.submit(request);
    do
      scheduler.step();
    while ((last = scheduler.poll()).kind == EFFC_EVENT_NONE);
  });
  while (last.kind != EFFC_EVENT_END) {
    last = scheduler.poll();
    if (last.kind == EFFC_EVENT_NONE)
      scheduler.step();
  }
  return time;
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
  effc_event_t last = {};
  double cold = serve(scheduler, before, last);
  std::vector<double> alone, turns;
  uint64_t hits = 0;
  for (int i = 0; i < kTurns; ++i) {
    Tokens prompt = before,
           added = randomTokens(more, vocabulary, 10 + uint32_t(i));
    prompt.insert(prompt.end(), added.begin(), added.end());
    Session turn = session.fork();
    alone.push_back(millisecondsOf([&] { other.prefill(turn, added); }));
    turns.push_back(serve(scheduler, prompt, last));
    hits += last.cached_tokens;
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
