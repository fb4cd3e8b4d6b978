// What the model says of the tokens of prompts, while others decode: the numbers
// follow from the toy's reference, row by row, and effc_logprobs().

#include "test/unit/runtime/serving/Requests.h"

#include <gtest/gtest.h>

using namespace effc;
using namespace effc::test;

namespace {
struct Toy {
  explicit Toy(effc_scheduler_options_t options)
      : file(makeToyArtifact()), model(file.path()),
        engine(model, Device::host(1), 5), scheduler(engine, options) {}

  TemporaryFile file;
  Model model;
  Engine engine;
  Scheduler scheduler;
};

/// What was said of one prompt, from its second token on.
struct Said {
  std::vector<effc_logprob_t> logprobs;
  uint64_t next = 1;
};
} // namespace

static std::vector<effc_logprob_t>
expectedOf(const std::vector<int32_t> &prompt, size_t each) {
  std::vector<float> rows = ToyReference().feed(prompt);
  std::vector<effc_logprob_t> all((prompt.size() - 1) * each);
  for (size_t i = 1; i < prompt.size(); ++i)
    check(effc_logprobs(rows.data() + (i - 1) * kToyVocabulary, kToyVocabulary,
                        prompt[i], all.data() + (i - 1) * each, each));
  return all;
}

// Prompts of 1 to 60 tokens, cut anywhere; a third of the requests ask about them,
// and some of these for no new token. All get the tokens that they get alone.
TEST(PromptLogprobs, AreThoseOfTheRowsBefore) {
  for (uint32_t seed = 0; seed < 8; ++seed) {
    std::mt19937 random(seed);
    effc_scheduler_options_t options = effc_scheduler_options_default();
    options.step_tokens = 1 + random() % 30;
    Toy toy(options);
    std::map<uint64_t, Asked> asked;
    std::map<uint64_t, uint32_t> each;
    for (int i = 0; i < 24; ++i) {
      Asked one = randomRequest(random);
      effc_request_t request = one.request();
      request.prompt_logprobs = random() % 3 == 0 ? 1 + random() % 5 : 0;
      if (request.prompt_logprobs > 0 && random() % 3 == 0)
        request.max_tokens = one.maxTokens = 0;
      uint64_t number = toy.scheduler.submit(request);
      asked[number] = one;
      each[number] = request.prompt_logprobs;
    }
    Hearing hearing;
    std::map<uint64_t, Said> said;
    while (toy.scheduler.stats().queued_now + toy.scheduler.stats().running_now)
      for (toy.scheduler.step();;) {
        effc_event_t event = toy.scheduler.poll();
        if (event.kind == EFFC_EVENT_NONE)
          break;
        hearing[event.request + event.choice].take(event);
        if (event.kind != EFFC_EVENT_PROMPT)
          continue;
        Said &heard = said[event.request];
        EXPECT_EQ(event.choice, 0u);
        EXPECT_EQ(event.token, -1);
        EXPECT_EQ(event.prompt_begin, heard.next);
        EXPECT_TRUE(hearing[event.request].tokens.empty());
        heard.next += event.prompt_count;
        heard.logprobs.insert(heard.logprobs.end(), event.logprobs,
                              event.logprobs + event.logprob_count);
      }
    size_t scored = 0;
    for (const auto &[number, one] : asked) {
      for (uint32_t choice = 0; choice < one.choices; ++choice) {
        EXPECT_EQ(hearing[number + choice].tokens, alone(one, choice));
        EXPECT_EQ(hearing[number + choice].ends, 1);
        if (one.maxTokens == 0)
          EXPECT_EQ(hearing[number + choice].end, EFFC_END_LENGTH);
      }
      std::vector<effc_logprob_t> found = said[number].logprobs, expected;
      if (each[number] > 0)
        expected = expectedOf(one.prompt, each[number]);
      ASSERT_EQ(found.size(), expected.size());
      for (size_t i = 0; i < found.size(); ++i) {
        EXPECT_EQ(found[i].token, expected[i].token);
        EXPECT_EQ(found[i].logprob, expected[i].logprob);
      }
      scored += found.size();
    }
    EXPECT_GT(scored, 100u);
  }
}

TEST(PromptLogprobs, HaveBounds) {
  Toy toy(effc_scheduler_options_default());
  Asked one;
  one.prompt = {1, 2, 3};
  effc_request_t request = one.request();
  request.prompt_logprobs = kToyVocabulary + 2;
  EXPECT_THROW(toy.scheduler.submit(request), Error);
  request.prompt_logprobs = 0;
  request.max_tokens = 0;
  EXPECT_THROW(toy.scheduler.submit(request), Error);
  request.prompt_logprobs = kToyVocabulary + 1;
  EXPECT_EQ(toy.scheduler.submit(request), 1u);
}
