// `effc chat` on the toy model with a template: what it says, what it reads anew, and
// what it keeps.

#include "runtime/include/effc/effc.hpp"
#include "test/e2e/Process.h"
#include "test/unit/runtime/toy/ToyArtifact.h"
#include "test/unit/tools/effc/RunToy.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

using namespace effc;
using namespace effc::test;
using Json = nlohmann::json;
using Tokens = std::vector<int32_t>;

namespace {
/// A folder with toys: `chat.effc`, whose template keeps what it wrote, and
/// `rewriting.effc`, whose template writes the number of messages first.
class Chatting : public testing::Test {
protected:
  void SetUp() override {
    char name[] = "/tmp/effc-chat-XXXXXX";
    folder = mkdtemp(name);
    write("chat.effc", kTemplate);
    write("rewriting.effc", "{{ messages | length }}" + kTemplate);
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  std::string at(const std::string &name) const { return folder + "/" + name; }
  void write(const std::string &name, const std::string &source) {
    ToyOptions options;
    options.changeTokenizer = [&](artifact::TokenizerT &table) {
      addChatTemplate(table, "default", source);
    };
    std::vector<uint8_t> bytes = makeToyArtifact(options);
    std::ofstream(at(name), std::ios::binary)
        .write(reinterpret_cast<const char *>(bytes.data()),
               static_cast<long>(bytes.size()));
  }
  Finished chat(std::vector<std::string> arguments,
                const std::string &input = "",
                const std::string &file = "chat.effc") {
    std::vector<std::string> all = {EFFC_PROGRAM, "chat", at(file), "--temp",
                                    "0",          "-n",   "5"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return runProgram(all, input);
  }
  /// The answers of `chat --json`.
  std::vector<Json> answers(const std::string &input,
                            const std::string &file = "chat.effc",
                            std::vector<std::string> arguments = {}) {
    arguments.push_back("--json");
    Finished done = chat(arguments, input, file);
    EXPECT_EQ(done.status, 0) << done.err;
    std::vector<Json> found;
    std::istringstream lines(done.out);
    for (std::string line; std::getline(lines, line);)
      found.push_back(Json::parse(line));
    return found;
  }

  /// What the toy answers to messages, by the template and its own reference.
  std::string expected(const Json &messages, const std::string &file) {
    Model model(at(file));
    Conversation conversation;
    conversation.messages = messages.dump();
    Tokens prompt = Chat(model).render(conversation).tokenize(model);
    return model.detokenize(greedy(prompt, 5), EFFC_DETOKENIZE_SKIP_SPECIAL);
  }

  std::string folder;
  static inline const std::string kTemplate =
      "{% for m in messages %}{{ m.role }}:{{ m.content }}<|end|>"
      "{% endfor %}{% if add_generation_prompt %}assistant:{% endif %}";
};
} // namespace

TEST_F(Chatting, AnswersOneMessage) {
  Json messages = Json::array({{{"role", "user"}, {"content", "hello"}}});
  Finished done = chat({"hello"});
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_EQ(done.out, expected(messages, "chat.effc") + "\n");
  messages.insert(messages.begin(),
                  Json{{"role", "system"}, {"content", "be brief"}});
  EXPECT_EQ(chat({"hello", "--system", "be brief"}).out,
            expected(messages, "chat.effc") + "\n");
}

TEST_F(Chatting, GoesOnAsOneThatReadsEverything) {
  for (const char *file : {"chat.effc", "rewriting.effc"}) {
    std::vector<std::string> said = {"hello", "and \\", "then", "word"};
    std::vector<Json> found = answers("hello\nand \\\nthen\nword\n", file);
    ASSERT_EQ(found.size(), 3u);
    Json messages = Json::array();
    std::vector<std::string> questions = {"hello", "and \nthen", "word"};
    for (size_t i = 0; i < 3; ++i) {
      messages.push_back({{"role", "user"}, {"content", questions[i]}});
      std::string answer = expected(messages, file);
      EXPECT_EQ(found[i]["content"], answer) << file << " " << i;
      messages.push_back({{"role", "assistant"}, {"content", answer}});
    }
  }
}

TEST_F(Chatting, ReadsWhatIsNewAlone) {
  std::vector<Json> kept = answers("hello\nagain\nword\n");
  ASSERT_EQ(kept.size(), 3u);
  EXPECT_EQ(kept[0]["read_tokens"], kept[0]["prompt_tokens"]);
  Model model(at("chat.effc"));
  // "<|end|>", the question with its role and end, and what begins an answer. The
  // answer before is the state's already, where its text has the tokens that it was
  // drawn as; else it is read with them.
  uint64_t turn = 1 + model.tokenize("user:again<|end|>assistant:").size();
  EXPECT_GE(kept[1]["read_tokens"].get<uint64_t>(), turn);
  EXPECT_LE(kept[1]["read_tokens"].get<uint64_t>(),
            turn + 5 + model.tokenize("assistant:").size());
  EXPECT_LT(kept[2]["read_tokens"], kept[2]["prompt_tokens"]);
  // A template that writes the beginning anew has all of it read.
  std::vector<Json> anew = answers("hello\nagain\n", "rewriting.effc");
  EXPECT_EQ(anew[1]["read_tokens"], anew[1]["prompt_tokens"]);
}

TEST_F(Chatting, KeepsTheConversation) {
  std::string file = at("talk.json");
  std::vector<Json> first =
      answers("hello\n", "chat.effc", {"--conversation", file});
  std::vector<Json> second =
      answers("again\n", "chat.effc", {"--conversation", file});
  std::vector<Json> together = answers("hello\nagain\n");
  EXPECT_EQ(first[0]["content"], together[0]["content"]);
  EXPECT_EQ(second[0]["content"], together[1]["content"]);
  Json kept = Json::parse(std::ifstream(file));
  ASSERT_EQ(kept["messages"].size(), 4u);
  EXPECT_EQ(kept["messages"][2]["content"], "again");
  // Nothing is left beside it.
  size_t files = 0;
  for (const auto &entry : std::filesystem::directory_iterator(folder))
    files += entry.path().filename() != "";
  EXPECT_EQ(files, 3u);
}

TEST_F(Chatting, KeepsTheState) {
  std::string file = at("talk.json");
  std::vector<std::string> keeping = {"--conversation", file, "--keep-state"};
  std::vector<Json> together = answers("hello\nagain\nword\n");
  answers("hello\n", "chat.effc", keeping);
  std::vector<Json> second = answers("again\n", "chat.effc", keeping);
  EXPECT_EQ(second[0]["content"], together[1]["content"]);
  EXPECT_EQ(second[0]["read_tokens"], together[1]["read_tokens"]);
  auto stateFiles = [&] {
    std::vector<std::filesystem::path> found;
    for (const auto &entry : std::filesystem::directory_iterator(folder))
      if (entry.path().extension() == ".state")
        found.push_back(entry.path());
    return found;
  };
  ASSERT_EQ(stateFiles().size(), 1u); // that of before is gone
  // One that is damaged, or gone, costs reading and nothing else.
  std::filesystem::resize_file(stateFiles()[0], 50);
  Finished done = chat({"word", "--json", "--conversation", file});
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_NE(done.err.find("the conversation is read again: "),
            std::string::npos);
  Json third = Json::parse(done.out);
  EXPECT_EQ(third["content"], together[2]["content"]);
  EXPECT_EQ(third["read_tokens"], third["prompt_tokens"]);
  EXPECT_EQ(chat({"x", "--keep-state"}).status, 2);
}

TEST_F(Chatting, ObeysCommands) {
  std::vector<Json> plain = answers("hello\nword\n");
  std::vector<Json> found =
      answers("hello\nno\n/undo\nword\n/again\n/clear\nhello\n/exit\nno\n");
  ASSERT_EQ(found.size(), 5u);
  EXPECT_EQ(found[2]["content"], plain[1]["content"]);
  EXPECT_EQ(found[3]["content"], plain[1]["content"]);
  EXPECT_EQ(found[4]["content"], plain[0]["content"]);
  // Each answer draws with a seed of its own.
  EXPECT_EQ(found[3]["seed"], 3);
  Finished done = chat({}, "/undo\n/nothing\n /slash\n");
  EXPECT_EQ(done.status, 0);
  EXPECT_NE(done.err.find("there is no message to drop"), std::string::npos);
  EXPECT_NE(
      done.err.find("there is no command '/nothing' (/help lists them); a "
                    "message may begin with a space"),
      std::string::npos);
  Json messages = Json::array({{{"role", "user"}, {"content", " /slash"}}});
  EXPECT_EQ(done.out, expected(messages, "chat.effc") + "\n");
}

TEST_F(Chatting, EndsWhereTheTemplateEndsAnAnswer) {
  // Of the toy's tokens the template's end is the model's too, so that another is
  // taken: the first that the toy would write.
  Model model(at("chat.effc"));
  std::string source = "{% for m in messages %}{{ m.content }}{% if m.role == "
                       "'assistant' %}<|end|>{% endif %}{% endfor %}";
  std::ofstream(at("own.jinja")) << source;
  Finished done = chat({"hello", "--template-file", at("own.jinja")});
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_EQ(done.out, model.detokenize(greedy(model.tokenize("hello"), 5),
                                       EFFC_DETOKENIZE_SKIP_SPECIAL) +
                          "\n");
}

TEST_F(Chatting, SaysWhatIsMissing) {
  const std::pair<std::vector<std::string>, const char *> kCases[] = {
      {{"--template", "other"},
       "expected the name of a chat template of the "
       "model ('default'), but found 'other'"},
      {{"--arguments", "[1]", "x"}, "arguments"},
      {{"--conversation", at("chat.effc")},
       "' is no conversation: expects JSON"},
  };
  for (const auto &[arguments, message] : kCases) {
    Finished done = chat(arguments, "");
    EXPECT_EQ(done.status, 1);
    EXPECT_NE(done.err.find(message), std::string::npos) << done.err;
  }
  Finished none = runProgram({EFFC_PROGRAM, "chat", toyPath(), "x"});
  EXPECT_EQ(none.status, 1);
  EXPECT_NE(none.err.find("the model has no chat template; give one"),
            std::string::npos)
      << none.err;
}

TEST_F(Chatting, LosesNothingWhenAMessageDoesNotFit) {
  // Beyond what a template may make of it, the message is dropped; the next one is
  // answered as if there had been none.
  std::vector<Json> plain = answers("hello\nword\n");
  std::ofstream(at("own.jinja"))
      << "{% if messages[-1].content == 'bad' %}{{ raise_exception('no bad') }}"
         "{% endif %}" +
             kTemplate;
  Finished done = chat({"--json", "--template-file", at("own.jinja")},
                       "hello\nbad\nword\n");
  EXPECT_EQ(done.status, 0);
  EXPECT_NE(done.err.find("no bad"), std::string::npos) << done.err;
  std::istringstream lines(done.out);
  std::vector<Json> found;
  for (std::string line; std::getline(lines, line);)
    found.push_back(Json::parse(line));
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[1]["content"], plain[1]["content"]);
}

// A grammar has the toy reason, and then answer. The template shows the model no
// reasoning of earlier turns.
TEST_F(Chatting, KeepsReasoningApart) {
  write("reasoning.effc", kTemplate + "{# <think>, </think> #}");
  std::ofstream(at("reasoned.gbnf"))
      << "root ::= \"<think>so it is</think>fine\"\n";
  auto ask = [&](std::vector<std::string> more, const std::string &input) {
    std::vector<std::string> all = {EFFC_PROGRAM,         "chat",
                                    at("reasoning.effc"), "--grammar",
                                    at("reasoned.gbnf"),  "--conversation",
                                    at("reasoned.json")};
    all.insert(all.end(), more.begin(), more.end());
    return runProgram(all, input);
  };
  Finished shown = ask({"hello"}, "");
  EXPECT_EQ(shown.status, 0) << shown.err;
  EXPECT_EQ(shown.out, "fine\n");
  EXPECT_NE(shown.err.find("so it is\n\n"), std::string::npos) << shown.err;

  Finished told = ask({"--json"}, "again\n");
  EXPECT_EQ(told.err.find("so it is"), std::string::npos) << told.err;
  Json answer = Json::parse(told.out);
  EXPECT_EQ(answer["content"], "fine");
  EXPECT_EQ(answer["reasoning_content"], "so it is");
  Json messages = Json::parse(std::ifstream(at("reasoned.json")))["messages"];
  ASSERT_EQ(messages.size(), 4u);
  EXPECT_EQ(messages[1], Json({{"role", "assistant"},
                               {"content", "fine"},
                               {"reasoning_content", "so it is"}}));
  Model model(at("reasoning.effc"));
  std::string read = "user:hello<|end|>assistant:fine<|end|>user:again<|end|>"
                     "assistant:";
  EXPECT_EQ(answer["prompt_tokens"], model.tokenize(read).size());
}

// An answer that begins within reasoning, and is cut there.
TEST_F(Chatting, ReasoningAloneIsAnAnswer) {
  write("open.effc", kTemplate + "{% if add_generation_prompt %}<think>\n"
                                 "{% endif %}");
  std::vector<Json> found = answers("hello\n", "open.effc");
  ASSERT_EQ(found.size(), 1u);
  Model model(at("open.effc"));
  Tokens prompt = model.tokenize("user:hello<|end|>assistant:<think>\n");
  EXPECT_EQ(found[0]["content"], "");
  EXPECT_EQ(found[0]["reasoning_content"],
            model.detokenize(greedy(prompt, 5), EFFC_DETOKENIZE_SKIP_SPECIAL));
}
