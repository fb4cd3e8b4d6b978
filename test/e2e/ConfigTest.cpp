// Released configurations, the papers' own models and their ablations, found by
// listing goldens/configs: each is compiled from its config.json alone in under
// 20 seconds of processor time and 2 GB, and has exactly as many parameters as
// the public library's model, or for the papers' as an independent forward
// reads. Code for every entry of each is made where EFFC_CHECK_LONG is set.
// Every fourth released one is compiled for one of two GPUs too, with one kind of
// products, where no kernel needs more registers than a thread has; each is for
// both and all kinds where EFFC_CHECK_LONG is set.

#include "test/LongCheck.h"
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
class GpuConfigTest : public testing::TestWithParam<std::string> {};

} // namespace

/// Released ones by their names, others by their folder: "ablations/NAME".
static std::vector<std::string> configs(const std::string &folder) {
  std::vector<std::string> names;
  std::filesystem::path root = EFFC_GOLDENS "/configs";
  for (const auto &file : std::filesystem::directory_iterator(root / folder))
    if (file.path().extension() == ".json")
      names.push_back(std::filesystem::relative(file.path(), root)
                          .replace_extension()
                          .string());
  std::sort(names.begin(), names.end());
  return names;
}

static std::vector<std::string> allConfigs() {
  std::vector<std::string> names = configs(".");
  for (const char *folder : {"papers", "ablations"}) {
    std::vector<std::string> more = configs(folder);
    names.insert(names.end(), more.begin(), more.end());
  }
  return names;
}

static nlohmann::json readEntry(const std::string &name) {
  return nlohmann::json::parse(
      std::ifstream(EFFC_GOLDENS "/configs/" + name + ".json"));
}

/// "134,515,008"
static std::string withCommas(int64_t number) {
  std::string text = std::to_string(number);
  for (size_t at = text.size(); at > 3;)
    text.insert(at -= 3, ",");
  return text;
}

TEST_P(ConfigTest, CompilesFromItsConfigurationAlone) {
  nlohmann::json entry = readEntry(GetParam());
  TemporaryFolder folder;
  std::ofstream(folder.at("config.json")) << entry.at("config");
  std::string model = folder.at("model.effc");
  std::vector<std::string> compile = {
      EFFC_PROGRAM, "compile",  folder.at(""), "-o",       model, "--weights",
      "none",       "--werror", "fallback",    "--target", "host"};
  // All entries to the phase plan, which is where they are read, checked and given
  // their room. Of ablations, which differ in a part and were never released, no
  // more; of the others code of two entries, unless EFFC_CHECK_LONG is set.
  std::vector<std::string> plan = compile;
  plan.insert(plan.end(), {"--compile-to", "plan"});
  if (!isLongCheck())
    compile.insert(compile.end(), {"--prefill-rows", "16", "--max-batch", "1"});
  // Those that no token ever reads are not in the artifact.
  int64_t parameters = entry.at("parameters").get<int64_t>() -
                       entry.value("unread_parameters", int64_t(0));
  for (const auto &command : {plan, compile}) {
    Used before = usedByPrograms();
    Finished done = runProgram(command);
    ASSERT_EQ(done.status, 0) << done.err;
    Used after = usedByPrograms();
    // Sanitizers take several times as much of both.
#if !defined(__SANITIZE_ADDRESS__) && !__has_feature(address_sanitizer)
    EXPECT_LT(after.seconds - before.seconds, 20);
    EXPECT_LT(after.kilobytes, 2 * 1000 * 1000);
#endif
    EXPECT_NE(done.err.find(", " + withCommas(parameters) + " parameters"),
              std::string::npos)
        << parameters << ": " << done.err;
    if (GetParam().find("ablations/") == 0 && !isLongCheck())
      return;
  }
  Finished done = runProgram({EFFC_PROGRAM, "inspect", model, "--json"});
  ASSERT_EQ(done.status, 0) << done.err;
  EXPECT_EQ(nlohmann::json::parse(done.out).at("parameters"), parameters);
}

namespace {
/// What GPU code a configuration is compiled to.
struct GpuCode {
  const char *target, *products, *dtype = "bf16";
};
constexpr GpuCode kGpuCodes[] = {
    {"sm_80", "f32"},        {"sm_90a", "bf16"}, {"sm_90a", "f32"},
    {"sm_80", "bf16"},       {"sm_80", "tf32"},  {"sm_90a", "f16", "f16"},
    {"sm_80", "f16", "f16"}, {"sm_90a", "tf32"}};
constexpr struct {
  const char *config;
  GpuCode code;
} kTight = {"gla_1_3b", {"sm_80", "bf16"}};
} // namespace

static void expectNoSpill(const std::string &config, const GpuCode &code,
                          bool allEntries) {
  SCOPED_TRACE(std::string(code.target) + ", products of " + code.products);
  nlohmann::json entry = readEntry(config);
  TemporaryFolder folder;
  std::ofstream(folder.at("config.json")) << entry.at("config");
  std::string model = folder.at("model.effc");
  // No context outgrows a table of positions.
  int64_t context = 4096;
  for (const char *key : {"max_position_embeddings", "n_positions"})
    context = std::min(context, entry["config"].value(key, context));
  std::vector<std::string> compile = {EFFC_PROGRAM,
                                      "compile",
                                      folder.at(""),
                                      "-o",
                                      model,
                                      "--weights",
                                      "none",
                                      "--dtype",
                                      code.dtype,
                                      "--max-context",
                                      std::to_string(context),
                                      "--target",
                                      code.target,
                                      "--products",
                                      code.products};
  // Kernels of many rows, of a single one and of a few.
  if (!allEntries)
    compile.insert(compile.end(),
                   {"--prefill-rows", "256", "--max-batch", "2"});
  Finished done = runProgram(compile);
  ASSERT_EQ(done.status, 0) << done.err;
  done = runProgram({EFFC_PROGRAM, "inspect", "--kernels", model, "--json"});
  ASSERT_EQ(done.status, 0) << done.err;
  nlohmann::json target = nlohmann::json::parse(done.out).at("targets").at(0);
  ASSERT_FALSE(target.at("kernels").empty());
  for (const nlohmann::json &kernel : target.at("kernels")) {
    if (!kernel.contains("registers"))
      GTEST_SKIP() << "ptxas, which says it, is not installed";
    EXPECT_EQ(kernel.at("spill_bytes"), 0) << kernel.at("name");
  }
}

