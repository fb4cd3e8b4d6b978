// `effc chat` on a terminal: a line is edited, and one that was typed before comes
// back. What reached the model is what the file of the conversation says.

#include "test/unit/runtime/toy/ToyArtifact.h"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <functional>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <pty.h>
#include <sys/wait.h>
#include <termios.h>
#include <thread>
#include <unistd.h>

using namespace effc;
using namespace effc::test;
using Json = nlohmann::json;

namespace {

/// A program on a terminal of its own.
class OnTerminal {
public:
  explicit OnTerminal(std::vector<std::string> arguments) {
    process = forkpty(&terminal, nullptr, nullptr, nullptr);
    if (process == 0) {
      setenv("TERM", "xterm", 1);
      std::vector<char *> pointers;
      for (std::string &argument : arguments)
        pointers.push_back(argument.data());
      pointers.push_back(nullptr);
      execv(pointers[0], pointers.data());
      _exit(127);
    }
    fcntl(terminal, F_SETFL, O_NONBLOCK);
  }
  ~OnTerminal() {
    if (process > 0) {
      kill(process, SIGKILL);
      waitpid(process, nullptr, 0);
    }
    close(terminal);
  }
  OnTerminal(const OnTerminal &) = delete;
  OnTerminal &operator=(const OnTerminal &) = delete;

  /// Types once keys are taken one by one, which they are while a line is edited.
  void type(const std::string &keys) {
    EXPECT_TRUE(waitFor([&] {
      termios mode = {};
      return tcgetattr(terminal, &mode) == 0 && !(mode.c_lflag & ICANON);
    })) << "no line is edited: "
        << shown;
    EXPECT_EQ(write(terminal, keys.data(), keys.size()), ssize_t(keys.size()));
  }

  /// The exit status; -1: it has not ended in ten seconds.
  int wait() {
    int status = 0;
    if (!waitFor([&] { return waitpid(process, &status, WNOHANG) == process; }))
      return -1;
    process = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

  /// Whether something holds before ten seconds are over.
  bool waitFor(const std::function<bool()> &holds) {
    for (int waited = 0; waited < 10000; waited += 10) {
      char bytes[4096];
      for (ssize_t count; (count = read(terminal, bytes, sizeof bytes)) > 0;)
        shown.append(bytes, size_t(count));
      if (holds())
        return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  }

  std::string shown; // by the program so far

private:
  int terminal = -1;
  pid_t process = -1;
};

} // namespace

TEST(ChatTerminal, EditsLinesAndOffersThoseBefore) {
#ifndef EFFC_HAS_LIBEDIT
  GTEST_SKIP() << "this build has no libedit";
#endif
  ToyOptions options;
  options.changeTokenizer = [](artifact::TokenizerT &table) {
    addChatTemplate(table, "default",
                    "{% for m in messages %}{{ m.content }}{% endfor %}");
  };
  TemporaryFile model(makeToyArtifact(options));
  std::string talk = model.path() + ".json";
  auto messages = [&] {
    Json kept =
        Json::parse(std::ifstream(talk), nullptr, /*allow_exceptions=*/false);
    return kept.is_object() ? kept["messages"] : Json::array();
  };

  OnTerminal chat({EFFC_PROGRAM, "chat", model.path(), "--conversation", talk,
                   "--temp", "0", "-n", "5"});
  const std::string back = "\x02", earlier = "\x10", end = "\x04";
  chat.type("helo" + back + "l\r");
  EXPECT_TRUE(chat.waitFor([&] { return messages().size() == 2; }))
      << chat.shown;
  chat.type(earlier + "\r");
  EXPECT_TRUE(chat.waitFor([&] { return messages().size() == 4; }))
      << chat.shown;
  chat.type(end);
  EXPECT_EQ(chat.wait(), 0) << chat.shown;

  Json found = messages();
  std::filesystem::remove(talk);
  ASSERT_EQ(found.size(), 4u);
  EXPECT_EQ(found[0], Json({{"role", "user"}, {"content", "hello"}}));
  EXPECT_EQ(found[2], found[0]);
}
