// A scheduler on a device that fails: requests are run again and get what they would
// have got, or say why not.

#include "test/unit/runtime/cuda/CudaToy.h"
#include "test/unit/runtime/serving/Requests.h"

using namespace effc;
using namespace effc::test;

// Calls fail in one step of twenty: of prompts, of decoding, of tokens that are fed
// again, of which a text needs up to forty in a row.
TEST_F(CudaDevice, RequestsAreRunAgain) {
  for (uint32_t seed = 0; seed < 6; ++seed) {
    std::mt19937 random(seed);
    Model model = loadToy();
    Engine engine(model, Device::cuda(), 5);
    effc_scheduler_options_t options = effc_scheduler_options_default();
    options.step_tokens = 24;
    options.max_retries = 1000;
    Scheduler scheduler(engine, options);
    std::map<uint64_t, Asked> asked;
    Hearing hearing;
    while (asked.size() < 20 ||
           scheduler.stats().queued_now + scheduler.stats().running_now > 0) {
      if (asked.size() < 20) {
        Asked one = randomRequest(random);
        asked[scheduler.submit(one.request())] = one;
      }
      if (random() % 20 == 0)
        fake->failures["cuStreamSynchronize"] = 700;
      scheduler.step();
      fake->failures.clear();
      hear(scheduler, hearing);
    }
    EXPECT_GT(scheduler.stats().retries, 5u);
    for (const auto &[number, one] : asked)
      for (uint32_t i = 0; i < one.choices; ++i) {
        const Heard &heard = hearing[number + i];
        ASSERT_EQ(heard.ends, 1);
        ASSERT_EQ(heard.tokens, alone(one, i))
            << "seed " << seed << ", request " << number << ": "
            << heard.message;
      }
  }
}

/// As one that was compiled with --bit-stable: kept states and drafts change nothing.
static void makeBitStable(artifact::ProgramT &program) {
  program.provenance->options = {"--bit-stable=true"};
  for (auto &target : program.targets)
    for (auto &entry : target->entries)
      entry->chunk = 1;
}

// The same with a cache and with drafts: copies to and from the device fail, too.
TEST_F(CudaDevice, RequestsAreRunAgainFromTheCache) {
  for (uint32_t seed = 0; seed < 6; ++seed) {
    std::mt19937 random(seed);
    Model model = loadToy(makeBitStable);
    Engine engine(model, Device::cuda(), 5);
    effc_scheduler_options_t options = effc_scheduler_options_default();
    options.step_tokens = 24;
    options.max_retries = 1000;
    options.cache_bytes = 1 << 20;
    Scheduler scheduler(engine, options);
    EXPECT_EQ(scheduler.note(), "");
    std::map<uint64_t, Asked> asked;
    Hearing hearing;
    while (asked.size() < 30 ||
           scheduler.stats().queued_now + scheduler.stats().running_now > 0) {
      if (asked.size() < 30) {
        Asked one = randomRequest(random);
        one.prompt.insert(one.prompt.begin(), 40, int32_t(random() % 2));
        effc_request_t request = one.request();
        request.draft_tokens = random() % 8;
        asked[scheduler.submit(request)] = one;
      }
      if (random() % 20 == 0)
        fake->failures["cuStreamSynchronize"] = 700;
      scheduler.step();
      fake->failures.clear();
      hear(scheduler, hearing);
    }
    EXPECT_GT(scheduler.stats().retries, 5u);
    EXPECT_GT(scheduler.stats().cached_prompts, 5u);
    for (const auto &[number, one] : asked)
      for (uint32_t i = 0; i < one.choices; ++i) {
        const Heard &heard = hearing[number + i];
        ASSERT_EQ(heard.ends, 1);
        ASSERT_EQ(heard.tokens, alone(one, i))
            << "seed " << seed << ", request " << number << ": "
            << heard.message;
      }
  }
}

