// Golden checkpoints that are compiled and verified, and what reports say.
#ifndef EFFC_TEST_UNIT_TOOLS_EFFCVERIFY_VERIFYFIXTURE_H
#define EFFC_TEST_UNIT_TOOLS_EFFCVERIFY_VERIFYFIXTURE_H

#include "test/e2e/Process.h"
#include "test/e2e/TemporaryFolder.h"
#include "tools/effc-verify/Verification.h"

#include <algorithm>
#include <cstdlib>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace effc::test {

using Arguments = std::vector<std::string>;

class Verify : public testing::Test {
protected:
  /// Compiles a golden checkpoint for a few entries and, where `more` names no
  /// targets, one level of the host; returns the artifact's path.
  std::string compile(const std::string &golden, const Arguments &more = {}) {
    std::string path = folder.at(std::to_string(count++) + ".effc");
    Arguments all = {EFFC_PROGRAM, "compile",     EFFC_GOLDENS "/" + golden,
                     "-o",         path,          "--prefill-rows",
                     "8,64",       "--max-batch", "4"};
    if (std::find(more.begin(), more.end(), "--target") == more.end())
      all.insert(all.end(), {"--target", "host", "--no-optimise"});
    all.insert(all.end(), more.begin(), more.end());
    Finished done = runProgram(all);
    EXPECT_EQ(done.status, 0) << done.err;
    return path;
  }
  static verify::Report verify(const std::string &path, size_t tokens = 24) {
    return verify::Verification(
               {.file = path,
                .access = {},
                .tokens = tokens,
                .device = {"host", 2}},
               [](uint64_t done, uint64_t total) { EXPECT_LE(done, total); })
        .run();
  }
  static Finished command(const Arguments &arguments) {
    Arguments all = {EFFC_PROGRAM, "verify"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return runProgram(all);
  }
  /// The check of the file itself on the simulated GPU, where `verify` ends so.
  static nlohmann::json fileOnSimulatedGpu(const std::string &path,
                                           int status) {
    Finished done = runProgram({EFFC_PROGRAM, "verify", path, "--device", "sim",
                                "--tokens", "9", "--no-compile", "--json"});
    EXPECT_EQ(done.status, status) << done.out << done.err;
    nlohmann::json file = nlohmann::json::parse(done.out)["checks"][0];
    EXPECT_EQ(file["name"], "this file");
    return file;
  }

  TemporaryFolder folder;
  int count = 0;
};
inline Arguments failures(const verify::Report &report) {
  Arguments names;
  for (const verify::Check &check : report.checks)
    if (!check.passed())
      names.push_back(check.name);
  return names;
}

inline const verify::Check &find(const verify::Report &report,
                                 const char *name) {
  for (const verify::Check &check : report.checks)
    if (check.name == name)
      return check;
  ADD_FAILURE() << "no check '" << name << "'";
  std::abort();
}

} // namespace effc::test

#endif // EFFC_TEST_UNIT_TOOLS_EFFCVERIFY_VERIFYFIXTURE_H
