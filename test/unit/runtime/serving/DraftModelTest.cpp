// Texts that a second model guesses are, token for token, those that come one by one,
// whatever it says, and whether or not there is room for it.

#include "test/unit/runtime/serving/CachedToy.h"
#include "test/unit/runtime/toy/ToyOnDevice.h"

using namespace effc;
using namespace effc::test;
using Tokens = std::vector<int32_t>;

namespace {
struct Drafting {
  /// `stride` 0: the draft's model says what the toy says.
  Drafting(const ToyOptions &toy, const ToyOptions &draft, uint32_t stride,
           effc_scheduler_options_t options, uint32_t sessions = 5,
           uint32_t draftSessions = 5)
      : file(makeToyArtifact(toy)), draftFile(makeOtherToy(draft, stride)),
        model(file.path()), draftModel(draftFile.path()),
        engine(model, Device::host(1), sessions),
        draftEngine(draftModel, Device::host(1), draftSessions),
        scheduler(engine, with(options, draftEngine)) {}

  static effc_scheduler_options_t with(effc_scheduler_options_t options,
                                       const Engine &draft) {
    options.draft_engine = draft.get();
    return options;
  }
  uint64_t submit(const Asked &asked, uint32_t drafts) {
    effc_request_t request = asked.request();
    request.draft_tokens = drafts;
    return scheduler.submit(request);
  }
  bool isBusy() const {
    effc_scheduler_stats_t stats = scheduler.stats();
    return stats.queued_now + stats.running_now > 0;
  }
  void finish() {
    while (isBusy()) {
      scheduler.step();
      hear(scheduler, hearing);
    }
  }

  TemporaryFile file, draftFile;
  Model model, draftModel;
  Engine engine, draftEngine;
  Scheduler scheduler;
  Hearing hearing;
};
} // namespace

static effc_scheduler_options_t plain() {
  return effc_scheduler_options_default();
}

/// A request for a greedy text of chance that has no end.
static Asked endless(uint64_t count, uint32_t seed = 3) {
  Asked asked = askedOf(textOf(10, seed), count);
  asked.sampling.end_tokens = &kToyEnd;
  asked.sampling.end_count = 1;
  asked.sampling.min_tokens = count;
  return asked;
}

// 40 requests beside each other by any rules of sampling, most of which draft, with a
// cache and cancels; the second model says the same, nearly the same, or anything else,
// keeps its states in another way, and has room for some of them.
TEST(DraftModel, TextsAreThoseOfPlainDecoding) {
  uint64_t right = 0, wrong = 0;
  for (uint32_t seed = 0; seed < 12; ++seed) {
    std::mt19937 random(seed);
    effc_scheduler_options_t options =
        withCache(seed % 3 == 0 ? 0 : uint64_t(1) << 24);
    options.step_tokens = 1 + random() % 50;
    options.draft_model_tokens = 1 + random() % 8;
    uint32_t strides[] = {0, 5, 1, 5};
    Drafting toy(toyOf(kToyStates[seed % 3]), toyOf(kToyStates[seed / 4]),
                 strides[seed % 4], options, 5, 1 + random() % 5);
    std::map<uint64_t, Asked> asked;
    while (asked.size() < 40 || toy.isBusy()) {
      if (asked.size() < 40 && random() % 2 == 0) {
        Asked one = randomRequest(random);
        if (random() % 3 == 0)
          one.sampling.temperature = 0;
        asked[toy.submit(one, random() % 12)] = one;
      }
      if (random() % 30 == 0 && !asked.empty())
        toy.scheduler.cancel(
            std::next(asked.begin(), long(random() % asked.size()))->first);
      toy.scheduler.step();
      hear(toy.scheduler, toy.hearing);
    }
    for (const auto &[number, one] : asked)
      for (uint32_t i = 0; i < one.choices; ++i) {
        const Heard &heard = toy.hearing[number + i];
        Tokens expected = alone(one, i);
        ASSERT_EQ(heard.ends, 1);
        if (heard.end == EFFC_END_CANCELLED) {
          ASSERT_LE(heard.tokens.size(), expected.size());
          expected.resize(heard.tokens.size());
        }
        ASSERT_EQ(heard.tokens, expected) << "seed " << seed << ", request "
                                          << number << ": " << heard.message;
      }
    effc_scheduler_stats_t stats = toy.scheduler.stats();
    EXPECT_EQ(stats.draft_failures, 0u);
    EXPECT_EQ(stats.reserved_bytes_now, 0u);
    EXPECT_EQ(toy.draftEngine.counters().sessions_now, 0u);
    EXPECT_LE(stats.model_drafted_tokens, stats.drafted_tokens);
    right += stats.model_accepted_tokens;
    wrong += stats.model_drafted_tokens - stats.model_accepted_tokens;
  }
  EXPECT_GT(right, 1000u);
  EXPECT_GT(wrong, 1000u);
}

