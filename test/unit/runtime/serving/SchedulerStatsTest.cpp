// What a scheduler counts of its calls, steps and times, by a clock that the test sets.

#include "test/unit/runtime/serving/CachedToy.h"

#include <numeric>

using namespace effc;
using namespace effc::test;

namespace {
/// Each look at the clock takes 1 ns, and a step besides what the test adds.
struct Clock {
  uint64_t time = 100;
  effc_scheduler_options_t options() {
    effc_scheduler_options_t options = effc_scheduler_options_default();
    options.clock = [](void *user) {
      return ++static_cast<Clock *>(user)->time;
    };
    options.clock_user = this;
    return options;
  }
};
} // namespace

/// Requests for `tokens` greedy tokens that no end cuts short.
static Asked askedFor(uint64_t tokens, size_t promptTokens) {
  static const effc_logit_bias_t kNoEnd = {kToyEnd, -1000};
  Asked asked = askedOf(textOf(promptTokens, 3), tokens);
  asked.sampling.logit_bias = &kNoEnd;
  asked.sampling.logit_bias_count = 1;
  return asked;
}

// Prompts of 5 and 6 tokens in one call of 11, then 3 and 2 tokens more: two calls of
// two rows, and one of one.
TEST(SchedulerStats, CountCallsAndSteps) {
  Clock clock;
  CachedToy toy(ToyStates::Fixed, 3, clock.options());
  toy.scheduler.submit(askedFor(4, 5).request());
  toy.scheduler.submit(askedFor(3, 6).request());
  toy.finish();
  effc_scheduler_stats_t stats = toy.scheduler.stats();
  EXPECT_EQ(stats.prompt_calls, 1u);
  EXPECT_EQ(stats.prompt_tokens, 11u);
  EXPECT_EQ(stats.decode_calls, 3u);
  EXPECT_EQ(stats.decode_tokens, 5u);
  // Two looks at the clock are 1 ns apart.
  EXPECT_EQ(stats.prompt_ns, 1u);
  EXPECT_EQ(stats.decode_ns, 3u);
  EXPECT_EQ(stats.sized_steps[0], 1u); // 1 row
  EXPECT_EQ(stats.sized_steps[1], 2u); // 2 rows
  EXPECT_EQ(stats.sized_steps[4], 1u); // 11 rows: 9 to 16
  EXPECT_EQ(std::accumulate(std::begin(stats.sized_steps),
                            std::end(stats.sized_steps), uint64_t(0)),
            4u);
  EXPECT_EQ(stats.device_failures, 0u);
  EXPECT_EQ(stats.device_lost_now, 0u);
}

// One sequence at a time: the second request waits for the first, which it says itself
// and the statistics sum up.
TEST(SchedulerStats, TellHowLongRequestsWaited) {
  Clock clock;
  CachedToy toy(ToyStates::Fixed, 1, clock.options());
  uint64_t first = toy.scheduler.submit(askedFor(3, 5).request());
  uint64_t second = toy.scheduler.submit(askedFor(2, 6).request());
  clock.time += 1000;
  while (toy.isBusy()) {
    toy.scheduler.step();
    toy.hearAll();
    clock.time += 50;
  }
  const effc_event_t &a = toy.served[first].last, &b = toy.served[second].last;
  EXPECT_GE(a.queued_ns, 1000u);
  EXPECT_LT(a.queued_ns, 1050u); // a step looks at the clock some times
  EXPECT_LT(a.prompt_ns, 50u);   // the prompt is one step
  EXPECT_GE(a.decode_ns, 100u);  // two steps behind the first token
  EXPECT_LT(a.decode_ns, 200u);
  EXPECT_GE(b.queued_ns, 1150u); // three steps of the first
  EXPECT_LT(b.queued_ns, 1300u);
  EXPECT_GE(b.decode_ns, 50u);
  EXPECT_LT(b.decode_ns, 100u);
  effc_scheduler_stats_t stats = toy.scheduler.stats();
  EXPECT_EQ(stats.admitted, 2u);
  EXPECT_EQ(stats.queued_ns, a.queued_ns + b.queued_ns);
  EXPECT_EQ(stats.queued_ns_most, b.queued_ns);
}

TEST(SchedulerStats, TellWhatNeverRan) {
  Clock clock;
  CachedToy toy(ToyStates::Fixed, 1, clock.options());
  Asked asked = askedFor(3, 5);
  effc_request_t request = asked.request();
  request.deadline_ns = 500;
  uint64_t number = toy.scheduler.submit(request);
  clock.time += 1000;
  toy.finish();
  const effc_event_t &end = toy.served[number].last;
  EXPECT_EQ(end.end, EFFC_END_DEADLINE);
  EXPECT_GE(end.queued_ns, 1000u);
  EXPECT_EQ(end.prompt_ns, 0u);
  EXPECT_EQ(end.decode_ns, 0u);
  EXPECT_EQ(toy.scheduler.stats().admitted, 0u);
}

// A prompt that repeats itself, so that there is something to guess.
TEST(SchedulerStats, CountDrafts) {
  CachedToy toy(ToyStates::KeysAlone, 1, effc_scheduler_options_default());
  Asked asked = askedFor(40, 8);
  for (int i = 0; i < 2; ++i)
    asked.prompt.insert(asked.prompt.end(), asked.prompt.begin(),
                        asked.prompt.begin() + 8);
  effc_request_t request = asked.request();
  request.draft_tokens = 4;
  uint64_t number = toy.scheduler.submit(request);
  toy.finish();
  effc_scheduler_stats_t stats = toy.scheduler.stats();
  EXPECT_GT(stats.drafts, 0u);
  EXPECT_GE(stats.drafted_tokens, stats.drafts);
  EXPECT_LE(stats.drafted_tokens, 4 * stats.drafts);
  EXPECT_EQ(stats.drafted_tokens, toy.served[number].last.drafted_tokens);
  // A call is fed the token that waits, and a draft.
  EXPECT_EQ(stats.decode_tokens, stats.decode_calls + stats.drafted_tokens);
}
