// A scheduler with a thread of its own, used from several others at once.

#include "test/unit/runtime/serving/Requests.h"

#include <atomic>
#include <gtest/gtest.h>
#include <mutex>
#include <poll.h>
#include <thread>

using namespace effc;
using namespace effc::test;

static constexpr uint64_t kSecond = 1000000000;

namespace {
struct Toy {
  explicit Toy(effc_scheduler_options_t options)
      : file(makeToyArtifact()), model(file.path()),
        engine(model, Device::host(2), 5), scheduler(engine, options) {}
  TemporaryFile file;
  Model model;
  Engine engine;
  Scheduler scheduler;
};
} // namespace

// Four threads submit and cancel, one reads: what was not cancelled is what each
// request gets alone.
TEST(SchedulerThreads, SubmitFromAnywhere) {
  Toy toy(effc_scheduler_options_default());
  toy.scheduler.start();
  toy.scheduler.start(); // once is enough
  constexpr uint64_t kEach = 25;
  std::mutex lock;
  std::map<uint64_t, Asked> asked;
  std::vector<std::thread> clients;
  for (uint32_t client = 0; client < 4; ++client)
    clients.emplace_back([&, client] {
      std::mt19937 random(client);
      for (uint64_t i = 0; i < kEach; ++i) {
        Asked one = randomRequest(random);
        one.choices = 1;
        std::lock_guard guard(lock);
        uint64_t number = toy.scheduler.submit(one.request());
        asked[number] = one;
        if (random() % 5 == 0)
          toy.scheduler.cancel(number);
        toy.scheduler.stats();
      }
    });
  Hearing hearing;
  uint64_t ends = 0;
  while (ends < 4 * kEach) {
    effc_event_t event = toy.scheduler.poll(20 * kSecond);
    ASSERT_NE(event.kind, EFFC_EVENT_NONE);
    hearing[event.request].take(event);
    ends += event.kind == EFFC_EVENT_END;
  }
  for (std::thread &client : clients)
    client.join();
  for (const auto &[number, one] : asked) {
    std::vector<int32_t> expected = alone(one);
    if (hearing[number].end == EFFC_END_CANCELLED)
      expected.resize(std::min(expected.size(), hearing[number].tokens.size()));
    EXPECT_EQ(hearing[number].tokens, expected) << number;
  }
}

// Others look into the cache while it is filled and used.
TEST(SchedulerThreads, LookUpFromAnywhere) {
  effc_scheduler_options_t options = effc_scheduler_options_default();
  options.cache_bytes = 8000; // so that states are given up, too
  Toy toy(options);
  toy.scheduler.start();
  std::atomic<bool> done{false};
  std::atomic<uint64_t> found{0};
  std::vector<std::thread> clients;
  for (uint32_t client = 0; client < 3; ++client)
    clients.emplace_back([&, client] {
      std::mt19937 random(client);
      while (!done) {
        Asked one;
        one.prompt.assign(40 + random() % 10, int32_t(random() % 12));
        effc_cache_lookup_t lookup = toy.scheduler.lookUp(one.request());
        EXPECT_LT(lookup.cached_tokens, one.prompt.size());
        found += lookup.cached_tokens > 0;
        EXPECT_LE(toy.scheduler.stats().cache_bytes_now, 8000u);
      }
    });
  std::map<uint64_t, Asked> asked;
  Hearing hearing;
  for (int32_t i = 0; i < 60; ++i) {
    Asked one;
    one.prompt.assign(50, i % 12);
    asked[toy.scheduler.submit(one.request())] = one;
  }
  for (int ends = 0; ends < 60;) {
    effc_event_t event = toy.scheduler.poll(20 * kSecond);
    ASSERT_NE(event.kind, EFFC_EVENT_NONE);
    hearing[event.request].take(event);
    ends += event.kind == EFFC_EVENT_END;
  }
  for (int wait = 0; wait < 2000 && found == 0; ++wait)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  done = true;
  for (std::thread &client : clients)
    client.join();
  EXPECT_GT(found, 0u);
  for (const auto &[number, one] : asked)
    EXPECT_EQ(hearing[number].tokens, alone(one)) << number;
}

