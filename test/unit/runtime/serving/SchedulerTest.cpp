// A scheduler over the toy model: each request gets what it would get alone,
// whatever company it has, and nobody waits for ever.

#include "test/unit/runtime/serving/Requests.h"

#include <algorithm>
#include <gtest/gtest.h>

using namespace effc;
using namespace effc::test;
using Tokens = std::vector<int32_t>;

namespace {
struct Toy {
  explicit Toy(
      uint32_t sessions,
      effc_scheduler_options_t options = effc_scheduler_options_default(),
      const ToyOptions &toy = {})
      : file(makeToyArtifact(toy)), model(file.path()),
        engine(model, Device::host(1), sessions), scheduler(engine, options) {}

  bool isBusy() const {
    effc_scheduler_stats_t stats = scheduler.stats();
    return stats.queued_now + stats.running_now > 0;
  }
  /// Steps until all have ended.
  void finish() {
    while (isBusy()) {
      scheduler.step();
      hear(scheduler, hearing);
    }
  }
  std::string refusal(const effc_request_t &request) {
    try {
      scheduler.submit(request);
      return "";
    } catch (const Error &error) {
      return std::to_string(error.code()) + ": " + error.what();
    }
  }

  TemporaryFile file;
  Model model;
  Engine engine;
  Scheduler scheduler;
  Hearing hearing;
};
} // namespace

static effc_scheduler_options_t defaults() {
  return effc_scheduler_options_default();
}

// 64 requests of random lengths, rules, classes and choices come at random steps,
// and some are cancelled: 7 sequences and any room for prompts.
TEST(Scheduler, EachGetsWhatItGetsAlone) {
  for (uint32_t seed = 0; seed < 12; ++seed) {
    std::mt19937 random(seed);
    effc_scheduler_options_t options = defaults();
    options.step_tokens = 1 + random() % 50;
    options.age_steps = 1 + random() % 20;
    Toy toy(7, options);
    std::map<uint64_t, Asked> asked;
    std::vector<uint64_t> cancelled;
    while (asked.size() < 64 || toy.isBusy()) {
      if (asked.size() < 64 && random() % 2 == 0) {
        Asked one = randomRequest(random);
        asked[toy.scheduler.submit(one.request())] = one;
      }
      if (random() % 20 == 0 && !asked.empty()) {
        cancelled.push_back(
            std::next(asked.begin(), long(random() % asked.size()))->first);
        toy.scheduler.cancel(cancelled.back());
      }
      toy.scheduler.step();
      hear(toy.scheduler, toy.hearing);
    }
    uint64_t cut = 0, choices = 0;
    auto expectChoice = [&](uint64_t number, const Asked &one, uint32_t i) {
      const Heard &heard = toy.hearing[number + i];
      Tokens expected = alone(one, i);
      ASSERT_EQ(heard.ends, 1) << "seed " << seed << ", request " << number;
      if (heard.end == EFFC_END_CANCELLED) {
        ASSERT_LE(heard.tokens.size(), expected.size());
        expected.resize(heard.tokens.size());
        ASSERT_TRUE(std::count(cancelled.begin(), cancelled.end(), number));
        ++cut;
      } else {
        ASSERT_EQ(heard.end, expected.size() < one.maxTokens ? EFFC_END_TOKEN
                                                             : EFFC_END_LENGTH);
      }
      ASSERT_EQ(heard.tokens, expected)
          << "seed " << seed << ", request " << number;
      ASSERT_EQ(heard.text, toy.model.detokenize(heard.tokens,
                                                 EFFC_DETOKENIZE_SKIP_SPECIAL));
    };
    for (const auto &[number, one] : asked)
      for (uint32_t i = 0; i < one.choices; ++i, ++choices)
        expectChoice(number, one, i);
    EXPECT_EQ(toy.hearing.size(), choices);
    effc_scheduler_stats_t stats = toy.scheduler.stats();
    EXPECT_EQ(stats.submitted, 64u);
    EXPECT_EQ(stats.ended[EFFC_END_CANCELLED], cut);
    EXPECT_LE(stats.running_most, 7u);
    EXPECT_EQ(toy.engine.counters().sessions_now, 0u);
  }
}

