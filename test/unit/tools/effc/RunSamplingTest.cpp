// `effc run` with what changes logits before a draw, on the toy model, whose logits
// a plain loop gives.

#include "test/unit/runtime/toy/ToyArtifact.h"
#include "test/unit/tools/effc/RunToy.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>

using namespace effc::test;
using Tokens = std::vector<int32_t>;

static const Tokens kPrompt = {1, 2, 3};

static Tokens tokensOf(std::vector<std::string> more) {
  std::vector<std::string> all = {"--tokens", "1,2,3", "-n", "12"};
  all.insert(all.end(), more.begin(), more.end());
  return runJson(toyPath(), all)["samples"][0]["tokens"];
}

/// Greedy tokens where `adjust` changes each row beforehand, given the tokens
/// generated so far.
template <typename Adjust> static Tokens expected(Adjust adjust) {
  ToyReference reference;
  std::vector<float> row, all = reference.feed(kPrompt);
  row.assign(all.end() - kToyVocabulary, all.end());
  Tokens made;
  while (made.size() < 12) {
    adjust(row, made);
    made.push_back(likeliest(row));
    row = reference.step(made.back());
  }
  return made;
}

TEST(RunSampling, PenaltiesLookAtWhatWasGenerated) {
  Tokens plain = expected([](auto &, auto &) {});
  EXPECT_EQ(tokensOf({}), plain);
  Tokens present = expected([](std::vector<float> &row, const Tokens &made) {
    for (int32_t id = 0; id < int32_t(kToyVocabulary); ++id)
      if (std::count(made.begin(), made.end(), id))
        row[static_cast<size_t>(id)] -= 40.5f;
  });
  EXPECT_NE(present, plain);
  EXPECT_EQ(tokensOf({"--presence-penalty", "40.5"}), present);
  Tokens frequent = expected([](std::vector<float> &row, const Tokens &made) {
    for (int32_t id = 0; id < int32_t(kToyVocabulary); ++id)
      row[static_cast<size_t>(id)] -=
          2.5f * static_cast<float>(std::count(made.begin(), made.end(), id));
  });
  EXPECT_NE(frequent, plain);
  EXPECT_EQ(tokensOf({"--frequency-penalty", "2.5"}), frequent);
}

// By id, by text, and as llama.cpp writes it; -inf is never.
TEST(RunSampling, BiasesAreAdded) {
  Tokens plain = expected([](auto &, auto &) {});
  int32_t first = plain[0];
  Tokens without = expected([&](std::vector<float> &row, const Tokens &) {
    row[static_cast<size_t>(first)] = -INFINITY;
  });
  std::string id = std::to_string(first);
  EXPECT_EQ(tokensOf({"--logit-bias", id + "=-inf"}), without);
  EXPECT_EQ(tokensOf({"-l", id + "-1e30"}), without);
  EXPECT_EQ(tokensOf({"-l", "word=1000"}), Tokens(12, kToyPlain));
  EXPECT_EQ(tokensOf({"-l", "200+999", "-l", "201=9000"}), Tokens(12, 201));
}

// The toy's end is made the likeliest token: without more there is no text.
TEST(RunSampling, EndsWaitForMinTokens) {
  std::string end = std::to_string(kToyEnd) + "=1000";
  EXPECT_EQ(tokensOf({"-l", end}), Tokens());
  Tokens made = tokensOf({"-l", end, "--min-tokens", "5"});
  Tokens plain = expected([](std::vector<float> &row, const Tokens &) {
    row[kToyEnd] = -INFINITY;
  });
  plain.resize(5);
  EXPECT_EQ(made, plain);
  // A token that the user named waits likewise.
  Tokens other = expected([&](std::vector<float> &row, const Tokens &) {
    row[kToyEnd] = row[static_cast<size_t>(plain[0])] = -INFINITY;
  });
  made =
      tokensOf({"--stop-token", std::to_string(plain[0]), "--min-tokens", "1"});
  ASSERT_FALSE(made.empty());
  EXPECT_EQ(made[0], other[0]);
}

TEST(RunSampling, LogprobsAreThoseOfTheRow) {
  nlohmann::json sample =
      runJson(toyPath(), {"--tokens", "1,2,3", "-n", "2", "--json",
                          "--logprobs", "3", "-l", "7=1000"})["samples"][0];
  ASSERT_EQ(sample["tokens"], (Tokens{7, 7}));
  ASSERT_EQ(sample["logprobs"].size(), 2u);
  ToyReference reference;
  std::vector<float> all = reference.feed(kPrompt);
  std::vector<float> rows[] = {{all.end() - kToyVocabulary, all.end()},
                               reference.step(7)};
  for (size_t i = 0; i < 2; ++i) {
    double sum = 0;
    for (float logit : rows[i])
      sum += std::exp(double(logit));
    const nlohmann::json &found = sample["logprobs"][i];
    EXPECT_EQ(found["token"], 7);
    EXPECT_NEAR(found["logprob"].get<double>(), rows[i][7] - std::log(sum),
                1e-5);
    ASSERT_EQ(found["top"].size(), 3u);
    EXPECT_EQ(found["top"][0]["token"], likeliest(rows[i]));
    EXPECT_NEAR(
        found["top"][0]["logprob"].get<double>(),
        rows[i][static_cast<size_t>(likeliest(rows[i]))] - std::log(sum), 1e-5);
  }
}

static std::string refusal(std::vector<std::string> more) {
  std::vector<std::string> all = {"--tokens", "1", "-n", "1"};
  all.insert(all.end(), more.begin(), more.end());
  Finished done = run(toyPath(), all);
  EXPECT_EQ(done.status, 2);
  size_t at = done.err.find("effc: error: ");
  return at == std::string::npos
             ? done.err
             : done.err.substr(at + 13, done.err.find('\n', at) - at - 13);
}

TEST(RunSampling, SaysWhatIsWrongWithABias) {
  EXPECT_EQ(refusal({"-l", "5"}),
            "--logit-bias expects TOKEN=BIAS, such as 15043=-1, but got '5'");
  EXPECT_EQ(refusal({"-l", "5=x"}),
            "--logit-bias 5=x expects a number, or -inf for never, behind the "
            "token, but got 'x'");
  EXPECT_EQ(refusal({"-l", "5=inf"}),
            "--logit-bias 5=inf expects a number, or -inf for never, behind "
            "the token, but got 'inf'");
  EXPECT_EQ(refusal({"-l", "271=1"}),
            "--logit-bias 271 is outside the vocabulary of 271");
  EXPECT_EQ(refusal({"-l", "ab!=1"}),
            "--logit-bias expects an id or the text of one token, but 'ab!' is "
            "several: name each by itself");
  EXPECT_EQ(refusal({"--logprobs", "2"}),
            "--logprobs are printed with --json alone");
  EXPECT_EQ(refusal({"--typical", "0"}),
            "--typical: expects a number above 0, up to 1, but got '0'");
  EXPECT_EQ(refusal({"--presence-penalty", "nan"}),
            "--presence-penalty: expects a finite number, but got 'nan'");
}