// The callback may submit what follows.
TEST(SchedulerThreads, CallbacksHearEverything) {
  struct Chain {
    Scheduler *scheduler = nullptr;
    Hearing hearing;
    std::vector<uint64_t> numbers;
    std::atomic<int> ends{0};
  } chain;
  effc_scheduler_options_t options = effc_scheduler_options_default();
  options.on_event_user = &chain;
  options.on_event = [](void *user, const effc_event_t *event) {
    auto &chain = *static_cast<Chain *>(user);
    chain.hearing[event->request].take(*event);
    if (event->kind != EFFC_EVENT_END)
      return;
    if (++chain.ends < 3) {
      Asked next;
      next.prompt = chain.hearing[event->request].tokens;
      chain.numbers.push_back(chain.scheduler->submit(next.request()));
    }
  };
  Toy toy(options);
  chain.scheduler = &toy.scheduler;
  Asked first;
  first.prompt = {1, 2, 3};
  chain.numbers.push_back(toy.scheduler.submit(first.request()));
  toy.scheduler.start();
  while (chain.ends < 3)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  toy.scheduler.stop();
  Asked asked = first;
  for (uint64_t number : chain.numbers) {
    EXPECT_EQ(chain.hearing[number].tokens, alone(asked));
    asked.prompt = alone(asked);
  }
  EXPECT_EQ(toy.scheduler.poll().kind, EFFC_EVENT_NONE);
}

// A descriptor that is readable while there are events, and not behind a poll that
// found none.
TEST(SchedulerThreads, RingWhileEventsWait) {
  Toy toy(effc_scheduler_options_default());
  auto isRinging = [&](int milliseconds) {
    pollfd waiting = {toy.scheduler.fd(), POLLIN, 0};
    return poll(&waiting, 1, milliseconds) == 1;
  };
  Asked one;
  one.prompt = {1, 2};
  one.maxTokens = 3;
  for (int round = 0; round < 3; ++round) {
    ASSERT_EQ(toy.scheduler.poll().kind, EFFC_EVENT_NONE);
    EXPECT_FALSE(isRinging(0));
    uint64_t number = toy.scheduler.submit(one.request());
    toy.scheduler.start();
    ASSERT_TRUE(isRinging(20000));
    Hearing hearing;
    while (hearing[number].ends == 0) {
      if (toy.scheduler.stats().unread_now == 0)
        ASSERT_TRUE(isRinging(20000));
      hear(toy.scheduler, hearing);
    }
    toy.scheduler.stop();
  }
}

// Stopped and started in mid-text, and stepped by hand meanwhile.
TEST(SchedulerThreads, StopsBehindAStep) {
  Toy toy(effc_scheduler_options_default());
  Asked one;
  one.prompt = {7, 8};
  one.maxTokens = 400;
  one.sampling.temperature = 2;
  one.sampling.min_tokens = 400;
  one.sampling.end_tokens = &kToyEnd;
  one.sampling.end_count = 1;
  uint64_t number = toy.scheduler.submit(one.request());
  Hearing hearing;
  while (hearing[number].ends == 0) {
    toy.scheduler.start();
    hearing[number].take(toy.scheduler.poll(20 * kSecond));
    toy.scheduler.stop();
    toy.scheduler.step();
    hear(toy.scheduler, hearing);
  }
  EXPECT_EQ(hearing[number].tokens.size(), 400u);
}

TEST(SchedulerThreads, AreGoneWhenItIsFreed) {
  for (int i = 0; i < 5; ++i) {
    Toy toy(effc_scheduler_options_default());
    Asked one;
    one.prompt = {1};
    toy.scheduler.submit(one.request());
    toy.scheduler.start();
  }
}
