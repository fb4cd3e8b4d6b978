// Help, manual pages and completions of a command with an option of each kind,
// and what is said of lines that it does not take.
#include "tools/terminal/CommandLine.h"

#include "tools/terminal/CommandTable.h"
#include "tools/terminal/Completions.h"
#include "tools/terminal/Failure.h"
#include "tools/terminal/Help.h"
#include "tools/terminal/ManualPage.h"
#include "tools/terminal/OptionChecks.h"

#include <gtest/gtest.h>
#include <sstream>

using namespace effc::cli;

namespace {
class CommandLine : public testing::Test {
protected:
  CommandLine() {
    app.add_option("FILE,-m,--model", file, "A model")
        ->type_name("FILE")
        ->group("Model")
        ->required();
    app.add_option("TEXT", text, "A text");
    app.add_option("-n", count, "Tokens")
        ->check(wholeNumber(1, 4096))
        ->capture_default_str()
        ->group("Length");
    app.add_option("--device", device, "Where to run")
        ->check(CLI::IsMember({"host", "cuda"}))
        ->group("Length");
    app.add_flag("--stable,!--no-stable", stable, "Whether")->group("Length");
    app.add_option("--secret", text, "Not shown")->group("");
    app.footer("tool run m.effc -n 3");
  }
  /// What is thrown at a line; empty where it is taken.
  std::string complaint(const std::vector<std::string> &arguments) {
    constexpr ForeignOption kForeign[] = {{"-c", "say --context"},
                                          {"--max-tokens", "-n N"}};
    try {
      readCommandLine(app, "tool run", arguments, kForeign);
      return "";
    } catch (const UsageError &error) {
      return error.what();
    }
  }

  CLI::App app{"Does things", "tool"};
  std::string file, text, device;
  int count = 7;
  bool stable = true;
};
} // namespace

TEST_F(CommandLine, TakesWhatItSays) {
  EXPECT_EQ(complaint({"m.effc", "some text", "-n5", "--device=cuda"}), "");
  EXPECT_EQ(file, "m.effc");
  EXPECT_EQ(text, "some text");
  EXPECT_EQ(count, 5);
  EXPECT_EQ(device, "cuda");
}

TEST_F(CommandLine, TakesAnArgumentByItsName) {
  EXPECT_EQ(complaint({"-m", "m.effc", "some text", "--no-stable"}), "");
  EXPECT_EQ(file, "m.effc");
  EXPECT_EQ(text, "some text");
  EXPECT_FALSE(stable);
}

// Before it is said that FILE is missing, all of it, in the order of the line.
TEST_F(CommandLine, NamesWhatItDoesNotKnowFirst) {
  EXPECT_EQ(complaint({"--devise", "host", "-n", "-1", "-x", "-c", "4"}),
            "there are no options --devise (did you mean --device?), -x, -c "
            "(say --context)");
  EXPECT_EQ(complaint({"--bogus=3"}), "there is no option --bogus");
  EXPECT_EQ(complaint({"--Max-tokesn=3"}),
            "there is no option --Max-tokesn (for --max-tokens: -n N)");
  EXPECT_EQ(complaint({"-n", "3"}), "FILE is required");
  app.add_option("-o,--output", text, "A file")->required();
  EXPECT_EQ(complaint({"m.effc"}), "--output is required");
}

TEST_F(CommandLine, NamesWhatNothingTakes) {
  EXPECT_EQ(complaint({"m.effc", "text", "more", "and more"}),
            "nothing takes 'more', 'and more'");
}

// Behind "--" a dash begins no option.
TEST_F(CommandLine, LeavesWhatStandsBehindTwoDashesAlone) {
  EXPECT_EQ(complaint({"m.effc", "--", "--bogus"}), "");
  EXPECT_EQ(text, "--bogus");
}

TEST_F(CommandLine, HelpsInGroupsWithinTheColumns) {
  CommandTable table = tableOf(app, "tool run");
  for (size_t columns : {40, 64, 100}) {
    std::string help = helpText(table, columns);
    std::istringstream lines(help);
    for (std::string line; std::getline(lines, line);)
      EXPECT_LE(line.size(), columns) << line;
    EXPECT_EQ(help.find("usage: tool run FILE [TEXT] [options]\n"), 0u);
    EXPECT_LT(help.find("\nModel:\n"), help.find("\nLength:\n"));
    EXPECT_LT(help.find("\nLength:\n"), help.find("\nOptions:\n"));
    EXPECT_EQ(help.find("secret"), std::string::npos);
  }
  std::string help = helpText(table, 80);
  EXPECT_NE(help.find("  -n N                      Tokens (1 to 4096; default: "
                      "7)\n"),
            std::string::npos)
      << help;
  EXPECT_NE(
      help.find("  --device TEXT             Where to run (host, cuda)\n"),
      std::string::npos);
  EXPECT_NE(help.find("\nExamples:\n  tool run m.effc -n 3\n"),
            std::string::npos);
}

// A shell reads the lines as one: a backslash ends all but the last, and none is
// broken within quotes.
TEST_F(CommandLine, WrapsExamplesForAShell) {
  app.footer("tool run m.effc \"a text of five words\" -n 3 --device cuda "
             "--no-stable\ntool run 'it is' -n 4");
  std::string help = helpText(tableOf(app, "tool run"), 40);
  EXPECT_TRUE(help.ends_with("\nExamples:\n"
                             "  tool run m.effc \\\n"
                             "      \"a text of five words\" -n 3 \\\n"
                             "      --device cuda --no-stable\n"
                             "  tool run 'it is' -n 4\n"))
      << help;
}

TEST_F(CommandLine, TellsAnotherProgramWhatItTakes) {
  CommandTable table = tableOf(app, "tool run");
  CommandTable read = tableFromJson(tableToJson(table));
  EXPECT_EQ(helpText(read, 80), helpText(table, 80));
  EXPECT_THROW(tableFromJson("{\"name\": 3}"), Failure);
  EXPECT_THROW(tableFromJson("no JSON"), Failure);
}

TEST_F(CommandLine, WritesAManualPage) {
  std::string page = manualPage(tableOf(app, "tool run"), "tool 1.2", {"tool"});
  for (const char *part :
       {".TH TOOL\\-RUN 1 \"\" \"tool 1.2\"\n",
        ".SH NAME\ntool\\-run \\- Does "
        "things\n",
        ".SS Length\n.TP\n.B \\-n N\nTokens (1 to 4096; default: 7)\n",
        ".SH EXAMPLES\n.nf\ntool run m.effc \\-n 3\n.fi\n",
        ".SH SEE ALSO\n.BR tool (1)\n"})
    EXPECT_NE(page.find(part), std::string::npos) << part << "\nin\n" << page;
}

TEST_F(CommandLine, CompletesInEveryShell) {
  for (const char *shell : {"bash", "zsh", "fish"}) {
    std::string script =
        completionScript(shell, "tool", {tableOf(app, "tool run")});
    for (const char *part : {"run", "host cuda"})
      EXPECT_NE(script.find(part), std::string::npos) << shell;
    EXPECT_EQ(script.find("secret"), std::string::npos);
  }
}
