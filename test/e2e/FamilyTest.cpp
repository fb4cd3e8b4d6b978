// Every recorded checkpoint of every family, found by listing
// goldens/families/<family>/<case>, from its folder to logits: within four
// times the library's own f32 error of the float64 logits, however the tokens
// are fed; verified in every form; and a session that is saved and loaded goes
// on with the same tokens. A case takes a second, half of which is LLVM's: so code
// is not optimised, which changes no bit. One case of every fourth family, or each
// where they are of several mixers, has more entries, optimised code besides, whose
// bits are compared, and kernels compiled in forms that the file does not have;
// every one where EFFC_CHECK_LONG is set.

#include "test/LongCheck.h"
#include "test/e2e/Process.h"
#include "test/e2e/TemporaryFolder.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <random>
#include <regex>

using namespace effc::test;
using Arguments = std::vector<std::string>;

namespace {

/// Lengths from 1 to 20 in a random order, the same at every run.
std::string randomSplit(uint32_t seed) {
  std::mt19937 random(seed);
  std::string split;
  for (int i = 0; i < 12; ++i)
    split +=
        (i ? "," : "") + std::to_string(1 + random() % (i % 3 == 0 ? 20 : 4));
  return split;
}

/// The ids [first, last) of the first recorded sequence, as `--tokens` takes
/// them.
std::string someTokens(const std::string &file, size_t first, size_t last) {
  std::vector<std::vector<int32_t>> sequences =
      nlohmann::json::parse(std::ifstream(file));
  std::string ids;
  for (size_t i = first; i < last; ++i)
    ids += (i > first ? "," : "") + std::to_string(sequences.at(0).at(i));
  return ids;
}

class FamilyTest : public testing::TestWithParam<std::string> {
protected:
  std::string golden(const std::string &name) const {
    return EFFC_GOLDENS "/families/" + GetParam() + "/" + name;
  }

  void compile(const std::string &out, bool optimised) {
    // The host's lowest level, or a further one, "x86-64-v4".
    const char *target = std::getenv("EFFC_TEST_TARGET");
    Arguments all = {EFFC_PROGRAM, "compile",  golden(""),
                     "-o",         out,        "--dtype",
                     "f32",        "--target", target ? target : "host",
                     "--werror",   "fallback"};
    Arguments entries = {"--prefill-rows", "16", "--max-batch", "2"};
    if (isTriedInFull())
      entries = {"--prefill-rows", "8,64", "--max-batch", "4"};
    all.insert(all.end(), entries.begin(), entries.end());
    if (!optimised)
      all.push_back("--no-optimise");
    // How the case is to be compiled, where that is not as it is.
    if (std::ifstream file(golden("options.json")); file) {
      nlohmann::json options = nlohmann::json::parse(file);
      for (const auto &[name, value] : options.items())
        all.insert(all.end(),
                   {"--" + name, value.is_string() ? value.get<std::string>()
                                                   : value.dump()});
    }
    Finished done = runProgram(all);
    ASSERT_EQ(done.status, 0) << done.err;
  }

  /// Writes logits to `out` and holds them against the golden ones.
  void evaluate(const std::string &file, const std::string &out,
                const Arguments &options) {
    Arguments all = {
        EFFC_PROGRAM,          "eval",     file,          "--tokens",
        golden("tokens.json"), "--logits", folder.at(out)};
    all.insert(all.end(), options.begin(), options.end());
    Finished done = runProgram(all);
    ASSERT_EQ(done.status, 0) << done.err;
    done = runProgram(
        {EFFC_COMPARE, folder.at(out), golden("golden.safetensors")});
    EXPECT_EQ(done.status, 0) << testing::PrintToString(options) << "\n"
                              << done.out << done.err;
    // "logits.0    48    2.4e-07 ...": rows, then the distance.
    static const std::regex kLine("logits\\.\\d+ +\\d+ +(\\S+)");
    for (std::sregex_iterator line(done.out.begin(), done.out.end(), kLine),
         end;
         line != end; ++line)
      largest = std::max(largest, std::stod((*line)[1]));
  }

  void verify() {
    Arguments all = {EFFC_PROGRAM, "verify", model, "--tokens", "24"};
    if (!isTriedInFull())
      all.push_back("--no-compile");
    Finished done = runProgram(all);
    EXPECT_EQ(done.status, 0) << done.out << done.err;
  }

  /// In more entries, and with kernels in other forms: one case of every fourth
  /// family, since what cases differ in (tied heads, biases, rotations) is seldom
  /// a mixer's, and mixers have contracts of their own (test/unit/contract); of
  /// families whose cases are mixers, all.
  bool isTriedInFull() const {
    if (isLongCheck() || GetParam().find("effc_linear/") == 0)
      return true;
    std::filesystem::path path = golden("");
    path = path.parent_path(); // without the last slash
    return numberOf(path) == 0 && numberOf(path.parent_path()) % 4 == 0;
  }

