// `effc eval --requests` and --window on the toy model: scores against a plain loop
// over the toy's own reference.

#include "runtime/include/effc/effc.hpp"
#include "test/e2e/Process.h"
#include "test/unit/runtime/toy/ToyArtifact.h"
#include "test/unit/tools/effc/RunToy.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

using namespace effc;
using namespace effc::test;
using Json = nlohmann::json;
using Tokens = std::vector<int32_t>;

static Finished eval(std::vector<std::string> arguments,
                     const std::string &input) {
  std::vector<std::string> all = {EFFC_PROGRAM, "eval", toyPath()};
  all.insert(all.end(), arguments.begin(), arguments.end());
  return runProgram(all, input);
}

/// The JSON of requests, which have to be scored.
static Json scored(const std::string &lines,
                   std::vector<std::string> arguments = {}) {
  arguments.insert(arguments.end(), {"--requests", "-", "--json"});
  Finished done = eval(arguments, lines);
  EXPECT_EQ(done.status, 0) << done.err;
  return Json::parse(done.out);
}

namespace {
struct Expected {
  double logprob = 0;
  bool isGreedy = true;
};
} // namespace

/// What `tokens` say of those from `from` on.
static Expected expectedOf(const Tokens &tokens, size_t from) {
  Expected expected;
  std::vector<float> logits = ToyReference().feed(tokens);
  for (size_t t = from; t < tokens.size(); ++t) {
    const float *row = logits.data() + (t - 1) * kToyVocabulary;
    double sum = 0;
    for (uint32_t v = 0; v < kToyVocabulary; ++v)
      sum += std::exp(double(row[v]) - row[tokens[t]]);
    expected.logprob -= std::log(sum);
    expected.isGreedy &=
        std::max_element(row, row + kToyVocabulary) - row == tokens[t];
  }
  return expected;
}

TEST(EvalRequests, ScoresContinuationsOfTokens) {
  // Contexts around the 16 rows of a call, continuations of 1 to 40 tokens.
  std::string lines;
  std::vector<Tokens> contexts;
  std::vector<std::vector<Tokens>> continuations;
  int32_t next = 7;
  auto draw = [&](size_t count) {
    Tokens tokens(count);
    for (int32_t &token : tokens)
      token = next = (next * 31 + 11) % 269;
    return tokens;
  };
  for (size_t length : {1, 3, 15, 16, 17, 50}) {
    contexts.push_back(draw(length));
    // The one that the toy would write itself, and others.
    continuations.push_back({greedy(contexts.back(), 3), draw(1), draw(40)});
    lines += Json{{"context", contexts.back()},
                  {"continuations", continuations.back()}}
                 .dump() +
             "\n";
  }
  for (const char *batch : {"2", "3", "5", "64"}) {
    Json json = scored(lines, {"--batch", batch});
    ASSERT_EQ(json["requests"].size(), contexts.size());
    for (size_t i = 0; i < contexts.size(); ++i)
      for (size_t c = 0; c < 3; ++c) {
        Tokens all = contexts[i];
        all.insert(all.end(), continuations[i][c].begin(),
                   continuations[i][c].end());
        Expected expected = expectedOf(all, contexts[i].size());
        const Json &found = json["requests"][i]["continuations"][c];
        EXPECT_NEAR(found["logprob"], expected.logprob, 1e-9)
            << batch << " " << i << " " << c;
        EXPECT_EQ(found["greedy"], expected.isGreedy);
        EXPECT_EQ(found["greedy"], c == 0);
        EXPECT_EQ(found["tokens"], continuations[i][c].size());
      }
  }
}

TEST(EvalRequests, CutsTextsAsTheHarnessDoes) {
  Model model(toyPath());
  // The space at the context's end goes with the continuation, and what the two
  // share a token for is cut as one text.
  Json json = scored(R"({"context": "hell \n", "continuations": ["word", "o"]})"
                     "\n\n");
  const Json &found = json["requests"][0];
  Tokens context = model.tokenize("hell");
  EXPECT_EQ(found["context_tokens"], context.size());
  for (size_t c = 0; c < 2; ++c) {
    std::string text = c ? "o" : "word";
    Tokens whole = model.tokenize("hell \n" + text);
    Expected expected = expectedOf(whole, context.size());
    EXPECT_NEAR(found["continuations"][c]["logprob"], expected.logprob, 1e-9);
    EXPECT_EQ(found["continuations"][c]["tokens"],
              whole.size() - context.size());
    EXPECT_EQ(found["continuations"][c]["bytes"], text.size());
  }
}