// The same with a model that guesses, on the device that fails or beside it: requests
// for which it fails go on without, and what it has read of others outlives failures.
TEST_F(CudaDevice, RequestsOutliveTheModelThatGuesses) {
  for (uint32_t seed = 0; seed < 6; ++seed) {
    std::mt19937 random(seed);
    Model model = loadToy([](artifact::ProgramT &program) {
      makeBitStable(program);
      for (auto &entry : program.entries)
        entry->chunk = 1;
    });
    Engine engine(model, seed % 2 == 0 ? Device::cuda() : Device::host(1), 5);
    Engine drafting(model, seed % 3 == 0 ? Device::host(1) : Device::cuda(), 5);
    effc_scheduler_options_t options = effc_scheduler_options_default();
    options.step_tokens = 24;
    options.max_retries = 1000;
    options.draft_engine = drafting.get();
    Scheduler scheduler(engine, options);
    std::map<uint64_t, Asked> asked;
    Hearing hearing;
    while (asked.size() < 30 ||
           scheduler.stats().queued_now + scheduler.stats().running_now > 0) {
      if (asked.size() < 30) {
        Asked one = randomRequest(random);
        effc_request_t request = one.request();
        request.draft_tokens = random() % 8;
        asked[scheduler.submit(request)] = one;
      }
      if (random() % 20 == 0)
        fake->failures["cuStreamSynchronize"] = 700;
      scheduler.step();
      fake->failures.clear();
      hear(scheduler, hearing);
    }
    effc_scheduler_stats_t stats = scheduler.stats();
    EXPECT_GT(stats.model_accepted_tokens, 10u);
    if (seed % 2 == 0)
      EXPECT_GT(stats.retries, 2u);
    EXPECT_EQ(stats.draft_failures > 0, seed % 3 != 0);
    EXPECT_EQ(drafting.counters().sessions_now, 0u);
    for (const auto &[number, one] : asked)
      for (uint32_t i = 0; i < one.choices; ++i) {
        const Heard &heard = hearing[number + i];
        ASSERT_EQ(heard.ends, 1);
        ASSERT_EQ(heard.tokens, alone(one, i))
            << "seed " << seed << ", request " << number << ": "
            << heard.message;
      }
  }
}

// A device that fails for good: each request says so, after it was tried again.
TEST_F(CudaDevice, RequestsSayWhyTheyFailed) {
  Model model = loadToy();
  Engine engine(model, Device::cuda(), 2);
  Scheduler scheduler(engine);
  Asked one;
  one.prompt = {1, 2, 3};
  one.sampling.min_tokens = 99;
  one.sampling.end_tokens = &kToyEnd;
  one.sampling.end_count = 1;
  for (int i = 0; i < 3; ++i)
    scheduler.submit(one.request());
  one.choices = 2; // of which the second waits for the first one's prompt
  scheduler.submit(one.request());
  Hearing hearing;
  scheduler.step();
  scheduler.step();
  fake->failures["cuStreamSynchronize"] = 700;
  while (scheduler.stats().queued_now + scheduler.stats().running_now > 0)
    scheduler.step();
  fake->failures.clear();
  hear(scheduler, hearing);
  for (uint64_t number = 1; number <= 5; ++number) {
    EXPECT_EQ(hearing[number].end, EFFC_END_FAILED);
    EXPECT_EQ(hearing[number].message.find("cuda: "), 0u)
        << hearing[number].message;
    EXPECT_EQ(hearing[number].tokens.empty(), number >= 3);
  }
  effc_scheduler_stats_t stats = scheduler.stats();
  EXPECT_EQ(stats.retries, 8u);
  EXPECT_GE(stats.device_failures, 3u); // two of them run again
  EXPECT_EQ(stats.device_lost_now, 1u);

  // Whatever works again shows that the device is back.
  one.choices = 1;
  one.maxTokens = 2;
  uint64_t number = scheduler.submit(one.request());
  while (scheduler.stats().queued_now + scheduler.stats().running_now > 0)
    scheduler.step();
  hear(scheduler, hearing);
  EXPECT_EQ(hearing[number].end, EFFC_END_LENGTH) << hearing[number].message;
  EXPECT_EQ(scheduler.stats().device_failures, stats.device_failures);
  EXPECT_EQ(scheduler.stats().device_lost_now, 0u);
}
