// `effc run` and `effc chat` with a second model that guesses: texts, states and ends are
// those without one, whatever it says.

#include "tools/effc/Guesser.h"
#include "runtime/include/effc/effc.hpp"
#include "test/unit/runtime/toy/ToyArtifact.h"
#include "test/unit/tools/effc/RunToy.h"

#include <algorithm>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>

using namespace effc;
using namespace effc::test;
using Json = nlohmann::json;
using Tokens = std::vector<int32_t>;

/// A toy of states of a fixed size, or of keys alone, whose bits are those of one token
/// after another.
static ToyOptions draftable(bool keysAlone = false) {
  ToyOptions options;
  options.chunk = 1;
  options.keysAlone = keysAlone;
  return options;
}

static std::string contentOf(const TemporaryFile &file) {
  std::ifstream stream(file.path(), std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(stream), {});
}

TEST(Guesser, TextsAndStatesAreTheSame) {
  std::string rules = "root ::= [a-f]{9,}";
  TemporaryFile grammar({rules.begin(), rules.end()});
  const std::vector<std::vector<std::string>> ways = {
      {"-n", "70", "--temp", "0"},
      {"-n", "70", "--temp", "0.9", "--seed", "4", "--logprobs", "2"},
      {"-n", "70", "--temp", "1.5", "--top-k", "30", "--repeat-penalty", "1.2"},
      {"-n", "70", "--temp", "1", "--grammar", grammar.path()},
      {"-n", "70", "--temp", "1", "--stop", "e"},
      {"-n", "1"},
      {"-n", "2000", "--temp", "2", "--ignore-eos"}}; // up to the context
  for (bool keysAlone : {false, true}) {
    ToyOptions options = draftable(keysAlone);
    options.changeProgram = [](artifact::ProgramT &p) { p.max_context = 150; };
    TemporaryFile toy(makeToyArtifact(options));
    for (uint32_t stride : {0, 7, 1}) {
      TemporaryFile drafter(makeOtherToy(draftable(!keysAlone), stride));
      for (const std::vector<std::string> &way : ways) {
        TemporaryFile state({0}), same({0});
        std::vector<std::string> plain = {"--tokens", "3,99,7", "--save-state",
                                          state.path()};
        plain.insert(plain.end(), way.begin(), way.end());
        std::vector<std::string> guessed = plain;
        guessed[3] = same.path();
        guessed.insert(guessed.end(), {"--draft-model", drafter.path(),
                                       "--draft-model-tokens", "5"});
        Json expected = runJson(toy.path(), plain),
             found = runJson(toy.path(), guessed);
        EXPECT_EQ(found["samples"], expected["samples"])
            << way[1] << " " << way.back() << ", stride " << stride;
        EXPECT_EQ(found["decode"]["tokens"], expected["decode"]["tokens"]);
        EXPECT_EQ(contentOf(same), contentOf(state))
            << way[1] << " " << way.back() << ", stride " << stride;
      }
    }
  }
}

// The same model guesses what is drawn; a text that goes on otherwise takes its sequence
// back, and so does one of another conversation.
TEST(Guesser, FollowsATextThatTurnsOtherwise) {
  for (bool keysAlone : {false, true})
    for (bool again : {false, true}) {
      TemporaryFile file(makeToyArtifact(draftable(keysAlone)));
      Model model(file.path());
      effc_sampler_options_t options = effc_sampler_options_default();
      options.temperature = 1;
      Sampler sampler(options, kToyVocabulary);
      cli::Drafter drafter{
          Model(file.path()),
          {"host", Device::host(1), Engine(model, Device::host(1)), 0}};
      cli::Guesser guesser(drafter, 4);
      ToyReference reference;
      Tokens text = {5, 6, 7};
      if (again)
        guesser.guess({5, 9, 9, 9, 9, 9}, sampler, 4);
      std::vector<float> all = reference.feed(text);
      std::vector<float> row(all.end() - kToyVocabulary, all.end());
      for (int turn = 0; turn < 20; ++turn) {
        Tokens guessed = guesser.guess(text, sampler, 4);
        ASSERT_EQ(guessed.size(), 4u);
        // Every third draft is wrong from its second token on.
        for (size_t i = 0; i < (turn % 3 == 2 ? 2 : 4); ++i) {
          ASSERT_EQ(guessed[i], sampler.sample(row));
          text.push_back(turn % 3 == 2 && i == 1 ? 100 + turn : guessed[i]);
          row = reference.step(text.back());
        }
        guesser.learn(4, 4);
      }
      // What was read is not read again, but for what turned out otherwise.
      EXPECT_LT(drafter.place.engine.counters().prefill_tokens,
                3u + 6 + 20 * 4);
    }
}

TEST(Guesser, RefusesWhatCannotBe) {
  TemporaryFile toy(makeToyArtifact(draftable()));
  auto refused = [&](const std::string &file, std::vector<std::string> more,
                     int status, const std::string &message) {
    std::vector<std::string> all = {"--tokens", "1", "--print-tokens",
                                    "--draft-model", toy.path()};
    all.insert(all.end(), more.begin(), more.end());
    Finished done = run(file, all);
    EXPECT_EQ(done.status, status);
    EXPECT_NE(done.err.find(message), std::string::npos) << done.err;
  };
  refused(toyPath(), {}, 1,
          "--draft-model '" + toy.path() +
              "': 'draft_engine' is set, but the file's code for host may give "
              "other bits");
  refused(toy.path(), {"--samples", "2"}, 2,
          "--draft-model guesses for one text, but --samples asks for 2");
  refused(toy.path(), {"--load-state", "x"}, 2,
          "nobody knows the text of --load-state");
  ToyOptions other = draftable();
  other.changeTokenizer = [](artifact::TokenizerT &table) {
    for (auto &token : table.added_tokens)
      if (token->id == kToyEnd)
        token->content = "<|fin|>";
  };
  TemporaryFile words(makeToyArtifact(other));
  refused(words.path(), {}, 1,
          "--draft-model '" + toy.path() +
              "': 'draft_engine' has a model of another tokenizer: token 269 "
              "is '<|end|>' there, and '<|fin|>' in the model");
}

// Turn after turn, and when an answer is asked for anew.
TEST(Guesser, AnswersAreTheSame) {
  ToyOptions options = draftable();
  options.changeTokenizer = [&](artifact::TokenizerT &table) {
    addChatTemplate(
        table, "default",
        "{% for m in messages %}{{ m.role }}:{{ m.content }}<|end|>"
        "{% endfor %}{% if add_generation_prompt %}assistant:{% endif %}");
  };
  TemporaryFile toy(makeToyArtifact(options));
  auto chat = [&](std::vector<std::string> more) {
    std::vector<std::string> all = {EFFC_PROGRAM, "chat", toy.path(), "--temp",
                                    "0.8",        "-n",   "30",       "--json"};
    all.insert(all.end(), more.begin(), more.end());
    Finished done = runProgram(all, "hello\nand then\n/again\n/undo\nword\n");
    EXPECT_EQ(done.status, 0) << done.err;
    std::vector<Json> answers;
    std::istringstream lines(done.out);
    for (std::string line; std::getline(lines, line);) {
      answers.push_back(Json::parse(line));
      answers.back().erase("prefill_seconds");
      answers.back().erase("decode_seconds");
    }
    return answers;
  };
  std::vector<Json> plain = chat({});
  EXPECT_EQ(plain.size(), 4u);
  for (uint32_t stride : {0, 7, 1}) {
    TemporaryFile drafter(makeOtherToy(options, stride));
    EXPECT_EQ(chat({"--draft-model", drafter.path()}), plain) << stride;
  }
}
