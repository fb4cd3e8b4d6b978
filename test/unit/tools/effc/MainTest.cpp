// What every subcommand has in common: exit statuses, and one line that says
// why.

#include "test/e2e/Process.h"
#include "test/unit/runtime/toy/ToyArtifact.h"

#include <gtest/gtest.h>

using namespace effc::test;

static Finished effc_(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), EFFC_PROGRAM);
  return runProgram(arguments);
}

static std::string firstLine(const std::string &text) {
  return text.substr(0, text.find('\n'));
}

TEST(Main, TellsItsVersion) {
  Finished done = effc_({"--version"});
  EXPECT_EQ(done.status, 0);
  EXPECT_EQ(done.out.find("effc 0.1.0 (commit "), 0u);
  EXPECT_EQ(done.err, "");
}

TEST(Main, HelpsWithEverySubcommand) {
  for (const char *command : {"run", "eval", "bench", "inspect"}) {
    Finished done = effc_({command, "--help"});
    EXPECT_EQ(done.status, 0);
    EXPECT_NE(done.out.find("FILE"), std::string::npos);
  }
  EXPECT_EQ(effc_({"--help"}).status, 0);
}

TEST(Main, WrongUsageIsStatusTwo) {
  for (const std::vector<std::string> &arguments :
       std::vector<std::vector<std::string>>{
           {},
           {"frobnicate"},
           {"run"},
           {"run", "a.effc"},
           {"run", "a.effc", "--prompt", "x", "--tokens", "1"},
           {"run", "a.effc", "--prompt", "x", "--unknown"},
           {"run", "a.effc", "--prompt", "x", "-n", "many"},
           {"run", "a.effc", "--prompt", "x", "--device", "abacus"},
           {"run", "a.effc", "--prompt", "x", "--threads", "-1"},
           {"eval", "a.effc"},
           {"eval", "a.effc", "--tokens", "t.json", "--split", "0"},
           {"eval", "a.effc", "--tokens", "t.json", "--batch", "0"},
           {"inspect", "a.effc", "--budget", "much"}}) {
    Finished done = effc_(arguments);
    EXPECT_EQ(done.status, 2) << done.err;
    EXPECT_EQ(done.err.find("effc: error: "), 0u) << done.err;
    EXPECT_EQ(done.out, "");
  }
}

TEST(Main, PointsToTheHelpOfTheCommand) {
  for (const char *command : {"run", "eval", "bench", "inspect"})
    EXPECT_NE(effc_({command, "a.effc", "--unknown"})
                  .err.find(std::string("\neffc: note: see effc ") + command +
                            " --help\n"),
              std::string::npos);
  // Wrong usage that is found while the command runs.
  EXPECT_NE(effc_({"inspect", "a.effc", "--budget", "much"})
                .err.find("\neffc: note: see effc inspect --help\n"),
            std::string::npos);
  for (const char *none : {"frobnicate", "--unknown"})
    EXPECT_NE(effc_({none}).err.find("\neffc: note: see effc --help\n"),
              std::string::npos);
}

TEST(Main, NamesTheCommandsToWhoeverMistypesOne) {
  Finished done = effc_({"bogus", "a.effc"});
  EXPECT_EQ(done.status, 2);
  EXPECT_EQ(
      firstLine(done.err),
      "effc: error: there is no command 'bogus'; commands are compile, rebind, "
      "verify, serve, run, chat, sample, eval, bench, inspect, tokenize, "
      "devices, "
      "completions, manual");
}

TEST(Main, NamesTheNearestCommand) {
  for (const auto &[typed, meant] :
       {std::pair("comple", "compile"), {"RUN", "run"}}) {
    std::string expected = "effc: error: there is no command '" +
                           std::string(typed) + "' (did you mean '" + meant +
                           "'?); commands are compile, rebind, ";
    Finished done = effc_({typed, "a.effc"});
    EXPECT_EQ(done.status, 2);
    EXPECT_EQ(done.err.find(expected), 0u) << done.err;
  }
}

TEST(Main, SaysWhatItHasInPlaceOfAnOption) {
  for (std::string option : {"--mirostat", "--xtc-probability"})
    EXPECT_EQ(firstLine(effc_({"run", "a.effc", "x", option, "1"}).err),
              "effc: error: there is no option " + option +
                  " (there is no draw by " +
                  (option == "--mirostat" ? "mirostat" : "XTC") +
                  ": --top-p, --min-p and --typical leave tokens out)");
}

