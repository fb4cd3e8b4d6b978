// `effc run` on the toy model, whose next token a plain loop predicts.

#include "runtime/include/effc/effc.hpp"
#include "test/e2e/Process.h"
#include "test/unit/runtime/toy/ToyArtifact.h"
#include "test/unit/tools/effc/RunToy.h"

#include <algorithm>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>

using namespace effc;
using namespace effc::test;
using Tokens = std::vector<int32_t>;

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
  EXPECT_NE(done.err.find("2 threads); the file has no code for a GPU\n"),
            std::string::npos)
      << done.err;
  size_t last = done.err.rfind('\n', done.err.size() - 2) + 1;
  std::string line = done.err.substr(last);
  EXPECT_EQ(line.find("prefill: 3 tokens, "), 0u) << line;
  EXPECT_NE(line.find("; decode: 2 tokens, "), std::string::npos) << line;
  // Asked for by name, the device needs no explanation.
  done = run(toyPath(), {"--tokens", "1", "-n", "1", "--device", "host"});
  EXPECT_EQ(done.err.find("prefill:"), 0u) << done.err;
  // One token needs no step.
  EXPECT_EQ(done.err.find("decode"), std::string::npos) << done.err;
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

/// The lines of `text`.
static std::vector<std::string> lines(const std::string &text) {
  std::vector<std::string> all;
  for (size_t at = 0, end; at < text.size(); at = end + 1) {
    end = text.find('\n', at);
    all.push_back(text.substr(at, end - at));
  }
  return all;
}

/// A toy that samples and never ends by itself.
static const std::string &samplingToyPath() {
  static ToyOptions options = [] {
    ToyOptions options;
    options.changeProgram = [](artifact::ProgramT &p) {
      p.generation->do_sample = true;
      p.generation->temperature = 3;
      p.generation->eos.clear();
    };
    return options;
  }();
  static TemporaryFile file(makeToyArtifact(options));
  return file.path();
}

// Three samples of seed 7 are those of the seeds 7, 8 and 9, one by one.
TEST(Run, SamplesReproduceOneByOne) {
  std::vector<std::string> options = {"--tokens", "1,2,3,4,5", "-n", "17",
                                      "--print-tokens"};
  auto with = [&](std::vector<std::string> more) {
    more.insert(more.end(), options.begin(), options.end());
    return run(samplingToyPath(), more);
  };
  Finished together = with({"--samples", "3", "--seed", "7"});
  EXPECT_EQ(together.status, 0) << together.err;
  EXPECT_EQ(together.out, with({"--seed", "7"}).out +
                              with({"--seed", "8"}).out +
                              with({"--seed", "9"}).out);
  EXPECT_EQ(lines(together.out).size(), 3u);
  EXPECT_NE(lines(together.out)[0], lines(together.out)[1]);
  // The prompt was fed once, 16 of 17 tokens of each sample were.
  EXPECT_NE(together.err.find("prefill: 5 tokens, "), std::string::npos);
  EXPECT_NE(together.err.find("; decode: 48 tokens, "), std::string::npos)
      << together.err;
}

TEST(Run, SamplesOfTextHaveHeadings) {
  auto text = [](std::vector<std::string> more) {
    more.insert(more.end(), {"--tokens", "1,2", "-n", "9"});
    return run(samplingToyPath(), more).out;
  };
  EXPECT_EQ(text({"--samples", "2", "--seed", "4"}),
            "--- sample 0, seed 4 ---\n" + text({"--seed", "4"}) +
                "--- sample 1, seed 5 ---\n" + text({"--seed", "5"}));
}

// Also those that say nothing.
TEST(Run, EmptySamplesHaveHeadings) {
  const std::string headings =
      "--- sample 0, seed 4 ---\n\n--- sample 1, seed 5 ---\n\n";
  EXPECT_EQ(run(toyPath(),
                {"--tokens", "1", "-n", "0", "--samples", "2", "--seed", "4"})
                .out,
            headings);
  ToyOptions options;
  options.changeProgram = [](artifact::ProgramT &p) {
    p.generation->eos = {greedy({1}, 1)[0]};
  };
  TemporaryFile file(makeToyArtifact(options));
  EXPECT_EQ(
      run(file.path(), {"--tokens", "1", "--samples", "2", "--seed", "4"}).out,
      headings);
}

// Samples end at different times: each has its own end token and stop text.
TEST(Run, SamplesEndOnTheirOwn) {
  std::string all = run(samplingToyPath(), {"--tokens", "3", "-n", "40",
                                            "--print-tokens", "--seed", "1"})
                        .out;
  int ending = std::stoi(all.substr(all.find(',') + 1)); // the second token
  ToyOptions options;
  options.changeProgram = [&](artifact::ProgramT &p) {
    p.generation->do_sample = true;
    p.generation->temperature = 3;
    p.generation->eos = {ending};
  };
  TemporaryFile file(makeToyArtifact(options));
  auto tokens = [&](const char *samples, const char *seed) {
    return run(file.path(), {"--tokens", "3", "-n", "40", "--print-tokens",
                             "--samples", samples, "--seed", seed})
        .out;
  };
  EXPECT_EQ(tokens("4", "1"), tokens("1", "1") + tokens("1", "2") +
                                  tokens("1", "3") + tokens("1", "4"));
  EXPECT_EQ(tokens("1", "1"), all.substr(0, all.find(',')) + "\n");
}