TEST(EvalRequests, SumsUpAsTheHarnessDoes) {
  // Two requests whose longer continuation is less likely as a whole, but more so
  // for each byte: acc and acc_norm are of opposite minds.
  Model model(toyPath());
  Tokens context = model.tokenize("x"), likely = greedy(context, 2);
  Json json = scored(
      R"({"context": "x", "continuations": ["a", "aaaaaaaaaaaaaaaa"], "right": 0})"
      "\n"
      R"({"context": "x", "continuations": ["b"]})");
  double one = json["requests"][0]["continuations"][0]["logprob"],
         many = json["requests"][0]["continuations"][1]["logprob"];
  EXPECT_EQ(json["judged"], 1);
  EXPECT_EQ(json["acc"], one >= many ? 1.0 : 0.0);
  EXPECT_EQ(json["acc_norm"], one >= many / 16 ? 1.0 : 0.0);
  double other = json["requests"][1]["continuations"][0]["logprob"];
  EXPECT_NEAR(json["perplexity"], std::exp(-(one + other) / 2), 1e-9);
  EXPECT_NEAR(json["bits_per_byte"], -(one + other) / std::log(2.0) / 2, 1e-9);
}

TEST(EvalRequests, PrintsLines) {
  Finished done =
      eval({"--requests", "-"},
           R"({"context": [1, 2], "continuations": [[3], [4]], "right": 1})");
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_EQ(done.out.find("requests        1\n"
                          "continuations   2, 2 tokens\n"
                          "greedy          "),
            0u)
      << done.out;
  EXPECT_NE(done.out.find("\nacc             "), std::string::npos);
}

TEST(EvalRequests, RefusesWhatIsNone) {
  const std::pair<const char *, const char *> kCases[] = {
      {"{}",
       "'-', line 1: expects {\"context\": ..., \"continuations\": [...]}, "
       "with one continuation at least"},
      {"\n\n{\"context\": [1], \"continuations\": []}",
       "'-', line 3: expects {"},
      {"{\"context\": [1], \"continuations\": [[300]]}",
       "a continuation expects token ids from 0 to 270, but got 300"},
      {"{\"context\": [1], \"continuations\": [[]]}",
       "continuation 0 has no token of its own"},
      {"{\"context\": [1], \"continuations\": [\"x\"]}",
       "expects texts or lists of token ids, the same for"},
      {"{\"context\": [1], \"continuations\": [[2]], \"right\": 1}",
       "\"right\" expects the index of a continuation, from 0 to 0, but got 1"},
      {"{\"context\": [1], \"continuations\": [[2]], \"answer\": 0}",
       "expects \"context\", \"continuations\" and \"right\" alone, but got "
       "\"answer\""},
      {"", "'-' has no request"}};
  for (const auto &[lines, message] : kCases) {
    Finished done = eval({"--requests", "-"}, lines);
    EXPECT_EQ(done.status, 1) << lines;
    EXPECT_NE(done.err.find(message), std::string::npos) << done.err;
    EXPECT_EQ(done.out, "");
  }
  Finished both = eval({"--requests", "-", "--logits", "x"}, "");
  EXPECT_EQ(both.status, 2);
  EXPECT_NE(both.err.find("--logits does not go with --requests"),
            std::string::npos);
}

TEST(EvalWindows, ScoresEachWindowByItself) {
  Tokens tokens(50);
  for (size_t i = 0; i < tokens.size(); ++i)
    tokens[i] = static_cast<int32_t>(i * i * 31 % kToyVocabulary);
  double sum = 0;
  // Windows of 20 that begin at 0, 15 and 30, each fed from an empty state.
  for (auto [begin, end, first] :
       {std::array{0, 20, 1}, {15, 35, 5}, {30, 50, 5}}) {
    Tokens window(tokens.begin() + begin, tokens.begin() + end);
    sum -= expectedOf(window, static_cast<size_t>(first)).logprob;
  }
  Finished done = eval({"--tokens", "-", "--window", "20", "--stride", "15",
                        "--batch", "2", "--json"},
                       Json{tokens}.dump());
  ASSERT_EQ(done.status, 0) << done.err;
  Json json = Json::parse(done.out);
  EXPECT_EQ(json["predicted"], 49);
  EXPECT_NEAR(json["mean_nll"], sum / 49, 1e-9);
  // The tokens' texts: ids beyond the bytes stand for more or for none.
  Model model(toyPath());
  double bytes = double(model.detokenize(tokens).size() -
                        model.detokenize({tokens[0]}).size());
  EXPECT_NEAR(json["bits_per_byte"], sum / std::log(2.0) / bytes,
              json["bits_per_byte"].get<double>() * 0.2);
}
