// `effc compile --tap` and `effc eval --tap`: inner values against the recorded
// library's logits, and against one another: Mamba-2's steps are the last columns of
// its first projection.

#include "test/e2e/Process.h"
#include "test/e2e/SafetensorsFile.h"
#include "test/e2e/TemporaryFolder.h"

#include <cmath>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

using namespace effc::test;
using Arguments = std::vector<std::string>;

namespace {

class Tap : public testing::Test {
protected:
  static std::string golden(const std::string &name) {
    return EFFC_GOLDENS "/mamba2/f32_plain/" + name;
  }

  void compile(const Arguments &options) {
    Arguments all = {
        EFFC_PROGRAM, "compile", golden(""),     "-o", folder.at("model.effc"),
        "--target",   "host",    "--no-optimise"};
    all.insert(all.end(), options.begin(), options.end());
    Finished done = runProgram(all);
    ASSERT_EQ(done.status, 0) << done.err;
  }

  Finished eval(const Arguments &options) {
    Arguments all = {EFFC_PROGRAM,
                     "eval",
                     folder.at("model.effc"),
                     "--tokens",
                     golden("tokens.json"),
                     "--tap",
                     folder.at("taps"),
                     "--device",
                     "host"};
    all.insert(all.end(), options.begin(), options.end());
    return runProgram(all);
  }

  TemporaryFolder folder;
};

constexpr size_t kSequences = 5, kHeads = 6, kProjected = 134, kVocabulary = 97;

} // namespace

// Values before the head's rows are chosen, and behind: those of the last layer, and
// the logits themselves.
TEST_F(Tap, GivesValuesOfTheTokensAndOfTheHead) {
  compile({"--tap", R"(layers\.1\.(in_proj|ssd:dt))", "--tap", "lm_head"});
  Finished done = eval({"--json", "--batch", "3"});
  ASSERT_EQ(done.status, 0) << done.err;
  nlohmann::json summary = nlohmann::json::parse(done.out);
  EXPECT_EQ(summary["width"], kProjected + kHeads + kVocabulary);
  EXPECT_EQ(summary["values"],
            (nlohmann::json{{"layers.1.ssd:dt", {kHeads}},
                            {"layers.1.in_proj", {kProjected}},
                            {"lm_head", {kVocabulary}}}));

  SafetensorsFile file = SafetensorsFile::read(folder.at("taps"));
  SafetensorsFile expected =
      SafetensorsFile::read(golden("golden.safetensors"));
  EXPECT_EQ(file.tensors().size(), 3 * kSequences);
  for (size_t i = 0; i < kSequences; ++i) {
    std::string number = "." + std::to_string(i);
    auto exact = expected.tensor("logits_f64" + number).values();
    auto library = expected.tensor("logits_f32" + number).values();
    auto logits = file.tensor("lm_head" + number).values();
    ASSERT_EQ(logits.size(), exact.size());
    double apart = 0, error = 0;
    for (size_t at = 0; at < exact.size(); ++at) {
      apart = std::max(apart, std::abs(library[at] - exact[at]));
      error = std::max(error, std::abs(logits[at] - exact[at]));
    }
    EXPECT_LE(error, 4 * apart + 1e-6) << "sequence " << i;

    auto dt = file.tensor("layers.1.ssd:dt" + number).values();
    auto all = file.tensor("layers.1.in_proj" + number).values();
    ASSERT_EQ(dt.size(), exact.size() / kVocabulary * kHeads);
    ASSERT_EQ(all.size(), exact.size() / kVocabulary * kProjected);
    for (size_t at = 0; at < dt.size(); ++at)
      EXPECT_EQ(dt[at],
                all[(at / kHeads + 1) * kProjected - kHeads + at % kHeads])
          << "sequence " << i << ", number " << at;
  }
}

// The rows of the last tokens are the last rows.
TEST_F(Tap, LastIsTheLastToken) {
  compile({"--tap", R"(layers\.0\.(in_proj|ssd))"});
  ASSERT_EQ(eval({}).status, 0);
  SafetensorsFile all = SafetensorsFile::read(folder.at("taps"));
  ASSERT_EQ(eval({"--last"}).status, 0);
  SafetensorsFile last = SafetensorsFile::read(folder.at("taps"));
  for (const auto &[name, tensor] : last.tensors()) {
    std::vector<double> rows = all.tensor(name).values(), row = tensor.values();
    EXPECT_EQ(tensor.shape[0], 1u) << name;
    ASSERT_GE(rows.size(), row.size()) << name;
    EXPECT_EQ(std::vector<double>(rows.end() - long(row.size()), rows.end()),
              row)
        << name;
  }
  // The mixer gives heads: [1, H, P] of 6 heads with 8 channels.
  EXPECT_EQ(last.tensor("layers.0.ssd.2").shape,
            (std::vector<uint64_t>{1, 6, 8}));
  EXPECT_EQ(last.tensor("layers.0.in_proj.2").shape,
            (std::vector<uint64_t>{1, 134}));
}

// What has no inner values is refused with the way to have some.
TEST_F(Tap, OtherFilesAreRefused) {
  compile({});
  Finished done = eval({});
  EXPECT_EQ(done.status, 1);
  EXPECT_NE(done.err.find("gives logits: effc compile --tap makes a file that "
                          "gives inner values"),
            std::string::npos)
      << done.err;
}
