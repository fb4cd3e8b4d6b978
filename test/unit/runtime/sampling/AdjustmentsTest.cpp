// What options do to logits before filters see them, by hand: a greedy sampler
// shows which token is the largest afterwards.

#include "runtime/src/Sampler.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace effc::rt;
using Row = std::vector<float>;

static Row adjusted(const Adjustments &adjustments, Row row) {
  adjustments.apply(row);
  return row;
}

static effc_sampler_options_t plain() { return effc_sampler_options_default(); }

TEST(Adjustments, NoneAreActiveByDefault) {
  Adjustments none(plain(), 5);
  none.read(3);
  none.drew(2);
  EXPECT_FALSE(none.areActive());
}

// Each time that a token was drawn counts for one penalty, and that it was for the
// other; a prompt for neither.
TEST(Adjustments, PenaltiesCountWhatWasDrawn) {
  effc_sampler_options_t options = plain();
  options.frequency_penalty = 0.25f;
  options.presence_penalty = 1.5f;
  Adjustments penalties(options, 70);
  penalties.read(0);
  EXPECT_TRUE(penalties.areActive());
  for (int32_t token : {1, 3, 3, 3, 69})
    penalties.drew(token);
  Row row(70, 4), expected = row;
  expected[1] = expected[69] = 4 - 0.25f - 1.5f;
  expected[3] = 4 - 0.75f - 1.5f;
  EXPECT_EQ(adjusted(penalties, row), expected);
}

// Bias first, then the repeat penalty, then the others: (3 + 1) / 2 - 0.5, and
// (-3 + 1) * 2 - 0.5.
TEST(Adjustments, HaveAnOrder) {
  effc_logit_bias_t biases[] = {{2, 1}, {4, 0.75f}, {4, 0.25f}, {1, -INFINITY}};
  effc_sampler_options_t options = plain();
  options.logit_bias = biases;
  options.logit_bias_count = 4;
  options.repeat_penalty = 2;
  options.frequency_penalty = 0.5f;
  Adjustments all(options, 6);
  biases[0].bias = 99; // it was copied
  all.drew(2);
  all.drew(4);
  all.read(5);
  EXPECT_EQ(adjusted(all, {7, 7, 3, 7, -3, 8}),
            (Row{7, -INFINITY, 1.5f, 7, -4.5f, 4}));
}

TEST(Adjustments, EndsWaitForEnoughTokens) {
  const int32_t ends[] = {1, 4};
  effc_sampler_options_t options = plain();
  options.end_tokens = ends;
  options.end_count = 2;
  EXPECT_FALSE(Adjustments(options, 6).areActive());
  options.min_tokens = 2;
  Adjustments enough(options, 6);
  Row row = {1, 9, 2, 3, 8, 4}, without = {1, -INFINITY, 2, 3, -INFINITY, 4};
  enough.read(3);
  for (int32_t token : {3, 0}) {
    EXPECT_TRUE(enough.areActive());
    EXPECT_EQ(adjusted(enough, row), without);
    enough.drew(token);
  }
  EXPECT_FALSE(enough.areActive());
  EXPECT_EQ(adjusted(enough, row), row);
}

// As OpenAI's API describes it: from 5, 4.5 and 4 with a presence penalty of 0.75
// tokens come in turn, each pushed below the next.
TEST(Adjustments, ShowInWhatIsDrawn) {
  effc_sampler_options_t options = plain();
  options.frequency_penalty = 0.75f;
  Result<Sampler> sampler = Sampler::create(options, 3);
  ASSERT_TRUE(bool(sampler));
  EXPECT_TRUE(sampler->needsLogits());
  std::vector<int32_t> drawn;
  for (int i = 0; i < 5; ++i)
    drawn.push_back(*sampler->sample(Row{5, 4.5f, 4}));
  // 5; 4.25 4.5; 4.25 3.75 4; 3.5 3.75 4; 3.5 3.75 3.25.
  EXPECT_EQ(drawn, (std::vector<int32_t>{0, 1, 0, 2, 1}));
}

TEST(Adjustments, RefuseWhatIsOutOfRange) {
  effc_logit_bias_t bias = {5, 1};
  int32_t end = -1;
  auto refusal = [&](auto change) {
    effc_sampler_options_t options = plain();
    options.logit_bias = &bias;
    options.end_tokens = &end;
    change(options);
    Check error = Adjustments::check(options, 5);
    return error ? error->message : "";
  };
  EXPECT_EQ(refusal([](auto &) {}), "");
  EXPECT_EQ(refusal([](auto &o) { o.presence_penalty = NAN; }),
            "'presence_penalty' is nan, but a finite number is expected");
  EXPECT_EQ(refusal([](auto &o) { o.frequency_penalty = INFINITY; }),
            "'frequency_penalty' is inf, but a finite number is expected");
  EXPECT_EQ(refusal([](auto &o) { o.logit_bias_count = 1; }),
            "'logit_bias' names token 5 in place 0, but the vocabulary has 5");
  EXPECT_EQ(refusal([](auto &o) { o.end_count = 1; }),
            "'end_tokens' names token -1 in place 0, but the vocabulary has 5");
  bias = {4, INFINITY};
  EXPECT_EQ(refusal([](auto &o) { o.logit_bias_count = 1; }),
            "'logit_bias' of token 4 is inf, but a finite number or minus "
            "infinity is expected");
  EXPECT_EQ(refusal([](auto &o) {
              o.logit_bias = nullptr;
              o.logit_bias_count = 2;
            }),
            "'logit_bias' is null, but 2 elements are to be there");
  EXPECT_EQ(refusal([](auto &o) {
              o.end_tokens = nullptr;
              o.end_count = 3;
            }),
            "'end_tokens' is null, but 3 elements are to be there");
}
