// Requests that go on from kept states get what they would get alone: at random, and
// in the situations that have gone wrong elsewhere, named by the issues that tell of
// them. Each demands hits, too.

#include "test/unit/runtime/serving/CachedToy.h"

#include <algorithm>

using namespace effc;
using namespace effc::test;
using Tokens = std::vector<int32_t>;

/// Log-probabilities of `tokens` behind `prompt`, by the toy's reference.
static std::vector<float> logprobsAlone(const Tokens &prompt,
                                        const Tokens &tokens) {
  ToyReference reference;
  std::vector<float> all = reference.feed(prompt);
  std::vector<float> row(all.end() - kToyVocabulary, all.end()), found;
  for (int32_t token : tokens) {
    effc_logprob_t logprob = {};
    check(effc_logprobs(row.data(), kToyVocabulary, token, &logprob, 1));
    found.push_back(logprob.logprob);
    row = reference.step(token);
  }
  return found;
}

namespace {
/// 64 requests that begin like one of a few texts or like an earlier one with its
/// answer, at random steps; some are marked, and some cancelled.
class Storm {
public:
  Storm(CachedToy &toy, uint32_t seed) : toy(toy), random(seed) {
    for (uint32_t i = 0; i < 4; ++i)
      texts.push_back(textOf(20 + random() % 100, 100 * seed + i));
  }

  void run() {
    while (asked.size() < 64 || toy.isBusy()) {
      if (asked.size() < 64 && random() % 3 == 0)
        submit();
      if (random() % 25 == 0 && !asked.empty()) {
        cancelled.push_back(
            std::next(asked.begin(), long(random() % asked.size()))->first);
        toy.scheduler.cancel(cancelled.back());
      }
      toy.scheduler.step();
      toy.hearAll();
    }
    for (const auto &[number, one] : asked)
      for (uint32_t i = 0; i < one.choices; ++i)
        expectAlone(number, one, i);
  }

private:
  void submit() {
    Asked one = randomRequest(random);
    one.maxTokens = 1 + one.maxTokens % 15;
    one.sampling.logprobs = 1;
    Tokens begin = texts[random() % texts.size()];
    if (!asked.empty() && random() % 2 == 0) {
      auto earlier = std::next(asked.begin(), long(random() % asked.size()));
      begin = joined(earlier->second.prompt, toy.served[earlier->first].tokens);
    }
    begin.resize(begin.size() - random() % std::min<size_t>(begin.size(), 8));
    one.prompt.resize(1 + one.prompt.size() % 30);
    if (begin.size() < 300)
      one.prompt = joined(begin, one.prompt);
    effc_request_t request = one.request();
    uint64_t marks[] = {1 + random() % one.prompt.size(),
                        1 + random() % one.prompt.size()};
    request.marks = marks;
    request.mark_count = random() % 3;
    request.salt = random() % 8 == 0 ? "other" : nullptr;
    request.cache_flags = random() % 10 == 0 ? 1 + random() % 3 : 0;
    asked[toy.scheduler.submit(request)] = one;
  }

  void expectAlone(uint64_t number, const Asked &one, uint32_t choice) {
    const Served &served = toy.served[number + choice];
    Tokens expected = alone(one, choice);
    ASSERT_EQ(served.ends, 1);
    if (served.end == EFFC_END_CANCELLED) {
      ASSERT_TRUE(std::count(cancelled.begin(), cancelled.end(), number));
      ASSERT_LE(served.tokens.size(), expected.size());
      expected.resize(served.tokens.size());
    }
    ASSERT_EQ(served.tokens, expected) << "request " << number;
    std::vector<float> logprobs = logprobsAlone(one.prompt, expected);
    ASSERT_EQ(served.logprobs.size(), logprobs.size());
    for (size_t i = 0; i < logprobs.size(); ++i)
      ASSERT_EQ(served.logprobs[i].logprob, logprobs[i]);
    ASSERT_LT(served.last.cached_tokens, one.prompt.size());
    ASSERT_LE(served.last.cached_tokens, served.last.matched_tokens);
  }

  CachedToy &toy;
  std::mt19937 random;
  std::vector<Tokens> texts;
  std::map<uint64_t, Asked> asked;
  std::vector<uint64_t> cancelled;
};
} // namespace

