// Texts that come several tokens a call are, token for token, those that come one by
// one, by any rules of sampling.

#include "test/unit/runtime/serving/CachedToy.h"
#include "test/unit/runtime/toy/ToyOnDevice.h"

#include <algorithm>

using namespace effc;
using namespace effc::test;
using Tokens = std::vector<int32_t>;

/// Has texts be of the tokens 0 to 3 alone, so that any end of them has been there.
static void useFewTokens(effc_sampler_options_t &sampling) {
  static const std::vector<effc_logit_bias_t> biases = [] {
    std::vector<effc_logit_bias_t> biases;
    for (int32_t token = 4; token < int32_t(kToyVocabulary); ++token)
      biases.push_back({token, -1000});
    return biases;
  }();
  sampling.logit_bias = biases.data();
  sampling.logit_bias_count = biases.size();
}

// 64 requests beside each other, of which most draft, with a cache and cancels. A third
// of them are greedy over a prompt that repeats itself, so that drafts are right, and a
// third of few tokens by chance, so that they are wrong.
TEST(DraftedRequests, GetWhatTheyGetAlone) {
  uint64_t accepted = 0, drafted = 0;
  for (uint32_t seed = 0; seed < 12; ++seed) {
    std::mt19937 random(seed);
    ToyStates states = kToyStates[seed / 2 % 3];
    effc_scheduler_options_t options =
        withCache(seed % 3 == 0 ? 0 : uint64_t(1) << 24);
    options.step_tokens = 1 + random() % 50;
    CachedToy toy(states, 5, options);
    std::map<uint64_t, Asked> asked;
    std::vector<uint64_t> cancelled;
    while (asked.size() < 64 || toy.isBusy()) {
      if (asked.size() < 64 && random() % 2 == 0) {
        Asked one = randomRequest(random);
        if (random() % 3 == 0) {
          one.sampling.temperature = 4;
          useFewTokens(one.sampling);
          one.maxTokens = 40;
        } else if (random() % 2 == 0) {
          one.sampling.temperature = 0;
          Tokens run = one.prompt;
          run.resize(std::min<size_t>(run.size(), 5));
          one.prompt = joined(joined(run, run), run);
        }
        effc_request_t request = one.request();
        request.draft_tokens = random() % 20;
        asked[toy.scheduler.submit(request)] = one;
      }
      if (random() % 30 == 0 && !asked.empty()) {
        cancelled.push_back(
            std::next(asked.begin(), long(random() % asked.size()))->first);
        toy.scheduler.cancel(cancelled.back());
      }
      toy.scheduler.step();
      toy.hearAll();
    }
    for (const auto &[number, one] : asked)
      for (uint32_t i = 0; i < one.choices; ++i) {
        const Served &served = toy.served[number + i];
        Tokens expected = alone(one, i);
        ASSERT_EQ(served.ends, 1);
        if (served.end == EFFC_END_CANCELLED) {
          ASSERT_LE(served.tokens.size(), expected.size());
          expected.resize(served.tokens.size());
        } else {
          ASSERT_EQ(served.end, expected.size() < one.maxTokens
                                    ? EFFC_END_TOKEN
                                    : EFFC_END_LENGTH);
        }
        ASSERT_EQ(served.tokens, expected)
            << "seed " << seed << ", request " << number;
        ASSERT_LE(served.last.accepted_tokens, served.last.drafted_tokens);
      }
    drafted += toy.scheduler.stats().drafted_tokens;
    accepted += toy.scheduler.stats().accepted_tokens;
  }
  EXPECT_GT(accepted, 200u);
  EXPECT_GT(drafted - accepted, 200u); // wrong ones have been taken back
}

// A text that repeats itself comes in less than half of the calls.
TEST(DraftedRequests, TakeFewerCalls) {
  for (ToyStates states : kToyStates) {
    uint64_t steps[2], calls[2];
    for (bool drafts : {false, true}) {
      CachedToy toy(states, 1, effc_scheduler_options_default());
      // The state halves with each token, so that the likeliest text soon goes round.
      Asked asked = askedOf(textOf(10, 3), 200);
      asked.sampling.end_tokens = &kToyEnd;
      asked.sampling.end_count = 1;
      asked.sampling.min_tokens = 200;
      effc_request_t request = asked.request();
      request.draft_tokens = drafts ? 16 : 0;
      uint64_t number = toy.scheduler.submit(request);
      toy.finish();
      ASSERT_EQ(toy.served[number].tokens.size(), 200u);
      static Tokens plain;
      if (!drafts)
        plain = toy.served[number].tokens;
      EXPECT_EQ(toy.served[number].tokens, plain);
      steps[drafts] = toy.scheduler.stats().steps;
      calls[drafts] = toy.engine.counters().calls;
      EXPECT_EQ(toy.served[number].last.accepted_tokens > 100, drafts);
    }
    EXPECT_LT(steps[1], steps[0] / 2);
    EXPECT_LT(calls[1], calls[0] / 2);
  }
}

