// Released configurations, found by listing goldens/configs: each is compiled
// from its config.json alone in under 20 seconds of processor time and 2 GB,
// and has exactly as many parameters as the public library's model; and for one
// of two GPUs, where no kernel needs more registers than a thread has.

#include "test/e2e/Process.h"
#include "test/e2e/TemporaryFolder.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/resource.h>

using namespace effc::test;

namespace {

/// What all programs that were started so far have used.
struct Used {
  double seconds;
  long kilobytes; // of the largest
};

Used usedByPrograms() {
  rusage usage = {};
  getrusage(RUSAGE_CHILDREN, &usage);
  auto seconds = [](const timeval &time) {
    return double(time.tv_sec) + 1e-6 * double(time.tv_usec);
  };
  return {seconds(usage.ru_utime) + seconds(usage.ru_stime), usage.ru_maxrss};
}

class ConfigTest : public testing::TestWithParam<std::string> {};

} // namespace

static std::vector<std::string> configs() {
  std::vector<std::string> names;
  for (const auto &file :
       std::filesystem::directory_iterator(EFFC_GOLDENS "/configs"))
    names.push_back(file.path().stem());
  std::sort(names.begin(), names.end());
  return names;
}

static nlohmann::json readEntry(const std::string &name) {
  return nlohmann::json::parse(
      std::ifstream(EFFC_GOLDENS "/configs/" + name + ".json"));
}

TEST_P(ConfigTest, CompilesFromItsConfigurationAlone) {
  nlohmann::json entry = readEntry(GetParam());
  TemporaryFolder folder;
  std::ofstream(folder.at("config.json")) << entry.at("config");
  std::string model = folder.at("model.effc");
  Used before = usedByPrograms();
  Finished done =
      runProgram({EFFC_PROGRAM, "compile", folder.at(""), "-o", model,
                  "--weights", "none", "--werror", "fallback"});
  ASSERT_EQ(done.status, 0) << done.err;
  Used after = usedByPrograms();
  // Sanitizers take several times as much of both.
#if !defined(__SANITIZE_ADDRESS__) && !__has_feature(address_sanitizer)
  EXPECT_LT(after.seconds - before.seconds, 20);
  EXPECT_LT(after.kilobytes, 2 * 1000 * 1000);
#endif
  done = runProgram({EFFC_PROGRAM, "inspect", model, "--json"});
  ASSERT_EQ(done.status, 0) << done.err;
  // Those that no token ever reads are not in the artifact.
  int64_t unread = entry.value("unread_parameters", 0);
  EXPECT_EQ(nlohmann::json::parse(done.out).at("parameters"),
            entry.at("parameters").get<int64_t>() - unread);
}

// Code for either architecture is tried on every second configuration.
TEST_P(ConfigTest, SpillsNothingOnGpus) {
  std::vector<std::string> all = configs();
  bool older =
      (std::find(all.begin(), all.end(), GetParam()) - all.begin()) % 2;
  nlohmann::json entry = readEntry(GetParam());
  TemporaryFolder folder;
  std::ofstream(folder.at("config.json")) << entry.at("config");
  std::string model = folder.at("model.effc");
  Finished done =
      runProgram({EFFC_PROGRAM, "compile", folder.at(""), "-o", model,
                  "--weights", "none", "--dtype", "bf16", "--max-context",
                  "4096", "--target", older ? "sm_80" : "sm_90a"});
  ASSERT_EQ(done.status, 0) << done.err;
  done = runProgram({EFFC_PROGRAM, "inspect", "--kernels", model, "--json"});
  ASSERT_EQ(done.status, 0) << done.err;
  nlohmann::json target = nlohmann::json::parse(done.out).at("targets").at(0);
  ASSERT_FALSE(target.at("kernels").empty());
  for (const nlohmann::json &kernel : target.at("kernels")) {
    if (kernel.at("registers") == 0)
      GTEST_SKIP() << "ptxas, which says it, is not installed";
    EXPECT_EQ(kernel.at("spill_bytes"), 0) << kernel.at("name");
  }
}

INSTANTIATE_TEST_SUITE_P(Released, ConfigTest, testing::ValuesIn(configs()),
                         [](const auto &info) { return info.param; });
