// Grammars through the C API: on the toy model, by a sampler, by the scheduler.
#include "test/unit/runtime/serving/Requests.h"

#include <gtest/gtest.h>

using namespace effc;
using namespace effc::test;

namespace {
class GrammarApi : public testing::Test {
protected:
  effc_grammar_t *grammarOf(std::string_view text) {
    effc_grammar_t *grammar = nullptr;
    check(effc_grammar_create(model.get(), text.data(), text.size(), &grammar));
    return grammar;
  }
  std::string refusalOf(std::string_view text) {
    effc_grammar_t *grammar = nullptr;
    effc_status_t *status =
        effc_grammar_create(model.get(), text.data(), text.size(), &grammar);
    std::string message = effc_status_message(status);
    effc_status_free(status);
    return message;
  }

  TemporaryFile file{makeToyArtifact()};
  Model model{file.path()};
};

bool has(const uint64_t *mask, int32_t token) {
  return mask[token / 64] >> (token % 64) & 1;
}
} // namespace

TEST_F(GrammarApi, GivesMasksAndTakesTokens) {
  effc_grammar_t *grammar = grammarOf("root ::= \"ab\" \"c\"?");
  effc_grammar_matcher_t *matcher = nullptr, *copy = nullptr;
  check(effc_grammar_matcher_create(grammar, nullptr, 0, &matcher));
  effc_grammar_free(grammar); // the matcher keeps it
  const uint64_t *mask = nullptr;
  check(effc_grammar_matcher_mask(matcher, &mask));
  EXPECT_TRUE(has(mask, 'a'));
  EXPECT_FALSE(has(mask, 'b'));
  EXPECT_FALSE(has(mask, kToyEnd));
  check(effc_grammar_matcher_accept(matcher, 'a'));
  check(effc_grammar_matcher_copy(matcher, &copy));
  check(effc_grammar_matcher_accept(matcher, 'b'));
  EXPECT_TRUE(effc_grammar_matcher_can_end(matcher));
  EXPECT_FALSE(effc_grammar_matcher_is_complete(matcher));
  check(effc_grammar_matcher_mask(matcher, &mask));
  EXPECT_TRUE(has(mask, 'c'));
  EXPECT_TRUE(has(mask, kToyEnd));
  check(effc_grammar_matcher_accept(matcher, kToyEnd));
  EXPECT_TRUE(effc_grammar_matcher_is_complete(matcher));
  EXPECT_FALSE(effc_grammar_matcher_can_end(copy));
  effc_status_t *status = effc_grammar_matcher_accept(copy, 'x');
  EXPECT_EQ(effc_status_code(status), EFFC_INVALID_ARGUMENT);
  effc_status_free(status);
  effc_grammar_matcher_free(copy);
  effc_grammar_matcher_free(matcher);
  EXPECT_EQ(refusalOf("root ::= x"), "the grammar is refused: line 1, column "
                                     "10: rule 'x' is not there");
}

TEST_F(GrammarApi, ASamplerDrawsUnderAMask) {
  std::vector<float> logits(kToyVocabulary, 0.0f);
  std::vector<uint64_t> mask((kToyVocabulary + 63) / 64);
  mask[1] = 0b1011; // tokens 64, 65, 67
  effc_sampler_options_t options = effc_sampler_options_default();
  options.temperature = 1;
  options.seed = 5;
  Sampler masked(options, kToyVocabulary);
  // By the same noise as one whose other tokens have no probability.
  Sampler plain(options, kToyVocabulary);
  std::vector<float> left(kToyVocabulary, -INFINITY);
  left[64] = left[65] = left[67] = 0;
  for (int i = 0; i < 50; ++i) {
    effc_sampler_set_mask(masked.get(), mask.data());
    int32_t token = masked.sample(logits);
    EXPECT_EQ(token, plain.sample(left));
    EXPECT_TRUE(has(mask.data(), token));
  }
  // It was for one draw.
  std::vector<float> other = logits;
  other[7] = 100;
  EXPECT_EQ(masked.sample(other), 7);
  // All left out.
  std::fill(mask.begin(), mask.end(), 0);
  effc_sampler_set_mask(masked.get(), mask.data());
  int32_t token = 0;
  effc_status_t *status =
      effc_sampler_sample(masked.get(), logits.data(), &token);
  EXPECT_EQ(effc_status_code(status), EFFC_BAD_DATA);
  EXPECT_STREQ(effc_status_message(status), "all logits are minus infinity");
  effc_status_free(status);
}