// Decoding in one call: of 4 sequences that run together each step makes 4 tokens.
TEST(Scheduler, SequencesDecodeTogether) {
  Toy toy(4);
  Asked one;
  one.prompt = {5, 6, 7};
  one.sampling.temperature = 1;
  for (uint64_t seed = 0; seed < 4; ++seed) {
    one.sampling.seed = 40 + seed;
    toy.scheduler.submit(one.request());
  }
  toy.finish();
  uint64_t calls = 0, tokens = 0;
  for (const effc_entry_counters_t &entry : toy.engine.entryCounters())
    if (entry.kind == EFFC_DECODE) {
      calls += entry.calls;
      tokens += entry.tokens;
    }
  EXPECT_LE(calls, 20u);
  EXPECT_GE(tokens, 3 * calls);
}

// A flood of the highest class: one of the lowest gets its turn, within a bound
// that 10,000 requests hold.
static void floodWith(uint32_t choices, uint64_t expectedBound,
                      uint64_t cacheBytes = 0) {
  std::mt19937 random(3);
  effc_scheduler_options_t options = defaults();
  options.max_queue = 20;
  options.step_tokens = 16;
  options.max_new_tokens = 12;
  options.max_prompt_tokens = 40;
  options.age_steps = 4;
  options.max_choices = choices;
  options.cache_bytes = cacheBytes;
  ToyOptions free;
  free.chunk = cacheBytes > 0 ? 1 : 4;
  Toy toy(4, options, free);
  uint64_t refused = 0, made = 0;
  while (made < 10000) {
    Asked one = randomRequest(random);
    one.prompt.resize(1 + one.prompt.size() % 40);
    one.maxTokens = 1 + one.maxTokens % 12;
    one.choices = 1 + random() % choices;
    one.priority = random() % 30 == 0 ? 0 : EFFC_PRIORITY_MOST;
    effc_request_t request = one.request();
    std::vector<uint64_t> marks(cacheBytes > 0 ? EFFC_MARKS_MOST : 0);
    for (uint64_t &mark : marks)
      mark = 1 + random() % one.prompt.size();
    request.marks = marks.data();
    request.mark_count = marks.size();
    uint64_t number;
    effc_status_t *status =
        effc_scheduler_submit(toy.scheduler.get(), &request, &number);
    if (status) {
      ASSERT_EQ(effc_status_code(status), EFFC_EXHAUSTED);
      effc_status_free(status);
      ++refused;
      toy.scheduler.step();
      hear(toy.scheduler, toy.hearing);
    } else {
      ++made;
    }
  }
  toy.finish();
  effc_scheduler_stats_t stats = toy.scheduler.stats();
  EXPECT_GT(refused, 1000u); // it was a flood
  EXPECT_EQ(stats.refused, refused);
  EXPECT_EQ(stats.submitted, 10000u);
  EXPECT_EQ(stats.first_tokens, toy.hearing.size());
  EXPECT_EQ(stats.queued_most, 20u);
  EXPECT_EQ(stats.waited_steps_bound, expectedBound);
  EXPECT_LE(stats.waited_steps_most, stats.waited_steps_bound);
  // Without ages the lowest class would wait for the end of the flood, some 20,000
  // steps; it does wait for its classes.
  EXPECT_GT(stats.waited_steps_most, 20u);
}

// 7 classes of 4 steps; 23 others and the request itself, of 4 steps of 12 tokens
// each; 23 of 12 tokens by fours; and a step for each to leave.
TEST(Scheduler, NobodyWaitsForEver) {
  floodWith(1, 28 + 24 * 4 + 23 * 12 / 4 + 1 + 24);
}

// Three choices need three places, so that two may stand empty: 23 times 3 texts
// of 12 tokens by twos.
TEST(Scheduler, NobodyWaitsForEverBesideChoices) {
  floodWith(3, 28 + 24 * 4 + 23 * 3 * 12 / 2 + 1 + 24);
}

// A prompt may stop at 16 marks, where it leaves others, and at its end, each time for
// a step of its own: 18 more for each.
TEST(Scheduler, NobodyWaitsForEverBesideCopies) {
  floodWith(1, 28 + 24 * (4 + 18) + 23 * 12 / 4 + 1 + 24, 1 << 18);
}

// The prompt is fed once, and each choice goes on from there with its own seed.
TEST(Scheduler, ChoicesShareAPrompt) {
  Toy toy(5);
  Asked one;
  one.prompt = Tokens(40, 3);
  one.sampling.temperature = 1.5f;
  one.choices = 4;
  uint64_t number = toy.scheduler.submit(one.request());
  Asked next = one;
  next.choices = 1;
  EXPECT_EQ(toy.scheduler.submit(next.request()), number + 4);
  toy.finish();
  EXPECT_EQ(toy.engine.counters().prefill_tokens, 80u);
  for (uint32_t i = 0; i < 4; ++i)
    EXPECT_EQ(toy.hearing[number + i].tokens, alone(one, i));
  EXPECT_NE(toy.hearing[number].tokens, toy.hearing[number + 1].tokens);
  EXPECT_EQ(toy.hearing[number + 4].tokens, toy.hearing[number].tokens);
  one.choices = 6;
  EXPECT_EQ(toy.refusal(one.request()),
            "1: 'choices' is 6, but 1 to 5 are possible with this scheduler");
}