TEST(CachedRequests, GetWhatTheyGetAlone) {
  uint32_t seed = 0;
  for (ToyStates states : kToyStates)
    for (uint32_t chunk : {1, 4})
      for (uint64_t kilobytes :
           {0, 1 << 20, states == ToyStates::Fixed ? 12 : 6000}) {
        std::mt19937 random(++seed);
        effc_scheduler_options_t options = withCache(kilobytes << 10);
        options.step_tokens = 1 + random() % 50;
        options.checkpoint_every = random() % 2 == 0 ? 32 : 2048;
        CachedToy toy(states, 5, options, chunk);
        Storm(toy, seed).run();
        if (testing::Test::HasFatalFailure())
          return;
        effc_scheduler_stats_t stats = toy.scheduler.stats();
        if (kilobytes == 0) {
          EXPECT_EQ(stats.cached_tokens + stats.cache_kept, 0u);
          continue;
        }
        EXPECT_GT(stats.cached_prompts, 10u) << "seed " << seed;
        EXPECT_LE(stats.cache_bytes_most, kilobytes << 10);
        EXPECT_EQ(stats.near_prompts, 0u);
        EXPECT_EQ(stats.cache_evicted > 0, kilobytes < 1 << 20);
        uint64_t prompts = 0;
        for (uint64_t each : stats.cache_prompts)
          prompts += each;
        EXPECT_LE(prompts, stats.submitted);
        EXPECT_GE(prompts + stats.ended[EFFC_END_CANCELLED], stats.submitted);
        EXPECT_EQ(toy.engine.counters().sessions_now, 0u);
      }
}

//===-- What has gone wrong elsewhere -------------------------------------===//

// Nothing below 528 tokens was found.
TEST(CachedRequests, Vllm40696ShortPrompts) {
  for (ToyStates states : kToyStates) {
    CachedToy toy(states);
    Tokens text = textOf(40, 1);
    EXPECT_EQ(toy.serve(askedOf(text)).cached_tokens, 0u);
    EXPECT_EQ(toy.serve(askedOf(text)).cached_tokens, 39u);
  }
}

// Behind a place where two texts part, nothing was found: the second of a kind pays,
// and the third goes on from there.
TEST(CachedRequests, Sglang22935TextsThatPartInsideOfAnEdge) {
  for (ToyStates states : kToyStates) {
    CachedToy toy(states);
    Tokens shared = textOf(70, 1);
    toy.serve(askedOf(joined(shared, textOf(80, 2))));
    effc_event_t second = toy.serve(askedOf(joined(shared, textOf(80, 3))));
    effc_event_t third = toy.serve(askedOf(joined(shared, textOf(80, 4))));
    EXPECT_GE(second.matched_tokens, 70u);
    EXPECT_GE(third.cached_tokens, 70u);
    if (states == ToyStates::KeysAlone) // any position will do
      EXPECT_GE(second.cached_tokens, 70u);
    else
      EXPECT_EQ(second.cache_miss, EFFC_CACHE_NEAREST);
  }
}

// No hits with a single request at a time, and with several.
TEST(CachedRequests, Vllm42317OneAtATime) {
  for (uint32_t sessions : {1, 3}) {
    CachedToy toy(ToyStates::Hybrid, sessions);
    for (int i = 0; i < 3; ++i)
      toy.serve(askedOf(textOf(100, 5)));
    EXPECT_EQ(toy.scheduler.stats().cached_prompts, 2u);
  }
}

// Of a batch of prompts, all but the first had the state of another token kept.
TEST(CachedRequests, Sglang37836ABatchOfPrompts) {
  for (ToyStates states : kToyStates) {
    effc_scheduler_options_t options = withCache();
    options.step_tokens = 400;
    CachedToy toy(states, 4, options);
    for (uint32_t i = 0; i < 4; ++i) {
      effc_request_t request = askedOf(textOf(30 + 7 * i, i)).request();
      Asked asked = askedOf(textOf(30 + 7 * i, i));
      request = asked.request();
      toy.scheduler.submit(request);
    }
    toy.finish();
    for (uint32_t i = 0; i < 4; ++i)
      EXPECT_GE(toy.serve(askedOf(joined(textOf(30 + 7 * i, i), {1, 2, 3})))
                    .cached_tokens,
                29u + 7 * i);
  }
}