TEST_F(GrammarApi, TheSchedulerWritesWhatTheGrammarSays) {
  Device device = Device::host(1);
  Engine engine(model, device, 4);
  Scheduler scheduler(engine);
  effc_grammar_t *numbers = grammarOf("root ::= [0-9]{3} \"-\" [a-c]{2}");
  effc_grammar_t *longer = grammarOf("root ::= \"(\" [a-z]* \")\" | [a-z]+");
  Hearing hearing;
  std::vector<uint64_t> fixed, open;
  for (uint32_t seed = 0; seed < 12; ++seed) {
    Asked asked;
    asked.prompt = {'a', 'b', static_cast<int32_t>(seed)};
    asked.sampling.temperature = seed % 3 == 0 ? 0 : 1.5f;
    asked.sampling.seed = seed;
    asked.choices = 1 + seed % 2;
    asked.maxTokens = 40;
    effc_request_t request = asked.request();
    request.grammar = seed % 4 == 3 ? longer : numbers;
    uint64_t number = scheduler.submit(request);
    for (uint32_t choice = 0; choice < asked.choices; ++choice)
      (seed % 4 == 3 ? open : fixed).push_back(number + choice);
  }
  effc_grammar_free(numbers); // requests keep them
  effc_grammar_free(longer);
  while (scheduler.step())
    hear(scheduler, hearing);
  hear(scheduler, hearing);
  for (uint64_t number : fixed) {
    const Heard &heard = hearing[number];
    EXPECT_EQ(heard.end, EFFC_END_TOKEN) << heard.message;
    ASSERT_EQ(heard.text.size(), 6u) << heard.text;
    for (size_t i : {0, 1, 2})
      EXPECT_TRUE(isdigit(heard.text[i])) << heard.text;
    EXPECT_EQ(heard.text[3], '-');
  }
  for (uint64_t number : open) {
    const Heard &heard = hearing[number];
    EXPECT_TRUE(heard.end == EFFC_END_TOKEN || heard.end == EFFC_END_LENGTH);
    for (char c : heard.text)
      EXPECT_TRUE(islower(c) || c == '(' || c == ')') << heard.text;
  }
}

TEST_F(GrammarApi, ChoicesDrawAsRequestsOfTheirOwn) {
  Device device = Device::host(1);
  Engine engine(model, device, 4);
  Scheduler scheduler(engine);
  effc_grammar_t *grammar = grammarOf("root ::= [a-z]{4,30} \".\"");
  auto textsOf = [&](uint64_t seed, uint32_t choices) {
    Asked asked;
    asked.prompt = {1, 2, 3};
    asked.sampling.temperature = 2;
    asked.sampling.seed = seed;
    asked.choices = choices;
    asked.maxTokens = 50;
    effc_request_t request = asked.request();
    request.grammar = grammar;
    uint64_t number = scheduler.submit(request);
    Hearing hearing;
    while (scheduler.step())
      hear(scheduler, hearing);
    hear(scheduler, hearing);
    std::vector<std::string> texts;
    for (uint32_t i = 0; i < choices; ++i)
      texts.push_back(hearing[number + i].text);
    return texts;
  };
  std::vector<std::string> together = textsOf(100, 3);
  for (uint32_t i = 0; i < 3; ++i)
    EXPECT_EQ(together[i], textsOf(100 + i, 1)[0]);
  EXPECT_NE(together[0], together[1]);
  effc_grammar_free(grammar);
}

TEST_F(GrammarApi, RefusesAGrammarOfAnotherModel) {
  Model other(file.path());
  Device device = Device::host(1);
  Engine engine(other, device);
  Scheduler scheduler(engine);
  effc_grammar_t *grammar = grammarOf("root ::= \"a\"");
  Asked asked;
  asked.prompt = {1};
  effc_request_t request = asked.request();
  request.grammar = grammar;
  uint64_t number = 0;
  effc_status_t *status =
      effc_scheduler_submit(scheduler.get(), &request, &number);
  EXPECT_EQ(effc_status_code(status), EFFC_INVALID_ARGUMENT);
  EXPECT_STREQ(effc_status_message(status),
               "'grammar' is made for another model");
  effc_status_free(status);
  effc_grammar_free(grammar);
}

