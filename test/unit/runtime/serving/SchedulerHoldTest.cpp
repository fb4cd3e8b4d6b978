// Requests that are held for a slower reader, by a clock that the test sets.

#include "test/unit/runtime/serving/Requests.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace effc;
using namespace effc::test;

namespace {
struct Toy {
  Toy()
      : file(makeToyArtifact()), model(file.path()),
        engine(model, Device::host(1), 4), scheduler(engine, options()) {}

  effc_scheduler_options_t options() {
    effc_scheduler_options_t options = effc_scheduler_options_default();
    options.reader_ns = 1000;
    options.clock = [](void *user) { return *static_cast<uint64_t *>(user); };
    options.clock_user = &time;
    return options;
  }
  void step(int count = 1) {
    while (count-- > 0) {
      scheduler.step();
      hear(scheduler, hearing);
    }
  }

  uint64_t time = 5;
  TemporaryFile file;
  Model model;
  Engine engine;
  Scheduler scheduler;
  Hearing hearing;
};
} // namespace

/// One that takes 30 tokens, its end included or not.
static Asked thirty(int32_t first, uint32_t choices) {
  Asked asked;
  asked.prompt = {first, first + 1};
  asked.sampling.temperature = 1;
  asked.sampling.seed = 11;
  effc_logit_bias_t static const kNoEnd = {kToyEnd, -INFINITY};
  asked.sampling.logit_bias = &kNoEnd;
  asked.sampling.logit_bias_count = 1;
  asked.maxTokens = 30;
  asked.choices = choices;
  return asked;
}

// Two choices are held from their fourth token on, while another request ends; then
// they go on, and have the tokens that they have alone.
TEST(SchedulerHold, WaitsAndGoesOn) {
  Toy toy;
  Asked held = thirty(3, 2), other = thirty(9, 1);
  uint64_t number = toy.scheduler.submit(held.request());
  toy.step(4);
  size_t before = toy.hearing[number].tokens.size();
  EXPECT_EQ(before, 4u);
  toy.scheduler.hold(number, true);
  uint64_t second = toy.scheduler.submit(other.request());
  toy.step(40);
  EXPECT_EQ(toy.hearing[second].tokens, alone(other));
  for (uint64_t choice : {0, 1}) {
    EXPECT_EQ(toy.hearing[number + choice].tokens.size(), before);
    EXPECT_EQ(toy.hearing[number + choice].ends, 0);
  }
  toy.scheduler.hold(number, false);
  toy.step(40);
  for (uint32_t choice : {0u, 1u})
    EXPECT_EQ(toy.hearing[number + choice].tokens, alone(held, choice));
}

TEST(SchedulerHold, EndsWhenItTakesTooLong) {
  Toy toy;
  uint64_t number = toy.scheduler.submit(thirty(3, 1).request());
  toy.step(4);
  toy.scheduler.hold(number, true);
  toy.time += 999;
  toy.step();
  EXPECT_EQ(toy.hearing[number].ends, 0);
  toy.time += 1;
  toy.step();
  EXPECT_EQ(toy.hearing[number].ends, 1);
  EXPECT_EQ(toy.hearing[number].end, EFFC_END_UNREAD);
  toy.scheduler.hold(number, false);    // of one that has ended
  toy.scheduler.hold(number + 7, true); // of one that was never there
  EXPECT_FALSE(toy.scheduler.step());
}

// Held before it has a session, it takes its prompt and waits with its first token.
TEST(SchedulerHold, CountsFromTheHold) {
  Toy toy;
  Asked asked = thirty(3, 1);
  uint64_t number = toy.scheduler.submit(asked.request());
  toy.scheduler.hold(number, true);
  toy.step(5);
  EXPECT_EQ(toy.hearing[number].tokens.size(), 1u);
  toy.scheduler.hold(number, false);
  toy.step(40);
  EXPECT_EQ(toy.hearing[number].tokens, alone(asked));
}