// What people give in place of a compiled model.
TEST(Main, SaysWhatAFileIsThatIsNoCompiledModel) {
  const std::string advice =
      "; a model is compiled first: effc compile MODEL -o FILE.effc, of a "
      "checkpoint's folder or a GGUF file\n";
  for (const char *command : {"run", "inspect"}) {
    std::vector<std::string> line = {command, "/tmp"};
    if (line[0] == "run")
      line.push_back("x");
    Finished done = effc_(line);
    EXPECT_EQ(done.status, 1);
    EXPECT_EQ(done.err, "effc: error: '/tmp' is a folder, not a compiled "
                        "model: effc compile /tmp -o FILE.effc makes one of a "
                        "checkpoint\n");
    for (const auto &[start, kind] :
         {std::pair<std::string, std::string>("GGUF\3", "a GGUF file"),
          {std::string("\x51\x02\0\0\0\0\0\0{\"a", 11), "a safetensors file"},
          {"PK\3\4...", "a ZIP file, as torch.save writes"}}) {
      std::vector<uint8_t> bytes(start.begin(), start.end());
      bytes.resize(200);
      TemporaryFile file(bytes);
      line[1] = file.path();
      done = effc_(line);
      EXPECT_EQ(done.status, 1);
      // What is in a GGUF file is shown, if it is one.
      if (kind == "a GGUF file" && line[0] == "inspect") {
        EXPECT_NE(done.err.find("expects 0 bytes of tensors, but the file has"),
                  std::string::npos)
            << done.err;
        continue;
      }
      EXPECT_EQ(done.err, "effc: error: '" + file.path() + "' is " + kind +
                              ", not a compiled model" + advice);
    }
  }
}

// What is not compiled has no kernels.
TEST(Main, SaysThatAGgufFileIsNotCompiled) {
  std::vector<uint8_t> bytes = {'G', 'G', 'U', 'F', 3};
  bytes.resize(200);
  TemporaryFile file(bytes);
  auto refusal = [&](std::vector<std::string> options) {
    options.insert(options.begin(), {"inspect", file.path()});
    Finished done = effc_(options);
    EXPECT_EQ(done.status, 1);
    return done.err;
  };
  auto text = [&](const std::string &options) {
    return "effc: error: '" + file.path() +
           "' is a GGUF file, not a compiled model, which " + options +
           " for: effc compile " + file.path() + " -o FILE.effc makes one\n";
  };
  EXPECT_EQ(refusal({"--kernels"}), text("--kernels is"));
  EXPECT_EQ(refusal({"--state", "--json", "--budget=8G"}),
            text("--state, --budget are"));
  EXPECT_EQ(refusal({"--flops", "published"}), text("--flops is"));
  // Nothing is looked at that a digest would refuse.
  EXPECT_EQ(refusal({"--sha256", std::string(64, '0')}), text("--sha256 is"));
}

TEST(Main, NamesAnOptionThatThereIsNot) {
  Finished done = effc_({"-x"});
  EXPECT_EQ(done.status, 2);
  EXPECT_EQ(firstLine(done.err), "effc: error: there is no option -x");
}

// A list takes one argument: what follows is the file.
TEST(Main, ListsLeaveTheFileAlone) {
  for (const char *option : {"--batch", "--prefill"}) {
    Finished done = effc_({"bench", option, "1,2", "/nonexistent.effc"});
    EXPECT_EQ(done.status, 1);
    EXPECT_EQ(firstLine(done.err),
              "effc: error: cannot open '/nonexistent.effc': No "
              "such file or directory");
  }
}

TEST(Main, FailureIsStatusOneAndNamesTheFile) {
  for (const std::vector<std::string> &arguments :
       std::vector<std::vector<std::string>>{
           {"run", "/nonexistent.effc", "--prompt", "x"},
           {"eval", "/nonexistent.effc", "--tokens", "t.json"},
           {"inspect", "/nonexistent.effc"}}) {
    Finished done = effc_(arguments);
    EXPECT_EQ(done.status, 1);
    EXPECT_EQ(firstLine(done.err),
              "effc: error: cannot open '/nonexistent.effc': No "
              "such file or directory");
  }
}

TEST(Main, NoColourOutsideATerminal) {
  EXPECT_EQ(effc_({"inspect", "/nonexistent"}).err.find('\x1b'),
            std::string::npos);
}

TEST(Main, SaysWhenOutputCannotBeWritten) {
  TemporaryFile file(makeToyArtifact());
  Finished done = runProgram(
      {"/bin/sh", "-c",
       std::string(EFFC_PROGRAM) + " inspect " + file.path() + " > /dev/full"});
  EXPECT_EQ(done.status, 1);
  EXPECT_EQ(firstLine(done.err),
            "effc: error: cannot write to standard output: No "
            "space left on device");
}