// The same model draws the same, by its own noise: all that it guesses is right, and
// five tokens come a call.
TEST(DraftModel, TheSameModelIsAlwaysRight) {
  for (ToyStates states : {ToyStates::Fixed, ToyStates::KeysAlone})
    for (float temperature : {0.7f, 1.3f}) {
      Drafting toy(toyOf(states), toyOf(states), 0, plain());
      Asked asked = endless(200);
      asked.sampling.temperature = temperature;
      asked.sampling.top_k = 40;
      uint64_t number = toy.submit(asked, 12);
      toy.finish();
      EXPECT_EQ(toy.hearing[number].tokens, alone(asked));
      effc_scheduler_stats_t stats = toy.scheduler.stats();
      EXPECT_GT(stats.model_drafted_tokens, 40u);
      EXPECT_EQ(stats.model_accepted_tokens, stats.model_drafted_tokens);
      EXPECT_LE(stats.model_drafted_tokens, 4 * stats.model_drafts);
      EXPECT_LT(stats.decode_calls, 200u / 3);
      EXPECT_GT(stats.draft_ns, 0u);
    }
}

// One that says anything else, and is right by chance alone, is asked in less than a
// quarter of the steps.
TEST(DraftModel, IsAskedLessWhereItIsWrong) {
  Drafting toy(toyOf(ToyStates::Fixed), toyOf(ToyStates::Fixed), 1, plain());
  Asked asked = endless(400);
  asked.sampling.temperature = 3;
  uint64_t number = toy.submit(asked, 4);
  toy.finish();
  EXPECT_EQ(toy.hearing[number].tokens, alone(asked));
  EXPECT_LT(toy.scheduler.stats().model_drafts, 100u);
}

// A context that is shorter than the model's: behind it nothing is guessed.
TEST(DraftModel, EndsWithItsContext) {
  ToyOptions small = toyOf(ToyStates::Fixed);
  small.changeProgram = [](artifact::ProgramT &p) { p.max_context = 32; };
  Drafting toy(toyOf(ToyStates::Fixed), small, 0, plain());
  Asked asked = endless(100), longer = endless(100);
  longer.prompt = textOf(60, 5);
  asked.sampling.temperature = longer.sampling.temperature = 1;
  uint64_t number = toy.submit(asked, 4);
  toy.finish();
  uint64_t drafted = toy.scheduler.stats().model_drafted_tokens;
  EXPECT_GT(drafted, 10u);
  EXPECT_LE(drafted, 32u - 10 + 1);
  uint64_t other = toy.submit(longer, 4);
  toy.finish();
  EXPECT_EQ(toy.hearing[number].tokens, alone(asked));
  EXPECT_EQ(toy.hearing[other].tokens, alone(longer));
  EXPECT_EQ(toy.scheduler.stats().model_drafted_tokens, drafted);
  EXPECT_EQ(toy.scheduler.stats().draft_failures, 0u);
}

// States of both models together stay within what states may take; a request that
// leaves no room for the second goes without.
TEST(DraftModel, CountsAsStatesDo) {
  for (bool hasRoom : {true, false}) {
    ToyOptions keys = toyOf(ToyStates::KeysAlone);
    effc_scheduler_options_t options = plain();
    options.max_state_bytes = (hasRoom ? 120 : 70) * kToyRowBytes;
    Drafting toy(keys, keys, 0, options);
    Asked asked = endless(50);
    asked.sampling.temperature = 1;
    uint64_t number = toy.submit(asked, 4);
    toy.finish();
    effc_scheduler_stats_t stats = toy.scheduler.stats();
    EXPECT_EQ(toy.hearing[number].tokens, alone(asked));
    EXPECT_EQ(stats.model_drafted_tokens > 0, hasRoom);
    EXPECT_EQ(stats.reserved_bytes_most, (hasRoom ? 2 : 1) * 60 * kToyRowBytes);
  }
}

