// `effc run` on the toy model, whose next token a plain loop predicts.

#include "runtime/include/effc/effc.hpp"
#include "test/e2e/Process.h"
#include "test/unit/runtime/toy/ToyArtifact.h"

#include <algorithm>
#include <gtest/gtest.h>

using namespace effc;
using namespace effc::test;
using Tokens = std::vector<int32_t>;

static Finished run(const std::string &path, std::vector<std::string> arguments,
                    const std::string &input = "") {
  std::vector<std::string> all = {EFFC_PROGRAM, "run", path};
  all.insert(all.end(), arguments.begin(), arguments.end());
  return runProgram(all, input);
}

static const std::string &toyPath() {
  static TemporaryFile file(makeToyArtifact());
  return file.path();
}

/// What greedy generation gives, at most `count` tokens and none from the end
/// on.
static Tokens greedy(const Tokens &prompt, size_t count) {
  ToyReference reference;
  std::vector<float> logits;
  for (int32_t token : prompt)
    logits = reference.step(token);
  Tokens made;
  while (made.size() < count) {
    auto best = std::max_element(logits.begin(), logits.end());
    int32_t token = static_cast<int32_t>(best - logits.begin());
    if (token == kToyEnd)
      break;
    made.push_back(token);
    logits = reference.step(token);
  }
  return made;
}

static std::string joined(const Tokens &tokens) {
  std::string text;
  for (int32_t token : tokens)
    text += (text.empty() ? "" : ",") + std::to_string(token);
  return text + "\n";
}

TEST(Run, PrintsTheTokensOfGreedyGeneration) {
  Finished done =
      run(toyPath(), {"--tokens", "1,2,3", "-n", "12", "--print-tokens"});
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_EQ(done.out, joined(greedy({1, 2, 3}, 12)));
}

TEST(Run, ReportsDeviceAndRates) {
  Finished done =
      run(toyPath(), {"--tokens", "1,2,3", "-n", "3", "--threads", "2"});
  EXPECT_EQ(done.err.find("device: host ("), 0u) << done.err;
  EXPECT_NE(done.err.find("2 threads); it is the only one"), std::string::npos);
  size_t last = done.err.rfind('\n', done.err.size() - 2) + 1;
  std::string line = done.err.substr(last);
  EXPECT_EQ(line.find("prefill: 3 tokens, "), 0u) << line;
  EXPECT_NE(line.find("; decode: 2 tokens, "), std::string::npos) << line;
  // Asked for by name, the device needs no explanation.
  done = run(toyPath(), {"--tokens", "1", "-n", "1", "--device", "host"});
  EXPECT_EQ(done.err.find("prefill:"), 0u) << done.err;
}

TEST(Run, StreamsTheTextOfTheTokens) {
  Model model(toyPath());
  Tokens prompt = model.tokenize("hello");
  std::string text =
      model.detokenize(greedy(prompt, 9), EFFC_DETOKENIZE_SKIP_SPECIAL);
  EXPECT_EQ(run(toyPath(), {"--prompt", "hello", "-n", "9"}).out, text + "\n");
  EXPECT_EQ(run(toyPath(), {"--prompt-file", "-", "-n", "9"}, "hello").out,
            text + "\n");
  TemporaryFile file({'h', 'e', 'l', 'l', 'o'});
  EXPECT_EQ(run(toyPath(), {"--prompt-file", file.path(), "-n", "9"}).out,
            text + "\n");
}

TEST(Run, StopsBeforeAStopText) {
  Model model(toyPath());
  Tokens made = greedy({5}, 6);
  std::string first = model.detokenize({made[0]}),
              third = model.detokenize({made[2]});
  Finished whole = run(toyPath(), {"--tokens", "5", "-n", "6"});
  Finished done = run(toyPath(), {"--tokens", "5", "-n", "6", "--stop", third});
  EXPECT_EQ(done.out, whole.out.substr(0, whole.out.find(third)) + "\n");
}

TEST(Run, StopsAtTheEndToken) {
  // Logits all 0 but for the end: a head of nothing else.
  ToyOptions options;
  options.changeProgram = [](artifact::ProgramT &p) {
    // Whatever greedy takes first ends the sequence.
    p.generation->eos = {kToyEnd, greedy({1}, 1)[0]};
  };
  TemporaryFile file(makeToyArtifact(options));
  EXPECT_EQ(run(file.path(), {"--tokens", "1", "--print-tokens"}).out, "\n");
}