// The same flood where ages count for nothing shows what the bound is for.
TEST(Scheduler, WithoutAgesAFloodPasses) {
  effc_scheduler_options_t options = defaults();
  options.max_queue = 20;
  options.age_steps = UINT32_MAX;
  Toy toy(2, options);
  Asked low, high;
  low.prompt = high.prompt = {1, 2};
  low.maxTokens = high.maxTokens = 3;
  low.sampling.end_count = high.sampling.end_count = 0;
  high.priority = 1;
  for (int i = 0; i < 4; ++i)
    toy.scheduler.submit(high.request());
  uint64_t waiting = toy.scheduler.submit(low.request());
  for (int i = 0; i < 500; ++i) {
    while (toy.scheduler.stats().queued_now < 6)
      toy.scheduler.submit(high.request());
    toy.scheduler.step();
    hear(toy.scheduler, toy.hearing);
  }
  EXPECT_EQ(toy.hearing.count(waiting), 0u);
}

TEST(Scheduler, EndsAtStopsOfTheRequest) {
  Toy toy(2);
  Asked one;
  one.prompt = {5};
  Tokens made = alone(one);
  std::string whole = toy.model.detokenize(made, EFFC_DETOKENIZE_SKIP_SPECIAL);
  std::string third = toy.model.detokenize({made[2]});
  const char *texts[] = {"never there", third.c_str()};
  effc_request_t request = one.request();
  request.stop_texts = texts;
  request.stop_text_count = 2;
  uint64_t byText = toy.scheduler.submit(request);
  request = one.request();
  request.stop_tokens = &made[3];
  request.stop_token_count = 1;
  uint64_t byToken = toy.scheduler.submit(request);
  toy.finish();
  EXPECT_EQ(toy.hearing[byText].end, EFFC_END_STOP);
  EXPECT_EQ(toy.hearing[byText].stop, 1);
  EXPECT_EQ(toy.hearing[byText].text, whole.substr(0, whole.find(third)));
  EXPECT_EQ(toy.hearing[byToken].end, EFFC_END_STOP);
  EXPECT_EQ(toy.hearing[byToken].stop, -1);
  size_t first = static_cast<size_t>(
      std::find(made.begin(), made.end(), made[3]) - made.begin());
  EXPECT_EQ(toy.hearing[byToken].tokens,
            Tokens(made.begin(), made.begin() + static_cast<long>(first)));
}

TEST(Scheduler, TakesTextsAsTheModelCutsThem) {
  Toy toy(1);
  Asked one;
  one.prompt = toy.model.tokenize("hello");
  effc_request_t request = one.request();
  request.tokens = nullptr;
  request.token_count = 0;
  request.text = "hello";
  request.text_size = 5;
  uint64_t number = toy.scheduler.submit(request);
  toy.finish();
  EXPECT_EQ(toy.hearing[number].tokens, alone(one));
}

TEST(Scheduler, GivesLogprobsWithTokens) {
  Toy toy(1);
  Asked one;
  one.prompt = {9, 8};
  one.maxTokens = 1;
  one.sampling.logprobs = 3;
  toy.scheduler.submit(one.request());
  toy.scheduler.step();
  effc_event_t event = toy.scheduler.poll();
  ASSERT_EQ(event.kind, EFFC_EVENT_TOKEN);
  ASSERT_EQ(event.logprob_count, 3u);
  std::vector<float> all = ToyReference().feed(one.prompt);
  effc_logprob_t expected[3];
  check(effc_logprobs(&all[kToyVocabulary], kToyVocabulary, event.token,
                      expected, 3));
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(event.logprobs[i].token, expected[i].token);
    EXPECT_EQ(event.logprobs[i].logprob, expected[i].logprob);
  }
}