TEST_F(GrammarApi, SchemasAndObjects) {
  std::string schema =
      R"({"type": "object", "properties": {"a": {"not": {}}}})";
  effc_grammar_t *grammar = nullptr;
  effc_status_t *status = effc_grammar_create_from_schema(
      model.get(), schema.data(), schema.size(), &grammar);
  EXPECT_EQ(effc_status_code(status), EFFC_UNSUPPORTED);
  EXPECT_STREQ(effc_status_message(status),
               "the schema is refused: the schema at '/properties/a': the "
               "keyword 'not' is not understood");
  effc_status_free(status);
  check(effc_grammar_create_json_object(model.get(), &grammar));
  effc_grammar_matcher_t *matcher = nullptr;
  check(effc_grammar_matcher_create(grammar, nullptr, 0, &matcher));
  for (char c : std::string(R"({"a": [1, 2]})"))
    check(effc_grammar_matcher_accept(matcher, c));
  EXPECT_TRUE(effc_grammar_matcher_is_complete(matcher));
  effc_grammar_matcher_free(matcher);
  effc_grammar_free(grammar);
}

TEST_F(GrammarApi, NeedsATokenizer) {
  ToyOptions options;
  options.withTokenizer = false;
  TemporaryFile bare(makeToyArtifact(options));
  Model without(bare.path());
  effc_grammar_t *grammar = nullptr;
  effc_status_t *status =
      effc_grammar_create(without.get(), "root ::= \"a\"", 12, &grammar);
  EXPECT_EQ(effc_status_code(status), EFFC_UNSUPPORTED);
  effc_status_free(status);
}

TEST_F(GrammarApi, NamesArgumentsThatAreNull) {
  effc_grammar_t *grammar = grammarOf("root ::= \"a\""), *out = nullptr;
  effc_grammar_matcher_t *matcher = nullptr, *other = nullptr;
  check(effc_grammar_matcher_create(grammar, nullptr, 0, &matcher));
  const uint64_t *mask = nullptr;
  effc_model_t *m = model.get();
  const std::pair<effc_status_t *, const char *> calls[] = {
      {effc_grammar_create(nullptr, "", 0, &out), "'model'"},
      {effc_grammar_create(m, nullptr, 0, &out), "'text'"},
      {effc_grammar_create(m, "", 0, nullptr), "'out_grammar'"},
      {effc_grammar_create_from_pattern(nullptr, "", 0, &out), "'model'"},
      {effc_grammar_create_from_pattern(m, nullptr, 0, &out), "'pattern'"},
      {effc_grammar_create_from_pattern(m, "", 0, nullptr), "'out_grammar'"},
      {effc_grammar_create_from_schema(nullptr, "", 0, &out), "'model'"},
      {effc_grammar_create_from_schema(m, nullptr, 0, &out), "'schema'"},
      {effc_grammar_create_from_schema(m, "", 0, nullptr), "'out_grammar'"},
      {effc_grammar_create_json_object(nullptr, &out), "'model'"},
      {effc_grammar_create_json_object(m, nullptr), "'out_grammar'"},
      {effc_grammar_matcher_create(nullptr, nullptr, 0, &other), "'grammar'"},
      {effc_grammar_matcher_create(grammar, nullptr, 0, nullptr),
       "'out_matcher'"},
      {effc_grammar_matcher_copy(nullptr, &other), "'matcher'"},
      {effc_grammar_matcher_copy(matcher, nullptr), "'out_matcher'"},
      {effc_grammar_matcher_mask(nullptr, &mask), "'matcher'"},
      {effc_grammar_matcher_mask(matcher, nullptr), "'out_mask'"},
      {effc_grammar_matcher_accept(nullptr, 1), "'matcher'"}};
  for (auto [status, argument] : calls) {
    EXPECT_EQ(effc_status_code(status), EFFC_INVALID_ARGUMENT) << argument;
    EXPECT_EQ(std::string(effc_status_message(status)),
              std::string(argument) + " is null");
    effc_status_free(status);
  }
  EXPECT_FALSE(effc_grammar_matcher_can_end(nullptr));
  EXPECT_FALSE(effc_grammar_matcher_is_complete(nullptr));
  effc_sampler_set_mask(nullptr, nullptr);
  effc_grammar_matcher_free(nullptr);
  effc_grammar_free(nullptr);
  effc_grammar_matcher_free(matcher);
  effc_grammar_free(grammar);
}