  /// How many entries of its folder come before it.
  static size_t numberOf(const std::filesystem::path &path) {
    return std::ranges::count_if(
        std::filesystem::directory_iterator(path.parent_path()),
        [&](const auto &other) {
          return other.path().filename() < path.filename();
        });
  }

  /// What the table of frontend/families/table.md says of the case.
  void record() {
    Finished done = runProgram({EFFC_PROGRAM, "inspect", model, "--json"});
    ASSERT_EQ(done.status, 0) << done.err;
    nlohmann::json about = nlohmann::json::parse(done.out), kinds;
    for (const nlohmann::json &entry : about.at("entries"))
      kinds[entry.at("kind").get<std::string>()] = true;
    nlohmann::json result = {
        {"case", GetParam()},
        {"error", largest},
        {"entries", nlohmann::json::array()},
        {"state_bytes", about.at("memory").at("per_session")}};
    for (const auto &[kind, unused] : kinds.items())
      result["entries"].push_back(kind);
    std::filesystem::path file =
        std::filesystem::path(EFFC_RESULTS) / (GetParam() + ".json");
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << result << "\n";
  }

  void expectSameBits(const std::string &a, const std::string &b) {
    Finished done =
        runProgram({EFFC_COMPARE, "--bits", folder.at(a), folder.at(b)});
    EXPECT_EQ(done.status, 0) << done.out << done.err;
  }

  void expectThatAStateGoesOn() {
    std::string tokens = golden("tokens.json"), state = folder.at("state");
    std::string whole =
        drawn({"-n", "8", "--tokens", someTokens(tokens, 0, 41)});
    EXPECT_GE(std::count(whole.begin(), whole.end(), ','), 1) << whole;
    drawn({"-n", "0", "--tokens", someTokens(tokens, 0, 29), "--save-state",
           state});
    EXPECT_EQ(drawn({"-n", "8", "--tokens", someTokens(tokens, 29, 41),
                     "--load-state", state}),
              whole);
  }

  /// The ids that `effc run` draws, at a temperature that lets every logit
  /// count, by a seed whose noise for token 2, where most models end, is low.
  std::string drawn(Arguments options) {
    Arguments all = {EFFC_PROGRAM, "run",    model,  "--temperature",
                     "2",          "--seed", "2573", "--print-tokens"};
    all.insert(all.end(), options.begin(), options.end());
    Finished done = runProgram(all);
    EXPECT_EQ(done.status, 0) << done.err;
    return done.out;
  }

  double largest = 0;
  TemporaryFolder folder;
  std::string model = folder.at("model.effc");
};

} // namespace

// One test for all, since compiling takes longer than most of it.
TEST_P(FamilyTest, FromTheFolderToLogits) {
  compile(model, /*optimised=*/false);
  for (const std::string &split :
       {std::string("all"), std::string("1"), randomSplit(1)}) {
    evaluate(model, "alone", {"--split", split, "--threads", "1"});
    evaluate(model, "batch",
             {"--split", split, "--threads", "2", "--batch", "4"});
    expectSameBits("alone", "batch");
    if (split == "all")
      std::filesystem::rename(folder.at("alone"), folder.at("whole"));
    else
      expectSameBits("alone", "whole");
  }
  if (isTriedInFull()) {
    std::string fast = folder.at("fast.effc");
    compile(fast, /*optimised=*/true);
    evaluate(fast, "fast", {"--threads", "2", "--batch", "4"});
    expectSameBits("fast", "whole");
  }
  verify();
  expectThatAStateGoesOn();
  if (!HasFailure())
    record();
}

/// All cases, "family/case"; a family without one is a failure of its own.
static std::vector<std::string> cases() {
  std::vector<std::string> names;
  std::filesystem::path root = EFFC_GOLDENS "/families";
  for (const auto &family : std::filesystem::directory_iterator(root)) {
    size_t before = names.size();
    if (family.is_directory())
      for (const auto &entry :
           std::filesystem::directory_iterator(family.path()))
        if (entry.is_directory())
          names.push_back(
              std::filesystem::relative(entry.path(), root).string());
    if (names.size() == before)
      names.push_back(family.path().filename().string() + "/has_no_case");
  }
  std::sort(names.begin(), names.end());
  return names;
}

INSTANTIATE_TEST_SUITE_P(Families, FamilyTest, testing::ValuesIn(cases()),
                         [](const auto &info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '/', '_');
                           return name;
                         });

// An empty list would run no test and say nothing.
TEST(FamilyCases, AreThere) { EXPECT_GE(cases().size(), 2u); }