// A long prompt is read in parts beside others, of several choices once.
TEST(DraftModel, ReadsPromptsInParts) {
  effc_scheduler_options_t options = plain();
  options.step_tokens = 16;
  options.max_choices = 3;
  Drafting toy(toyOf(ToyStates::Fixed), toyOf(ToyStates::Fixed), 0, options);
  Asked other = endless(300), asked = endless(60, 9);
  asked.prompt = textOf(400, 9);
  asked.choices = 3;
  asked.sampling.temperature = other.sampling.temperature = 1;
  uint64_t first = toy.submit(other, 0), number = toy.submit(asked, 4);
  toy.scheduler.step();
  uint64_t before = toy.draftEngine.counters().prefill_tokens;
  EXPECT_LE(before, 16u);
  toy.finish();
  EXPECT_EQ(toy.hearing[first].tokens, alone(other));
  for (uint32_t i = 0; i < 3; ++i)
    EXPECT_EQ(toy.hearing[number + i].tokens, alone(asked, i));
  EXPECT_GT(toy.scheduler.stats().model_accepted_tokens, 3 * 60 / 2u);
  EXPECT_LT(toy.draftEngine.counters().prefill_tokens, 400u + 3 * 2 * 60);
}

// A grammar holds for guesses as for what is drawn.
TEST(DraftModel, TextsFollowGrammars) {
  Drafting toy(toyOf(ToyStates::Fixed), toyOf(ToyStates::Fixed), 5, plain());
  Grammar grammar(toy.model, "root ::= (\"ab\" | \"ba\" | \"cde\"){30,60}");
  Asked asked = askedOf(textOf(10, 3), 80);
  asked.sampling.temperature = 1;
  effc_request_t request = asked.request();
  request.grammar = grammar.get();
  uint64_t single = toy.scheduler.submit(request);
  request.draft_tokens = 6;
  uint64_t drafted = toy.scheduler.submit(request);
  toy.finish();
  EXPECT_EQ(toy.hearing[drafted].tokens, toy.hearing[single].tokens);
  EXPECT_GE(toy.hearing[drafted].tokens.size(), 20u);
}

static std::string refusal(const ToyOptions &toy, const ToyOptions &draft,
                           effc_status_code_t code, uint32_t most = 4) {
  return messageOf(
      [&] {
        effc_scheduler_options_t options = plain();
        options.draft_model_tokens = most;
        Drafting(toy, draft, 0, options);
      },
      code);
}

TEST(DraftModel, RefusesWhatCannotGuess) {
  ToyOptions fixed = toyOf(ToyStates::Fixed), words = fixed, none = fixed;
  words.changeTokenizer = [](artifact::TokenizerT &table) {
    addNamedToken(table, "bos_token", "<s>"); // as a template's own would be
  };
  EXPECT_EQ(refusal(fixed, words, EFFC_OK), "nothing is wrong");
  none.withTokenizer = false;
  EXPECT_EQ(refusal(fixed, none, EFFC_OK), "nothing is wrong");
  for (uint32_t most : {0u, 65u})
    EXPECT_EQ(refusal(fixed, fixed, EFFC_INVALID_ARGUMENT, most),
              "'draft_model_tokens' is " + std::to_string(most) +
                  ", but 1 to 64 are possible");
  EXPECT_EQ(
      refusal(toyOf(ToyStates::Hybrid), toyOf(ToyStates::Hybrid), EFFC_OK),
      "nothing is wrong");
  EXPECT_NE(refusal(toyOf(ToyStates::Fixed, 4), fixed, EFFC_UNSUPPORTED),
            "nothing is wrong");
  // The draft's own bits are nobody's concern.
  EXPECT_EQ(refusal(fixed, toyOf(ToyStates::Fixed, 4), EFFC_OK),
            "nothing is wrong");

  CachedToy toy(ToyStates::Fixed);
  effc_scheduler_options_t options = plain();
  options.draft_engine = toy.engine.get();
  EXPECT_EQ(
      messageOf([&] { Scheduler(toy.engine, options); }, EFFC_INVALID_ARGUMENT),
      "'draft_engine' is the scheduler's own engine");
}

// Another text of one token is enough to say no.
TEST(DraftModel, RefusesAnotherTokenizer) {
  ToyOptions fixed = toyOf(ToyStates::Fixed), other = fixed;
  other.changeTokenizer = [](artifact::TokenizerT &table) {
    for (auto &token : table.added_tokens)
      if (token->id == kToyEnd)
        token->content = "<|fin|>";
  };
  EXPECT_EQ(refusal(fixed, other, EFFC_INVALID_ARGUMENT),
            "'draft_engine' has a model of another tokenizer: token 269 is "
            "'<|fin|>' there, and '<|end|>' in the model that it is to guess "
            "for");
}