// Answers were not in the key: the next turn fed them again.
TEST(CachedRequests, Sglang16521TheNextTurnHasTheAnswer) {
  for (ToyStates states : kToyStates) {
    CachedToy toy(states);
    Asked turn = askedOf(textOf(50, 8), 20);
    turn.sampling.temperature = 1;
    for (int i = 0; i < 4; ++i) {
      effc_event_t event = toy.serve(turn);
      size_t known = turn.prompt.size();
      if (i > 0)
        EXPECT_GT(event.cached_tokens, known - 13 - 2);
      turn.prompt = joined(joined(turn.prompt, alone(turn)), textOf(12, i));
    }
  }
}

// Exact repeats hit and next turns never did, since the history drops what the
// answer began with: the marked end of the last message is there.
TEST(CachedRequests, MlxLm980ThoughtsThatTheNextTurnDrops) {
  static constexpr uint64_t kMark = 45;
  for (ToyStates states : kToyStates) {
    CachedToy toy(states);
    Tokens messages = textOf(kMark, 9), think = {240, 241};
    effc_event_t first =
        toy.serve(askedOf(joined(messages, think)), [](effc_request_t &r) {
          r.marks = &kMark;
          r.mark_count = 1;
        });
    EXPECT_GE(first.kept_tokens, kMark);
    effc_event_t next = toy.serve(askedOf(joined(messages, textOf(30, 10))));
    EXPECT_EQ(next.cached_tokens, kMark);
    EXPECT_EQ(next.cache_miss, EFFC_CACHE_HIT);
  }
}

// Checkpoints were made and never gone back to: each of many turns does.
TEST(CachedRequests, LlamaCpp22384EachTurnGoesBack) {
  effc_scheduler_options_t options = withCache();
  options.checkpoint_every = 64;
  CachedToy toy(ToyStates::Hybrid, 1, options);
  Tokens text = textOf(300, 11);
  toy.serve(askedOf(text));
  // Back to the middle, further than any window: the nearest of every 64 tokens.
  Tokens edited(text.begin(), text.begin() + 200);
  effc_event_t event = toy.serve(askedOf(joined(edited, textOf(30, 12))));
  EXPECT_EQ(event.matched_tokens, 200u);
  EXPECT_EQ(event.cached_tokens, 192u);
  EXPECT_EQ(event.cache_miss, EFFC_CACHE_NEAREST);
}

// The memory of one sequence waits for the next, and goes with the scheduler.
TEST(CachedRequests, OneSlotStaysWarm) {
  TemporaryFile file(makeToyArtifact(toyOf(ToyStates::KeysAlone)));
  Model model(file.path());
  Engine engine(model, Device::host(1), 3);
  {
    Scheduler scheduler(engine, withCache());
    for (uint32_t i = 0; i < 3; ++i) {
      Asked asked = askedOf(textOf(200, i));
      scheduler.submit(asked.request());
    }
    while (scheduler.stats().running_now + scheduler.stats().queued_now > 0)
      scheduler.step();
    EXPECT_EQ(engine.counters().sessions_now, 0u);
    EXPECT_GE(engine.counters().state_bytes_now, 200 * kToyRowBytes);
    EXPECT_LT(engine.counters().state_bytes_now, 210 * kToyRowBytes);
  }
  EXPECT_EQ(engine.counters().state_bytes_now, 0u);
}

// The next turn of many chats at once, with few sessions and a cache that holds some
// of them.
TEST(CachedRequests, ManyChatsTakeTurns) {
  CachedToy toy(ToyStates::Fixed, 3, withCache(30 << 10));
  std::vector<Asked> chats;
  for (uint32_t i = 0; i < 12; ++i)
    chats.push_back(askedOf(textOf(40, 20 + i), 10));
  for (int turn = 0; turn < 4; ++turn) {
    std::map<uint64_t, size_t> numbers;
    for (size_t i = 0; i < chats.size(); ++i)
      numbers[toy.scheduler.submit(chats[i].request())] = i;
    toy.finish();
    for (auto [number, i] : numbers) {
      ASSERT_EQ(toy.served[number].tokens, alone(chats[i]));
      chats[i].prompt = joined(joined(chats[i].prompt, alone(chats[i])),
                               textOf(9, 90 + turn));
    }
  }
  EXPECT_GT(toy.scheduler.stats().cached_prompts, 12u);
}