// By a clock that only the test advances.
TEST(Scheduler, KeepsDeadlines) {
  static uint64_t time;
  time = 1000;
  effc_scheduler_options_t options = defaults();
  options.clock = [](void *) { return time; };
  Toy toy(1, options);
  Asked one;
  one.prompt = {4};
  one.maxTokens = 1000;
  one.sampling.min_tokens = 1000;
  one.sampling.end_tokens = &kToyEnd;
  one.sampling.end_count = 1;
  effc_request_t request = one.request();
  request.deadline_ns = 500;
  uint64_t runs = toy.scheduler.submit(request),
           waits = toy.scheduler.submit(request);
  toy.scheduler.step();
  time = 1499;
  toy.scheduler.step();
  hear(toy.scheduler, toy.hearing);
  EXPECT_EQ(toy.hearing[runs].tokens.size(), 2u);
  EXPECT_EQ(toy.hearing[runs].ends, 0);
  time = 1500;
  toy.scheduler.step();
  hear(toy.scheduler, toy.hearing);
  EXPECT_EQ(toy.hearing[runs].end, EFFC_END_DEADLINE);
  EXPECT_EQ(toy.hearing[waits].end, EFFC_END_DEADLINE);
  EXPECT_EQ(toy.hearing[waits].tokens, Tokens());
}

/// Asks for ten tokens, none of them an end.
static Asked tenTokens() {
  Asked one;
  one.prompt = {4};
  one.maxTokens = 10;
  one.sampling.min_tokens = 10;
  one.sampling.end_tokens = &kToyEnd;
  one.sampling.end_count = 1;
  return one;
}

// Who does not read is waited for, then given up; others go on.
TEST(Scheduler, WaitsForReaders) {
  static uint64_t time;
  time = 1;
  effc_scheduler_options_t options = defaults();
  options.clock = [](void *) { return time; };
  options.max_unread = 3;
  options.reader_ns = 100;
  Toy toy(1, options);
  Asked one = tenTokens();
  uint64_t number = toy.scheduler.submit(one.request());
  for (int i = 0; i < 6; ++i)
    toy.scheduler.step();
  EXPECT_EQ(toy.scheduler.stats().unread_now, 3u);
  hear(toy.scheduler, toy.hearing);
  for (int i = 0; i < 6; ++i)
    toy.scheduler.step();
  EXPECT_EQ(toy.scheduler.stats().new_tokens, 6u);
  time = 101;
  EXPECT_FALSE(toy.scheduler.step());
  EXPECT_EQ(toy.scheduler.stats().running_now, 0u);
  hear(toy.scheduler, toy.hearing);
  EXPECT_EQ(toy.hearing[number].end, EFFC_END_UNREAD);
  EXPECT_EQ(toy.hearing[number].tokens.size(), 6u);
}

// What runs leaves as many events as it may, and nobody is refused for that; what
// ended leaves its own besides.
TEST(Scheduler, RefusesWhereNobodyReads) {
  effc_scheduler_options_t options = defaults();
  options.max_unread = 3;
  Toy toy(1, options);
  Asked one = tenTokens();
  uint64_t first = toy.scheduler.submit(one.request());
  for (int i = 0; i < 6; ++i)
    toy.scheduler.step();
  EXPECT_EQ(toy.scheduler.stats().unread_now, 3u);
  uint64_t second = toy.scheduler.submit(one.request());
  toy.scheduler.cancel(first);
  for (int i = 0; i < 6; ++i)
    toy.scheduler.step();
  EXPECT_EQ(toy.refusal(one.request()),
            "6: 7 events are unread: read them, then submit again");
  hear(toy.scheduler, toy.hearing);
  EXPECT_EQ(toy.hearing[first].end, EFFC_END_CANCELLED);
  EXPECT_EQ(toy.hearing[second].tokens.size(), 3u);
  toy.scheduler.submit(one.request());
}

TEST(Scheduler, EndsWhereTheContextDoes) {
  ToyOptions small;
  small.changeProgram = [](artifact::ProgramT &p) { p.max_context = 8; };
  Toy toy(1, defaults(), small);
  Asked one;
  one.prompt = {1, 2, 3, 4, 5};
  one.sampling.min_tokens = 99;
  one.sampling.end_tokens = &kToyEnd;
  one.sampling.end_count = 1;
  uint64_t number = toy.scheduler.submit(one.request());
  toy.finish();
  EXPECT_EQ(toy.hearing[number].end, EFFC_END_CONTEXT);
  // 3 more are fed, and the token behind the last of them is drawn.
  EXPECT_EQ(toy.hearing[number].tokens.size(), 4u);
  one.prompt.resize(9);
  EXPECT_EQ(toy.refusal(one.request()),
            "6: the prompt has 9 tokens, but the model's context is 8");
}