// The toy compares every row of its window with what the context has: one that a wrong
// draft has replaced, and nobody put back, makes logits NaN. Texts of three windows, of
// few tokens by chance, with drafts that are as long as may be.
TEST(DraftedRequests, PutBackWhatWindowsLost) {
  uint64_t wrong = 0;
  for (uint32_t seed = 0; seed < 6; ++seed) {
    CachedToy toy(ToyStates::Hybrid, 2, withCache());
    std::map<uint64_t, Asked> asked;
    for (uint32_t i = 0; i < 3; ++i) {
      Asked one = askedOf(textOf(100, seed), 3 * kToyWindow);
      one.sampling.temperature = 4;
      one.sampling.seed = 10 * seed + i;
      useFewTokens(one.sampling);
      effc_request_t request = one.request();
      request.draft_tokens = EFFC_DRAFT_MOST;
      asked[toy.scheduler.submit(request)] = one;
    }
    toy.finish();
    for (const auto &[number, one] : asked) {
      ASSERT_EQ(toy.served[number].tokens, alone(one))
          << "seed " << seed << ": " << toy.served[number].message;
      ASSERT_EQ(toy.served[number].end, EFFC_END_LENGTH);
    }
    effc_scheduler_stats_t stats = toy.scheduler.stats();
    wrong += stats.drafted_tokens - stats.accepted_tokens;
  }
  EXPECT_GT(wrong, 500u);
}

// The context ends a text where it would without drafts.
TEST(DraftedRequests, EndWhereTheContextDoes) {
  for (uint32_t drafts : {0, 16}) {
    ToyOptions small = toyOf(ToyStates::Fixed);
    small.changeProgram = [](artifact::ProgramT &p) { p.max_context = 64; };
    CachedToy toy(small, 1, withCache());
    Asked asked = askedOf(joined(joined({5, 6, 7}, {5, 6, 7}), {5, 6, 7}), 500);
    asked.sampling.end_tokens = &kToyEnd;
    asked.sampling.end_count = 1;
    asked.sampling.min_tokens = 500;
    effc_request_t request = asked.request();
    request.draft_tokens = drafts;
    uint64_t number = toy.scheduler.submit(request);
    toy.finish();
    EXPECT_EQ(toy.served[number].end, EFFC_END_CONTEXT);
    EXPECT_EQ(toy.served[number].tokens.size(), 64u - 9 + 1);
  }
}

TEST(DraftedRequests, RefuseWhereBitsWouldDiffer) {
  auto refusal = [](ToyStates states, uint32_t chunk, uint32_t drafts,
                    effc_status_code_t code) {
    CachedToy toy(states, 1, withCache(), chunk);
    Asked asked = askedOf({1, 2, 3});
    effc_request_t request = asked.request();
    request.draft_tokens = drafts;
    return messageOf([&] { toy.scheduler.submit(request); }, code);
  };
  EXPECT_EQ(refusal(ToyStates::Fixed, 4, 3, EFFC_UNSUPPORTED),
            "'draft_tokens' is set, but the file's code for host may give "
            "other bits for several tokens of a call than for one after "
            "another");
  EXPECT_EQ(refusal(ToyStates::Fixed, 1, 65, EFFC_INVALID_ARGUMENT),
            "'draft_tokens' is 65, but at most 64 are possible");
}

// The same is said beforehand.
TEST(DraftedRequests, AreKnownToBePossible) {
  for (ToyStates states : kToyStates)
    EXPECT_EQ(CachedToy(states).scheduler.whyNoDrafts(), "");
  EXPECT_EQ(CachedToy(ToyStates::Fixed, 1, withCache(), 4)
                .scheduler.whyNoDrafts()
                .substr(0, 28),
            "the file's code for host may");
}