TEST(Run, SamplesAsTheModelAsks) {
  ToyOptions options;
  options.changeProgram = [](artifact::ProgramT &p) {
    p.generation->do_sample = true;
    p.generation->temperature = 3;
    p.generation->eos.clear();
  };
  TemporaryFile file(makeToyArtifact(options));
  auto tokens = [&](std::vector<std::string> more) {
    std::vector<std::string> all = {"--tokens", "1", "-n", "20",
                                    "--print-tokens"};
    all.insert(all.end(), more.begin(), more.end());
    return run(file.path(), all).out;
  };
  std::string zero = tokens({});
  EXPECT_EQ(tokens({"--seed", "0"}), zero);
  EXPECT_EQ(tokens({"--threads", "2"}), zero);
  EXPECT_NE(tokens({"--seed", "1"}), zero);
  // Each of these alone makes it greedy.
  std::string best = tokens({"--temperature", "0"});
  EXPECT_NE(best, zero);
  EXPECT_EQ(tokens({"--top-k", "1"}), best);
  EXPECT_EQ(tokens({"--top-p", "0.000001"}), best);
  // The toy's best logits often tie: all of them are at least as likely as the
  // best.
  EXPECT_NE(tokens({"--min-p", "1"}), zero);
  EXPECT_NE(tokens({"--temperature", "0", "--repeat-penalty", "50"}), best);
}

TEST(Run, BeginsAnEmptyPromptWithTheModelsToken) {
  ToyOptions options;
  options.changeProgram = [](artifact::ProgramT &p) { p.generation->bos = 9; };
  TemporaryFile file(makeToyArtifact(options));
  EXPECT_EQ(run(file.path(), {"--prompt", "", "-n", "4", "--print-tokens"}).out,
            joined(greedy({9}, 4)));
  Finished done = run(toyPath(), {"--prompt", ""});
  EXPECT_EQ(done.status, 1);
  EXPECT_NE(done.err.find("effc: error: the prompt is empty"),
            std::string::npos);
}

TEST(Run, EndsWhenTheContextIsFull) {
  ToyOptions options;
  options.changeProgram = [](artifact::ProgramT &p) {
    p.max_context = 5;
    p.generation->eos.clear();
  };
  TemporaryFile file(makeToyArtifact(options));
  // Three tokens of prompt and two fed: the third new one is the last.
  Finished done =
      run(file.path(), {"--tokens", "1,2,3", "-n", "9", "--print-tokens"});
  EXPECT_EQ(done.status, 0);
  EXPECT_EQ(std::count(done.out.begin(), done.out.end(), ','), 2);
  EXPECT_NE(
      done.err.find("effc: note: the model's context of 5 tokens is full"),
      std::string::npos);
  done = run(file.path(), {"--tokens", "1,2,3,4,5,6"});
  EXPECT_EQ(done.status, 1);
  EXPECT_NE(done.err.find(
                "effc: error: sequence 0 would have 6 tokens, but the model "
                "takes 5"),
            std::string::npos);
}

TEST(Run, RefusesWhatCannotBe) {
  auto error = [](const Finished &done) {
    size_t at = done.err.find("effc: error: ");
    return std::to_string(done.status) + " " +
           (at == std::string::npos
                ? ""
                : done.err.substr(at + 13, done.err.find('\n', at) - at - 13));
  };
  EXPECT_EQ(error(run(toyPath(), {"--tokens", "271"})),
            "1 token 0 of sequence 0 is 271, but the vocabulary has 271");
  EXPECT_EQ(error(run(toyPath(), {"--tokens", "1,x"})),
            "2 '1,x' is no list of token ids such as 1,2,3");
  EXPECT_EQ(error(run(toyPath(), {"--tokens", "1", "--device", "cuda"})),
            "1 device 'cuda' is not in this build of effc; use host");
  EXPECT_EQ(error(run(toyPath(), {"--tokens", "1", "--top-p", "0"})),
            "2 'top_p' is 0, but a number above 0 and up to 1 is expected");
  ToyOptions options;
  options.withTokenizer = false;
  TemporaryFile bare(makeToyArtifact(options));
  EXPECT_EQ(error(run(bare.path(), {"--tokens", "1"})),
            "1 '" + bare.path() + "' has no tokenizer; add --print-tokens");
  EXPECT_EQ(error(run(bare.path(), {"--prompt", "x", "--print-tokens"})),
            "1 '" + bare.path() +
                "' has no tokenizer; give the prompt as --tokens 1,2,3");
  EXPECT_EQ(
      run(bare.path(), {"--tokens", "1,2,3", "-n", "12", "--print-tokens"}).out,
      joined(greedy({1, 2, 3}, 12)));
}