// A toy that keeps keys: of each token two rows. Memory for 100 of them lets two
// sequences of 40 run beside each other, not three, though there are places.
TEST(Scheduler, AdmitsWhatMemoryHolds) {
  ToyOptions keys;
  keys.withKeys = true;
  effc_scheduler_options_t options = defaults();
  options.max_state_bytes = 100 * 2 * kToyRowBytes;
  Toy toy(4, options, keys);
  Asked one;
  one.prompt = Tokens(30, 7);
  one.maxTokens = 10;
  for (int i = 0; i < 5; ++i)
    toy.scheduler.submit(one.request());
  toy.finish();
  effc_scheduler_stats_t stats = toy.scheduler.stats();
  EXPECT_EQ(stats.running_most, 2u);
  EXPECT_LE(toy.engine.counters().state_bytes_most, options.max_state_bytes);
  for (uint64_t number = 1; number <= 5; ++number)
    EXPECT_EQ(toy.hearing[number].tokens, alone(one));
  one.maxTokens = 200;
  std::string refusal = toy.refusal(one.request());
  EXPECT_EQ(refusal.find("5: the request's states take up to "), 0u) << refusal;
}

// A slot has 24 bytes. As many as an engine can have would leave nothing of a TiB, if
// each kept as much as a large one may.
TEST(Scheduler, SmallSlotsLeaveMemoryForStates) {
  Toy toy(1u << 20);
  Asked one;
  one.prompt = {1, 2, 3};
  EXPECT_EQ(toy.refusal(one.request()), "");
  toy.finish();
  EXPECT_EQ(toy.hearing[1].tokens, alone(one));
}

TEST(Scheduler, RefusesWhatCannotBe) {
  effc_scheduler_options_t options = defaults();
  options.max_new_tokens = 50;
  options.max_queue = 1;
  options.max_prompt_tokens = 6;
  Toy toy(1, options);
  Asked one;
  one.prompt = {1, 2};
  auto refused = [&](auto change) {
    effc_request_t request = one.request();
    change(request);
    return toy.refusal(request);
  };
  const char *empty = "";
  int32_t bad = 271;
  EXPECT_EQ(refused([](auto &r) { r.token_count = 0; }),
            "1: a request needs a prompt: 'tokens' or 'text'");
  EXPECT_EQ(refused([](auto &r) { r.text = "x", r.text_size = 1; }),
            "1: a request has 'tokens' or 'text', but both are given");
  EXPECT_EQ(refused([&](auto &r) { r.tokens = &bad, r.token_count = 1; }),
            "1: token 0 of the prompt is 271, but the vocabulary has 271");
  EXPECT_EQ(refused([](auto &r) { r.max_tokens = 51; }),
            "1: 'max_tokens' is 51, but 1 to 50 are possible with this "
            "scheduler");
  EXPECT_EQ(refused([](auto &r) { r.priority = 8; }),
            "1: 'priority' is 8, but 0 to 7 are possible");
  EXPECT_EQ(refused([&](auto &r) {
              r.stop_texts = &empty;
              r.stop_text_count = 1;
            }),
            "1: stop text 0 is empty");
  EXPECT_EQ(refused([&](auto &r) {
              r.stop_tokens = &bad;
              r.stop_token_count = 1;
            }),
            "1: 'end_tokens' names token 271 in place 0, but the vocabulary "
            "has 271");
  effc_sampler_options_t sampling = effc_sampler_options_default();
  sampling.top_p = 2;
  EXPECT_EQ(refused([&](auto &r) { r.sampling = &sampling; }),
            "1: 'top_p' is 2, but a number from 0 to 1 is expected");
  one.prompt.resize(7);
  EXPECT_EQ(toy.refusal(one.request()),
            "1: the prompt has 7 tokens, but 6 are possible with this "
            "scheduler");
  one.prompt.resize(2);
  EXPECT_EQ(toy.refusal(one.request()), "");
  EXPECT_EQ(toy.refusal(one.request()),
            "6: 1 requests wait, and 1 may: submit the request again when some "
            "have ended");
  EXPECT_EQ(toy.scheduler.stats().refused, 10u);
}

// Nothing is left behind, of those that run and those that wait.
TEST(Scheduler, FreeDropsEverything) {
  TemporaryFile file(makeToyArtifact());
  Model model(file.path());
  Engine engine(model, Device::host(1), 2);
  {
    Scheduler scheduler(engine);
    Asked one;
    one.prompt = {1};
    for (int i = 0; i < 5; ++i)
      scheduler.submit(one.request());
    scheduler.step();
    EXPECT_EQ(engine.counters().sessions_now, 2u);
  }
  EXPECT_EQ(engine.counters().sessions_now, 0u);
}