TEST(Run, SaysThatGreedySamplesAreTheSame) {
  Finished done =
      run(toyPath(), {"--tokens", "1", "-n", "2", "--samples", "2"});
  EXPECT_EQ(done.status, 0);
  EXPECT_NE(done.err.find("effc: note: all samples will be the same"),
            std::string::npos);
}

// Nothing is drawn, so nothing can be left out of the draw.
TEST(Run, SaysWhatGreedySamplingDoesNotHeed) {
  auto notes = [](std::vector<std::string> options) {
    options.insert(options.begin(), {"--tokens", "1", "-n", "2"});
    Finished done = run(toyPath(), options);
    EXPECT_EQ(done.status, 0) << done.err;
    return done.err;
  };
  const std::string reason =
      " nothing: the temperature is 0, so that the likeliest token is taken\n";
  for (const char *option : {"--typical", "--top-p", "--min-p"})
    EXPECT_NE(
        notes({option, "0.5"})
            .find("effc: note: " + std::string(option) + " changes" + reason),
        std::string::npos);
  EXPECT_NE(notes({"--top-k", "3", "--typical-p", "0.5", "--temperature", "0"})
                .find("effc: note: --top-k, --typical change" + reason),
            std::string::npos);
  for (const std::vector<std::string> &options :
       {std::vector<std::string>{"--typical", "1"},
        {"--top-k", "0"},
        {"--typical", "0.5", "--temperature", "2"}})
    EXPECT_EQ(notes(options).find(reason), std::string::npos);
}

TEST(Run, AStateGoesOnWhereItWasSaved) {
  TemporaryFile state({0});
  Tokens expected = greedy({1, 2, 3}, 4);
  Finished first =
      run(toyPath(), {"--tokens", "1,2,3", "-n", "4", "--print-tokens",
                      "--save-state", state.path()});
  ASSERT_EQ(first.status, 0) << first.err;
  EXPECT_EQ(first.out, joined(expected));
  // All that has been said is in it, so that a second prompt follows.
  Tokens all = {1, 2, 3};
  all.insert(all.end(), expected.begin(), expected.end());
  all.insert(all.end(), {7, 8});
  Finished second = run(toyPath(), {"--load-state", state.path(), "--tokens",
                                    "7,8", "-n", "6", "--print-tokens"});
  EXPECT_EQ(second.out, joined(greedy(all, 6))) << second.err;
  // From standard input as well.
  std::ifstream stream(state.path(), std::ios::binary);
  std::string bytes(std::istreambuf_iterator<char>(stream), {});
  EXPECT_EQ(
      run(toyPath(),
          {"--load-state", "-", "--tokens", "7,8", "-n", "6", "--print-tokens"},
          bytes)
          .out,
      second.out);
}

TEST(Run, AStateOfThePromptAlone) {
  TemporaryFile state({0});
  Finished first = run(toyPath(), {"--tokens", "1,2,3", "-n", "0",
                                   "--save-state", state.path()});
  EXPECT_EQ(first.out, "\n") << first.err;
  EXPECT_EQ(run(toyPath(), {"--load-state", state.path(), "--tokens", "9", "-n",
                            "5", "--print-tokens"})
                .out,
            joined(greedy({1, 2, 3, 9}, 5)));
}

TEST(Run, RefusesStatesThatCannotBe) {
  auto error = [](const Finished &done) {
    size_t at = done.err.find("effc: error: ");
    return std::to_string(done.status) + " " +
           (at == std::string::npos
                ? ""
                : done.err.substr(at + 13, done.err.find('\n', at) - at - 13));
  };
  TemporaryFile none({1, 2, 3});
  EXPECT_EQ(
      error(run(toyPath(), {"--tokens", "1", "--load-state", none.path()})),
      "1 '" + none.path() +
          "': not a state file: it has 3 bytes, but a header has 64");
  EXPECT_EQ(error(run(toyPath(), {"--tokens", "1", "--load-state", "-"})),
            "1 not a state file: it has 0 bytes, but a header has 64");
  EXPECT_EQ(error(run(toyPath(), {"--tokens", "1", "--save-state", "-"})),
            "2 --save-state needs a file: the text goes to standard output");
  EXPECT_EQ(error(run(toyPath(), {"--tokens", "1", "--save-state", none.path(),
                                  "--samples", "2"})),
            "2 --save-state keeps one sequence, but --samples asks for 2");
  EXPECT_EQ(error(run(toyPath(), {"--tokens", "1", "--save-state", toyPath()})),
            "2 --save-state would overwrite '" + toyPath() + "'");
  EXPECT_EQ(error(run(toyPath(), {"--prompt-file", none.path(), "--save-state",
                                  none.path()})),
            "2 --save-state would overwrite '" + none.path() + "'");
  // Before the model is read, let alone its tokens drawn.
  EXPECT_EQ(error(run("/nonexistent", {"--tokens", "1", "--save-state",
                                       "/nonexistent/folder/state"})),
            "1 cannot write '/nonexistent/folder/state': No such file or "
            "directory");
  EXPECT_EQ(error(run("/nonexistent", {"--tokens", "1", "--save-state", "/"})),
            "1 cannot write '/': it is not a regular file");
  EXPECT_EQ(error(run("/nonexistent", {"--tokens", "1", "--save-state",
                                       none.path() + "/state"})),
            "1 cannot write '" + none.path() + "/state': Not a directory");
  EXPECT_EQ(error(run(toyPath(), {"--prompt-file", "-", "--load-state", "-"})),
            "2 --prompt-file and --load-state cannot both read standard input");
}