// What the demonstration compiles, with the entries that are there unasked.
TEST(GpuSampleTest, SpillsNothing) {
  TemporaryFolder folder;
  std::string model = folder.at("model.effc");
  // As it is compiled unasked for the newest chip, or all kinds of products for both.
  std::vector<const char *> kinds = {"bf16"};
  if (isLongCheck())
    kinds.insert(kinds.end(), {"f32", "tf32"});
  for (const char *products : kinds) {
    Finished done = runProgram({EFFC_PROGRAM, "compile", EFFC_GOLDENS "/sample",
                                "-o", model, "--target",
                                isLongCheck() ? "sm_80,sm_90a" : "sm_90a",
                                "--products", products});
    ASSERT_EQ(done.status, 0) << done.err;
    done = runProgram({EFFC_PROGRAM, "inspect", "--kernels", model, "--json"});
    ASSERT_EQ(done.status, 0) << done.err;
    size_t seen = 0;
    nlohmann::json told = nlohmann::json::parse(done.out);
    for (const nlohmann::json &target : told.at("targets"))
      for (const nlohmann::json &kernel : target.at("kernels")) {
        if (!kernel.contains("registers"))
          GTEST_SKIP() << "ptxas, which says it, is not installed";
        EXPECT_EQ(kernel.at("spill_bytes"), 0)
            << products << ": " << kernel.at("name");
        ++seen;
      }
    EXPECT_GT(seen, 0u);
  }
}

// Architectures and products in turn, over the configurations; all of them for
// every entry where EFFC_CHECK_LONG is set.
TEST_P(GpuConfigTest, SpillsNothing) {
  if (isLongCheck()) {
    for (const GpuCode &code : kGpuCodes)
      expectNoSpill(GetParam(), code, /*allEntries=*/true);
    return;
  }
  std::vector<std::string> all = configs(".");
  size_t index =
      (std::find(all.begin(), all.end(), GetParam()) - all.begin()) / 4;
  // The one whose kernels have too few registers when loops step pointers.
  bool isTight = GetParam() == kTight.config;
  expectNoSpill(GetParam(),
                isTight ? kTight.code : kGpuCodes[index % std::size(kGpuCodes)],
                /*allEntries=*/false);
}

// Six blocks: 3 E D + 4 n E + 2 l E numbers of matrices, W E taps, and of the
// recurrence 4 n E and, in chunks of C, 2 C (n + E).
TEST(PublishedWork, IsCountedFromTheStoredModule) {
  nlohmann::json entry = nlohmann::json::parse(
      std::ifstream(EFFC_GOLDENS "/configs/ablations/rodimus_t15_all.json"));
  TemporaryFolder folder;
  std::ofstream(folder.at("config.json")) << entry.at("config");
  std::string model = folder.at("model.effc");
  Finished done = runProgram({EFFC_PROGRAM, "compile", folder.at(""), "-o",
                              model, "--weights", "none"});
  ASSERT_EQ(done.status, 0) << done.err;
  uint64_t d = 512, e = 1024, n = 64, l = 16, w = 4, v = 50277, t = 100;
  auto count = [&](uint64_t chunk) {
    Finished told = runProgram({EFFC_PROGRAM, "inspect", model,
                                "--flops=published", "--sequence", "100",
                                "--chunk", std::to_string(chunk), "--json"});
    EXPECT_EQ(told.status, 0) << told.err;
    return nlohmann::json::parse(told.out);
  };
  uint64_t dense = 6 * 2 * (3 * e * d + 4 * n * e + 2 * l * e + w * e);
  EXPECT_EQ(count(0).at("layers"), t * dense);
  EXPECT_EQ(count(32).at("layers"),
            t * (dense + 6 * (4 * n * e + 2 * 32 * (n + e))));
  EXPECT_EQ(count(32).at("embeddings"), t * 2 * 2 * v * d);
  EXPECT_EQ(count(32).at("training").get<uint64_t>(),
            3 * count(32).at("forward").get<uint64_t>());
  done = runProgram({EFFC_PROGRAM, "inspect", model, "--flops", "published"});
  EXPECT_NE(done.out.find("lookup and head"), std::string::npos) << done.out;
  done = runProgram({EFFC_PROGRAM, "inspect", model, "--flops=other"});
  EXPECT_NE(done.status, 0);
}

static std::string nameOf(const testing::TestParamInfo<std::string> &info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '/', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, ConfigTest, testing::ValuesIn(allConfigs()),
                         nameOf);
/// Those whose GPU code is made: every fourth one, and the tight one.
static std::vector<std::string> gpuConfigs() {
  std::vector<std::string> all = configs("."), some;
  for (size_t i = 0; i < all.size(); ++i)
    if (isLongCheck() || i % 4 == 0 || all[i] == kTight.config)
      some.push_back(all[i]);
  return some;
}

INSTANTIATE_TEST_SUITE_P(Released, GpuConfigTest,
                         testing::ValuesIn(gpuConfigs()), nameOf);
