#include "test/unit/tools/effc/RunToy.h"

#include "test/unit/runtime/toy/ToyArtifact.h"

#include <algorithm>
#include <gtest/gtest.h>

using namespace effc::test;
using Tokens = std::vector<int32_t>;

Finished effc::test::run(const std::string &path,
                         std::vector<std::string> arguments,
                         const std::string &input) {
  std::vector<std::string> all = {EFFC_PROGRAM, "run", path};
  all.insert(all.end(), arguments.begin(), arguments.end());
  return runProgram(all, input);
}

const std::string &effc::test::toyPath() {
  static TemporaryFile file(makeToyArtifact());
  return file.path();
}

Tokens effc::test::greedy(const Tokens &prompt, size_t count) {
  ToyReference reference;
  std::vector<float> logits;
  for (int32_t token : prompt)
    logits = reference.step(token);
  Tokens made;
  while (made.size() < count) {
    auto best = std::max_element(logits.begin(), logits.end());
    int32_t token = static_cast<int32_t>(best - logits.begin());
    if (token == kToyEnd)
      break;
    made.push_back(token);
    logits = reference.step(token);
  }
  return made;
}

nlohmann::json effc::test::runJson(const std::string &path,
                                   std::vector<std::string> arguments) {
  arguments.push_back("--json");
  Finished done = run(path, arguments);
  EXPECT_EQ(done.status, 0) << done.err;
  return nlohmann::json::parse(done.out);
}