// A stop text may begin in one token and end in another; nothing of it shows,
// and of several the first to come counts.
TEST(Run, StopsAtATextAcrossTokens) {
  std::string whole = run(toyPath(), {"--tokens", "5", "-n", "12"}).out;
  ASSERT_GE(whole.size(), 8u);
  // From the middle of one piece into the next.
  std::string stop = whole.substr(3, 4);
  EXPECT_EQ(run(toyPath(), {"--tokens", "5", "-n", "12", "--stop", "never",
                            "--stop", stop})
                .out,
            whole.substr(0, whole.find(stop)) + "\n");
  // The start of a stop text that does not come is text.
  EXPECT_EQ(run(toyPath(), {"--tokens", "5", "-n", "12", "--stop",
                            whole.substr(2, 3) + "\x01\x01"})
                .out,
            whole);
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
                "effc: error: the prompt has 6 tokens, but the model's context "
                "is 5 tokens (effc compile --max-context makes another)\n"),
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
  EXPECT_EQ(error(run(toyPath(), {"--tokens", "1", "--device", "sim"})),
            "1 the file has no code for a simulated GPU: compile it with "
            "--target sim_80");
  EXPECT_EQ(error(run(toyPath(), {"--tokens", "1", "--top-p", "-0.5"})),
            "2 --top-p: expects a number from 0 to 1, but got '-0.5'");
  // Before the model is read.
  auto early = [&](const char *option, const char *value) {
    return error(run("/nonexistent", {"--tokens", "1", option, value}));
  };
  EXPECT_EQ(early("--temperature", "-1"),
            "2 --temperature: expects a finite number from 0 on, but got '-1'");
  EXPECT_EQ(early("--temperature", "inf"),
            "2 --temperature: expects a finite number from 0 on, but got "
            "'inf'");
  EXPECT_EQ(early("--min-p", "nan"),
            "2 --min-p: expects a number from 0 to 1, but got 'nan'");
  EXPECT_EQ(early("--repeat-penalty", "0"),
            "2 --repeat-penalty: expects a positive finite number, but got "
            "'0'");
  for (const char *seed : {"18446744073709551616", "-1", "0x10", "1.5", ""})
    EXPECT_EQ(
        early("--seed", seed),
        "2 --seed: expects a whole number from 0 to 18446744073709551615, but "
        "got '" +
            std::string(seed) + "'");
  EXPECT_EQ(run(toyPath(),
                {"--tokens", "1", "-n", "1", "--seed", "18446744073709551615"})
                .status,
            0);
  EXPECT_EQ(early("--top-k", "-2"),
            "2 --top-k: expects a whole number from 0 to 4294967295, but got "
            "'-2'");
  for (const char *count : {"abc", "-2", "1.5", "281474976710657"})
    EXPECT_EQ(early("-n", count),
              "2 -n: expects -1 (no limit) or a whole number from 0 to "
              "281474976710656, but "
              "got '" +
                  std::string(count) + "'");
  EXPECT_EQ(early("--samples", "0"),
            "2 --samples: expects a whole number from 1 to 4096, but got '0'");
  ToyOptions options;
  options.withTokenizer = false;
  TemporaryFile bare(makeToyArtifact(options));
  // One message says all that is missing.
  for (const std::vector<std::string> &arguments :
       std::vector<std::vector<std::string>>{
           {"--tokens", "1"},
           {"--prompt", "x"},
           {"--prompt", "x", "--print-tokens"}})
    EXPECT_EQ(error(run(bare.path(), arguments)),
              "1 '" + bare.path() +
                  "' has no tokenizer: give --tokens 1,2,3 and "
                  "--print-tokens");
  EXPECT_EQ(
      run(bare.path(), {"--tokens", "1,2,3", "-n", "12", "--print-tokens"}).out,
      joined(greedy({1, 2, 3}, 12)));
}
